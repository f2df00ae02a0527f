"""Whole networks, from word ids to logits."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.models import ENCODERS, ModelConfig, Network
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network

LENGTHS = ((4, 1, 0), (2, 5, 3))
UNKNOWN = 1
SHALLOW = {"deep-att": {"layers": 3}, "mtsa-deep-att": {"layers": 3}}
"""Ten layers without word vectors' scale grow the states, and with them the rounding that a bound of 2e-6 allows."""


def network(task: str = "pair", encoder: str = "disan", **changes: Any) -> Network:
    torch.manual_seed(0)
    changes = {"encoder_options": SHALLOW.get(encoder, {})} | changes
    config = ModelConfig(task=task, encoder=encoder, width=24, hidden=10, outputs=5, **changes)
    return build_network(config, torch.randn(9, 24), torch.randn(3, 24)).eval()


def column(lengths: tuple[int, ...], width: int, seed: int = 0) -> Sentences:
    generator = torch.Generator().manual_seed(seed)
    valid = torch.arange(width) < torch.tensor(lengths)[:, None]
    ids = torch.randint(UNKNOWN, 12, (len(lengths), 8), generator=generator)[:, :width]
    distance = (torch.arange(width)[:, None] - torch.arange(width)[None, :]).abs()
    pairs = valid[:, :, None] & valid[:, None, :]
    return Sentences(ids * valid, valid, torch.where(pairs, distance, -1).to(torch.int16))


def batch(task: str) -> Batch:
    sides = tuple(column(lengths, 6, seed) for seed, lengths in enumerate(LENGTHS))
    return Batch(sides[:1] if task == "text" else sides)


def row_alone(whole: Batch, row: int) -> Batch:
    """One example cut out of a batch, without padding."""
    sides = []
    for side in whole.sides:
        length = max(int(side.valid[row].sum()), 1)
        assert side.tree_distance is not None
        tree = side.tree_distance[row : row + 1, :length, :length]
        sides.append(Sentences(side.ids[row : row + 1, :length], side.valid[row : row + 1, :length], tree))
    return Batch(tuple(sides))


TASKS: tuple[str, ...] = ("text", "pair", "relatedness")
"""What is answered from sentence vectors."""
ALL = list(product(TASKS, ENCODERS))


@pytest.mark.parametrize(("task", "encoder"), ALL)
def test_an_example_alone_gets_the_logits_it_gets_in_a_batch(task: str, encoder: str) -> None:
    net, whole = network(task, encoder), batch(task)
    together = net(whole)
    assert together.logits.shape == (3, 5)
    assert together.logits.isfinite().all()
    for row in range(3):
        alone = net(row_alone(whole, row))
        same_logits(alone.logits[0], together.logits[row])


def same_logits(found: Tensor, expected: Tensor) -> None:
    # Rounding grows with the logits: over seeds the reference itself is up to 2.04e-6 apart where they reach 3.
    size = max(1.0, float(expected.detach().abs().max()))
    torch.testing.assert_close(found, expected, atol=2e-6 * size, rtol=0)


@pytest.mark.parametrize(("task", "encoder"), ALL)
def test_every_parameter_below_the_head_is_reached_from_the_logits(task: str, encoder: str) -> None:
    net = network(task, encoder)
    torch.manual_seed(1)
    (net(batch(task)).logits * torch.randn(3, 5)).sum().backward()
    missing = [name for name, parameter in net.named_parameters() if parameter.grad is None]
    assert missing == [name for name, _ in net.named_parameters() if ".encoder.policy." in name]


@pytest.mark.parametrize(("task", "encoder"), ALL)
def test_traces_come_on_request_and_change_nothing(task: str, encoder: str) -> None:
    net, whole = network(task, encoder), batch(task)
    plain, told = net(whole), net(whole, need_weights=True)
    same_logits(told.logits, plain.logits)
    assert plain.traces == ()
    assert len(told.traces) == len(told.vectors) == len(whole.sides)
    for side, trace in zip(whole.sides, told.traces, strict=True):
        assert trace.context.states.shape[:2] == side.ids.shape
        assert trace.pooled.weights is not None


def test_the_number_of_cases() -> None:
    assert len(ALL) >= 3


def test_both_sides_share_one_sentence_encoder() -> None:
    net = network("pair")
    side = column((3, 4), 5)
    first, second = net(Batch((side, side))).vectors
    assert torch.equal(first, second)


def test_the_sides_of_a_pair_are_told_apart_and_of_relatedness_are_not() -> None:
    one, two = batch("pair").sides
    for task, same in (("pair", False), ("relatedness", True)):
        net = network(task)  # type: ignore[arg-type]
        assert torch.equal(net(Batch((one, two))).logits, net(Batch((two, one))).logits) == same


def test_the_first_side_of_a_pair_is_u() -> None:
    net, seen = network("pair"), []
    net.head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    first, second = net(batch("pair")).vectors
    assert torch.equal(seen[0], torch.cat([first, second, first - second, first * second], dim=1))


def test_word_order_changes_the_logits() -> None:
    net = network("text")
    valid = torch.ones(1, 3).bool()
    there, back = torch.tensor([[4, 5, 6]]), torch.tensor([[6, 5, 4]])
    one, two = (net(Batch((Sentences(ids, valid),))).logits for ids in (there, back))
    assert (one - two).abs().max() > 1e-4


def test_a_text_without_words_has_finite_logits_that_depend_on_nothing() -> None:
    net = network("text")
    empty = [Sentences(torch.full((1, n), 3), torch.zeros(1, n).bool()) for n in (1, 4)]
    one, two = (net(Batch((side,))) for side in empty)
    assert not one.vectors[0].any()
    assert one.logits.isfinite().all()
    assert torch.equal(one.logits, two.logits)


def test_an_unknown_word_is_zero_yet_seen() -> None:
    net = network("text")
    assert not net.sentence_encoder.embedding(torch.tensor([[UNKNOWN]])).any()
    known = Sentences(torch.tensor([[4, 5]]), torch.ones(1, 2).bool())
    longer = Sentences(torch.tensor([[4, UNKNOWN, 5]]), torch.ones(1, 3).bool())
    told = net(Batch((longer,)), need_weights=True)
    assert by_caption(told.traces[0].context.maps)["forward"][0, 2, 1].min() > 0.01
    assert (told.logits - net(Batch((known,))).logits).abs().max() > 1e-4


def test_bfloat16_autocast_reaches_the_loss() -> None:
    for task in TASKS:
        net, whole = network(task).train(), batch(task)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(whole).logits
        logits.float().sum().backward()
        assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in net.parameters())
        exact = net.eval()(whole).logits
        assert (logits.float() - exact).abs().max() < 10  # same order; dropout is on


@pytest.mark.parametrize(("task", "sides"), [("text", 2), ("pair", 1), ("relatedness", 3)])
def test_the_wrong_number_of_sides_is_refused(task: str, sides: int) -> None:
    with pytest.raises(
        UsageError, match=rf"takes {1 if task == 'text' else 2} text\(s\) an example; got {sides}"
    ):
        network(task)(Batch((column((2,), 3),) * sides))
