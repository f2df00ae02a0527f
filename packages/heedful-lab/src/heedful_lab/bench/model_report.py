"""What was measured of whole models, as Markdown, JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from heedful.tables import markdown_table
from heedful_lab.bench.bench_report import rows_as_csv, write_files
from heedful_lab.bench.bench_systems import PEER
from heedful_lab.bench.sharing import SharingRow, sharing_table

EPOCH_TARGET = 1.4
"""Most that one training epoch of DiSAN may take, in epochs of the multi-head baseline."""

_COLUMNS = (
    *("model", "parameters", "training pairs/s", "±", "x", "MB", "x", "inference pairs/s", "±", "x"),
    *("one pair ms", "p95", "x"),
)


@dataclass(frozen=True)
class ModelRow:
    """One model.

    Attributes:
        name: of the model.
        parameters: trained numbers, word vectors excluded.
        train: pairs a second in training: forward, backward, optimizer, word vectors included.
        train_spread: half the distance between the quartiles over the median.
        megabytes: most memory a training step on the longest batch holds beyond weights and optimizer, 10^6 bytes.
        infer: pairs a second when answering many, from word ids to logits.
        infer_spread: as of training.
        latency: milliseconds from text to answer for one pair alone, median.
        latency_95: the same, the 95th percentile.
    """

    name: str
    parameters: int
    train: float
    train_spread: float
    megabytes: float
    infer: float
    infer_spread: float
    latency: float
    latency_95: float


@dataclass(frozen=True)
class PrecisionRow:
    """One model answering in less than float32.

    Attributes:
        name: of the model.
        precision: "bfloat16", or "int8" for matrices as 8-bit whole numbers.
        infer: pairs a second when answering many.
        infer_spread: half the distance between the quartiles over the median.
        latency: milliseconds from text to answer for one pair alone, median.
        difference: largest change of a probability.
        changed: share of the pairs whose answer is another.
    """

    name: str
    precision: str
    infer: float
    infer_spread: float
    latency: float
    difference: float
    changed: float


@dataclass(frozen=True)
class ModelReport:
    """Everything one run measured of whole models.

    Attributes:
        machine: versions, threads, processor features.
        pairs: pairs behind one measurement.
        batch: pairs a training step.
        padding: share of the places in these batches that holds no word.
        repeats: measurements behind every median.
        checked: implementations proved equal to the reference before timing.
        kernels: for each model, what ``impl="auto"`` chose for each of its operations.
        rows: the measurements, the peer among them.
        precisions: the same models answering in less than float32.
        sharing: the same models on pairs that share premises.
    """

    machine: dict[str, str]
    pairs: int
    batch: int
    padding: float
    repeats: int
    checked: tuple[str, ...]
    kernels: dict[str, dict[str, str]]
    rows: tuple[ModelRow, ...]
    precisions: tuple[PrecisionRow, ...] = ()
    sharing: tuple[SharingRow, ...] = ()

    def epoch_ratio(self, name: str) -> float | None:
        """Return the time of an epoch over that of the peer.

        Args:
            name: of a model.

        Returns:
            The ratio, or None if one of the two was not timed.
        """
        speeds = {row.name: row.train for row in self.rows}
        return speeds[PEER] / speeds[name] if name in speeds and PEER in speeds else None

    def markdown(self) -> str:
        """Write the report as Markdown.

        Returns:
            One table, and how the target of the training epoch stands.
        """
        peer = next(row for row in self.rows if row.name == PEER)
        lines = ["# Benchmark of whole models", ""]
        lines += [f"* {name}: {value}" for name, value in self.machine.items()]
        lines += [
            f"* proved equal to the float64 reference first: {', '.join(self.checked)}",
            f"* pairs as long as SNLI's in bucketed batches of {self.batch}, {self.padding:.0%} padding; float32; "
            f"median of {self.repeats} measurements of {self.pairs} pairs, taken in turns; ± half the distance between "
            "the quartiles",
            "* training: whole steps, optimizer and word vectors included; memory: of a step on the longest batch, "
            "beyond weights and optimizer, counted at torch's allocator",
            f"* x: times the {PEER} baseline; for speeds more is better, for memory and latency less",
            "",
            *markdown_table(
                _COLUMNS, (_cells(row, peer) for row in self.rows), right=range(1, len(_COLUMNS))
            ),
        ]
        lines += ["", *(f"* {name}: {_kernels(found)}" for name, found in self.kernels.items() if found)]
        lines += sharing_table(self.sharing)
        lines += self._reduced()
        ratio = self.epoch_ratio("disan")
        if ratio is not None:
            verdict = "met" if ratio <= EPOCH_TARGET else "missed"
            lines += [
                "",
                f"A training epoch of DiSAN takes {ratio:.2f} times that of {PEER}; target {EPOCH_TARGET}: {verdict}.",
            ]
        return "\n".join([*lines, ""])

    def _reduced(self) -> list[str]:
        if not self.precisions:
            return []
        full = {row.name: row for row in self.rows}
        rows = (
            [
                row.name,
                row.precision,
                f"{row.infer:,.0f}",
                f"{row.infer_spread:.0%}",
                f"{row.infer / full[row.name].infer:.2f}",
                f"{row.latency:.2f}",
                f"{row.latency / full[row.name].latency:.2f}",
                f"{row.difference:.4f}",
                f"{row.changed:.1%}",
            ]
            for row in self.precisions
        )
        head = (
            "model | precision | inference pairs/s | ± | x | one pair ms | x | difference | answers changed"
        )
        return [
            "",
            "## Answering in less than float32",
            "",
            "x: times the same model in float32. Difference: the largest change of a probability. The networks have "
            "learned next to nothing, so every answer is a close call; what a trained model loses is measured by "
            "`heedful evaluate MODEL --precision bfloat16` or `int8`.",
            "",
            *markdown_table(head.split(" | "), rows, right=range(2, 9)),
        ]

    def json(self) -> str:
        """Write the report as JSON.

        Returns:
            One object.
        """
        return json.dumps({**asdict(self), "epoch_ratio_disan": self.epoch_ratio("disan")}, indent=2)


def write_models(report: ModelReport, folder: Path) -> list[Path]:
    """Write ``models.md``, ``models.json`` and ``models.csv``; see `write_files`."""
    texts = {
        "models.md": report.markdown(),
        "models.json": report.json() + "\n",
        "models.csv": rows_as_csv(report.rows),
    }
    return write_files(texts, folder)


def _cells(row: ModelRow, peer: ModelRow) -> list[str]:
    return [
        row.name,
        f"{row.parameters:,}",
        f"{row.train:,.0f}",
        f"{row.train_spread:.0%}",
        f"{row.train / peer.train:.2f}",
        f"{row.megabytes:.0f}",
        f"{row.megabytes / peer.megabytes:.2f}",
        f"{row.infer:,.0f}",
        f"{row.infer_spread:.0%}",
        f"{row.infer / peer.infer:.2f}",
        f"{row.latency:.2f}",
        f"{row.latency_95:.2f}",
        f"{row.latency / peer.latency:.2f}",
    ]


def _kernels(found: dict[str, str]) -> str:
    return "; ".join(f"{operation}: {choice}" for operation, choice in found.items())
