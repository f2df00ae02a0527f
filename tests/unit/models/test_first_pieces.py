"""Words are read at their first piece, with padding, trees and heads of words."""

from __future__ import annotations

import torch

from heedful.models.tagger import at_first_pieces
from heedful.structures import Sentences

# two texts: words of 1, 3 and 2 pieces; one word of 2; and one without words
WORDS = torch.tensor([[0, 1, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
VALID = torch.tensor([[True] * 6, [True, True] + [False] * 4, [False] * 6])
IDS = torch.tensor([[7, 1, 2, 3, 4, 5], [8, 9, 0, 0, 0, 0], [0] * 6])


def test_states_and_ids_are_those_of_first_pieces() -> None:
    states = torch.arange(18.0).view(3, 6, 1) + 1
    found, words = at_first_pieces(states, Sentences(IDS, VALID, words=WORDS))
    assert found[..., 0].tolist() == [[1, 2, 5], [7, 0, 0], [0, 0, 0]]
    assert words.ids.tolist() == [[7, 1, 4], [8, 0, 0], [0, 0, 0]]
    assert words.valid.sum(dim=1).tolist() == [3, 1, 0]
    assert words.words is None


def test_trees_and_heads_are_those_of_words() -> None:
    tree = torch.full((1, 6, 6), -1, dtype=torch.int16)
    for row, place in enumerate((0, 1, 1, 1, 2, 2)):
        for column, other in enumerate((0, 1, 1, 1, 2, 2)):
            tree[0, row, column] = abs(place - other)
    heads = torch.tensor([[1, -1, -1, -1, 1, 1]])
    sentences = Sentences(IDS[:1], VALID[:1], tree, WORDS[:1], heads)
    _, words = at_first_pieces(torch.ones(1, 6, 2), sentences)
    assert words.tree_distance is not None
    assert words.tree_distance.tolist() == [[[0, 1, 2], [1, 0, 1], [2, 1, 0]]]
    assert words.heads is not None
    assert words.heads.tolist() == [[1, -1, 1]]


def test_words_stay_as_they_are() -> None:
    sentences, states = Sentences(IDS, VALID), torch.ones(3, 6, 2)
    found, words = at_first_pieces(states, sentences)
    assert found is states
    assert words is sentences


def test_gradients_reach_first_pieces_alone() -> None:
    states = torch.ones(3, 6, 2, requires_grad=True)
    at_first_pieces(states, Sentences(IDS, VALID, words=WORDS))[0].sum().backward()
    assert states.grad is not None
    assert states.grad[..., 0].tolist() == [[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0], [0] * 6]
