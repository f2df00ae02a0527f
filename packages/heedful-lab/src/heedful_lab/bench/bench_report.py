"""The measurements as Markdown, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.storage import write_text
from heedful.storage.ownership import is_record, refuse_foreign_results
from heedful.tables import markdown_table
from heedful_lab.bench.bench_targets import targets
from heedful_lab.bench.timing import Ceiling, Row, as_dict

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def rows_as_csv(rows: Sequence[DataclassInstance]) -> str:
    """Write records as CSV.

    Args:
        rows: instances of one dataclass, at least one.

    Returns:
        A header and one line a row.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(rows[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


@dataclass(frozen=True)
class BenchReport:
    """Everything one run measured.

    Attributes:
        machine: versions, threads, processor features.
        ceiling: what the machine can do.
        width: features.
        repeats: measurements behind every median.
        checked: implementations proved equal to the reference before timing.
        rows: the measurements.
    """

    machine: dict[str, str]
    ceiling: Ceiling
    width: int
    repeats: int
    checked: tuple[str, ...]
    rows: tuple[Row, ...]

    def peer_of(self, row: Row) -> Row | None:
        """Find the row a row is compared with.

        Args:
            row: one of the report's.

        Returns:
            The peer at the same length, or None if it was not timed there.
        """
        return next((r for r in self.rows if r.name == row.peer and r.length == row.length), None)

    def markdown(self) -> str:
        """Write the report as Markdown.

        Returns:
            A heading, the machine, and a table for each group and length.
        """
        lines = ["# Benchmark", ""]
        lines += [f"* {name}: {value}" for name, value in self.machine.items()]
        lines += [
            f"* ceiling measured in this run: {self.ceiling.matmul:.0f} GFLOP/s in a matrix product, "
            f"{self.ceiling.bandwidth:.1f} GB/s of memory traffic",
            f"* proved equal to the float64 reference first: {', '.join(self.checked)}",
            f"* one training step (forward and backward), float32, width {self.width}; median of {self.repeats}, taken "
            "in turns; ± half the distance between the quartiles",
            "* memory: most held at once beyond inputs and parameters, counted at torch's allocator",
            "* share of ceiling: the least time the step's matrix products, or its reading and writing, could take on "
            "this machine over the time measured",
            "",
        ]
        for group in dict.fromkeys(row.group for row in self.rows):
            for length in dict.fromkeys(row.length for row in self.rows):
                lines += self._table([r for r in self.rows if (r.group, r.length) == (group, length)])
        lines += self._targets()
        return "\n".join(lines)

    def _targets(self) -> list[str]:
        found = targets(self.rows, self.width)
        if not found:
            return []
        return [
            "## Targets",
            "",
            *markdown_table(
                ["what", "target", "measured", ""],
                (
                    [t.what, f"{'≥' if t.at_least else '≤'} {t.limit:g}", f"{t.measured:.2f}", t.verdict]
                    for t in found
                ),
                right=(1, 2),
            ),
            "",
        ]

    def _table(self, rows: list[Row]) -> list[str]:
        if not rows:
            return []
        first = rows[0]
        cells = []
        for row in rows:
            peer = self.peer_of(row)
            time = memory = "-"
            if peer is not None and peer is not row:
                time, memory = (
                    _ratio(row.milliseconds, peer.milliseconds),
                    _ratio(row.megabytes, peer.megabytes),
                )
            scaled = "" if row.scaled_from == row.batch else f" (scaled from {row.scaled_from})"
            figures = (
                f"{row.milliseconds:.2f}",
                f"{row.spread:.2f}",
                f"{row.megabytes:.1f}",
                f"{row.ceiling:.0%}",
            )
            cells.append([f"{row.name}{scaled}", *figures, row.peer, time, memory])
        head = ["", "ms", "±", "MB", "share of ceiling", "against", "time", "memory"]
        return [
            f"## {first.group.capitalize()}s, {first.length} tokens, {first.batch} sentences",
            "",
            *markdown_table(head, cells, right=(1, 2, 3, 4, 6, 7)),
            "",
        ]

    def json(self) -> str:
        """Write the report as JSON.

        Returns:
            One object.
        """
        return json.dumps(
            {
                "machine": self.machine,
                "ceiling": as_dict(self.ceiling),
                "width": self.width,
                "repeats": self.repeats,
                "checked": list(self.checked),
                "rows": [asdict(row) for row in self.rows],
                "targets": [{**asdict(t), "met": t.met} for t in targets(self.rows, self.width)],
            },
            indent=2,
        )

    def csv(self) -> str:
        """Write the rows as CSV.

        Returns:
            A header and one line a row.
        """
        return rows_as_csv(self.rows)


def read(path: Path) -> BenchReport:
    """Read what `write` has written.

    Args:
        path: a ``bench.json``.

    Returns:
        The report.

    Raises:
        UsageError: if the file is another one.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return BenchReport(
            plain["machine"],
            Ceiling(**plain["ceiling"]),
            plain["width"],
            plain["repeats"],
            tuple(plain["checked"]),
            tuple(Row(**row) for row in plain["rows"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: expected the bench.json of an earlier benchmark: {error}") from None


def joined(reports: Sequence[BenchReport]) -> BenchReport:
    """Join benchmarks of one machine that measured other lengths.

    Args:
        reports: at least one; ceilings are the highest of all.

    Returns:
        One report, its rows by length.

    Raises:
        UsageError: if machine, width or repeats differ, or two reports have the same row.
    """
    first = reports[0]
    if any((r.machine, r.width, r.repeats) != (first.machine, first.width, first.repeats) for r in reports):
        raise UsageError("benchmarks of other machines, versions, widths or repeats are not joined")
    rows = sorted((row for report in reports for row in report.rows), key=lambda row: row.length)
    if len({(row.name, row.length) for row in rows}) < len(rows):
        raise UsageError("a case is measured twice at the same length")
    ceiling = Ceiling(max(r.ceiling.matmul for r in reports), max(r.ceiling.bandwidth for r in reports))
    return replace(first, ceiling=ceiling, rows=tuple(rows))


def write(report: BenchReport, folder: Path) -> list[Path]:
    """Write ``bench.md``, ``bench.json`` and ``bench.csv``; see `write_files`."""
    texts = {"bench.md": report.markdown(), "bench.json": report.json() + "\n", "bench.csv": report.csv()}
    return write_files(texts, folder)


def refuse_foreign_report(folder: Path, stem: str) -> None:
    """Refuse a folder in which a report would replace files of its names that `heedful bench` did not write.

    Args:
        folder: where to.
        stem: name of the files without their endings.

    Raises:
        OutputError: naming them.
    """
    names = [f"{stem}{suffix}" for suffix in (".md", ".json", ".csv")]
    refuse_foreign_results(folder, names, own=is_record(folder / f"{stem}.json", ("rows",)))


def write_files(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files of a report.

    Args:
        texts: name of each file to what it holds.
        folder: where to; made if need be.

    Returns:
        The files written.

    Raises:
        OutputError: if the folder cannot be written to.
    """
    refuse_foreign_report(folder, Path(next(iter(texts))).stem)
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _ratio(value: float, base: float) -> str:
    if base <= 0 or value <= 0:
        return "-"
    return f"{value / base:.2f}x" if value >= base / 2 else f"1/{base / value:.1f}"
