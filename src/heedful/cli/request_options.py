"""What the options of a command say about its requests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heedful.data.readers.reading import FileReading, RequestFiles
from heedful.data.readers.text_lines import COMPRESSED, bare_suffix
from heedful.errors import UsageError

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


def refuse_standard_input(file: Path | None) -> None:
    """Refuse ``-`` where a file is read more than once.

    Args:
        file: what stands for data.

    Raises:
        UsageError: if it is ``-``.
    """
    if file == STDIN:
        raise UsageError(
            "-: standard input cannot be read twice; write it to a file, such as data.csv, and name that"
        )


def file_among(words: Sequence[str], input_file: Path | None) -> Path | None:
    """Find the argument that stands for ``--input``: a table, a .txt file, a folder of classes, or ``-``.

    Args:
        words: texts without an option.
        input_file: value of ``--input``.

    Returns:
        The file, or None if no argument names one.

    Raises:
        UsageError: if an argument is named like a file and is none, which is no text but a misspelt name; or if a file
            stands beside others.
    """
    for word in filter(_may_be_file, words):
        if word != str(STDIN) and not _is_there(word):
            continue
        what = "standard input" if word == str(STDIN) else "a file"
        if len(words) > 1 or input_file is not None:
            others = [*(each for each in words if each != word), *filter(None, [input_file])]
            raise UsageError(
                f"{word} is {what}, and {others[0] if others else word} comes too: give one file"
            )
        return Path(word)
    return None


def _is_there(word: str) -> bool:
    """Return whether a file of texts has this name; one that only a file would have is refused where there is none."""
    from heedful.data.readers.class_folders import is_class_folder
    from heedful.data.readers.table_files import is_table_name

    path = Path(word)
    named = is_table_name(path) or bare_suffix(path) == ".txt"
    files = (word, *(word + packed for packed in COMPRESSED)) if named else ()
    there = any(map(os.path.isfile, files)) or is_class_folder(path)
    if not there and named and not any(map(str.isspace, word)):
        raise UsageError(f"{word}: no such file; if it is the text that you mean: --text {word}")
    return there


def _may_be_file(word: str) -> bool:
    """Return whether an argument may name a file, there or not; the readers are imported only for one that may."""
    if word == str(STDIN) or any(os.path.exists(word + packed) for packed in ("", *COMPRESSED)):
        return True
    return bool(bare_suffix(Path(word))) and not any(map(str.isspace, word))
