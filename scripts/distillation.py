"""Distil an ensemble of Bi-LSTM, DiSAN and MTSA into one DiSAN and one MTSA; print the table of docs/distillation.md.

    python scripts/distillation.py --data DIR --columns cr,trec --seeds 1,2,3 --out runs/distillation

Each data set (column) has the settings of one packaged recipe, in which only the encoder and the seed change. A
finished run is not repeated, and an interrupted one goes on from its last checkpoint. Teachers are run folders in
OUT/COLUMN/teachers; students are studies, OUT/COLUMN/plain-ENCODER and OUT/COLUMN/taught-ENCODER, which
`heedful compare` takes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from training_options import options_of

from heedful.data.examples import Corpus
from heedful.run import prepare, train
from heedful.run.comparison import Run, compare
from heedful.run.distilling import find_teacher
from heedful.run.recipe_files import load_config
from heedful.run.sources import data_root, find_source
from heedful.run.studies import Study, run_study
from heedful.storage import write_text
from heedful.tasks import load_model, task_named
from heedful.training.run_folder import RunFolder

RECIPES = {
    "cr": ("disan-cr", []),
    "subj": ("disan-cr", ["data.set=subj"]),
    "mpqa": ("disan-cr", ["data.set=mpqa"]),
    "trec": ("disan-trec", []),
    "sst-2": ("disan-sst2", []),
    "sst-5": ("disan-sst5", []),
    "snli": ("disan-snli", ["data.train=train-part"]),
}
"""Column to recipe and settings."""


@dataclass(frozen=True)
class Asked:
    """What the options say.

    Attributes:
        data: the folder of data sets.
        out: where runs are kept.
        seeds: of the students.
        students: encoders of the students.
        teachers: encoders of the teachers.
        teacher_seeds: of the teachers.
        shared: further ``key=value`` settings of all runs.
        settings: further ones of the students with a teacher.
    """

    data: Path
    out: Path
    seeds: tuple[int, ...]
    students: tuple[str, ...]
    teachers: tuple[str, ...]
    teacher_seeds: tuple[int, ...]
    shared: tuple[str, ...]
    settings: tuple[str, ...]


def train_teachers(column: str, asked: Asked) -> list[Path]:
    """Train the members of the ensemble that are not there yet; return their run folders."""
    recipe, settings = RECIPES[column]
    folders = []
    for encoder in asked.teachers:
        for seed in asked.teacher_seeds:
            folder = asked.out / column / "teachers" / f"{encoder}-{seed}"
            folders.append(folder)
            if RunFolder(folder).model.exists():
                continue
            config = load_config(
                recipe, [*settings, *asked.shared, f"model.encoder={encoder}", f"train.seed={seed}"]
            )
            result = train(config, prepare(config, asked.data), folder=folder, resume=True)
            assert result.test is not None  # every column has a test part
            print(f"{column}: teacher {folder.name}: {result.test.metrics['accuracy']:.4f}", flush=True)
    return folders


def measure_teachers(column: str, folders: Sequence[Path], asked: Asked) -> dict[str, object]:
    """Return the test accuracy of the ensemble and of each member; called when all students are trained."""
    config = load_config(*RECIPES[column])
    root = data_root(config, asked.data)
    source = find_source(config, root)
    examples = [example for example in source.load()["test"].examples if example.target is not None]
    labels = tuple(sorted(load_model(folders[0]).labels)) if not source.labels else source.labels
    gold = np.array([labels.index(str(example.target)) for example in examples])
    sides = task_named(source.task).sides

    def accuracy(names: Sequence[str]) -> float:
        taught = find_teacher(names, labels, sides, root, None).teach(Corpus(examples))
        return float((taught.probabilities.argmax(axis=1) == gold).mean())

    names = [str(folder.absolute()) for folder in folders]
    return {"ensemble": accuracy(names), "members": {Path(n).name: accuracy([n]) for n in names}}


def study_students(column: str, encoder: str, folders: Sequence[Path], asked: Asked) -> tuple[Study, Study]:
    """Train the students of one encoder, without and with the ensemble."""
    recipe, settings = RECIPES[column]
    shared = [*settings, *asked.shared, f"model.encoder={encoder}"]
    teacher = f"distil.teacher={json.dumps([str(folder.absolute()) for folder in folders])}"
    place = asked.out / column
    plain = run_study(recipe, place / f"plain-{encoder}", asked.data, seeds=asked.seeds, overrides=shared)
    print(f"{column}: plain {encoder}: {plain.mean_line()}", flush=True)
    overrides = [*shared, teacher, *asked.settings]
    taught = run_study(
        recipe, place / f"taught-{encoder}", asked.data, seeds=asked.seeds, overrides=overrides
    )
    print(f"{column}: taught {encoder}: {taught.mean_line()}", flush=True)
    return plain, taught


def row(
    column: str, encoder: str, studies: tuple[Study, Study], teachers: dict[str, object]
) -> dict[str, object]:
    """Return the figures of one line of the table."""
    plain, taught = ([Run.of_record(run) for run in study.runs] for study in studies)
    tests = compare(("plain", "taught"), plain, taught, ["accuracy"]).tests["accuracy"]
    means = [study.spread()["accuracy"] for study in studies]
    gap = float(teachers["ensemble"]) - means[0][0]  # type: ignore[arg-type]
    return {
        "column": column,
        "student": encoder,
        "seeds": [run.varied.number for run in studies[0].runs],
        **teachers,
        "plain": means[0],
        "taught": means[1],
        "gap_closed": (means[1][0] - means[0][0]) / gap if gap > 0 else None,
        "tests": {test.test: test.p for test in tests},
        "cpu_seconds_an_epoch": [
            float(np.mean([run.figures.epoch_cpu_seconds or 0 for run in study.runs])) for study in studies
        ],
        "epochs": [float(np.mean([run.figures.epochs for run in study.runs])) for study in studies],
    }


def line(found: dict[str, object]) -> str:
    """Return one line of the table."""
    plain, taught = (
        f"{100 * mean:.1f} ± {100 * spread:.1f}"
        for mean, spread in (found["plain"], found["taught"])  # type: ignore[union-attr]
    )
    closed = found["gap_closed"]
    gap = "none to close" if closed is None else "all" if closed > 1 else f"{closed:.0%}"  # type: ignore[operator]
    p_values = ", ".join("-" if p is None else f"{p:.3f}" for p in found["tests"].values())  # type: ignore[attr-defined]
    cost = " / ".join(
        f"{seconds * epochs:.0f}"
        for seconds, epochs in zip(found["cpu_seconds_an_epoch"], found["epochs"], strict=True)  # type: ignore[call-overload]
    )
    cells = (
        found["column"],
        found["student"],
        f"{100 * float(found['ensemble']):.1f}",
        plain,
        taught,
        gap,
        p_values,
        cost,
    )  # type: ignore[arg-type]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Train, measure, print."""
    parser = options_of(__doc__, out="the runs", columns="cr,trec")
    parser.add_argument("--students", default="disan,mtsa", help="Encoders of the students.")
    parser.add_argument("--teachers", default="bi-lstm,disan,mtsa", help="Encoders of the teachers.")
    parser.add_argument("--teacher-seeds", default="1,2", help="Seeds of the teachers.")
    parser.add_argument("--all", action="append", default=[], help="A setting of all runs, KEY=VALUE.")
    parser.add_argument(
        "--set", action="append", default=[], help="A setting of the students with a teacher."
    )
    given = parser.parse_args()
    asked = Asked(
        given.data,
        given.out,
        tuple(map(int, given.seeds.split(","))),
        tuple(given.students.split(",")),
        tuple(given.teachers.split(",")),
        tuple(map(int, given.teacher_seeds.split(","))),
        tuple(given.all),
        tuple(given.set),
    )
    rows = []
    for column in given.columns.split(","):
        folders = train_teachers(column, asked)
        studies = {encoder: study_students(column, encoder, folders, asked) for encoder in asked.students}
        teachers = measure_teachers(column, folders, asked)
        rows += [row(column, encoder, found, teachers) for encoder, found in studies.items()]
        write_text(asked.out / "table.json", json.dumps(rows, indent=1) + "\n")
    print(
        "| data | student | ensemble | without | with | gap closed | p: over seeds, over examples | CPU s |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |")
    print("\n".join(map(line, rows)))


if __name__ == "__main__":
    main()
