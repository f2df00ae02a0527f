"""What the two layouts of the Stanford Sentiment Treebank share: classes, escapes, nodes as samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heedful.data.readers.build import CorpusBuilder
from heedful.errors import UsageError

FIVE_CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")
TWO_CLASSES = ("negative", "positive")
NEUTRAL = 2
SENTENCE, PHRASE = "sentence", "phrase"
_UPPER_BOUNDS = (0.2, 0.4, 0.6, 0.8)
_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}
_EXTRA_COPIES = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a tree: its level (0 very negative to 4 very positive) and the words it spans."""

    level: int
    start: int
    end: int


@dataclass(frozen=True)
class SstOptions:
    """How trees become samples.

    Attributes:
        classes: 5, or 2 (neutral dropped and counted, the outer classes merged).
        phrases: every node is a sample, repeated phrases repeated; else the whole sentences only.
        rebalance: a whole sentence, or a node that is not neutral, counts four times (only with ``phrases``).
        unescape: write brackets, quotation marks, slash and star as a reader types them, as `binary_parse_words` does.
    """

    classes: Literal[2, 5] = 5
    phrases: bool = False
    rebalance: bool = False
    unescape: bool = True

    def __post_init__(self) -> None:
        if self.classes not in (2, 5):
            raise UsageError(f"classes must be 5 or 2, got {self.classes!r}")
        if self.rebalance and not self.phrases:
            raise UsageError("rebalance weighs sentences against phrases: it needs phrases=True")


def level_of_score(score: float) -> int:
    """Map a positivity in [0, 1] to a level 0 to 4; the upper bounds .2 .4 .6 .8 belong to the lower class."""
    return sum(score > bound for bound in _UPPER_BOUNDS)


def class_name(level: int, classes: int) -> str | None:
    """Name the class of a level; None for neutral where there are two classes."""
    if classes == 5:
        return FIVE_CLASSES[level]
    return None if level == NEUTRAL else TWO_CLASSES[int(level > NEUTRAL)]


def unescape_word(word: str) -> str:
    r"""Undo the treebank's escapes: ``-LRB-`` and the other brackets, its quotation marks, ``\/`` and ``\*``."""
    return _ESCAPES.get(word, word).replace("\\/", "/").replace("\\*", "*")


def add_tree(
    builder: CorpusBuilder, row: int, words: list[str], nodes: list[Node], options: SstOptions
) -> None:
    """Add the samples of one tree.

    Args:
        builder: what collects them.
        row: 1-based row of the tree.
        words: its words.
        nodes: its nodes, the root first.
        options: which nodes, which classes.
    """
    if options.unescape:
        words = [unescape_word(word) for word in words]
    for position, node in enumerate(nodes if options.phrases else nodes[:1]):
        target = class_name(node.level, options.classes)
        if target is None:
            builder.skip("neutral")
            continue
        span = tuple(words[node.start : node.end])
        weighty = position == 0 or node.level != NEUTRAL
        times = 1 + _EXTRA_COPIES if options.rebalance and weighty else 1
        group = (SENTENCE if position == 0 else PHRASE) if options.phrases else ""
        builder.add(row, (" ".join(span),), target, (span,), group, times)
