"""The Stanford Sentiment Treebank in its raw release: SOStr, STree, dictionary, sentiment_labels, datasetSplit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.parses import is_number
from heedful.data.readers.corpus_builder import OTHER_SPLIT, CorpusBuilder
from heedful.data.readers.sst import Node, SstOptions, add_tree
from heedful.data.readers.text_lines import find_file, numbered_lines
from heedful.errors import DataError, UsageError, nearest

_SPLIT_NUMBERS = {"train": "1", "test": "2", "dev": "3"}


def read_sst_release(
    folder: str | Path,
    *,
    split: Literal["train", "dev", "test"] = "train",
    classes: Literal[2, 5] = 5,
    phrases: bool = False,
    rebalance: bool = False,
    unescape: bool = True,
    dictionary: str | Path | None = None,
    sentiment_labels: str | Path | None = None,
) -> Corpus:
    """Read the release that the public DiSAN and MTSA code uses (Socher et al., 2013).

    Args:
        folder: where ``SOStr.txt``, ``STree.txt`` and ``datasetSplit.txt`` are.
        split: the part to read.
        classes: 5, or 2 (neutral dropped and counted).
        phrases: every node is a sample, the root first; else whole sentences only.
        rebalance: whole sentences and nodes that are not neutral count four times.
        unescape: write brackets, slash and star as themselves.
        dictionary: the file of ``phrase|id``; ``dictionary.txt`` of the folder by default.
        sentiment_labels: the file of ``id|score``; ``sentiment_labels.txt`` of the folder by default.

    Returns:
        The samples with their words; trees of other splits are counted as skipped.

    Raises:
        UsageError: if the split is unknown.
        DataError: naming file and row, if the files do not fit together.
    """
    if split not in _SPLIT_NUMBERS:
        raise UsageError(f"split {split!r} is unknown; {nearest(split, tuple(_SPLIT_NUMBERS))}")
    options = SstOptions(classes, phrases, rebalance, unescape)
    folder = Path(folder)
    levels = _phrase_levels(
        find_file(dictionary or folder / "dictionary.txt"),
        find_file(sentiment_labels or folder / "sentiment_labels.txt"),
    )
    sentences, trees = find_file(folder / "SOStr.txt"), find_file(folder / "STree.txt")
    split_file = find_file(folder / "datasetSplit.txt")
    splits = _split_rows(split_file)
    builder = CorpusBuilder(sentences)
    parents = numbered_lines(trees)
    for row, line in numbered_lines(sentences):
        tree = next(parents, None)
        if tree is None:
            raise DataError(f"{trees}: ends before row {row} of {sentences.name}")
        if row not in splits:
            raise DataError(f"{split_file}: names no split of sentence {row} of {sentences.name}")
        if splits[row] != _SPLIT_NUMBERS[split]:
            builder.skip(OTHER_SPLIT)
            continue
        words = line.split("|")
        nodes = [
            Node(_level(levels, words[start:end], builder.where(row)), start, end)
            for start, end in _spans(tree[1], len(words), f"{trees}: row {row}")
        ]
        add_tree(builder, row, words, nodes, options)
    if (beyond := next(parents, None)) is not None:
        raise DataError(f"{trees}: row {beyond[0]}: {sentences.name} ends before it")
    return builder.build()


def level_of_score(score: float) -> int:
    """Map a positivity in [0, 1] to a level 0 to 4; the upper bounds .2 .4 .6 .8 belong to the lower class."""
    return sum(score > bound for bound in (0.2, 0.4, 0.6, 0.8))


def _phrase_levels(dictionary: Path, sentiment_labels: Path) -> dict[str, int]:
    level_of_id = {}
    for row, number, value in _fields(sentiment_labels):
        if row == 1 and not number.isdigit():
            continue  # the header
        try:
            level_of_id[number] = level_of_score(float(value))
        except ValueError as error:
            raise DataError(f"{sentiment_labels}: row {row}: expected a score, got {value!r}") from error
    levels = {}
    for row, phrase, number in _fields(dictionary):
        if number not in level_of_id:
            raise DataError(
                f"{dictionary}: row {row}: phrase id {number!r} has no score in {sentiment_labels.name}"
            )
        levels[phrase] = level_of_id[number]
    return levels


def _fields(file: Path) -> Iterator[tuple[int, str, str]]:
    for row, line in numbered_lines(file):
        first, bar, second = line.rpartition("|")
        if not bar:
            raise DataError(f"{file}: row {row}: expected two fields with | between them, got {line!r}")
        yield row, first, second


def _split_rows(file: Path) -> dict[int, str]:
    """Return the number of the split of each sentence; the first line is the header."""
    splits = {}
    for row, line in numbered_lines(file):
        sentence, _, number = line.partition(",")
        if row == 1 or not line.strip():
            continue
        if not is_number(sentence) or number not in _SPLIT_NUMBERS.values():
            raise DataError(
                f"{file}: row {row}: expected a sentence and its split 1, 2 or 3, got {line!r:.80}"
            )
        splits[int(sentence)] = number
    return splits


def _level(levels: dict[str, int], words: list[str], where: str) -> int:
    phrase = " ".join(words)
    if phrase not in levels:
        raise DataError(f"{where}: the phrase {phrase!r} is not in the dictionary")
    return levels[phrase]


def _spans(line: str, words: int, where: str) -> list[tuple[int, int]]:
    """Give the words each node of a parent-pointer tree spans, the root first; the first nodes are the words."""
    try:
        parents = [int(parent) for parent in line.split("|")]
    except ValueError as error:
        raise DataError(f"{where}: expected numbers with | between them") from error
    count = len(parents)
    starts = list(range(words)) + [words] * (count - words)
    ends = list(range(1, words + 1)) + [0] * (count - words)
    for word in range(min(words, count)):
        node, steps = parents[word], 0
        while node and steps <= count:
            if not words < node <= count:
                raise DataError(
                    f"{where}: node {node} does not fit a tree of {words} words and {count} nodes"
                )
            starts[node - 1] = min(starts[node - 1], word)
            ends[node - 1] = max(ends[node - 1], word + 1)
            node, steps = parents[node - 1], steps + 1
        if node:
            raise DataError(f"{where}: the tree has a loop")
    spans = list(zip(starts, ends, strict=True))
    if count < words or spans.count((0, words)) == 0 or any(start >= end for start, end in spans):
        raise DataError(f"{where}: not a tree over {words} words")
    return sorted(spans, key=lambda span: (span[0], -span[1]))
