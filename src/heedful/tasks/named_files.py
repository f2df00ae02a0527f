"""The files that the settings name: found, hashed, and read with options that their reader knows."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from heedful.checked import fit
from heedful.data.readers.text_lines import find_file
from heedful.errors import DataError, UsageError, nearest
from heedful.storage import sha256

Read = TypeVar("Read")


def check_options(
    options: Mapping[str, object], reader: Callable[..., Read], what: str, taken: Collection[str] = ()
) -> Callable[..., Read]:
    """Give a reader its options, and refuse those that it does not take, or not of this type.

    Args:
        options: ``data.options`` of the settings.
        reader: what reads the data; its parameters are the options.
        what: is read, for messages.
        taken: parameters that are said elsewhere and are no options; the path always is one.

    Returns:
        The reader, which reads with these options.

    Raises:
        UsageError: listing every mistake.
    """
    hints = typing.get_type_hints(reader)
    valid = tuple(name for name in inspect.signature(reader).parameters if name not in ("path", *taken))
    problems = []
    for name, value in options.items():
        if name not in valid:
            problems.append(f"option {name!r} of {what} is unknown; {nearest(name, valid)}")
            continue
        hint = hints.get(name, object)
        _, wrong = fit(value, tuple[str, ...] if hint == Sequence[str] else hint)
        if wrong:
            problems.append(f"data.options.{name}: {wrong}; got {value!r}")
    if problems:
        raise UsageError("; ".join(problems))
    return partial(reader, **options)


def find_named(name: str, root: Path | None) -> Path:
    """Find a file that the settings name: in the folder of data sets, else in the working folder.

    Args:
        name: its name, absolute or relative; the suffix of a compression may be left out.
        root: the folder of data sets, or None.

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none.
    """
    if root is not None:
        try:
            return find_file(root / name)
        except DataError:
            if not Path(name).exists():
                raise
    return find_file(name)


def one_file_a_part(names: Mapping[str, str], root: Path | None) -> tuple[dict[str, Path], dict[str, str]]:
    """Find the file of each part.

    Args:
        names: part to what the settings call its file.
        root: the folder of data sets, or None.

    Returns:
        Part to file, and what a card calls each file to its SHA-256.

    Raises:
        DataError: if a file is missing or cannot be read.
    """
    paths = {part: find_named(name, root) for part, name in names.items()}
    return paths, {published(part, names[part]): sum_of(path) for part, path in paths.items()}


def published(part: str, name: str) -> str:
    """Return what a card calls a file: its relative name; of an absolute one, which tells of a machine, only the end.

    Two files must not share a name: the cache is keyed by these names and the files' hashes. A relative name stands for
    one file, and a part reads no two files of one name.
    """
    path = Path(name)
    return f"{part}: {path.name}" if path.is_absolute() else name


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file, or a `DataError` that it cannot be read."""
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
