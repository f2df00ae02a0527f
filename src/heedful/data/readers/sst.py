"""What the two layouts of the Stanford Sentiment Treebank share: classes, escapes, nodes as samples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.text_lines import find_file, numbered_lines
from heedful.errors import DataError, UsageError
from heedful.text.tokenize import PENN_ESCAPES

FIVE_CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")
TWO_CLASSES = ("negative", "positive")
NEUTRAL = 2
SENTENCE, PHRASE = "sentence", "phrase"
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


def class_name(level: int, classes: int) -> str | None:
    """Name the class of a level; None for neutral where there are two classes."""
    if classes == 5:
        return FIVE_CLASSES[level]
    return None if level == NEUTRAL else TWO_CLASSES[int(level > NEUTRAL)]


def unescape_word(word: str) -> str:
    r"""Undo the treebank's escapes: ``-LRB-`` and the other brackets, its quotation marks, ``\/`` and ``\*``."""
    return PENN_ESCAPES.get(word, word).replace("\\/", "/").replace("\\*", "*")


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
        for _ in range(times):
            builder.add(row, (" ".join(span),), target, (span,), group)


_TOKEN = re.compile(r"[()]|[^ ()]+")  # a word may hold a no-break space, as in "8 1/2"
_LEVELS = frozenset("01234")


def read_sst_trees(
    path: str | Path,
    *,
    classes: Literal[2, 5] = 5,
    phrases: bool = False,
    rebalance: bool = False,
    unescape: bool = True,
) -> Corpus:
    """Read one file of trees such as ``(3 (2 It) (4 works))``, one a line (Socher et al., 2013).

    Args:
        path: the file, plain or compressed.
        classes: 5, or 2 (neutral dropped and counted).
        phrases: every node is a sample, in pre-order, repeated phrases repeated; else whole sentences only.
        rebalance: whole sentences and nodes that are not neutral count four times, as in the public DiSAN and MTSA
            code for five classes.
        unescape: write brackets, slash and star as themselves.

    Returns:
        The samples with their words. With ``phrases`` the group is "sentence" or "phrase".

    Raises:
        DataError: naming the row of a malformed tree.
    """
    options = SstOptions(classes, phrases, rebalance, unescape)
    file = find_file(path)
    builder = CorpusBuilder(file)
    for row, line in numbered_lines(file):
        if not line.strip():
            continue
        try:
            words, nodes = parse_tree(line)
        except ValueError as error:
            raise DataError(f"{file}: row {row}: not a sentiment tree: {error}") from error
        add_tree(builder, row, words, nodes, options)
    return builder.build()


def parse_tree(text: str) -> tuple[list[str], list[Node]]:
    """Parse one bracketed tree.

    Args:
        text: a tree such as ``(3 (2 It) (4 works))``.

    Returns:
        Its words, and its nodes in pre-order: the root first.

    Raises:
        ValueError: if the brackets do not match, a level is not 0 to 4, or a node is empty.
    """
    words: list[str] = []
    nodes: list[Node | None] = []
    open_nodes: list[tuple[int, int, int]] = []  # place in nodes, level, first word
    tokens = iter(_TOKEN.findall(text))
    for token in tokens:
        if not open_nodes and nodes:
            raise ValueError("text after the closing bracket")
        if token == "(":
            level = next(tokens, "")
            if level not in _LEVELS:
                raise ValueError(f"expected a level from 0 to 4 after '(', got {level!r}")
            open_nodes.append((len(nodes), int(level), len(words)))
            nodes.append(None)
        elif not open_nodes:
            raise ValueError(f"expected '(', got {token!r}")
        elif token == ")":
            place, number, start = open_nodes.pop()
            if start == len(words):
                raise ValueError("a node without words")
            nodes[place] = Node(number, start, len(words))
        else:
            words.append(token)
    if open_nodes:
        raise ValueError(f"{len(open_nodes)} brackets are not closed")
    return words, [node for node in nodes if node is not None]
