"""What a run found, and the record that is kept of it: its settings, protocol, figures and predictions.

`heedful study` writes one JSON file for each run. Comparisons, the papers' tables and the results pages read it. There
is one writer, `write_record`, and one reader, `read_record`, which also reads the records of Heedful 0.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from heedful.errors import ArtifactError, shown
from heedful.evaluation import Report
from heedful.evaluation.report_text import report_html
from heedful.run.kept_answers import Answers
from heedful.settings import read_table
from heedful.storage import write_text
from heedful.storage.fields import Fields, is_number, is_table, plain_json
from heedful.storage.layout import Varied
from heedful.tasks.prepared import Protocol

if TYPE_CHECKING:
    from heedful.tasks import AnyModel
    from heedful.training.loop import FitResult

VERSION = 2
"""Of the format of records."""
Groups = dict[str, dict[str, int | float]]


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes:
        predictor: the model with the weights of its best checkpoint.
        fit: the result of training.
        dev: report on the split that selected the best checkpoint.
        test: report on the test split; None if there is none.
        parameters: trained parameters, word vectors excluded.
        seconds: total wall time over all resumptions, without the time between them and without the steps that were
            lost after the last checkpoint.
        epoch_seconds: wall time of one epoch, without evaluations and checkpoints, also over all
            resumptions.
        epoch_cpu_seconds: its processor time over all threads, which other work on the machine hardly
            changes.
        kernels: operation to the implementation that training and evaluation used, and why.
        train: report on the training split; None unless ``train.evaluate_train`` asks for it.
        parts: what each part of the model reached alone, and with which weight it joined, as a sentence; empty where
            there is the network alone.
    """

    predictor: AnyModel
    fit: FitResult
    dev: Report
    test: Report | None
    parameters: int
    seconds: float
    epoch_seconds: float
    epoch_cpu_seconds: float
    kernels: Mapping[str, str] = field(default_factory=dict)
    train: Report | None = None
    parts: str = ""

    def summary(self) -> dict[str, object]:
        """Return the figures as plain values."""
        return {
            "dev": self.dev.as_dict(),
            "test": None if self.test is None else self.test.as_dict(),
            **({} if self.train is None else {"train": self.train.as_dict()}),
            "best_step": self.fit.best_step,
            "steps": self.fit.steps,
            "epochs": self.fit.epochs,
            "train_seconds": self.fit.seconds,
            "epoch_seconds": self.epoch_seconds,
            "epoch_cpu_seconds": self.epoch_cpu_seconds,
            "seconds": self.seconds,
            "parameters": self.parameters,
            "stopped": self.fit.stopped,
            "resumed": self.fit.resumed,
            "kernels": dict(self.kernels),
            **({"parts": self.parts} if self.parts else {}),
        }

    def __repr__(self) -> str:
        test = "" if self.test is None else f", test: {self.test.brief()}"
        return (
            f"RunResult({type(self.predictor).__name__}, dev: {self.dev.brief()}{test}, {self.seconds:.0f} s)"
        )

    def _repr_html_(self) -> str:
        """Return the figures as tables, which is how a notebook shows them."""
        parts = [
            report_html(self.dev, "dev"),
            *([] if self.test is None else [report_html(self.test, "test")]),
        ]
        how = (
            f"best at step {self.fit.best_step:,} of {self.fit.steps:,}, {self.fit.epochs:,} epochs, "
            f"{self.parameters:,} parameters without word vectors, {self.seconds:.0f} s"
        )
        return "".join([*parts, f"<p>{how}</p>"])


@dataclass(frozen=True)
class PartFigures:
    """The figures on one split; the attributes are those of `heedful.evaluation.Report`.

    Attributes:
        metrics: metric name to value.
        count: number of examples with a label.
        by_group: metrics of each group.
        per_class: precision, recall, F1 and count of each class.
        confusion: gold class to predicted class to count.
        seconds: wall time of the predictions.
        notes: counts that matter for judging the figures.
        by_length: metrics of each bin of sentence lengths.
        calibration: the calibration of the confidences, as plain values; None if predictions have no confidence.
        signatures: how a metric was computed, if its library states it.
        intervals: the 95 % interval of each metric, as plain values.
    """

    metrics: dict[str, float]
    count: int = 0
    by_group: Groups = field(default_factory=dict)
    per_class: Groups = field(default_factory=dict)
    confusion: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)
    by_length: Groups = field(default_factory=dict)
    calibration: dict[str, object] | None = None
    signatures: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, dict[str, object]] = field(default_factory=dict)

    @classmethod
    def of_report(cls, report: Report) -> PartFigures:
        """Take the figures of a report, without its single answers."""
        return cls(
            metrics=report.metrics,
            count=report.count,
            by_group=report.by_group,
            per_class=report.per_class,
            confusion=report.confusion,
            seconds=report.seconds,
            notes=report.notes,
            by_length=report.by_length,
            calibration=report.calibration.as_dict() if report.calibration else None,
            signatures=report.signatures,
            intervals={name: asdict(interval) for name, interval in report.intervals.items()},
        )


@dataclass(frozen=True)
class RunFigures:
    """The figures and the cost of one run. Seconds are wall time unless stated otherwise.

    Attributes:
        dev: figures on the split that selected the best checkpoint.
        test: figures on the test split.
        train: figures on the training split; None unless they were asked for.
        parameters: trained parameters, word vectors excluded.
        best_step: step of the best checkpoint.
        steps: number of all steps.
        epochs: number of epochs.
        train_seconds: time of training, including evaluations and checkpoints.
        epoch_seconds: time of one epoch, without evaluations and checkpoints.
        epoch_cpu_seconds: its processor time over all threads; None if it was not measured.
        seconds: total time.
        stopped: what ended training.
        resumed: how often the run was continued.
        kernels: operation to the implementation that was used.
        dev_by_epoch: the metric that selects the checkpoint after each evaluation, by the epochs completed then, such
            as ``{"0.5": 0.61, "1": 0.64}``; empty in runs of earlier versions.
    """

    dev: PartFigures
    test: PartFigures
    train: PartFigures | None = None
    parameters: int = 0
    best_step: int = 0
    steps: int = 0
    epochs: int = 0
    train_seconds: float = 0.0
    epoch_seconds: float = 0.0
    epoch_cpu_seconds: float | None = None
    seconds: float = 0.0
    stopped: str = ""
    resumed: int = 0
    kernels: dict[str, str] = field(default_factory=dict)
    dev_by_epoch: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; what was not measured of the training split and of epochs is left out."""
        plain = asdict(self)
        if self.train is None:
            del plain["train"]
        if not self.dev_by_epoch:
            del plain["dev_by_epoch"]
        return plain


@dataclass(frozen=True)
class RunRecord:
    """One finished run of a study.

    Attributes:
        varied: the setting in which it differs from the other runs of the study.
        protocol: how its splits were made, and which split selected.
        settings: all settings, as plain values.
        figures: its figures and its cost.
        answers: its predictions on the test split; None if they were not saved.
        data: the files that were read, with their SHA-256.
        machine: versions, threads and kernels.
        peak_megabytes: peak memory of the process; None if it is not known for the whole run.
        peak_gpu_megabytes: peak memory of the GPUs.
    """

    varied: Varied
    protocol: Protocol
    settings: Mapping[str, object]
    figures: RunFigures
    answers: Answers | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    peak_megabytes: int | None = None
    peak_gpu_megabytes: int | None = None

    @property
    def task(self) -> str:
        """The task of its model."""
        return Fields(self.settings, "", "settings.").part("model").text("task")

    def figure(self, path: str) -> float | None:
        """Return one figure.

        Args:
            path: "peak_megabytes", or a dotted path into the figures: "parameters", "test.metrics.accuracy",
                "test.by_length.1-5.accuracy".

        Returns:
            The figure; None if the run has none.
        """
        value: object = {**vars(self.figures), "peak_megabytes": self.peak_megabytes}
        for name in path.split("."):
            value = vars(value) if isinstance(value, PartFigures) else value
            if not is_table(value) or value.get(name) is None:
                return None
            value = value[name]
        if not is_number(value):
            raise ValueError(f"{path} is no number: {shown(value)}")
        return float(value)

    def without_gold(self) -> RunRecord:
        """Return the record as it may be passed on: gold labels and scores belong to the data sets."""
        return self if self.answers is None else replace(self, answers=self.answers.without_gold())

    def summary(self) -> dict[str, object]:
        """Return what varied and the figures as plain values, for ``heedful study --json``."""
        return {"varied": str(self.varied), **self.figures.as_dict()}

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "version": VERSION,
            "varied": str(self.varied),
            "protocol": asdict(self.protocol),
            "figures": self.figures.as_dict(),
            "data": dict(self.data),
            "machine": dict(self.machine),
            "peak_megabytes": self.peak_megabytes,
            "peak_gpu_megabytes": self.peak_gpu_megabytes,
            "settings": dict(self.settings),
            "answers": None if self.answers is None else self.answers.as_dict(),
        }


def write_record(file: Path, record: RunRecord) -> None:
    """Write a record.

    Args:
        file: where to.
        record: what is kept.

    Raises:
        OutputError: if it cannot be written.
    """
    write_text(file, json.dumps(record.as_dict()) + "\n")


def read_record(file: Path) -> RunRecord:
    """Read a record.

    Args:
        file: what `heedful study` kept.

    Returns:
        The record.

    Raises:
        ArtifactError: if the file is none, or one of a newer version.
    """
    try:
        return from_dict(plain_json(file.read_bytes(), finite=False))
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"{file}: expected a run that heedful study kept ({error}); delete it to run it again"
        ) from error


def from_dict(plain: object) -> RunRecord:
    """Make a record of plain values.

    Args:
        plain: what `RunRecord.as_dict` gives.

    Returns:
        The record.

    Raises:
        ValueError: if the values are of no record that this version knows.
    """
    fields = Fields(plain, "", error=ValueError)
    if fields.value("version") != VERSION:
        raise ValueError(
            f"version {fields.value('version')!r} is not {VERSION}: use the Heedful that wrote it"
        )
    varied = Varied.parse(fields.text("varied"))
    if varied is None:
        raise ValueError(f"varied is {fields.text('varied')!r}, neither a seed nor a fold")
    return RunRecord(
        varied=varied,
        protocol=_table(Protocol, fields.table("protocol"), "protocol."),
        settings=fields.table("settings"),
        figures=figures_of(fields.table("figures")),
        answers=Answers.of_fields(fields.part("answers")) if "answers" in fields else None,
        data=fields.texts_by_name("data"),
        machine=fields.texts_by_name("machine"),
        peak_megabytes=fields.whole("peak_megabytes") if "peak_megabytes" in fields else None,
        peak_gpu_megabytes=fields.whole("peak_gpu_megabytes") if "peak_gpu_megabytes" in fields else None,
    )


def figures_of(plain: Mapping[str, object]) -> RunFigures:
    """Make the figures of a run of plain values; see `from_dict`."""
    figures = _table(RunFigures, plain, "figures.")
    fields = Fields(plain, "", "figures.", ValueError)
    if "train" not in fields:
        return figures
    return replace(figures, train=_table(PartFigures, fields.table("train"), "figures.train."))


_Table = TypeVar("_Table")


def _table(kind: type[_Table], plain: Mapping[str, object], path: str) -> _Table:
    problems: list[str] = []
    table = read_table(kind, plain, path, problems)
    if table is None or problems:
        raise ValueError("; ".join(problems))
    return table
