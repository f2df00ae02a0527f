"""What a model knows of its limits, in the commands that train several: study, tune and distil train what is asked.

`docs/combinations.md` says "yes" for these cells. One run of each command has several kinds that go together.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_combinations import CLASSES, KINDS, NOT_IN_RUNS, PATHS, PRICES, ROWS, RUNS, SMALL, TEXTS

import heedful
import tiny
from heedful.explain.neighbors import neighbors
from heedful.model.decisions import Wish

SETTINGS = ("--set=text.vectors=", "--set=model.sentence=none", "--set=model.encoder=none", "--quiet")
TRAINS = {
    "study": "heedful.run.studies",
    "tune": "heedful.run.tuning.trials",
    "distil": "heedful.run.distilling.distillation",
}
WORD = [word for _, word, *_ in ROWS]
LABELS = [",".join([word, *(["late"] if when == "then" else [])]) for _, word, when, _ in ROWS]


def promises(model: Any, request: Any = TEXTS[0], *, by_class: bool = False) -> None:
    (answer,) = model.promising(Wish(0.8, by_class=by_class)).predict([request])
    assert answer.prediction_set


def has_an_interval(model: Any) -> None:
    (answer,) = model.promising(Wish(0.8)).predict(TEXTS[:1])
    assert answer.interval[0] < answer.score < answer.interval[1]


def has_parents(model: Any) -> None:
    (answer,) = model.in_tree("/").predict(TEXTS[:1])
    assert answer.parents["sport"] == pytest.approx(
        answer.probabilities["sport/ball"] + answer.probabilities["sport/chess"]
    )


def rejects(model: Any) -> None:
    (answer,) = model.predict(["zzz qqq xxx"])
    assert answer.unlike_share is not None


def looks_back(model: Any) -> None:
    (found,) = neighbors(model, TEXTS[:1], 1)
    assert found[0].texts[0] in TEXTS


def setting(model: Any, table: str, name: str) -> Any:
    """Return a setting of the run that made a model."""
    return model.run_settings[table][name]


@dataclass(frozen=True)
class Runs:
    """Runs that have several kinds of `test_combinations` at once.

    Attributes:
        columns: of the table, beside the texts.
        options: of the commands.
        checks: kind to what the model that was trained must have.
        teacher: makes what teaches, for distil.
    """

    columns: Mapping[str, list[Any]]
    options: tuple[str, ...]
    checks: Mapping[str, Callable[[Any], None]]
    teacher: Callable[[], Any]


def taught(labels: list[Any]) -> Callable[[], Any]:
    return lambda: heedful.TextClassifier(**SMALL).fit(TEXTS, labels, baseline=False)


NODES = [PATHS[word] for word in WORD]
TOGETHER = {
    "classes": Runs(
        {"label": NODES},
        (
            "--set=model.task_options.reject=0.8",
            "--set=data.keep_examples=texts",
            "--set=train.class_weight=balanced",
        ),
        {
            "none of these": rejects,
            "sets": promises,
            "sets by class": lambda model: promises(model, by_class=True),
            "trees": has_parents,
            "kept examples": looks_back,
            "class weights": lambda model: _is(setting(model, "train", "class_weight"), "balanced"),
        },
        taught(NODES),
    ),
    "costs": Runs(
        {"label": CLASSES},
        ("--set=model.task_options.costs={goal = 9}",),
        {"costs": lambda model: _is(model.decision.costs.max(), 9.0)},
        taught(CLASSES),
    ),
    "columns": Runs(
        {"label": CLASSES, "price": PRICES},
        ("--set=data.features=['price']",),
        {"feature columns": lambda model: _is(setting(model, "data", "features"), ("price",))},
        taught(CLASSES),
    ),
    "numbers": Runs(
        {"score": PRICES},
        ("--set=model.task_options.held_out=0.2",),
        {"intervals": has_an_interval},
        lambda: heedful.TextScorer(**SMALL).fit(TEXTS, PRICES, baseline=False),
    ),
    "label columns": Runs(
        {"mood": [how for how, *_ in ROWS], "what": WORD},
        ("--column", "label=mood", "--column", "label=what", "--set=model.task_options.held_out=0.2"),
        {"several label columns": promises},
        taught(CLASSES),
    ),
    "teacher": Runs(
        {"label": CLASSES},
        (),
        {"teacher": lambda model: _is(Path(setting(model, "distil", "teacher")[0]).name, "teacher")},
        taught(CLASSES),
    ),
    "labels": Runs(
        {"label": LABELS},
        ("--set=model.task=labels", "--set=model.task_options.held_out=0.2"),
        {"sets of several labels": promises},
        lambda: heedful.MultiLabelClassifier(**SMALL).fit(
            TEXTS, [each.split(",") for each in LABELS], baseline=False
        ),
    ),
}


def _is(found: Any, wanted: Any) -> None:
    assert found == wanted or tuple(found) == wanted


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("command", RUNS)
def test_a_run_trains_what_it_is_asked(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, made = TOGETHER[name], list[Any]()
    if any(command in NOT_IN_RUNS.get(kind, {}) for kind in runs.checks):
        return  # what is refused is tested beside the table
    module = importlib.import_module(TRAINS[command])
    train = module.train

    def kept(*args: Any, **rest: Any) -> Any:
        made.append(train(*args, **rest))
        return made[-1]

    monkeypatch.setattr(module, "train", kept)
    table, teacher = tmp_path / "rows.csv", tmp_path / "teacher"
    cells = [list(row) for row in zip(TEXTS, *runs.columns.values(), strict=True)]
    tiny.write_csv(table, cells, ["text", *runs.columns])
    more: dict[str, tuple[object, ...]] = {
        "study": ("--seeds", 1, f"--set=data.test={table}", "--no-baseline"),
        "tune": ("--trials", 1),
        "distil": ("--teacher", teacher, "--no-plain"),
    }
    if command == "distil" or name == "teacher":
        runs.teacher().save_pretrained(teacher)
        if command != "distil":  # which has an option for it
            more[command] += (f"--set=distil.teacher={json.dumps([str(teacher)])}",)
    done = tiny.run(command, table, *SETTINGS, *runs.options, *more[command], "--out", tmp_path / "out")
    assert done.code == 0, done.err
    for check in runs.checks.values():
        check(made[-1].predictor)


def test_every_kind_that_runs_train_is_in_one() -> None:
    checked = {kind for runs in TOGETHER.values() for kind in runs.checks}
    assert checked | {"learning on"} == set(KINDS)  # which every one of these commands refuses
