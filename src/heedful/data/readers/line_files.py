"""Files of one example a line: TREC questions, a label and its text, and two files of which line n is one example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.text_lines import find_file, numbered_lines
from heedful.errors import DataError, check_known

_KINDS = ("coarse", "fine")


def read_trec(
    path: str | Path, *, label: Literal["coarse", "fine"] = "coarse", keep_empty: bool = False
) -> Corpus:
    """Read a file of TREC questions (Li and Roth, 2002).

    Args:
        path: the file, plain or compressed.
        label: "coarse" gives the part before the colon (6 classes), "fine" all of it (50 classes).
        keep_empty: keep rows without a question.

    Returns:
        The questions; their words are what white space separates, for the file is tokenized.

    Raises:
        UsageError: if ``label`` is unknown.
        DataError: naming the row, if a line has no label with a colon.
    """
    check_known(label, _KINDS, f"label {label!r} is unknown")
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, line in numbered_lines(file, "latin-1"):
        if not line.strip():
            continue
        fine, _, question = line.partition(" ")
        coarse, colon, kind = fine.partition(":")
        if not (coarse and colon and kind):
            raise DataError(
                f"{builder.where(row, 'label')}: expected COARSE:fine and a question, got {fine!r}"
            )
        words = tuple(question.split())
        builder.add(row, (question.strip(),), coarse if label == "coarse" else fine, (words,))
    return builder.build()


POLARITY = {"0": "negative", "1": "positive"}
SUBJECTIVITY = {"0": "subjective", "1": "objective"}


def read_label_text(
    path: str | Path,
    *,
    names: Mapping[str, str] = POLARITY,
    encoding: str = "utf-8",
    keep_empty: bool = False,
) -> Corpus:
    """Read a file of ``label text`` lines.

    Args:
        path: the file, plain or compressed.
        names: class name of each label of the file.
        encoding: CR and MPQA are ASCII, SUBJ is cp1252.
        keep_empty: keep the rows without text rather than count and leave them out.

    Returns:
        The texts; their words are what white space separates.

    Raises:
        DataError: naming the row of an unknown label, or of a byte in another encoding.
    """
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, line in numbered_lines(file, encoding):
        if not line.strip():
            continue
        label, _, text = line.partition(" ")
        name = names[builder.label(row, "label", label, tuple(names))]
        builder.add(row, (text.strip(),), name, (tuple(text.split()),))
    return builder.build()


EMOTIONS = ("anger", "joy", "optimism", "sadness")
IRONY = ("non_irony", "irony")


def read_numbered_labels(
    path: str | Path, *, numbers: str | Path, names: Sequence[str], keep_empty: bool = False
) -> Corpus:
    """Read a file of texts and the file of the numbers of their classes, as TweetEval writes them.

    Args:
        path: the texts, one a line, plain or compressed.
        numbers: the file of numbers from 0; a bare name lies beside the texts.
        names: the class that each number means.
        keep_empty: keep lines without text rather than count and leave them out.

    Returns:
        The texts with the names of their classes.

    Raises:
        DataError: if a file is missing, empty or damaged, the files differ in length, or a number has no class.
    """
    file = find_file(path)
    number_file = find_file(file.parent / numbers)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    known = {str(number): name for number, name in enumerate(names)}
    for row, text, number in lines_of_both(file, number_file, "utf-8"):
        builder.add(row, (text.strip(),), known[builder.label(row, "label", number.strip(), tuple(known))])
    return builder.build()


def lines_of_both(first: Path, second: Path, encoding: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of two files side by side, with their number.

    Args:
        first: a file, plain or compressed.
        second: another one.
        encoding: of both.

    Yields:
        The row, from 1, and the line of each file.

    Raises:
        DataError: if a file is empty or damaged, or ends before the other.
    """
    for left, right in zip_longest(numbered_lines(first, encoding), numbered_lines(second, encoding)):
        if left is None or right is None:
            longer, shorter = (second, first) if left is None else (first, second)
            row = (left or right)[0]
            raise DataError(
                f"{longer}: row {row}: {shorter.name} ends before it; line n of both is one example"
            )
        yield left[0], left[1], right[1]
