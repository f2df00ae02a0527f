"""The cells of a study in one file, so that the same command goes on where it was interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from heedful.storage import write_text

Cell = Mapping[str, object]


def kept_cells(out: Path) -> dict[str, dict[str, float]]:
    """Return what a file has already, by the names of the cells; nothing where there is no file."""
    found: dict[str, dict[str, float]] = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else {}
    return found


def measured(out: Path, cells: Mapping[str, Callable[[], Cell]]) -> Iterator[str]:
    """Measure what a file does not have yet, and write it after each cell.

    Args:
        out: the file, which is made or replaced.
        cells: the name of each cell, which says all its settings, to what measures it.

    Yields:
        A line for each cell, its name and what was found, once the file has it.

    Raises:
        OutputError: if the file cannot be written.
    """
    found: dict[str, Cell] = dict(kept_cells(out))
    for name, measure in cells.items():
        if name not in found:
            found[name] = measure()
            write_text(out, json.dumps(found, indent=1) + "\n")
        yield f"{name} {json.dumps(found[name])}"
