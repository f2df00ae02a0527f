"""Data sets by name: where the data folder is, what it holds, reading a split, recording which bytes were read."""

from __future__ import annotations

import hashlib
import inspect
import os
from dataclasses import dataclass
from pathlib import Path

from heedful.data.datasets import data_sets, own_data_sets
from heedful.data.examples import Corpus
from heedful.data.readers.text_lines import DAMAGE, damaged, find_file, open_bytes
from heedful.data.sets.data_set import DataSet, Part
from heedful.errors import DataError, UsageError, check_known

FOLDER_VARIABLE = "HEEDFUL_DATA"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Availability:
    """One line of ``heedful data list``.

    Attributes:
        name: the data set.
        task: what its gold is for, ``model.task``.
        split: the split.
        rows: rows with gold it should have.
        file: its file, relative to the data folder.
        present: whether the file is there.
        obtain: how to get it.
    """

    name: str
    task: str
    split: str
    rows: int
    file: str
    present: bool
    obtain: str


def data_folder(option: str | Path | None = None) -> Path:
    """Return the folder of data sets: the option, else the environment variable ``HEEDFUL_DATA``.

    Args:
        option: what ``--data`` says, None if it was not given.

    Returns:
        A folder that exists.

    Raises:
        UsageError: if neither names one, or there is no such folder.
    """
    named = option or os.environ.get(FOLDER_VARIABLE, "")
    if not named:
        raise UsageError(f"where are the data sets? Give --data FOLDER or set {FOLDER_VARIABLE}")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        # Where both name the same folder, the command line took it from the variable.
        origin = FOLDER_VARIABLE if str(named) == os.environ.get(FOLDER_VARIABLE) else "--data"
        raise UsageError(f"{origin} names {folder}, which is not a folder")
    return folder


def data_set(name: str) -> DataSet:
    """Return the entry of a data set.

    Raises UsageError if there is none of this name; gives the nearest.
    """
    own = own_data_sets()
    known = own if name in own else data_sets()
    check_known(name, known, f"data set {name!r} is not known")
    return known[name]


def splits(name: str) -> tuple[str, ...]:
    """Name the splits of a data set, present or not."""
    return tuple(data_set(name).parts)


def load(name: str, split: str, folder: str | Path, **options: object) -> Corpus:
    """Read one split.

    Args:
        name: the data set.
        split: one of `splits`.
        folder: the data folder.
        **options: further options of its reader, such as ``phrases=True`` for SST or ``keep_empty=True``.

    Returns:
        The corpus.

    Raises:
        UsageError: if name, split or option is unknown.
        DataError: if the file is not there (says how to get it) or cannot be read.
    """
    entry, part = data_set(name), _part(name, split)
    valid = tuple(option for option in inspect.signature(part.read).parameters if option != "path")
    for option in options:
        check_known(option, valid, f"option {option!r} of data set {name} is unknown")
    path = _locate(part, Path(folder))
    if path is None:
        here = [other for other in entry.parts if _locate(entry.parts[other], Path(folder))]
        raise DataError(
            f"{Path(folder) / part.file}: the {split} split of {name} is not there "
            f"(splits present: {', '.join(here) or 'none'}); to get it: {entry.obtain}"
        )
    return part.read(path, **{**part.options, **options})


def available(folder: str | Path) -> list[Availability]:
    """List every split of every data set with whether its file is there.

    Returns one record a split, in the order of the table.
    """
    return [
        Availability(
            entry.name,
            entry.task,
            split,
            part.rows,
            part.file,
            _locate(part, Path(folder)) is not None,
            entry.obtain,
        )
        for entry in data_sets().values()
        for split, part in entry.parts.items()
    ]


def fingerprint(name: str, folder: str | Path) -> dict[str, str]:
    """Hash the files of a data set, so that a run records which bytes it read.

    Returns SHA-256 of the decompressed content of each file that is there, by its path in the data folder. Raises
    UsageError if the name is unknown. Raises DataError if a compressed file is damaged.
    """
    parts = data_set(name).parts.values()
    files = sorted({file for part in parts for file in (part.file, *part.beside)})
    found = ((file, _find(Path(folder) / file)) for file in files)
    return {file: content_sha256(path) for file, path in found if path is not None}


def content_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, the same whether it is compressed or not.

    Raises DataError if a compressed file is damaged.
    """
    digest = hashlib.sha256()
    try:
        with open_bytes(path) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except DAMAGE as error:
        raise damaged(str(path), error) from error
    return digest.hexdigest()


def _part(name: str, split: str) -> Part:
    parts = data_set(name).parts
    check_known(split, parts, f"data set {name} has no split {split!r}")
    return parts[split]


def _locate(part: Part, folder: Path) -> Path | None:
    return _find(folder / part.file)


def _find(path: Path) -> Path | None:
    try:
        return find_file(path)
    except DataError:
        return None
