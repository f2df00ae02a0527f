"""Runs that were not run, and a table of them: as `heedful study` keeps them, or in memory alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import heedful.run.record as storing
from heedful.run.kept_answers import Answers, kind_of_answers
from heedful.run.kept_settings import plain_settings
from heedful.run.recipe_files import load_config
from heedful.run.record import PartFigures, RunFigures, RunRecord
from heedful.storage.layout import FOLD, SEED, Varied, record_file
from heedful.tasks.prepared import Protocol
from heedful_lab.reproduce import runner
from heedful_lab.reproduce.cell_runs import Runs
from heedful_lab.reproduce.plan import SKIP, Column, Row, System, Table, experiments, systems
from heedful_lab.reproduce.runner import Budget, Cell

PROTOCOL = Protocol("files", "cut", dev_fraction=0.1, cut_seed=3)
COLUMN = Column("t", "TINY", "tiny", "test.metrics.accuracy", 100.0, 1)
ROWS = (
    Row("Ours", "ours", {"t": "80.0 (0.4)"}, "a note"),
    Row("Other", "other", {}, ""),
    Row("Elsewhere 1999", "", {"t": "70.1"}, ""),
    Row("Not for this", "ours", {"t": SKIP}, ""),
)
TABLE = Table("tiny-table1", "Tiny, Table 1", (COLUMN,), ROWS, "Ours", ("below",), "", "")
SYSTEMS = {"ours": System("ours", (), {}), "other": System("other", ("model.hidden=8",), {})}


def record(system: str, seed: int, right: int, of: int = 10) -> RunRecord:
    """Return a run of the declared experiment that got the first ``right`` of its examples right."""
    gold = np.arange(of) % 2
    predicted = np.where(np.arange(of) < right, gold, 1 - gold)
    figures = PartFigures({"accuracy": right / of}, of, seconds=0.5)
    cell = Cell(runner.experiments()["tiny"], runner.systems()[system], Budget())
    config = load_config(cell.experiment.recipe, [*cell.changes, f"train.seed={seed}"])
    return RunRecord(
        Varied(SEED, seed),
        PROTOCOL,
        plain_settings(config),
        RunFigures(figures, figures, parameters=1234, epoch_seconds=2.0, epoch_cpu_seconds=1.5),
        Answers("classes", gold, predicted),
        {"file": "0" * 64},
        {"heedful": "0", "torch": "1", "python": "2", "platform": "3"},
        100 + seed,
    )


def write(folder: Path, system: str, rights: Sequence[int]) -> None:
    """Keep one run a seed, from 1 on, where the declared experiment's runs lie."""
    for seed, right in enumerate(rights, start=1):
        write_record(folder, system, record(system, seed, right))


def write_record(folder: Path, system: str, kept: RunRecord) -> None:
    """Keep one run where the declared experiment's runs lie."""
    file = record_file(folder / "standard" / "tiny" / system, kept.varied)
    file.parent.mkdir(parents=True, exist_ok=True)
    storing.write_record(file, kept)


def with_test_figures(kept: RunRecord, **figures: Any) -> RunRecord:
    """Return a run with other figures on its test part."""
    test = replace(kept.figures.test, **figures)
    return replace(kept, figures=replace(kept.figures, test=test))


def answered(
    experiment: str, task: str, *answers: tuple[Sequence[float], Sequence[float]], folds: Sequence[int] = ()
) -> Runs:
    """Return runs in memory from the gold and the answers of each, numbered from 1 on or as ``folds`` says."""
    cell = Cell(experiments()[experiment], systems()["disan"], Budget())
    setting = FOLD if cell.experiment.folds else SEED
    numbers = folds or range(1, len(answers) + 1)
    none = PartFigures({})
    return Runs(
        cell,
        tuple(
            RunRecord(
                Varied(setting, number),
                PROTOCOL,
                {"model": {"task": task}},
                RunFigures(none, none),
                Answers(kind_of_answers(task), np.asarray(gold), np.asarray(predicted)),
                {"file": "0" * 64},
            )
            for number, (gold, predicted) in zip(numbers, answers, strict=True)
        ),
    )
