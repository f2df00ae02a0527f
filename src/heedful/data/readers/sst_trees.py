"""The Stanford Sentiment Treebank as bracketed trees (trainDevTestTrees_PTB), a level at every node."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.build import CorpusBuilder
from heedful.data.readers.opening import find_file, numbered_lines
from heedful.data.readers.sst import Node, SstOptions, add_tree
from heedful.errors import DataError

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
