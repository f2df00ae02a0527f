"""What an examination of a network sees: units that never fire, constant gates, inputs, lengths of word vectors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from heedful.attention_names import MapPlace
from heedful.models import ModelConfig, Network, TextNetwork
from heedful.models.build import build_sentence_encoder, classifier_head
from heedful.nn.dense import Dense
from heedful.nn.embedding import WordEmbedding
from heedful.nn.gates import FusionGate
from heedful.structures import Batch, ContextStates, NetworkOutput, Pooled, Sentences, SharedBatch, SideTrace
from heedful.training import health
from heedful.training.health import attention_peaks, examine


class Small(nn.Module):
    """Word vectors, a gate with itself, the mean, a hidden layer with an activation, two classes."""

    def __init__(self, activation: str = "relu") -> None:
        super().__init__()
        torch.manual_seed(3)
        self.embedding = WordEmbedding(torch.randn(30, 6))
        self.gate = FusionGate(6)
        self.hidden = Dense(6, 40, activation=activation)
        self.out = Dense(40, 2)

    def forward(self, batch: Batch) -> NetworkOutput:
        side = batch.sides[0]
        words = self.embedding(side.ids) * side.valid[..., None]
        mixed, _ = self.gate(words, words.flip(1), side.valid)
        mean = mixed.sum(1) / side.valid.sum(1, keepdim=True)
        return NetworkOutput(self.out(self.hidden(mean)), (mean,))


def batches(count: int = 3, padding: int = 2) -> list[Batch]:
    draw = torch.Generator().manual_seed(5)
    made = []
    for _ in range(count):
        ids = torch.randint(2, 30, (8, 5), generator=draw)
        valid = torch.ones(8, 5, dtype=torch.bool)
        valid[:, 5 - padding :] = False
        made.append(Batch((Sentences(ids * valid, valid),), torch.zeros(8, dtype=torch.long)))
    return made


def fired(network: Small, data: list[Batch]) -> Tensor:
    """Compute from the formula which units of the hidden layer fire."""
    rows = torch.cat([network(batch).vectors[0] for batch in data])
    before = rows @ network.hidden.weight.T + network.hidden.bias
    return (before > 0).any(0)


@pytest.mark.parametrize("lost", [0, 7, 40])
def test_units_that_never_fire_are_counted(lost: int) -> None:
    network, data = Small(), batches()
    with torch.no_grad():
        network.hidden.bias[:lost] = -1e3
    seen = examine(network, data).units["hidden"]
    assert seen.kind == "relu"
    assert seen.count == 24
    assert torch.equal(seen.fired, fired(network, data))
    assert seen.dead == pytest.approx(1 - float(fired(network, data).double().mean()))
    assert seen.dead >= lost / 40


def test_a_unit_of_elu_is_dead_where_it_never_leaves_its_floor() -> None:
    network = Small("elu")
    assert examine(network, batches()).units["hidden"].dead == 0
    with torch.no_grad():
        network.hidden.bias[:10] = -1e3
    assert examine(network, batches()).units["hidden"].dead == 0.25


def test_a_gate_that_chooses_is_not_constant_and_one_without_weights_is() -> None:
    network = Small()
    gates = [units for units in examine(network, batches()).units.values() if units.kind == "sigmoid"]
    assert [units.constant for units in gates] == [0.0]
    with torch.no_grad():
        for layer in (network.gate.word, network.gate.context):
            layer.weight.zero_()
    gates = [units for units in examine(network, batches()).units.values() if units.kind == "sigmoid"]
    assert [units.constant for units in gates] == [1.0]


def test_padding_counts_for_nothing() -> None:
    network = Small()
    with torch.no_grad():
        for layer in (network.gate.word, network.gate.context):
            layer.weight.zero_()
    plain, padded = batches(padding=0), batches(padding=2)
    sigmoid = [units for units in examine(network, padded).units.values() if units.kind == "sigmoid"]
    assert sigmoid[0].count == 3 * 8 * 3
    assert examine(network, plain).units["gate"].count == 3 * 8 * 5


def test_a_layer_is_measured_on_rows_that_are_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_MOST_ROWS", 3)
    network, data = Small(), batches()
    rows = torch.cat([network(batch).vectors[0].detach()[::3] for batch in data])  # rows 0, 3 and 6 of eight
    seen = examine(network, data)
    assert seen.inputs["hidden"].reach == pytest.approx(float(rows.abs().sum(1).mean()), rel=1e-5)
    assert seen.units["hidden"].count == 3 * 8  # of units that may be dead all are seen


def test_the_reach_of_a_layer_is_the_mean_sum_of_its_inputs() -> None:
    network, data = Small(), batches()
    rows = torch.cat([network(batch).vectors[0] for batch in data]).detach()
    weight = network.hidden.weight.detach()
    seen = examine(network, data).inputs["hidden"]
    assert seen.reach == pytest.approx(float(rows.abs().sum(1).mean()), rel=1e-5)
    spread = torch.stack([(part @ weight.T).std(0, correction=0).mean() for part in rows.split(8)])
    assert seen.spread == pytest.approx(float(spread.mean()), rel=1e-4)


def test_lengths_of_words_are_those_that_were_read() -> None:
    network, data = Small(), batches()
    with torch.no_grad():
        network.embedding.weight.copy_(torch.nn.functional.normalize(network.embedding.weight, dim=1) * 5)
    median, high = examine(network, data).lengths
    assert median == pytest.approx(5, rel=1e-5)
    assert high == pytest.approx(5, rel=1e-5)


def test_nothing_is_left_behind() -> None:
    network, data = Small(), batches()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    torch.manual_seed(11)
    state = torch.get_rng_state()
    network.train()
    examine(network, data)
    assert network.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(not part._forward_hooks and not part._forward_pre_hooks for part in network.modules())
    assert all(parameter.grad is None for parameter in network.parameters())


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "multi-head"])
def test_attention_that_gives_every_word_one_weight_has_no_peak(encoder: str) -> None:
    torch.manual_seed(2)
    config = ModelConfig(encoder=encoder, width=8, hidden=8, outputs=2)
    reader = build_sentence_encoder(config, WordEmbedding(torch.randn(30, 8)))
    network = TextNetwork(reader, classifier_head(config, reader.width_out))
    (batch,) = batches(1, padding=0)
    found = attention_peaks(network, batch)
    assert len(found) >= 2
    assert min(found.values()) > 1e-4
    assert attention_peaks(Small(), batch) == {}
    (side,) = batch.sides
    places = torch.zeros(len(side.valid), 1, dtype=torch.int64)
    assert attention_peaks(network, SharedBatch((side,), batch.targets, batch.rows, places=places)) == {}
    with torch.no_grad():
        for parameter in network.sentence_encoder.parameters():
            parameter.zero_()
    assert max(attention_peaks(network, batch).values()) == pytest.approx(0, abs=1e-6)


def test_peaks_are_those_of_the_formula() -> None:
    weights = torch.tensor(
        [[0.5, 0.25, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.3, 0, 0]]
    )
    trace = SideTrace(
        ContextStates(torch.zeros(1, 4, 2), {MapPlace(rule="window(3)"): weights[None]}),
        Pooled(torch.zeros(1, 2)),
    )

    class Given(Network):
        def __init__(self) -> None:
            nn.Module.__init__(self)

        def forward(self, batch: Batch, *, need_weights: bool = False) -> NetworkOutput:
            return NetworkOutput(torch.zeros(1, 2), (), (trace,))

    (batch,) = batches(1)
    assert attention_peaks(Given(), batch) == {"window(3)": pytest.approx((0.5 * 3 - 1 + 0) / 2)}
