"""A run goes on with the settings and the data it began with, or not at all."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import tiny
from heedful.errors import UsageError
from heedful.run import prepare, train
from heedful.run.kept_settings import check_same_run
from heedful.run.recipe_files import load_config
from heedful.run.run_config import RunConfig


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the data in "data" and a run of three steps in "run"."""
    folder = tmp_path_factory.mktemp("begun")
    tiny.write_tasks(folder / "data")
    go(folder, resume=False)
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "copy")


def settings(folder: Path, *changes: str) -> RunConfig:
    return load_config(folder / "data" / "text.toml", ["train.device=cpu", "train.max_steps=3", *changes])


def go(folder: Path, *changes: str, resume: bool = True):
    config = settings(folder, *changes)
    return train(config, prepare(config, folder / "data"), folder=folder / "run", resume=resume)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("model.dropout=0.9", "model.dropout: 0.1 then, 0.9 now"),
        (
            "model.encoder_options.masks=['forward']",
            "model.encoder_options.masks: not set then, ['forward'] now",
        ),
        ("text.lowercase=false", "text.lowercase: True then, False now"),
        ("data.dev_fraction=0.2", "data.dev_fraction: 0.1 then, 0.2 now"),
        ("batches.bucketing=false", "batches.bucketing: True then, False now"),
        ("train.optimizer.lr=0.01", "train.optimizer.lr: 0.02 then, 0.01 now"),
    ],
)
def test_other_settings_are_refused_before_anything_is_written(folder: Path, change: str, said: str) -> None:
    before = contents(folder / "run")
    with pytest.raises(UsageError, match=re.escape(f"cannot resume with other settings or data ({said})")):
        go(folder, change)
    assert contents(folder / "run") == before


def test_every_difference_is_named(folder: Path) -> None:
    with pytest.raises(
        UsageError, match=r"\(batches\.size: 16 then, 8 now; model\.dropout: .*; train\.seed: "
    ):
        go(folder, "model.dropout=0.9", "batches.size=8", "train.seed=3")


def test_other_data_are_refused_although_there_are_as_many(folder: Path) -> None:
    file = folder / "data" / "text.csv"
    file.write_text(file.read_text().replace("lovely", "grim"))
    with pytest.raises(UsageError, match=r"\(the content of text\.csv has changed\)"):
        go(folder)


def test_the_length_of_a_run_its_device_and_its_bookkeeping_may_change(folder: Path) -> None:
    changes = ("max_steps=5", "epochs=9", "patience=2", "save_steps=2", "log_every=1", "device=auto")
    config = settings(folder, *(f"train.{change}" for change in changes))
    check_same_run(folder / "run", config, {})
    assert go(folder, "train.max_steps=5", "train.log_every=1").fit.steps == 5


def test_a_rate_that_falls_to_the_last_step_fixes_the_length_of_a_run(folder: Path) -> None:
    shutil.rmtree(folder / "run")
    go(folder, "train.schedule=linear", resume=False)
    with pytest.raises(UsageError, match=r"\(train\.max_steps: 3 then, 5 now\)"):
        go(folder, "train.schedule=linear", "train.max_steps=5")


def test_a_run_of_an_older_version_goes_on(folder: Path) -> None:
    kept = folder / "run" / "config.json"
    saved = json.loads(kept.read_text())
    del saved["model"]["highway"], saved["text"]["oov"]
    saved["translation"] = {"pieces": 8000}  # the table of a task that came with this package then
    kept.write_text(json.dumps(saved))
    (folder / "run" / "data.json").unlink()
    assert go(folder, "train.max_steps=4").fit.steps == 4
    assert json.loads((folder / "run" / "data.json").read_text())["text.csv"]


def test_a_model_without_a_checkpoint_is_not_replaced_by_another_run(folder: Path) -> None:
    """A model of linear parts has none; ``--resume`` would put the model of other rows in its place."""
    shutil.rmtree(folder / "run" / "checkpoints")
    manifest = folder / "run" / "model" / "manifest.json"
    before = manifest.read_text()
    with pytest.raises(UsageError, match=r"model\.dropout"):
        go(folder, "model.dropout=0.9")
    file = folder / "data" / "text.csv"
    file.write_text(file.read_text().replace("lovely", "grim"))
    with pytest.raises(UsageError, match=r"the content of text\.csv has changed"):
        go(folder)
    assert manifest.read_text() == before


def test_a_run_without_a_checkpoint_and_without_a_model_begins_anew(folder: Path) -> None:
    shutil.rmtree(folder / "run" / "checkpoints")
    shutil.rmtree(folder / "run" / "model")
    go(folder, "model.dropout=0.9")
    assert json.loads((folder / "run" / "config.json").read_text())["model"]["dropout"] == 0.9


def test_every_one_of_several_processes_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "one")
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        with pytest.raises(UsageError, match=r"model\.dropout"):
            check_same_run(folder / "run", settings(folder, "model.dropout=0.9"), {})
