"""The network that translates: later words change nothing, padding and neighbors neither, tables shared or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.settings import read_table
from heedful.structures import Batch, Sentences
from heedful_lab.translation.decoder import DecoderConfig
from heedful_lab.translation.translation_network import TranslationConfig, TranslationNetwork
from heedful_lab.translation.translation_task import build_translation

SMALL = DecoderConfig(layers=2, heads=2, hidden=16)
ENCODERS = {
    "transformer": {"layers": 2, "heads": 2},
    "mtsa-transformer": {"layers": 2, "heads": 2},
    "mtsa-stacked": {"layers": 2, "heads": 2},
    "mssan": {"heads": ["forward & word", "backward"], "layers": 2},
    "multi-head": {"heads": 2, "head_width": 7},
}
SOURCES, TARGETS = (4, 2, 6), (5, 3, 2)


def build(encoder: str = "transformer", *, shared: bool = True) -> TranslationNetwork:
    torch.manual_seed(0)
    model = ModelConfig("translation", encoder, ENCODERS[encoder], width=12, activation="relu")
    translation = TranslationConfig(shared=shared, decoder=SMALL)
    return build_translation(model, translation, 30, 30 if shared else 20).double().eval()


def column(lengths: tuple[int, ...], rows: int, padding: int = 0) -> Sentences:
    width = max(lengths) + padding
    valid = torch.arange(width) < torch.tensor(lengths)[:, None]
    generator = torch.Generator().manual_seed(rows)
    ids = torch.stack([torch.randint(3, rows, (32,), generator=generator)[:width] for _ in lengths])
    return Sentences(ids * valid, valid)


def batch(padding: int = 0, target_rows: int = 30) -> Batch:
    return Batch((column(SOURCES, 30, padding), column(TARGETS, target_rows, padding)))


encoders = pytest.mark.parametrize("encoder", ENCODERS)


def logits(network: TranslationNetwork, given: Batch) -> Tensor:
    return network(given).logits


@encoders
def test_later_words_of_the_translation_change_nothing(encoder: str) -> None:
    network, given = build(encoder), batch()
    before = logits(network, given)
    source, target = given.sides
    for place in range(1, target.ids.shape[1]):
        ids = target.ids.clone()
        ids[:, place] = 3 + (ids[:, place] + 1) % 20
        after = logits(network, Batch((source, replace(target, ids=ids))))
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.equal(after[:, place:], before[:, place:])


@encoders
def test_padding_and_neighbors_change_nothing(encoder: str) -> None:
    network, given = build(encoder), batch()
    plain, padded = logits(network, given), logits(network, batch(padding=3))
    for row, length in enumerate(TARGETS):
        torch.testing.assert_close(padded[row, :length], plain[row, :length], atol=1e-10, rtol=0)
        source, target = (
            Sentences(side.ids[row : row + 1, :n], side.valid[row : row + 1, :n])
            for side, n in zip(given.sides, (SOURCES[row], length), strict=True)
        )
        alone = logits(network, Batch((source, target)))
        torch.testing.assert_close(alone[0], plain[row, :length], atol=1e-10, rtol=0)


@encoders
def test_steps_give_what_teacher_forcing_gives(encoder: str) -> None:
    network, given = build(encoder), batch()
    expected = torch.log_softmax(logits(network, given).float(), dim=-1)
    cache = network.begin(given.sides[0])
    for place in range(max(TARGETS)):
        found, cache = network.step(given.sides[1].ids[:, place], cache)
        torch.testing.assert_close(found, expected[:, place], atol=1e-5, rtol=0)


def test_attention_on_the_source_adds_up_and_changes_nothing() -> None:
    network, given = build("mtsa-transformer"), batch()
    told = network(given, need_weights=True)
    torch.testing.assert_close(told.logits, logits(network, given), atol=1e-10, rtol=0)
    assert len(told.alignments) == 4
    for weights in told.alignments.values():
        assert weights.shape == (3, max(TARGETS), max(SOURCES))
        assert not weights.transpose(1, 2)[~given.sides[0].valid].any()


@pytest.mark.parametrize("shared", [True, False])
def test_tables_are_one_or_three(shared: bool) -> None:
    network = build(shared=shared)
    given = batch(target_rows=30 if shared else 20)
    tables = {name: p for name, p in network.named_parameters() if name.startswith("tables.")}
    assert len(tables) == (1 if shared else 3)
    assert logits(network, given).shape[-1] == (30 if shared else 20)
    logits(network, given).square().sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_vectors_start_as_long_as_positions() -> None:
    torch.manual_seed(0)
    network = build_translation(
        ModelConfig("translation", "transformer", width=64), TranslationConfig(), 500, 500
    )
    x = network.tables.source(torch.arange(500)[None])
    assert x.std().item() == pytest.approx(1.0, abs=0.02)


def test_saved_weights_give_the_same_logits() -> None:
    first, given = build("mssan"), batch()
    torch.manual_seed(5)
    second = build("mssan")
    for parameter in second.parameters():
        torch.nn.init.normal_(parameter)
    second.load_state_dict(first.state_dict())
    assert torch.equal(logits(first, given), logits(second, given))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": "decomposable"}, "encodes no single text"),
        ({"encoder": "transfomer"}, "did you mean 'transformer'"),
        ({"width": 10, "encoder_options": {"heads": 2}}, r"decoder\.heads=4"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    settings = {"task": "translation", "encoder": "transformer", "width": 12, **changes}
    with pytest.raises(UsageError, match=message):
        build_translation(ModelConfig(**settings), TranslationConfig(decoder=DecoderConfig(heads=4)), 30, 30)


def test_settings_are_checked_and_read_back() -> None:
    import dataclasses

    with pytest.raises(UsageError, match="256 bytes"):
        TranslationConfig(pieces=100)
    with pytest.raises(UsageError, match="label_smoothing"):
        TranslationConfig(label_smoothing=1.0)
    config = TranslationConfig(shared=False, decoder=SMALL)
    problems: list[str] = []
    assert read_table(TranslationConfig, dataclasses.asdict(config), "", problems) == config
    assert not problems
    with pytest.raises(UsageError, match="has a source and a target"):
        build()(Batch(batch().sides[:1]))
