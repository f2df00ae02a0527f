"""Which files of a repository of the Hugging Face Hub are the tables of a data set, and of which split, by their names.

Only tables count. A program that comes with a data set is never fetched, and so never run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from heedful.errors import UsageError

TABLES = (".parquet", ".jsonl", ".csv", ".tsv", ".json")
"""Endings of tables; where a split has files of several kinds, the first of these is read."""
_SPLITS = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "validation": "dev",
    "valid": "dev",
    "val": "dev",
    "test": "test",
    "testing": "test",
}
_ABOUT = frozenset(
    ["dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "config.json"]
)
_MOST_NAMED = 8


def tables_of(paths: Sequence[str], part: str = "") -> list[str]:
    """Return the tables among the files of a repository.

    Args:
        paths: every file, with "/" between folders.
        part: a folder of the repository, or one file, to which it is narrowed down; empty for all of it.

    Returns:
        The tables, sorted.
    """
    inside = (path for path in paths if not part or path == part or path.startswith(part.rstrip("/") + "/"))
    return sorted(
        path
        for path in inside
        if PurePosixPath(path).suffix in TABLES
        and PurePosixPath(path).name not in _ABOUT
        and all(
            piece and not piece.startswith(".") for piece in path.split("/")
        )  # no place outside the repository
    )


def splits_of(tables: Sequence[str], name: str) -> dict[str, tuple[str, ...]]:
    """Return which tables are which split.

    Args:
        tables: the tables; see `tables_of`.
        name: what the user typed, for messages.

    Returns:
        "train", and "dev" and "test" where they are there, to files that are read one after the other.

    Raises:
        UsageError: if there are several data sets, or none to train on; lists what to type.
    """
    if len(tables) == 1:
        return {"train": (tables[0],)}
    found: dict[str, dict[str, list[str]]] = {}
    for table in tables:
        split, folder = _split_of(table)
        if split:
            found.setdefault(folder, {}).setdefault(split, []).append(table)
    able = {folder: splits for folder, splits in found.items() if "train" in splits}
    if len(able) > 1:
        typed = [f"{name}/{folder}" if folder else name for folder in sorted(able)]
        raise UsageError(f"{name}: has several data sets; choose one of {_listed(typed)}")
    if not able:
        typed = [f"{name}/{table}" for table in tables]
        raise UsageError(f"{name}: no table is called train; choose one of {_listed(typed)}")
    (splits,) = able.values()
    return {split: _one_kind(files, name) for split, files in splits.items()}


def _listed(typed: Sequence[str]) -> str:
    more = f" and {len(typed) - _MOST_NAMED} more" if len(typed) > _MOST_NAMED else ""
    return ", ".join(typed[:_MOST_NAMED]) + more


def _split_of(table: str) -> tuple[str, str]:
    """Return the split that a file is of, by its name or the nearest folder that says one, and the folder above."""
    pieces = table.split("/")
    for place in reversed(range(len(pieces))):
        for word in re.split(r"[^a-z]+", pieces[place].lower()):
            if word in _SPLITS:
                return _SPLITS[word], "/".join(pieces[:place])
    return "", ""


def _one_kind(files: Sequence[str], name: str) -> tuple[str, ...]:
    for kind in TABLES:
        own = tuple(file for file in files if file.endswith(kind))
        if own and (kind == ".parquet" or len(own) == 1):
            return own
        if own:
            typed = [f"{name}/{file}" for file in own]
            raise UsageError(
                f"{name}: a split is in {len(own)} files that cannot be joined; choose one of {_listed(typed)}"
            )
    raise AssertionError("every table has one of the endings")
