"""MTSA's encoders: the equations in loops, switches, edges, dropout, names."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.attention.tensorized import tensorized_attention
from heedful.encoders import MtsaConfig, MtsaEncoder, MtsaPaperConfig, MtsaPaperEncoder
from heedful.encoders import mtsa as heads_module
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.nn import l2_factors
from heedful.structures import Sentences

DIRECTIONS = [("forward", lambda i, j: j < i), ("backward", lambda i, j: j > i)]


def words(length: int) -> Sentences:
    valid = torch.ones(1, length).bool()
    return Sentences(valid.long(), valid)


def randomized(encoder: Any) -> Any:
    encoder = encoder.double().eval()
    for parameter in encoder.parameters():
        parameter.data.normal_()
    return encoder.requires_grad_(False)


def mtsa(width: int = 3, **settings: Any) -> MtsaEncoder:
    torch.manual_seed(0)
    return randomized(MtsaEncoder(width, MtsaConfig(**{"dropout": 0.0, **settings})))


def paper(width: int = 3, **settings: Any) -> MtsaPaperEncoder:
    torch.manual_seed(0)
    return randomized(MtsaPaperEncoder(width, MtsaPaperConfig(**{"dropout": 0.0, **settings})))


def average(score: Any, value: Tensor, may_look: Any) -> Tensor:
    """Softmax over the visible keys, one query and one feature at a time."""
    length, width = value.shape
    result = torch.zeros(length, width).double()
    for i in range(length):
        for feature in range(width):
            weights = {j: math.exp(score(i, j, feature)) for j in range(length) if may_look(i, j)}
            total = sum(weights.values())
            result[i, feature] = sum(w / total * float(value[j, feature]) for j, w in weights.items())
    return result


def log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x))


@pytest.mark.parametrize("token2token", ["sigmoid", "exp"])
def test_the_published_block_equals_its_equations_in_loops(token2token: str) -> None:
    encoder = mtsa(token2token=token2token)
    x = torch.randn(4, 3).double()
    phi = log_sigmoid if token2token == "sigmoid" else float
    expected = []
    for head, (_, may_look) in enumerate(DIRECTIONS):

        def of(name: str, rows: Tensor, head: int = head) -> Tensor:
            return getattr(encoder, name).parts[head](rows)

        value = of("value", x)
        query, key, z = of("query", value), of("key", value), of("score", of("hidden", value))

        def score(i: int, j: int, feature: int, q: Tensor = query, k: Tensor = key, z: Tensor = z) -> float:
            return phi(float(q[i] @ k[j]) / math.sqrt(3)) + float(z[j, feature])

        context = average(score, value, may_look)
        gate = torch.sigmoid(of("gate", torch.cat([value, context], dim=1)))
        expected.append(gate * value + (1 - gate) * context)
    states = encoder(x[None], words(4)).states[0]
    torch.testing.assert_close(states, torch.cat(expected, dim=1), atol=1e-12, rtol=0)


def test_the_paper_equals_equations_7_to_13_in_loops() -> None:
    encoder = paper()
    x = torch.randn(4, 3).double()
    joined = []
    for head, (_, may_look) in enumerate(DIRECTIONS):
        rows = slice(3 * head, 3 * head + 3)
        query, key, value = (x @ d.weight[rows].T for d in (encoder.query, encoder.key, encoder.value))
        z = encoder.score.parts[head](encoder.hidden.parts[head](key))

        def score(i: int, j: int, feature: int, q: Tensor = query, k: Tensor = key, z: Tensor = z) -> float:
            return log_sigmoid(float(q[i] @ k[j]) / math.sqrt(3)) + float(z[j, feature])

        joined.append(average(score, value, may_look))
    expected = torch.cat(joined, dim=1) @ encoder.output.weight.T
    torch.testing.assert_close(encoder(x[None], words(4)).states[0], expected, atol=1e-12, rtol=0)
    assert encoder.output.bias is encoder.query.bias is encoder.key.bias is encoder.value.bias is None


def test_without_token2token_every_pair_counts_the_same() -> None:
    encoder = mtsa(token2token="none", gate=False)
    x = torch.randn(1, 4, 3).double()
    value = encoder.value(x)[0, 0]
    z = encoder.score(encoder.hidden(encoder.value(x)))[0, 0]
    expected = average(lambda i, j, feature: float(z[j, feature]), value, lambda i, j: j < i)
    torch.testing.assert_close(encoder(x, words(4)).states[0, :, :3], expected, atol=1e-12, rtol=0)


def test_without_source2token_all_features_share_their_weights() -> None:
    encoder = mtsa(score_layers=0, gate=False)
    told = encoder(torch.randn(1, 4, 3).double(), words(4), need_weights=True)
    for weights in told.maps.values():
        torch.testing.assert_close(weights, weights[..., :1].expand_as(weights), atol=1e-14, rtol=0)
        assert weights[0, 1:3].std(dim=1).max() > 0


def test_leaving_out_both_scores_is_refused_with_what_to_use() -> None:
    with pytest.raises(UsageError, match=r"encoder='embedding' with encoder_options\.hidden"):
        MtsaEncoder(3, MtsaConfig(token2token="none", score_layers=0))


def test_one_score_layer_and_reading_the_input_change_the_shapes() -> None:
    encoder = mtsa(score_layers=1, attend_from="input", head_width=5)
    assert encoder.hidden is None
    for layer in (encoder.query, encoder.key, encoder.score):
        assert [part.weight.shape for part in layer.parts] == [(5, 3)] * 2
    assert encoder(torch.randn(1, 4, 3).double(), words(4)).states.shape == (1, 4, 10)


@pytest.mark.parametrize("self_visible", [False, True])
def test_a_word_that_sees_nothing_becomes_gate_times_itself(self_visible: bool) -> None:
    encoder = mtsa(self_visible=self_visible)
    x = torch.randn(1, 1, 3).double()
    told = encoder(x, words(1), need_weights=True)
    value = encoder.value(x)[:, 0]
    name = "forward | window(0)" if self_visible else "forward"
    gate = 1.0 if self_visible else by_caption(told.gates)[name]
    torch.testing.assert_close(told.states[..., :3], gate * value, atol=1e-14, rtol=0)
    assert bool(by_caption(told.maps)[name].any()) is self_visible


def test_heads_are_shared_out_in_the_order_of_the_masks() -> None:
    encoder = mtsa(heads=4, head_width=2)
    told = encoder(torch.randn(1, 3, 3).double(), words(3), need_weights=True)
    assert list(by_caption(told.maps)) == ["forward 1", "forward 2", "backward 3", "backward 4"]
    assert list(by_caption(told.gates)) == list(by_caption(told.maps))
    for name, weights in by_caption(told.maps).items():
        seen = weights[0].amax(dim=-1) > 0
        assert torch.equal(
            seen, torch.ones(3, 3).tril(-1).bool() if "for" in name else torch.ones(3, 3).triu(1) > 0
        )


def test_heads_that_cannot_be_shared_out_are_refused() -> None:
    with pytest.raises(UsageError, match="must be a multiple of the number of masks, 2"):
        MtsaEncoder(4, MtsaConfig(heads=3))
    with pytest.raises(UsageError, match="heads must be 1 or more"):
        MtsaConfig(heads=0)


def test_attention_dropout_must_be_a_share() -> None:
    with pytest.raises(UsageError, match="attention_dropout must be at least 0 and below 1"):
        MtsaEncoder(4, MtsaConfig(attention_dropout=1.0))


@pytest.mark.parametrize("training", [False, True])
def test_attention_is_dropped_in_training_alone(monkeypatch: pytest.MonkeyPatch, training: bool) -> None:
    seen: list[float] = []

    def attention(*tensors: Any, dropout: float, **settings: Any) -> Any:
        seen.append(dropout)
        return tensorized_attention(*tensors, dropout=dropout, **settings)

    monkeypatch.setattr(heads_module, "tensorized_attention", attention)
    mtsa(attention_dropout=0.2).train(training)(torch.randn(1, 3, 3).double(), words(3))
    assert seen == [0.2 if training else 0.0]


def test_every_head_and_layer_draws_its_own_dropout_and_values_are_spared() -> None:
    encoder = mtsa(width=60, dropout=0.5, activation="linear").train()
    x = torch.ones(1, 2, 60).double()
    seen: dict[str, Tensor] = {}
    for name in ("query", "key", "hidden", "gate"):
        getattr(encoder, name).register_forward_pre_hook(
            lambda _, inputs, name=name: seen.__setitem__(name, inputs[0])
        )
    encoder.value.register_forward_hook(lambda _, __, output: seen.__setitem__("value", output))
    encoder(x, words(2))
    assert all(torch.equal(seen[name], seen["value"]) for name in ("query", "key", "hidden"))
    assert torch.equal(seen["gate"][..., :60], seen["value"])
    assert {part.dropout for part in encoder.modules() if hasattr(part, "l2")} == {0.5}
    for part in encoder.value.parts:
        part.weight.data.copy_(torch.eye(60))
        part.bias.data.zero_()
    one, two = encoder.value(x).unbind(1)
    assert 0.2 < (one == 0).double().mean() < 0.8
    assert not torch.equal(one, two)


def test_l2_covers_every_matrix_of_the_block_as_often_as_told() -> None:
    encoder = mtsa(l2=2.0)
    covered = l2_factors(encoder)
    assert {factor for _, factor in covered} == {2.0}
    matrices = {id(parameter) for parameter in encoder.parameters() if parameter.dim() == 2}
    assert {id(parameter) for parameter, _ in covered} == matrices
    assert len(matrices) == 2 * 6


def test_the_defaults_are_the_published_ones() -> None:
    config = MtsaConfig()
    assert (config.heads, config.masks, config.dropout) == (2, ("forward", "backward"), 0.35)
    assert (config.token2token, config.score_layers, config.gate) == ("sigmoid", 2, True)
    assert not config.self_visible
