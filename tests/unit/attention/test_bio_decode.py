"""Constrained decoding finds the best valid sequence: checked against all sequences."""

from __future__ import annotations

import itertools

import pytest
import torch

from heedful.attention.bio import bio_decode
from heedful.errors import UsageError
from heedful.text.bio import begin_numbers, bio_tags, mistake_in

TAGS = bio_tags(["A", "B"])
BEGINS = torch.tensor(begin_numbers(TAGS))


def best(scores: torch.Tensor) -> float:
    """Return the largest sum over all valid sequences."""
    return max(
        sum(float(scores[place, tag]) for place, tag in enumerate(path))
        for path in itertools.product(range(len(TAGS)), repeat=len(scores))
        if mistake_in([TAGS[tag] for tag in path]) is None
    )


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_best_of_all_valid_sequences(seed: int) -> None:
    lengths = (4, 1, 5, 3)
    scores = 3 * torch.randn(4, 5, len(TAGS), generator=torch.Generator().manual_seed(seed))
    valid = torch.arange(5) < torch.tensor(lengths)[:, None]
    found = bio_decode(scores, valid, BEGINS)
    for row, length in enumerate(lengths):
        path = found[row, :length]
        assert mistake_in([TAGS[tag] for tag in path]) is None
        mine = scores[row, :length].gather(1, path[:, None]).sum()
        assert float(mine) == pytest.approx(best(scores[row, :length]), abs=1e-5)
        assert not found[row, length:].any()


def test_a_valid_best_tag_of_each_word_stays() -> None:
    wanted = [TAGS.index(tag) for tag in ("B-A", "I-A", "O", "B-B")]
    scores = torch.zeros(1, 4, len(TAGS))
    scores[0, range(4), wanted] = 1.0
    assert bio_decode(scores, torch.ones(1, 4, dtype=torch.bool), BEGINS)[0].tolist() == wanted


def test_an_invalid_best_tag_gives_way_to_the_cheapest_repair() -> None:
    scores = torch.zeros(1, 2, len(TAGS))
    scores[0, 0, TAGS.index("I-A")] = 1.0  # cannot begin
    scores[0, 1, TAGS.index("I-A")] = 1.0  # may follow B-A
    found = bio_decode(scores, torch.ones(1, 2, dtype=torch.bool), BEGINS)
    assert [TAGS[tag] for tag in found[0]] == ["B-A", "I-A"]


def test_among_equals_the_smallest_number_wins() -> None:
    scores, valid = torch.zeros(1, 3, len(TAGS)), torch.ones(1, 3, dtype=torch.bool)
    assert [TAGS[tag] for tag in bio_decode(scores, valid, BEGINS)[0]] == ["O", "O", "O"]
    scores[0, 0, TAGS.index("B-A")] = 1.0
    scores[0, 2, TAGS.index("I-A")] = 1.0  # which B-A and I-A may both go before
    assert [TAGS[tag] for tag in bio_decode(scores, valid, BEGINS)[0]] == ["B-A", "B-A", "I-A"]


def test_a_sentence_without_words_and_a_wider_batch_change_nothing() -> None:
    scores = torch.randn(2, 3, len(TAGS), generator=torch.Generator().manual_seed(9))
    valid = torch.tensor([[True, True, False], [False, False, False]])
    narrow = bio_decode(scores[:1, :2], valid[:1, :2], BEGINS)
    assert torch.equal(bio_decode(scores, valid, BEGINS)[:1, :2], narrow)
    assert not bio_decode(scores, valid, BEGINS)[1].any()


@pytest.mark.parametrize(
    ("scores", "valid", "begins", "message"),
    [
        (torch.zeros(1, 0, 5), torch.zeros(1, 0, dtype=torch.bool), BEGINS, "L >= 1"),
        (
            torch.zeros(1, 2, 5, dtype=torch.int64),
            torch.ones(1, 2, dtype=torch.bool),
            BEGINS,
            "floating point, L >= 1; got torch.int64",
        ),
        (torch.zeros(1, 2, 5), torch.zeros(1, 2), BEGINS, "valid must be booleans"),
        (torch.zeros(1, 2, 4), torch.ones(1, 2, dtype=torch.bool), BEGINS, "one number a tag, 4"),
        (torch.zeros(1, 2, 5), torch.ones(1, 2, dtype=torch.bool), BEGINS.clamp(min=0), "could begin"),
    ],
)
def test_refusals(scores: torch.Tensor, valid: torch.Tensor, begins: torch.Tensor, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bio_decode(scores, valid, begins)


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_form_equals_the_reference(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randint(
        -3, 4, (6, 7, len(TAGS)), generator=draw
    ).float()  # whole numbers: many sequences are equal
    valid = torch.arange(7) < torch.tensor([7, 1, 0, 3, 5, 2])[:, None]
    for ours, exact in zip(*(_sums(scores, valid, impl) for impl in ("torch", "reference")), strict=True):
        assert ours == exact


def _sums(scores: torch.Tensor, valid: torch.Tensor, impl: str) -> list[float]:
    """Return what the answered sequence of each sentence sums to; it is a valid one."""
    tags = bio_decode(scores, valid, BEGINS, impl=impl)
    sums = []
    for row, length in enumerate(valid.sum(dim=1).tolist()):
        path = tags[row, :length].tolist()
        assert mistake_in([TAGS[tag] for tag in path]) is None
        sums.append(sum(float(scores[row, place, tag]) for place, tag in enumerate(path)))
    return sums
