"""What distillation brought: teacher, student without and student with, the gap closed, a paired test, the cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from heedful.data.examples import Corpus
from heedful.evaluation import Report, evaluate_classes
from heedful.model.decisions import kind_of
from heedful.run.comparison import ComparisonOutcome, Run, compare
from heedful.run.distilling.teachers import Ensemble, ModelTeacher, Teacher, find_teacher
from heedful.run.preparation import prepare
from heedful.run.record import RunResult
from heedful.run.run import count_parameters, train
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.run.sources import data_root, find_source
from heedful.tasks import AnyPrepared, Source
from heedful.training.progress import Reporter

WITHOUT, WITH, TEACHER = "student without teacher", "student with teacher", "teacher"
PLAIN = "plain"
"""Folder of the student without a teacher, inside that of the student with one."""


@dataclass(frozen=True)
class DistilledSystem:
    """One of the three systems.

    Attributes:
        metrics: on the split that was compared.
        parameters: trained numbers, word vectors excluded; None where they are not known.
        seconds: wall time of training; None for a teacher, which was there before.
        examples: texts of an epoch of training; None for a teacher.
        epochs: passes over them; None for a teacher.
    """

    metrics: Mapping[str, float]
    parameters: int | None = None
    seconds: float | None = None
    examples: int | None = None
    epochs: int | None = None


@dataclass(frozen=True)
class Distillation:
    """A student that was trained with a teacher, and what it is compared with.

    Attributes:
        result: its run.
        prepared: its data.
        split: the split that is compared: "test", or "dev" where there is no test split.
        systems: the three systems by name; the teacher is missing where it did not answer every text, the student
            without a teacher where none was trained.
        test: the paired test of the two students; None where there is one student alone.
        answering: wall time of preparing the data, the teacher's answers included; those in the cache take none.
    """

    result: RunResult
    prepared: AnyPrepared
    split: str
    systems: Mapping[str, DistilledSystem]
    test: ComparisonOutcome | None
    answering: float

    @property
    def metric(self) -> str:
        """The metric that is compared: the first of the task."""
        return next(iter(self.systems[WITH].metrics))

    @property
    def gap_closed(self) -> float | None:
        """Share of the distance between student without and teacher; None where the teacher is no better."""
        if not {WITHOUT, TEACHER} <= self.systems.keys():
            return None
        without, taught, best = (self.systems[name].metrics[self.metric] for name in (WITHOUT, WITH, TEACHER))
        return (taught - without) / (best - without) if best > without else None

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "split": self.split,
            "systems": {name: asdict(system) for name, system in self.systems.items()},
            "gap_closed": self.gap_closed,
            "test": None if self.test is None else self.test.as_dict(),
            "answering_seconds": self.answering,
            "notes": list(self.prepared.notes),
            "protocol": self.prepared.protocol.sentence(),
        }

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        width = max(map(len, self.systems))
        header = f"{'':<{width}}  {self.metric:>10}  {'parameters':>11}  {'texts':>9}  {'epochs':>6}  {'seconds':>8}"
        lines = [f"protocol: {self.prepared.protocol.sentence()}", "", f"on {self.split}:", header]
        for name, system in self.systems.items():
            sized = ((system.parameters, 11), (system.examples, 9), (system.epochs, 6))
            counts = (f"{_shown(value):>{size}}" for value, size in sized)
            seconds = "-" if system.seconds is None else f"{system.seconds:.0f}"
            lines.append(
                f"{name:<{width}}  {system.metrics[self.metric]:10.4f}  {'  '.join(counts)}  {seconds:>8}"
            )
        lines += ["", self._gap(), f"preparing the data and asking the teacher: {self.answering:.0f} s"]
        return "\n".join([*lines, *(["", self.test.render()] if self.test is not None else [])])

    def _gap(self) -> str:
        if TEACHER not in self.systems:
            return "gap closed: unknown, because the teacher was not measured on every text of this split"
        if WITHOUT not in self.systems:
            return "gap closed: unknown, because no student without a teacher was trained"
        if self.gap_closed is None:
            return "gap closed: none to close, because the teacher is not better than the student without it"
        if self.gap_closed > 1:
            return "gap closed: all of it, because the student with the teacher is better than the teacher"
        if self.gap_closed <= 0:
            return "gap closed: nothing of it, because the student is no better with the teacher than without"
        return f"gap closed: {self.gap_closed:.0%} of the way from the student without to the teacher"


@dataclass(frozen=True)
class Places:
    """Where a distillation reads and writes.

    Attributes:
        out: run folder of the student; the student without a teacher is trained in `PLAIN` inside it.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        resume: continue interrupted runs.
        overwrite: replace earlier runs.
    """

    out: Path
    data: Path | None = None
    resume: bool = False
    overwrite: bool = False


def distil(
    config: RunConfig,
    places: Places,
    *,
    plain: bool = True,
    reporter: Reporter | None = None,
    print_line: Callable[[str], None] = lambda _: None,
) -> Distillation:
    """Train a student with a teacher and, to compare, one without.

    The teacher is asked about the split that is compared when all training is over.

    Args:
        config: the settings; they name a teacher.
        places: where to read and write.
        plain: whether a student without a teacher is trained too.
        reporter: shows progress.
        print_line: told what happens next.

    Returns:
        The student and the comparison.

    Raises:
        UsageError: if settings contradict each other or the data, or a run is there and neither resumed nor replaced.
        DataError: if a file is missing or wrong.
        ArtifactError: if a teacher's model is missing or altered.
        Interrupted: when asked to stop; ``resume`` goes on.
    """
    started = time.perf_counter()
    prepared = prepare(config, places.data)
    if prepared.protocol.selects == "taught" and "test" not in prepared.datasets:
        # both students are judged by the same rows with gold
        config = replace(config, distil=replace(config.distil, dev_fraction=0.0))
        prepared = prepare(config, places.data)
    answering = time.perf_counter() - started
    for note in prepared.notes:
        print_line(note)
    print_line(f"{WITH}: {config.model.encoder}")
    result = _train(config, prepared, places.out, places, reporter)
    split = "test" if result.test is not None else "dev"
    systems = {WITH: _system(result, prepared, split)}
    test = None
    if plain:
        print_line(f"{WITHOUT}: {config.model.encoder}")
        alone = replace(config, distil=DistilConfig())
        beside = prepare(alone, places.data)
        other = _train(alone, beside, places.out / PLAIN, places, reporter)
        systems = {WITHOUT: _system(other, beside, split), **systems}
        runs = [[Run.of_report(_report(run, split))] for run in (other, result)]
        test = compare((WITHOUT, WITH), runs[0], runs[1])
    teacher = _teacher(config, places.data, split, prepared.labels)
    systems = {**({} if teacher is None else {TEACHER: teacher}), **systems}
    return Distillation(result, prepared, split, systems, test, answering)


def _train(
    config: RunConfig, prepared: AnyPrepared, folder: Path, places: Places, reporter: Reporter | None
) -> RunResult:
    return train(
        config, prepared, folder=folder, resume=places.resume, overwrite=places.overwrite, reporter=reporter
    )


def _report(result: RunResult, split: str) -> Report:
    report = result.test if split == "test" else result.dev
    assert report is not None  # the split was chosen so
    return report


def _system(result: RunResult, prepared: AnyPrepared, split: str) -> DistilledSystem:
    examples = prepared.transfer or prepared.datasets["train"]
    metrics = _report(result, split).metrics
    return DistilledSystem(metrics, result.parameters, result.seconds, len(examples), result.fit.epochs)


def _teacher(
    config: RunConfig, data: Path | None, split: str, labels: tuple[str, ...]
) -> DistilledSystem | None:
    """Measure the teacher; None where it does not answer every text, or none was held out for it."""
    root = data_root(config, data)
    source: Source = find_source(config, root)
    if kind_of(source.task).outputs != "classes":
        return None
    parts = source.load()
    if split not in parts:  # cross-validation judged the students
        return None
    teacher = find_teacher(config.distil.teacher, labels, source.task, root, None)
    examples = [example for example in parts[split].examples if example.target is not None]
    taught = teacher.teach(Corpus(examples)).probabilities
    if not taught.any(axis=1).all():
        return None
    number = {label: place for place, label in enumerate(labels)}
    gold = np.array([number[str(example.target)] for example in examples])
    return DistilledSystem(
        evaluate_classes(gold, taught.argmax(axis=1), labels).metrics, _parameters(teacher)
    )


def _parameters(teacher: Teacher) -> int | None:
    if isinstance(teacher, ModelTeacher):
        return count_parameters(teacher.model.network)
    if isinstance(teacher, Ensemble):
        counts = [_parameters(member) for member in teacher.members]
        return None if None in counts else sum(count for count in counts if count is not None)
    return None


def _shown(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
