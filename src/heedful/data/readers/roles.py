"""Semantic roles in any of the formats that are read, by the name of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.data.examples import Corpus
from heedful.data.readers.opening import bare_suffix
from heedful.data.readers.role_columns import read_role_columns
from heedful.data.readers.role_spans import read_role_spans
from heedful.errors import UsageError

_PROPS = ".props"
_COLUMNS, _SPANS = (".gold_conll", ".conll", _PROPS), (".conllu", ".conllup")
ROLE_SUFFIXES = (*_COLUMNS, *_SPANS)


def is_role_file(path: str | Path) -> bool:
    """Tell by its name whether a file holds sentences with predicates."""
    return bare_suffix(Path(path)) in ROLE_SUFFIXES


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
    if suffix not in _COLUMNS:
        raise UsageError(f"{path}: for semantic roles the name must end in one of {', '.join(ROLE_SUFFIXES)}")
    return read_role_columns(path, **{"layout": "conll2005"} | options if suffix == _PROPS else options)
