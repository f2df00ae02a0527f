"""Repeated runs: mean, spread, what is done is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny
from heedful.errors import ArtifactError, OutputError, UsageError
from heedful.run import RunResult, studies
from heedful.run.record import PartFigures, RunFigures, RunRecord, read_record, write_record
from heedful.run.studies import Study, fold_settings, run_study
from heedful.storage import alone
from heedful.storage.layout import SEED, Varied
from heedful.training.progress import Silent
from made_runs import PROTOCOL
from toy_training import AskedAtOnce


def record(accuracy: float) -> RunRecord:
    part = PartFigures({"accuracy": accuracy})
    return RunRecord(Varied(SEED, 1), PROTOCOL, {}, RunFigures(part, part, best_step=3, seconds=30.0))


def test_mean_and_standard_deviation() -> None:
    study = Study([record(0.8), record(0.9)])
    mean, deviation = study.spread()["accuracy"]
    assert mean == pytest.approx(0.85)
    assert deviation == pytest.approx(0.0707107, abs=1e-6)
    assert "mean of 2" in study.render()
    assert "accuracy 0.8500 ± 0.0707" in study.render()
    assert study.render().endswith(f"protocol: {PROTOCOL.of_all_runs().sentence()}")


def test_folds_refuse_a_model_that_may_have_learned_from_them() -> None:
    with pytest.raises(UsageError, match=r"learn_from = runs/old: this model may have learned from the rows"):
        fold_settings("my-texts", ["data.train=rows.csv", "data.learn_from=runs/old"], 5)
    assert fold_settings("my-texts", ["data.train=rows.csv"], 5) == [
        "data.folds=5",
        "data.hold_out_fold=true",
    ]


def test_one_run_has_no_spread() -> None:
    study = Study([record(0.8)])
    assert study.spread()["accuracy"] == (0.8, 0.0)
    assert "mean of 1      accuracy 0.8000  (0.5 minutes in all)" in study.render()
    assert "±" not in study.render()


def test_seeds_are_kept_and_not_repeated(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    said: list[str] = []

    def study(*changes: str, seeds: tuple[int, ...] = (1, 2)) -> Study:
        overrides = ["train.max_steps=1", "train.device=cpu", *changes]
        out = tmp_path / "study"
        return run_study(
            str(folder / "text.toml"), out, folder, seeds=seeds, overrides=overrides, print_line=said.append
        )

    first = study()
    assert [run.varied for run in first.runs] == [Varied(SEED, 1), Varied(SEED, 2)]
    assert (first.protocol.cut_seed, first.runs[1].protocol.cut_seed) == (None, 2)
    assert said == ["train.seed=1 ...", "train.seed=2 ..."]
    again = study(seeds=(1, 2, 3))
    assert [run.figures for run in again.runs[:2]] == [run.figures for run in first.runs]
    assert said[2:] == ["train.seed=1: already done", "train.seed=2: already done", "train.seed=3 ..."]
    file = tmp_path / "study" / "train.seed=1.json"
    kept = read_record(file)
    assert kept.answers is not None
    assert len(kept.answers.gold) == len(kept.answers.predicted) == kept.figures.test.count
    assert kept.figures.epoch_seconds > 0
    assert kept.machine["torch"]
    assert kept.data
    del kept.settings["train"]["patience"]  # as if the setting was added after the run was kept
    write_record(file, kept)
    assert study(seeds=(1,)).runs[0].figures == first.runs[0].figures
    with pytest.raises(UsageError, match=r"train\.seed=1\.json: made with other settings"):
        study("model.hidden=8")


def test_a_study_needs_seeds_or_folds_and_a_test_part(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    recipe = str(folder / "text.toml")
    for wrong in ({}, {"seeds": [1], "folds": 2}):
        with pytest.raises(UsageError, match="give either --seeds or --folds"):
            run_study(recipe, tmp_path / "study", folder, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a study needs a test split"):
        run_study(recipe, tmp_path / "study", folder, seeds=[1], overrides=["data.test=''"])


def test_folds_of_data_that_is_not_cut_into_any_are_refused(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    for recipe, named in (
        (str(folder / "text.toml"), "data with data.test"),
        ("disan-trec", "trec"),
        ("disan-scenes", "scenes"),
    ):
        with pytest.raises(
            UsageError, match=f"--folds: {named} has a test split of its own; only .*cr, mpqa, subj"
        ):
            run_study(recipe, tmp_path / "study", folder, folds=3)


def test_a_finished_run_of_other_data_is_refused(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    out, quick = tmp_path / "study", ["train.max_steps=1", "train.device=cpu"]

    def study(data: Path) -> Study:
        return run_study(str(folder / "text.toml"), out, data, seeds=[1], overrides=quick)

    first = study(folder)
    train = folder / "text.csv"
    train.write_text("\n".join(train.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(
        UsageError, match=r"made from other data than there is now \(text\.csv\); name the folder"
    ):
        study(folder)
    train.unlink()  # nothing to compare with
    assert [run.figures for run in study(folder).runs] == [run.figures for run in first.runs]


def test_what_stands_in_the_way_is_told_before_training(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    recipe, print_line = str(folder / "text.toml"), pytest.fail
    with pytest.raises(OutputError, match=r"text\.csv is a file, not a folder"):
        run_study(recipe, folder / "text.csv", folder, seeds=[1], print_line=print_line)
    (tmp_path / "study").mkdir()
    for broken in ("{", "[]", "{}"):
        (tmp_path / "study" / "train.seed=1.json").write_text(broken)
        with pytest.raises(
            ArtifactError, match=r"train\.seed=1\.json: expected a run that heedful study kept"
        ):
            run_study(recipe, tmp_path / "study", folder, seeds=[1], print_line=print_line)


class CutOff(Silent):
    """Ends a run at a step as a kill does: nothing is saved then."""

    def __init__(self, at: int) -> None:
        self.at = at

    def step(self, step: int, loss: float) -> None:
        """End."""
        if step == self.at:
            raise SystemError("cut off")


class Watched:
    """A study of two seeds of the tiny text task; hears what it says, and keeps what training gave."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data, self.out = tiny.write_tasks(root / "data"), root / "study"
        self.said: list[str] = []
        self.trained: list[RunResult] = []
        train = studies.train

        def kept(*arguments: Any, **options: Any) -> RunResult:
            self.trained.append(train(*arguments, **options))
            return self.trained[-1]

        monkeypatch.setattr(studies, "train", kept)

    def run(self, *changes: str, cut: int = 0, out: Path | None = None) -> Study:
        """Run it, perhaps cut off at a step."""
        settings = ("train.device=cpu", "train.max_steps=12", "train.epochs=0", "train.save_steps=2")
        return run_study(
            str(self.data / "text.toml"),
            out or self.out,
            self.data,
            seeds=[1, 2],
            overrides=[*settings, *changes],
            reporter=CutOff(cut),
            print_line=self.said.append,
        )


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path, monkeypatch)


def without_costs(file: Path) -> dict[str, Any]:
    """Read a kept run, what it cost and that it was resumed left out."""

    def cleaned(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        left_out = ("seconds", "megabytes", "resumed")
        return {key: cleaned(item) for key, item in value.items() if not key.endswith(left_out)}

    plain: dict[str, Any] = cleaned(json.loads(file.read_text(encoding="utf-8")))
    return plain


def test_a_run_that_was_cut_off_goes_on_and_ends_as_an_unbroken_one(watched: Watched, tmp_path: Path) -> None:
    with pytest.raises(SystemError, match="cut off"):
        watched.run(cut=9)
    assert not list(watched.out.rglob("*=*.json"))  # which would be taken for finished runs
    watched.run()
    assert watched.said == ["train.seed=1 ...", "train.seed=1: goes on from step 8", "train.seed=2 ..."]
    files = ["train.seed=1.json", "train.seed=2.json"]
    assert sorted(path.name for path in watched.out.rglob("*")) == files
    watched.run(out=tmp_path / "unbroken")
    for name in files:
        assert without_costs(watched.out / name) == without_costs(tmp_path / "unbroken" / name)
    for broken, whole in zip(watched.trained[:2], watched.trained[2:], strict=True):
        ours, theirs = (run.predictor.network.state_dict() for run in (broken, whole))
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    first, second = (json.loads((watched.out / name).read_text()) for name in files)
    assert (first["figures"]["resumed"], second["figures"]["resumed"]) == (1, 0)
    assert first["peak_megabytes"] is None  # its former part took an unknown one
    assert second["peak_megabytes"] > 0


def test_a_run_that_was_cut_off_does_not_go_on_with_other_settings(watched: Watched) -> None:
    with pytest.raises(SystemError, match="cut off"):
        watched.run(cut=3)
    with pytest.raises(UsageError, match=r"unfinished.train\.seed=1: begun with other settings; use another"):
        watched.run("model.dropout=0.3")
    watched.run()
    assert watched.said[-2:] == ["train.seed=1: goes on from step 2", "train.seed=2 ..."]


def test_a_run_that_took_no_step_binds_to_no_settings(watched: Watched) -> None:
    with pytest.raises(SystemError, match="cut off"):
        watched.run(cut=1)
    watched.run("model.dropout=0.3")
    assert watched.said[1:] == ["train.seed=1 ...", "train.seed=2 ..."]


def test_what_a_kill_after_the_last_step_left_is_removed(watched: Watched) -> None:
    with pytest.raises(SystemError, match="cut off"):
        watched.run(cut=9)
    watched.run(out=watched.out.parent / "other")
    kept = watched.out.parent / "other" / "train.seed=1.json"
    (watched.out / "train.seed=1.json").write_bytes(kept.read_bytes())
    watched.run()
    assert not (watched.out / "unfinished").exists()


def test_two_studies_do_not_write_one_run(watched: Watched) -> None:
    with (
        alone(watched.out / "unfinished" / "train.seed=1", "study"),
        pytest.raises(UsageError, match="another study is at work there; wait for it"),
    ):
        watched.run()


def test_a_study_that_was_asked_to_stop_says_how_to_go_on(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [
        "study",
        watched.data / "text.toml",
        "--data",
        watched.data,
        "--out",
        watched.out,
        "--seeds",
        "1",
    ]
    words += ["--set", "train.device=cpu", "--set", "train.max_steps=3"]
    with monkeypatch.context() as patch:
        patch.setattr("heedful.training.loop.StopRequest", AskedAtOnce)
        stopped = tiny.run(*words)
    assert stopped.code == 130
    assert "after step 1 of at most 3;" in stopped.err.splitlines()[-1]
    done = tiny.run(*words)
    assert done.code == 0
    assert "train.seed=1: goes on from step 1\n" in done.err


def test_preparing_and_earlier_runs_are_no_part_of_a_peak(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        call = getattr(studies, name)

        def also(*arguments: Any, **options: Any) -> Any:
            order.append(name)
            return call(*arguments, **options)

        return also

    expected = ["prepare", "reset_peaks", "train", "peak_megabytes", "peak_gpu_megabytes"]
    for name in expected:
        monkeypatch.setattr(studies, name, noted(name))
    watched.run()
    assert order == expected * 2
