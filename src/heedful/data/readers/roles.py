"""Semantic roles in any of the formats that are read, by the name of the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.data.examples import Corpus
from heedful.data.readers.opening import bare_suffix
from heedful.data.readers.role_columns import read_role_columns
from heedful.data.readers.role_spans import read_role_spans
from heedful.errors import UsageError

_COLUMNS, _PROPS, _SPANS = (".gold_conll", ".conll"), (".props",), (".conllu", ".conllup")
_FORMATS = (_COLUMNS, _PROPS, _SPANS)
ROLE_SUFFIXES = (*_COLUMNS, *_PROPS, *_SPANS)


def is_role_file(path: str | Path) -> bool:
    """Tell by its name whether a file holds sentences with predicates."""
    return bare_suffix(Path(path)) in ROLE_SUFFIXES


def read_roles_like(path: str | Path, other: str | Path, options: Mapping[str, Any]) -> Corpus:
    """Read a file with the options of another one, where the names of both promise the same columns.

    Args:
        path: the file; see `read_roles`.
        other: the file that the options are for.
        options: of `read_roles`; left out where the columns are others, so that ``.props`` stays CoNLL-2005.

    Returns:
        What `read_roles` gives.
    """
    alike = any({bare_suffix(Path(path)), bare_suffix(Path(other))} <= set(suffixes) for suffixes in _FORMATS)
    return read_roles(path, **(options if alike else {}))


def read_roles(path: str | Path, **options: Any) -> Corpus:
    """Read sentences with their predicates and arguments.

    Args:
        path: ``.gold_conll``, ``.conll`` and ``.props`` hold columns of brackets, ``.conllu`` and ``.conllup`` the
            columns of CoNLL-U Plus; plain or compressed.
        **options: of `read_role_columns`; the layout is "conll2005" for ``.props`` unless it is named.

    Returns:
        One example a sentence, its target the frames.

    Raises:
        DataError: naming the row, if the file is not of its format.
        UsageError: if the name has another suffix, or an option is unknown.
    """
    suffix = bare_suffix(Path(path))
    if suffix in _SPANS:
        if options:
            raise UsageError(
                f"{path}: a CoNLL-U file names its columns itself; leave out {', '.join(options)}"
            )
        return read_role_spans(path)
    if suffix not in ROLE_SUFFIXES:
        raise UsageError(f"{path}: for semantic roles the name must end in one of {', '.join(ROLE_SUFFIXES)}")
    return read_role_columns(path, **{"layout": "conll2005"} | options if suffix in _PROPS else options)
