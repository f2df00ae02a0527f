"""Tree distances against a search through the tree, and every mistake a parse can have."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.dependency import cut_heads, mistake_in, padded_distances, split_heads, tree_distances


@st.composite
def parses(draw: st.DrawFn) -> list[int]:
    """Forests: words are attached in a random order, each to an earlier one, to the root, or to nothing known."""
    count = draw(st.integers(0, 12))
    order = draw(st.permutations(range(1, count + 1)))
    heads = [0] * count
    for place, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, -1, *order[:place]]))
    return heads


def by_search(heads: list[int]) -> list[list[int]]:
    """Breadth first, over words 1 to n and the virtual root 0."""
    links: dict[int, set[int]] = {node: set() for node in range(len(heads) + 1)}
    for word, head in enumerate(heads, start=1):
        if head >= 0:
            links[word].add(head)
            links[head].add(word)
    table = []
    for start in range(1, len(heads) + 1):
        steps, waiting = {start: 0}, deque([start])
        while waiting:
            node = waiting.popleft()
            for other in links[node] - set(steps):
                steps[other] = steps[node] + 1
                waiting.append(other)
        table.append([steps.get(node, -1) for node in range(1, len(heads) + 1)])
    return table


@given(parses())
def test_distances_are_those_of_a_search(heads: list[int]) -> None:
    steps = tree_distances(heads)
    assert steps.dtype == np.int16
    assert steps.shape == (len(heads), len(heads))
    assert steps.tolist() == by_search(heads)
    assert (steps == steps.T).all()
    assert not steps.diagonal().any()


@given(st.lists(parses(), max_size=5))
def test_a_batch_is_its_sentences_one_by_one(sentences: list[list[int]]) -> None:
    longest = max((len(s) for s in sentences), default=0) + 2
    heads = np.full((len(sentences), longest), 99)  # what stands in the padding is never read
    for row, sentence in enumerate(sentences):
        heads[row, : len(sentence)] = sentence
    together = padded_distances(heads, np.array([len(s) for s in sentences], int))
    for row, sentence in enumerate(sentences):
        n = len(sentence)
        assert together[row, :n, :n].tolist() == tree_distances(sentence).tolist()
        assert (together[row, n:] == -1).all()
        assert (together[row, :, n:] == -1).all()


def test_a_sentence_by_hand() -> None:
    # Two kids at a ballgame wash their hands
    heads = [2, 6, 5, 5, 2, 0, 8, 6]
    wash = tree_distances(heads)[5].tolist()
    assert wash == [2, 1, 3, 3, 2, 0, 2, 1]


def test_two_roots_are_two_steps_apart_and_a_long_chain_is_counted() -> None:
    assert tree_distances([0, 0, 2]).tolist() == [[0, 2, 3], [2, 0, 1], [3, 1, 0]]
    chain = tree_distances(range(400))
    assert chain[0, 399] == 399


def flat(sentences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0] + [len(s) for s in sentences])
    return np.array([h for s in sentences for h in s], np.int64), offsets


@given(st.lists(parses(), max_size=4))
def test_trees_have_no_mistake(sentences: list[list[int]]) -> None:
    assert mistake_in(*flat(sentences)) is None


@pytest.mark.parametrize(
    ("sentences", "place"),
    [
        ([[0], [1]], (1, 0, "head 1 leads round in a circle")),
        ([[0, 1], [0, 3, 2]], (1, 1, "head 3 leads round in a circle")),
        ([[2, 3, 1]], (0, 0, "head 2 leads round in a circle")),
        ([[0, 3]], (0, 1, "head 3 is outside 0 (root) to 2")),
        ([[], [0, -2]], (1, 1, "head -2 is outside 0 (root) to 2")),
    ],
)
def test_what_is_no_tree_is_named(sentences: list[list[int]], place: tuple[int, int, str]) -> None:
    assert mistake_in(*flat(sentences)) == place


@given(parses(), st.integers(1, 12))
def test_a_cut_sentence_keeps_its_order_of_ancestors(heads: list[int], longest: int) -> None:
    kept = cut_heads(heads, longest)
    assert len(kept) == min(len(heads), longest)
    assert mistake_in(*flat([kept])) is None
    for word, head in enumerate(kept, start=1):
        above, node = [], word
        while (node := heads[node - 1]) > 0:
            above.append(node)
        staying = [a for a in above if a <= longest]
        assert head == (staying[0] if staying else heads[above[-1] - 1] if above else heads[word - 1])


def test_pieces_hang_on_the_first_piece_of_their_word() -> None:
    assert split_heads([2, 0, 2], [1, 1, 1]) == [2, 0, 2]
    assert split_heads([2, 0, 2], [1, 3, 2]) == [2, 0, 2, 2, 2, 5]
    assert split_heads([2, 0, 2, -1], [1, 0, 1, 1]) == [-1, -1, -1]


def test_random_trees_of_real_length_agree_with_a_search() -> None:
    generator = random.Random(0)
    for _ in range(20):
        count = generator.randint(30, 60)
        heads = [generator.randint(0, word) for word in range(count)]
        assert tree_distances(heads).tolist() == by_search(heads)
