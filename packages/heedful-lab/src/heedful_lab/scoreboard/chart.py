"""Measure every system at every number of labels, keep each cell at once, and write the table and the picture."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from heedful.baselines.board_request import settings_of, splits_of_runs
from heedful.errors import HeedfulError, Interrupted, UsageError
from heedful.storage import write_text
from heedful_lab.scoreboard.cell_file import Cell, add_cell, read_cells, write_cells
from heedful_lab.scoreboard.chart_table import markdown_page
from heedful_lab.scoreboard.drawn_labels import Drawn, draw
from heedful_lab.scoreboard.entrants import entrants
from heedful_lab.scoreboard.measured_cell import Entrant, measured, timed_again

CELLS, TABLE, PICTURE, RUNS = "cells.jsonl", "scoreboard.md", "scoreboard.svg", "runs"
"""What a scoreboard leaves in its folder: what was measured, the table, the picture, and the runs of its models."""


@dataclass(frozen=True)
class ChartRequest:
    """What is compared.

    Attributes:
        names: data sets, recipes or files, as `heedful.baselines.board_request.settings_of` takes them.
        sizes: numbers of labels; 0 for all.
        runs: seeds of the draws, or numbers of folds.
        transformers: folders of pretrained encoders.
        without: parts of the names of systems to leave out.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        overrides: ``key=value`` settings of the data.
        times: "with" the other figures, "without" them, or "only": those of cells that are there are taken again.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    runs: tuple[int, ...]
    transformers: tuple[Path, ...] = ()
    without: tuple[str, ...] = ()
    folder: Path | None = None
    overrides: tuple[str, ...] = ()
    times: Literal["with", "without", "only"] = "with"


@dataclass(frozen=True)
class Chart:
    """What was measured.

    Attributes:
        cells: of all data, sizes and runs that were asked for.
        skipped: name of a system to why it has no cells.
        failed: what a system could not do, a sentence each; the command goes on with the others.
    """

    cells: tuple[Cell, ...]
    skipped: dict[str, str]
    failed: tuple[str, ...]


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read numbers of labels.

    Args:
        text: numbers above 0 and "all", separated by commas.

    Returns:
        The numbers in their order, 0 for all.

    Raises:
        UsageError: if something else is among them.
    """
    found = []
    for part in text.split(","):
        word = part.strip()
        if word != "all" and not (word.isascii() and word.isdigit() and int(word) > 1):
            raise UsageError(
                f"--sizes {text!r}: expected numbers of labels, 2 or more, or 'all', such as 100,1000,all"
            )
        found.append(0 if word == "all" else int(word))
    return tuple(dict.fromkeys(found))


def scoreboard(
    names: tuple[str, ...],
    *,
    sizes: str,
    out: Path,
    print_line: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> tuple[dict[str, object], str]:
    """Do what ``heedful baselines --sizes`` asks for, which finds this by the entry point of this package.

    Args:
        names: see `ChartRequest`.
        sizes: as `parse_sizes` reads them.
        out: the folder that gets the cells, the table and the picture.
        print_line: told what happens.
        **options: the other fields of `ChartRequest`.

    Returns:
        The figures as plain values, and the table.

    Raises:
        UsageError: if data or a number of labels does not suit.
        DataError: if a file is missing or wrong.
    """
    chart = make_chart(ChartRequest(names, parse_sizes(sizes), **options), out, print_line=print_line)
    write_chart(chart, out, print_line=print_line)
    cells = [asdict(cell) for cell in chart.cells]
    figures: dict[str, object] = {
        "cells": cells,
        "skipped": chart.skipped,
        "failed": list(chart.failed),
    }
    return figures, (out / TABLE).read_text(encoding="utf-8")


def make_chart(
    request: ChartRequest, out: Path, *, print_line: Callable[[str], None] = lambda _: None
) -> Chart:
    """Measure what is missing in the folder.

    Args:
        request: what is compared.
        out: the folder; cells that are there are not measured again.
        print_line: told what happens next, and how long it may still take.

    Returns:
        All cells that were asked for.

    Raises:
        UsageError: if data or a number of labels does not suit.
        DataError: if a file is missing or wrong, or the cells are none.
    """
    systems, skipped = entrants(request.transformers, request.without)
    known = {cell.key: cell for cell in read_cells(out / CELLS)}
    wanted = [
        (name, size, number, system)
        for size in request.sizes
        for name in request.names
        for number in request.runs
        for system in systems
    ]
    if request.times == "only":
        failed = _time_again(
            request, [each for each in wanted if _key(*each) in known], known, out, print_line
        )
        cells = tuple(known[key] for each in wanted if (key := _key(*each)) in known)
        return Chart(cells, skipped, tuple(failed))
    todo = _Expected([each for each in wanted if _key(*each) not in known], list(known.values()), print_line)
    failed = []
    for name, size, number, system in todo.cells:
        todo.begin(name, size, number, system)
        try:
            cell = _measured(request, name, size, number, system, out)
        except (UsageError, Interrupted):
            raise
        except (HeedfulError, MemoryError) as error:
            failed.append(f"{system.name} on {_stem(name)}: {error or 'there was not enough memory'}")
            print_line(failed[-1])
            continue
        add_cell(out / CELLS, cell)
        known[cell.key] = cell
        todo.end(cell)
    cells = tuple(known[key] for each in wanted if (key := _key(*each)) in known)
    return Chart(cells, skipped, tuple(failed))


def write_chart(chart: Chart, out: Path, print_line: Callable[[str], None] = lambda _: None) -> None:
    """Write the table, and the picture where it can be drawn.

    Args:
        chart: what was measured.
        out: the folder.
        print_line: told why there is no picture.
    """
    from heedful.errors import MissingExtraError
    from heedful_lab.scoreboard.chart_figure import draw_chart

    write_text(out / TABLE, markdown_page(chart.cells, chart.skipped, chart.failed))
    if not any(cell.ms for cell in chart.cells):
        print_line("there are no times yet, so there is no picture: --times only takes them")
        return
    try:
        draw_chart(chart.cells, out / PICTURE)
    except MissingExtraError as error:
        print_line(str(error))


def _stem(name: str) -> str:
    return Path(name).stem


def _key(name: str, size: int, number: int, system: Entrant) -> tuple[str, int, int, str]:
    return _stem(name), size, number, system.name


def _measured(asked: ChartRequest, name: str, size: int, number: int, system: Entrant, out: Path) -> Cell:
    drawn = _drawn(asked, name, size, number, out)
    return measured(system, drawn, takes_times=asked.times == "with")


def _drawn(asked: ChartRequest, name: str, size: int, number: int, out: Path) -> Drawn:
    config = settings_of(name, asked.overrides, asked.folder)
    splits = next(iter(splits_of_runs(config, asked.folder, [number]).values()))
    where = out / RUNS / f"{_stem(name)}-{size or 'all'}-{number}"
    return draw(_stem(name), replace(splits, seed=number), size, where)


def _time_again(
    asked: ChartRequest,
    wanted: Sequence[tuple[str, int, int, Entrant]],
    known: dict[tuple[str, int, int, str], Cell],
    out: Path,
    print_line: Callable[[str], None],
) -> list[str]:
    """Take the times of kept cells again, and keep each at once; return which could not be taken, and why."""
    failed = []
    for place, (name, size, number, system) in enumerate(wanted, start=1):
        print_line(
            f"{place} of {len(wanted)}: times of {system.name} on {_stem(name)}, {size or 'all'} labels"
        )
        drawn = _drawn(asked, name, size, number, out)
        if not system.is_kept(drawn):
            failed.append(f"{system.name} on {_stem(name)}: its run is no longer in {drawn.folder}")
            continue
        key = _key(name, size, number, system)
        known[key] = replace(known[key], **asdict(timed_again(system, drawn)))
        write_cells(out / CELLS, list(known.values()))
    return failed


class _Expected:
    """Reports what is measured, and when all of it is expected to be done."""

    def __init__(
        self, cells: list[tuple[str, int, int, Entrant]], known: list[Cell], print_line: Callable[[str], None]
    ) -> None:
        self.cells, self._say = cells, print_line
        self._seconds: dict[tuple[str, int], list[float]] = {}
        for cell in known:
            self._seconds.setdefault((cell.system, cell.labels), []).append(cell.train_seconds)
        self._done, self._started = 0, 0.0

    def begin(self, name: str, size: int, number: int, system: Entrant) -> None:
        """Report what comes next."""
        self._started = time.perf_counter()
        left = self._left()
        soon = "" if left is None else f"; about {_minutes(left)} to go"
        what = f"{_stem(name)}, {f'{size:,}' if size else 'all'} labels, draw {number}: {system.name}"
        self._say(f"{self._done + 1} of {len(self.cells)}{soon}: {what}")

    def end(self, cell: Cell) -> None:
        """Count what was done."""
        taken = time.perf_counter() - self._started
        self._seconds.setdefault((cell.system, cell.labels), []).append(taken)
        self._done += 1

    def _left(self) -> float | None:
        """Return the seconds that are still to go, by the cells of the same system and size; None if none is known."""
        expected = []
        for _, size, _, system in self.cells[self._done :]:
            own = self._seconds.get((system.name, size))
            expected.append(None if own is None else sum(own) / len(own))
        known = [each for each in expected if each is not None]
        if 2 * len(known) < len(expected) or not known:
            return None
        return sum(known) * len(expected) / len(known)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
