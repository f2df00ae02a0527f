"""How results are printed: JSON for machines, aligned columns on a terminal, tab-separated rows elsewhere."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

_ASCII = str.maketrans(
    {**dict.fromkeys("█▉▊▋▌", "#"), **dict.fromkeys("▍▎▏", " "), "…": "~", "—": "-", "±": "+-"}
)


def print_json(value: Any) -> None:
    """Print one JSON value on one line; a number that is not finite becomes null."""
    click.echo(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False))


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows: on a terminal aligned under a header and cut to its width, elsewhere tab-separated without header.

    Args:
        header: name of each column.
        rows: the fields; tabs and line breaks inside one become spaces.
    """
    from heedful.explain.characters import cells, pad, shorten, visible

    clean = [[visible(field) for field in row] for row in rows]
    if not sys.stdout.isatty():
        for row in clean:
            click.echo("\t".join(row))
        return
    table = [list(header), *clean]
    widths = [min(max(cells(row[k]) for row in table), 40) for k in range(len(header))]
    for row in table:
        line = "  ".join(
            [*(pad(field, width) for field, width in zip(row[:-1], widths, strict=False)), row[-1]]
        )
        print_text(shorten(line, terminal_width()).rstrip())


def print_text(text: str) -> None:
    """Print text; block characters and the like become ASCII where standard output cannot show them."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = text.translate(_ASCII)
    click.echo(text)


def terminal_width() -> int:
    """Return the columns of the terminal, at most 120; 80 where there is none."""
    return min(shutil.get_terminal_size((80, 24)).columns, 120)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
