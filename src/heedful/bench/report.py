"""The measurements as Markdown, JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from heedful.bench.machine import Ceiling, as_dict
from heedful.bench.tables import rows_as_csv
from heedful.files import write_text


@dataclass(frozen=True)
class Row:
    """One case at one length.

    Attributes:
        name: of the case.
        group: "operation" or "layer".
        peer: name of the case it is compared with.
        ours: whether it is Heedful's.
        length: tokens a sentence.
        batch: sentences.
        milliseconds: median of one training step, forward and backward.
        spread: half the distance between the quartiles, in milliseconds.
        megabytes: most memory held at once beyond inputs and parameters, 10^6 bytes.
        ceiling: least possible time on this machine over the measured time, 0 to 1.
        scaled_from: sentences really run; fewer than batch where all would not fit, time and memory then scaled.
    """

    name: str
    group: str
    peer: str
    ours: bool
    length: int
    batch: int
    milliseconds: float
    spread: float
    megabytes: float
    ceiling: float
    scaled_from: int


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
        return "\n".join(lines)

    def _table(self, rows: list[Row]) -> list[str]:
        if not rows:
            return []
        first = rows[0]
        lines = [
            f"## {first.group.capitalize()}s, {first.length} tokens, {first.batch} sentences",
            "",
            "| | ms | ± | MB | share of ceiling | against | time | memory |",
            "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
        ]
        for row in rows:
            peer = self.peer_of(row)
            time = memory = "-"
            if peer is not None and peer is not row:
                time, memory = (
                    _ratio(row.milliseconds, peer.milliseconds),
                    _ratio(row.megabytes, peer.megabytes),
                )
            scaled = "" if row.scaled_from == row.batch else f" (scaled from {row.scaled_from})"
            lines.append(
                f"| {row.name}{scaled} | {row.milliseconds:.2f} | {row.spread:.2f} | {row.megabytes:.1f} | "
                f"{row.ceiling:.0%} | {row.peer} | {time} | {memory} |"
            )
        return [*lines, ""]

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
            },
            indent=2,
        )

    def csv(self) -> str:
        """Write the rows as CSV.

        Returns:
            A header and one line a row.
        """
        return rows_as_csv(self.rows)


def write(report: BenchReport, folder: Path) -> list[Path]:
    """Write ``bench.md``, ``bench.json`` and ``bench.csv``.

    Args:
        report: the measurements.
        folder: where to; made if need be.

    Returns:
        The files written.

    Raises:
        OutputError: if the folder cannot be written to.
    """
    texts = {"bench.md": report.markdown(), "bench.json": report.json() + "\n", "bench.csv": report.csv()}
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _ratio(value: float, base: float) -> str:
    if base <= 0 or value <= 0:
        return "-"
    return f"{value / base:.2f}x" if value >= base / 2 else f"1/{base / value:.1f}"
