"""Sentences as tensors and back: cut by rows, joined with others, or padded, they stay the same sentences."""

from __future__ import annotations

from itertools import pairwise

import torch

from heedful.estimators.tensor_features import features_of, sentences_of
from heedful.structures import Sentences, Spellings

IDS = torch.tensor([[3, 4, 5], [6, 0, 0], [0, 0, 0]])
SPELLINGS = Spellings(
    torch.tensor([[0, 1, 0], [2, 3, 3], [3, 3, 3]]), torch.tensor([0, 4, 7, 9]), torch.tensor([0, 2, 3, 4, 4])
)
NOWHERE = [-1, -1, -1]
TREE = torch.tensor([[[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, -1, -1], NOWHERE, NOWHERE], [NOWHERE] * 3])
SENTENCES = Sentences(
    IDS,
    IDS != 0,
    TREE.to(torch.int16),
    torch.tensor([[0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    torch.tensor([[1, -1, 1], NOWHERE, NOWHERE]),
    SPELLINGS,
)


def of_tokens(spellings: Spellings | None) -> list[list[list[int]]]:
    """The n-grams of each token."""
    assert spellings is not None
    ends = spellings.offsets.tolist()
    words = [spellings.rows[a:b].tolist() for a, b in pairwise(ends)]
    return [[words[place] for place in row] for row in spellings.places.tolist()]


def test_there_and_back() -> None:
    back = sentences_of(features_of(SENTENCES))
    for name in ("ids", "valid", "tree_distance", "words", "heads"):
        assert torch.equal(getattr(back, name), getattr(SENTENCES, name)), name
    assert of_tokens(back.spellings) == of_tokens(SPELLINGS)
    plain = sentences_of(features_of(Sentences(IDS, IDS != 0)))
    assert (plain.spellings, plain.tree_distance, plain.heads, plain.words) == (None, None, None, None)
    assert torch.equal(plain.ids, IDS)


def test_rows_may_be_taken_and_padded_with_zeros() -> None:
    features = features_of(SENTENCES)
    assert all(value.shape[0] == 3 for value in features.values())
    some = sentences_of({name: value[:2] for name, value in features.items()})
    assert of_tokens(some.spellings) == of_tokens(SPELLINGS)[:2]
    wider = {
        name: torch.nn.functional.pad(value, [0, 0] * (value.dim() - 2) + [0, 2])
        for name, value in features.items()
    }
    padded = sentences_of(wider)
    assert padded.valid.shape == (3, 5)
    assert padded.tree_distance is not None
    assert padded.heads is not None
    assert torch.equal(padded.tree_distance[:, :3, :3], TREE)
    assert (padded.tree_distance[:, 3:] == -1).all()
    assert (padded.heads[:, 3:] == -1).all()
    assert [row[:3] for row in of_tokens(padded.spellings)] == of_tokens(SPELLINGS)
