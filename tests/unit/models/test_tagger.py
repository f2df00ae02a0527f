"""The network that labels roles: the mark of the predicate counts, neighbors and padding change nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.models import ModelConfig, TaggerConfig
from heedful.models.tagger import PredicateFinder
from heedful.nn.losses import role_loss
from heedful.structures import Batch, Sentences, TaggedBatch
from heedful.tasks import build_network

ENCODERS = {
    "mtsa-deep-att": {"layers": 2, "heads": 2},
    "deep-att": {"layers": 2, "heads": 2},
    "bi-lstm": {"layers": 2, "hidden": 5},
    "cnn": {"filters": 4},
    "hierarchical-cnn": {"layers": 2, "size": 3},
    "mssan": {"heads": ["forward & word", "backward"], "layers": 2},
}


def build(encoder: str):
    torch.manual_seed(0)
    tagger = TaggerConfig(flag_width=4, projected=12, finder_hidden=6)
    model = ModelConfig("roles", encoder, ENCODERS[encoder], width=8, outputs=5, tagger=tagger)
    return build_network(model, torch.randn(20, 8)).double().eval()


def batch(lengths: tuple[int, ...], predicates: tuple[int, ...], padding: int = 0) -> TaggedBatch:
    width = max(lengths) + padding
    valid = torch.arange(width) < torch.tensor(lengths)[:, None]
    ids = torch.arange(2, 2 + width).repeat(len(lengths), 1) * valid
    return TaggedBatch(
        (Sentences(ids, valid),), None, None, torch.arange(width) == torch.tensor(predicates)[:, None]
    )


@pytest.mark.parametrize("encoder", list(ENCODERS))
def test_an_example_alone_gets_what_it_gets_in_a_batch(encoder: str) -> None:
    network = build(encoder)
    together = network(batch((5, 3, 1), (1, 2, -1), padding=2))
    for row, (length, predicate) in enumerate(((5, 1), (3, 2), (1, -1))):
        alone = network(batch((length,), (predicate,)))
        torch.testing.assert_close(together.logits[row, :length], alone.logits[0], rtol=0, atol=1e-9)
        found = together.predicate_logits[row]
        torch.testing.assert_close(found[:length], alone.predicate_logits[0], rtol=0, atol=1e-9)
        assert not found[length:].any()


@pytest.mark.parametrize("encoder", list(ENCODERS))
def test_another_predicate_gives_other_tags_and_the_same_predicates(encoder: str) -> None:
    network = build(encoder)
    first, second = network(batch((5,), (1,))), network(batch((5,), (3,)))
    assert not torch.allclose(first.logits, second.logits)
    assert torch.equal(first.predicate_logits, second.predicate_logits)


def test_the_finder_learns_but_moves_no_word_vector() -> None:
    network = build("mtsa-deep-att")
    asked = batch((4,), (1,))
    output = network(asked)
    targets = torch.stack([torch.full((1, 4), -1), torch.tensor([[0, 1, 0, 0]])], dim=-1)
    role_loss(output.logits, output.predicate_logits, targets, 0.0).sum().backward()
    grown = {name for name, p in network.named_parameters() if _moves(p.grad)}
    assert grown == {name for name, _ in network.named_parameters() if name.startswith("finder.")}


def test_the_finder_sees_so_many_words_on_each_side_and_no_padding() -> None:
    torch.manual_seed(1)
    finder = PredicateFinder(3, 4, reach=2).eval()
    x, valid = torch.randn(1, 7, 3), torch.ones(1, 7, dtype=torch.bool)
    before = finder(x, valid)
    changed = x.clone()
    changed[0, 6] += 1
    moved = (finder(changed, valid) != before)[0].tolist()
    assert moved == [False] * 4 + [True] * 3
    short = valid.clone()
    short[0, 6] = False
    changed[0, 6] = torch.nan
    torch.testing.assert_close(finder(changed, short)[0, :6], finder(x[:, :6], valid[:, :6])[0])


def test_a_batch_without_flags_is_refused() -> None:
    network = build("mtsa-deep-att")
    asked = batch((4,), (1,))
    for wrong in (Batch(asked.sides), replace(asked, flags=None)):
        with pytest.raises(UsageError, match="a tagger takes a TaggedBatch with flags"):
            network(wrong)


def _moves(gradient: Tensor | None) -> bool:
    if gradient is None:
        return False
    return bool((gradient.to_dense() if gradient.is_sparse else gradient).abs().sum() > 0)
