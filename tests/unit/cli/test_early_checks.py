"""Names of nothing are refused before torch is imported, by every command that takes a recipe, data or a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from heedful.cli.early_checks import known_settings
from heedful.errors import ExitCode
from heedful.run.run_config import RunConfig
from whole_settings import leaves

WITHOUT_TORCH = """
import json, sys
from heedful.cli.main import run
codes = [run(words) for words in json.loads(sys.argv[1])]
print(json.dumps([codes, "torch" in sys.modules]))
"""
REFUSED = {
    "train no-such-recipe": (ExitCode.USAGE, "there is no packaged recipe 'no-such-recipe'"),
    "train no-such.csv": (ExitCode.BAD_DATA, "no-such.csv: no such file"),
    "train my-texts no-such.csv": (ExitCode.BAD_DATA, "no-such.csv: no such file"),
    "train no-such.toml": (ExitCode.USAGE, "there is no such settings file"),
    "train no/such": (ExitCode.USAGE, "named hub:no/such"),
    "train my-texts --set train.epoch=3": (ExitCode.USAGE, "mistakes in the settings: 1"),
    "tune my-texts --set train.lr=3": (ExitCode.USAGE, "mistakes in the settings: 1"),
    "study my-texts --set data.trian=3 --set model.x=1": (ExitCode.USAGE, "mistakes in the settings: 2"),
    "study no-such": (ExitCode.USAGE, "there is no packaged recipe"),
    "tune no-such.jsonl --vary train.epochs=1,2": (ExitCode.BAD_DATA, "no such file"),
    "distil no-such --out o --teacher t": (ExitCode.USAGE, "there is no packaged recipe"),
    "baselines no-such": (ExitCode.USAGE, "there is no packaged recipe"),
    "baselines trec no-such.tsv": (ExitCode.BAD_DATA, "no such file"),
    "data check no-such.conll": (ExitCode.BAD_DATA, "no such file"),
    "data labels no-such": (ExitCode.USAGE, "there is no packaged recipe"),
    "train -": (ExitCode.USAGE, "-: standard input cannot be read twice"),
    "data check -": (ExitCode.USAGE, "-: standard input cannot be read twice"),
    "baselines -": (ExitCode.USAGE, "-: standard input cannot be read twice"),
    "predict no-such text": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "evaluate no-such some.csv": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "explain no-such text": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "encode no-such text": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "export no-such --onnx o.onnx": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "faithfulness no-such some.csv": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "suggest no-such pool.csv": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
    "compare no-such other": (ExitCode.USAGE, "there is no such folder"),
    "compare no-such other --on some.csv": (ExitCode.BAD_ARTIFACT, "expected a folder written by heedful"),
}


def test_what_is_not_there_is_refused_before_torch_is_imported(tmp_path: Path) -> None:
    asked = json.dumps([words.split() for words in REFUSED])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, asked],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    codes, torch = json.loads(done.stdout)
    said = [line for line in done.stderr.splitlines() if line.startswith("heedful: ")]
    assert len(said) == len(REFUSED), done.stderr
    for (words, (code, part)), line, got in zip(REFUSED.items(), said, codes, strict=True):
        assert got == code, (words, line)
        assert part in line, words
    assert not torch


@pytest.mark.parametrize(
    "words",
    [
        "train",
        "train ? rows.csv",
        "study",
        "tune",
        "data check",
        "data labels",
        "recipes",
    ],
)
@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_name_is_no_folder(words: str, blank: str) -> None:
    """It would be the folder of the data sets, or the one in which the command runs."""
    asked = [blank if word == "?" else word for word in words.split()]
    refused = tiny.run(*asked, *([] if "?" in words else [blank]))
    assert (refused.code, refused.err.count("\n")) == (ExitCode.USAGE, 1)
    assert "it is empty; give a name or a path" in refused.err


def test_what_is_there_by_any_name_is_left_to_the_command(tmp_path: Path, monkeypatch) -> None:
    """A compressed file, a folder, a known data set and a recipe with a former name are no names of nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "rows.csv.gz").write_bytes(b"no gzip")
    for name, said in {
        "mine": "holds nothing",
        "rows.csv": "gz",
        "banking77": "data",
        "my-english-texts": "nothing to train on",
    }.items():
        refused = tiny.run("train", name, "--data", tmp_path / "mine", "--out", tmp_path / "out")
        assert refused.code in (ExitCode.USAGE, ExitCode.BAD_DATA), refused.err
        assert said in refused.err, name
        assert "no such file (nor" not in refused.err, name


def test_a_model_in_the_place_of_data_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "run" / "model").mkdir(parents=True)
    (tmp_path / "run" / "model" / "manifest.json").write_text("{}")
    (tmp_path / "rows.csv").write_text("text,label\na,b\n")
    for command in ("train", "study", "tune"):
        refused = tiny.run(command, tmp_path / "run", tmp_path / "rows.csv", "--out", tmp_path / "out")
        assert (refused.code, "run: is a model" in refused.err) == (ExitCode.USAGE, True), refused.err


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("train.epoch", "'epochs'"),
        ("train.lr", "'train.optimizer.lr'"),
        ("data.trian", "'train'"),
        ("model.pretrained.laiers", "'layers'"),
        ("model.layers", "'model.pretrained.layers'"),
    ],
)
def test_a_wrong_setting_is_told_the_nearest(name: str, instead: str) -> None:
    refused = tiny.run("train", "my-texts", "--set", f"{name}=1")
    assert refused.code == ExitCode.USAGE
    assert f"{name}: unknown setting; did you mean {instead}?" in refused.err


def test_entries_of_tables_and_tables_of_others_are_left_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    for text in (
        "model.encoder_options.masks=3",
        "data.options.sep=1",
        "train.class_weights.a=0",
        "mine.x=1",
    ):
        refused = tiny.run("train", "my-texts", "--set", text)
        assert refused.code == ExitCode.USAGE
        assert (
            "recipe my-texts: mistakes in the settings" in refused.err or "nothing to train on" in refused.err
        )


def test_the_settings_that_are_known_at_a_glance_are_those_of_a_run() -> None:
    assert sorted(known_settings()) == sorted(leaves(RunConfig()))
