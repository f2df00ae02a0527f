"""Dependency trees as heads and as distances. Only NumPy.

A parse is one number a word: the place of its head in the sentence, from 1, as in CoNLL-U; 0 for a root, -1 where the
head is not known. Several roots hang on one virtual root, so that two words under different roots are still joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROOT, UNKNOWN = 0, -1

Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence with its dependency tree.

    Attributes:
        words: the tokens.
        heads: head of each token: its place from 1, 0 for a root, -1 where unknown.
        relations: name of the link to the head; empty where there are none.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...] = ()


def tree_distances(heads: Sequence[int] | Integers) -> NDArray[np.int16]:
    """Return the number of steps between every two words of a sentence along its dependency tree.

    Direction does not count. The virtual root is a step of its own: two roots are 2 apart.

    Args:
        heads: head of each word, n of them, free of mistakes (see `mistake_in`).

    Returns:
        Steps, [n, n]; symmetric, zero on the diagonal, -1 where no path is known.
    """
    return padded_distances(np.asarray(heads, np.int64)[None, :], np.array([len(heads)]))[0]


def padded_distances(heads: Integers, lengths: Integers) -> NDArray[np.int16]:
    """Return `tree_distances` of several sentences at once.

    Args:
        heads: head of each word, [B, L]; what follows a sentence may hold anything.
        lengths: words of each sentence, [B].

    Returns:
        Steps, [B, L, L]; -1 where no path is known and at padding.
    """
    batch, longest = heads.shape
    real = np.arange(longest) < np.asarray(lengths)[:, None]
    # Node 0 is the virtual root, node i + 1 is word i; above[b, i, k] says that word i hangs, at any depth, on node k.
    above = np.zeros((batch, longest, longest + 1), np.float32)
    rows, words = np.nonzero(real)
    nodes: Integers = words + 1
    for _ in range(longest + 1):
        above[rows, words, nodes] = 1
        climbing = nodes > ROOT
        rows, words = rows[climbing], words[climbing]
        nodes = heads[rows, nodes[climbing] - 1]
        known = nodes != UNKNOWN
        rows, words, nodes = rows[known], words[known], nodes[known]
        if not len(rows):
            break
    shared = above @ above.transpose(0, 2, 1)  # nodes on both ways up
    depth = above.sum(axis=2)
    steps = depth[:, :, None] + depth[:, None, :] - 2 * shared
    return np.where(shared > 0, steps, -1).astype(np.int16)


def mistake_in(heads: Integers, offsets: Integers) -> tuple[int, int, str] | None:
    """Look for heads that make no tree.

    Args:
        heads: the heads of all sentences end to end, [T].
        offsets: where each sentence starts, and the end of the last, [N + 1].

    Returns:
        Sentence and word, both from 0, and what is wrong; None if every sentence is a tree or several.
    """
    lengths = np.diff(offsets)
    limit = np.repeat(lengths, lengths)
    first = np.repeat(offsets[:-1], lengths)
    wrong = (heads < UNKNOWN) | (heads > limit)
    if wrong.any():
        return _place(int(np.flatnonzero(wrong)[0]), heads, offsets, "is outside 0 (root) to {length}")
    climbing = np.flatnonzero(heads > ROOT)
    nodes = first[climbing] + heads[climbing] - 1
    for _ in range(int(lengths.max(initial=0))):
        goes_on = heads[nodes] > ROOT
        climbing, nodes = climbing[goes_on], nodes[goes_on]
        if not len(climbing):
            return None
        nodes = first[nodes] + heads[nodes] - 1
    return _place(int(climbing[0]), heads, offsets, "leads round in a circle") if len(climbing) else None


def _place(token: int, heads: Integers, offsets: Integers, problem: str) -> tuple[int, int, str]:
    sentence = int(np.searchsorted(offsets, token, side="right")) - 1
    length = int(offsets[sentence + 1] - offsets[sentence])
    return sentence, token - int(offsets[sentence]), f"head {heads[token]} {problem.format(length=length)}"


def cut_heads(heads: Sequence[int] | Integers, longest: int) -> list[int]:
    """Keep the heads of the first words of a sentence.

    A word whose head is cut off hangs on the nearest word above it that stays, or becomes a root.

    Args:
        heads: head of each word.
        longest: how many words stay.

    Returns:
        The heads of the words that stay.
    """
    kept = []
    for head in heads[:longest]:
        while head > longest:
            head = heads[head - 1]
        kept.append(int(head))
    return kept


def split_heads(heads: Sequence[int], pieces: Sequence[int]) -> list[int]:
    """Carry heads of words over to the pieces that a tokenizer made of them.

    The first piece takes the place of its word in the tree; the others hang on it.

    Args:
        heads: head of each word.
        pieces: number of pieces of each word; a word may have none left, and what hung on it is then unknown.

    Returns:
        The head of each piece.
    """
    starts = np.concatenate([[0], np.cumsum(pieces)]).tolist()
    carried: list[int] = []
    for word, (head, count) in enumerate(zip(heads, pieces, strict=True)):
        if not count:
            continue
        lost = head > ROOT and not pieces[head - 1]
        carried.append(UNKNOWN if lost else starts[head - 1] + 1 if head > ROOT else head)
        carried += [starts[word] + 1] * (count - 1)
    return carried
