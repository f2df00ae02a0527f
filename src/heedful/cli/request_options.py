"""What the options of a command say about its requests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heedful.data.readers.reading import FileReading, RequestFiles
from heedful.data.readers.text_lines import COMPRESSED, bare_suffix

STDIN = Path("-")


@dataclass(frozen=True)
class RequestOptions:
    """What the options of a command say about its requests.

    Attributes:
        texts: values of ``--text``.
        pair: values of ``--premise`` and ``--hypothesis``.
        input_file: value of ``--input``; ``-`` is standard input.
        reading: how the options say that the file is read.
        is_pair: whether pairs are wanted.
        trained: how the training file of the model was read.
        files: which files the model reads in its own way; None for none.
        keep_fields: whether examples of a table keep all fields of their rows.
        cells: values of the columns beside the texts of the command line, by name; None where none is given.
    """

    texts: tuple[str, ...]
    pair: tuple[str | None, str | None]
    input_file: Path | None
    reading: FileReading
    is_pair: bool
    trained: FileReading = field(default_factory=FileReading)
    files: RequestFiles | None = None
    keep_fields: bool = False
    cells: Mapping[str, str] | None = None


def may_be_file(word: str) -> bool:
    """Return whether an argument may name a file, there or not; the readers are imported only for one that may.

    Args:
        word: the argument.

    Returns:
        Whether it is there, or looks like the name of a file.
    """
    if any(os.path.exists(word + packed) for packed in ("", *COMPRESSED)):
        return True
    return bool(bare_suffix(Path(word))) and not any(map(str.isspace, word))
