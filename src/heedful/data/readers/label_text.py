"""The ``.all`` files of CR, MPQA and SUBJ: a line is label, space, tokenised text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heedful.data.examples import Corpus
from heedful.data.readers.build import CorpusBuilder
from heedful.data.readers.opening import find_file, numbered_lines

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
