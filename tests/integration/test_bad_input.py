"""Bad input gets one line that names file, row and field and says what to do; the documented code; nothing is lost."""

from __future__ import annotations

import contextlib
import errno
import io
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny
from heedful.errors import ExitCode
from heedful.storage import model_folder as checkpoint
from heedful.storage.manifest import CARD, MANIFEST, MODEL_FILES
from heedful.tasks import load_model
from waiting import PATIENCE


def one_line(result: tiny.Result, code: ExitCode, *parts: object) -> None:
    """Assert one line on standard error with these parts, nothing on standard output, and the code."""
    assert (result.code, result.out) == (code, ""), result
    assert result.err.startswith("heedful: ")
    assert result.err.count("\n") == 1, result.err
    assert "Traceback" not in result.err
    for part in parts:
        assert str(part) in result.err


TABLES: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "missing column": (
        "t.csv",
        b"txt,label\na,b\n",
        ("no column 'text'; columns: txt, label; did you mean 'txt'? Name yours: --column text=NAME",),
    ),
    "missing label": ("t.csv", b"text,label\na,pos\nb,\n", ("row 3", "field 'label'", "drop the row")),
    "empty file": ("t.csv", b"", ("is empty; at least one row",)),
    "header only": ("t.csv", b"text,label\n", ("no usable row",)),
    "one class": (
        "t.csv",
        b"text,label\na,pos\nb,pos\n",
        ("at least two different labels", "Check the label column"),
    ),
    "too few": ("t.csv", b"text,label\na,pos\nb,neg\n", ("2 usable rows are too few", "data.dev=FILE")),
    "wrong encoding": (
        "t.csv",
        b"text,label\ncaf\xe9 bar,pos\n",
        ("row 2", "0xe9", "save the file as UTF-8"),
    ),
    "blank label": ("t.csv", b"text,label\na,pos\nb, \n", ("row 3", "field 'label'", "drop the row")),
    "open quotes": ("t.csv", b'text,label\n"a,pos\n', ("close the quotation marks", "--no-quotes")),
    "old Mac": ("t.csv", b"text,label\ra,pos\rb,neg\r", ("a carriage return alone, as on old Macs",)),
    "UTF-16": (
        "t.csv",
        "text,label\na,pos\n".encode("utf-16-le"),
        ("the file is UTF-16 without its mark; save it as UTF-8",),
    ),
    "null": (
        "t.jsonl",
        b'{"text": null, "label": "pos"}\n',
        ("row 1", "field 'text'", "missing", "empty string"),
    ),
    "number": (
        "t.jsonl",
        b'{"text": 7, "label": "pos"}\n',
        ("row 1", "field 'text'", "expected text, got int 7"),
    ),
    "no JSON": ("t.jsonl", b'{"text": "a", "label": "pos"}\n{"text\n', ("row 2",)),
    "ragged row": ("t.csv", b"text,label\na,pos,extra\n", ("row 2",)),
    "truncated xz": ("t.csv.xz", b"", ("cut short or damaged", "get it again")),
    "no table": ("t.docx", b"PK", ("cannot tell the format", ".csv, .tsv, .jsonl, .json, .parquet")),
    "empty column": (
        "t.csv",
        b"text,label\n" + b",pos\n,neg\n" * 20,
        ("no usable row", "40 with no text", "'text'", "check --column"),
    ),
    "mixed labels": (
        "t.jsonl",
        b'{"text": "a", "label": 1}\n{"text": "b", "label": "1"}\n',
        ("field 'label'", "1 int (first in row 1), 1 str (first in row 2)"),
    ),
    "100,000 tokens": (
        "t.csv",
        b"text,label\n" + b"a b,pos\nc d,neg\n" * 20 + b"word " * 100_000 + b",pos\n",
        ("row 42, text: 100000 tokens", "max_tokens = 400", "--truncate head"),
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_bad_training_tables(trained, tmp_path: Path, case: str) -> None:
    name, content, parts = TABLES[case]
    if case == "truncated xz":
        content = lzma.compress((trained.data / "text.csv").read_bytes())[:200]
    (tmp_path / name).write_bytes(content)
    arguments = (
        "--data",
        tmp_path,
        "--out",
        tmp_path / "run",
        "--set",
        f"data.train={name}",
        "--set",
        "data.test=''",
    )
    result = tiny.run("train", trained.data / "text.toml", *arguments)
    expected = ExitCode.USAGE if case == "no table" else ExitCode.BAD_DATA
    one_line(result, expected, tmp_path / name, *parts)
    assert not (tmp_path / "run").exists()


def test_rows_without_text_are_counted_and_left_out_of_training(trained, tmp_path: Path) -> None:
    rows = [*tiny.texts()[:40], ("", "pos"), ("  ", "neg"), ("", "pos")]
    tiny.write_csv(tmp_path / "text.csv", rows, ["text", "label"])
    arguments = ("--data", tmp_path, "--set", "data.test=''", "--set", "train.max_steps=1")
    for run in ("first", "from the cache"):
        result = tiny.run("train", trained.data / "text.toml", *arguments, "--out", tmp_path / run)
        assert result.code == 0, result.err
        assert "train: rows skipped: 3 (no text)\n" in result.err
        card = (tmp_path / run / "model" / "README.md").read_text(encoding="utf-8")
        assert "rows skipped: 3 (no text)" in card


def test_cut_texts_are_counted_also_from_the_cache(trained, tmp_path: Path) -> None:
    arguments = ("--set", "data.truncate=head", "--set", "data.max_tokens=4", "--set", "train.max_steps=1")
    for run in ("first", "from the cache"):
        out = ("--data", trained.data, "--out", tmp_path / run)
        result = tiny.run("train", trained.data / "text.toml", *out, *arguments)
        assert "train: texts truncated: " in result.err
        assert "tokens removed" in result.err


def test_a_label_that_training_did_not_have_is_named_and_counts_as_wrong(
    trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [("lovely film", "pos"), ("fine", "posi"), ("superb", "rare")]
    path = tiny.write_csv(tmp_path / "t.csv", rows, ["text", "label"])
    out = ("--data", trained.data, "--out", tmp_path / "run", "--set", "train.max_steps=1")
    result = tiny.run("train", trained.data / "text.toml", *out, "--set", f"data.test={path}")
    assert result.code == 0, result.err
    assert f"{path}: row 3: 2 examples have labels that training did not have" in caplog.text
    assert "the first 'posi' (did you mean 'pos'?)" in caplog.text
    result = tiny.run("evaluate", trained.runs / "text", path, "--json", "--confusion")
    assert result.code == 0, result.err
    found = result.json()
    assert found["count"] == 3
    assert found["metrics"]["accuracy"] <= 1 / 3 + 1e-9
    assert found["notes"]["labels of the gold that the model does not know"] == 2
    assert sum(found["confusion"]["posi"].values()) == 1


def test_a_column_of_unknown_labels_alone_is_refused(trained, tmp_path: Path) -> None:
    path = tiny.write_csv(tmp_path / "t.csv", [("a", "posi"), ("b", "negi")], ["text", "label"])
    parts = (path, "row 2", "unknown label 'posi'", "did you mean 'pos'?", "check the label column")
    one_line(tiny.run("evaluate", trained.runs / "text", path), ExitCode.BAD_DATA, *parts)


def test_the_only_example_of_a_class_is_named(trained, tmp_path: Path) -> None:
    rows = [*tiny.texts()[:40], ("odd", "rare")]
    tiny.write_csv(tmp_path / "text.csv", rows, ["text", "label"])
    arguments = (
        "--data",
        tmp_path,
        "--set",
        "data.test=''",
        "--set",
        "train.max_steps=1",
        "--no-baseline",
        "--json",
    )
    result = tiny.run("train", trained.data / "text.toml", *arguments, "--out", tmp_path / "run")
    assert result.code == 0, result.err
    (warning,) = [line for line in result.json()["warnings"] if "'rare'" in line and "only example" in line]
    assert warning.startswith("text.csv: row 42 ")


def test_a_data_set_of_another_task_is_refused(trained) -> None:
    result = tiny.run("evaluate", trained.runs / "text", "--on", "sick-r:test", "--data", trained.data)
    said = "sick-r is data for 'relatedness', and the model answers 'text'"
    one_line(result, ExitCode.USAGE, said)


def test_columns_are_listed_once(trained) -> None:
    result = tiny.run(
        "evaluate", trained.runs / "text", trained.data / "text-test.csv", "--column", "text=comment"
    )
    one_line(
        result, ExitCode.BAD_DATA, "no column 'comment'; columns: text, label. Name yours: --column text="
    )


def test_a_missing_settings_file_is_no_unknown_recipe(trained, tmp_path: Path) -> None:
    result = tiny.run("train", tmp_path / "settings", "--out", tmp_path / "run")
    one_line(result, ExitCode.USAGE, tmp_path / "settings", "there is no such settings file")


def test_scores_off_the_scale_are_learned_as_numbers_and_a_line_says_so(trained, tmp_path: Path) -> None:
    out = ("--data", trained.data, "--out", tmp_path / "run", "--set", "model.outputs=3")
    result = tiny.run("train", trained.data / "score.toml", *out)
    assert result.code == 0
    assert "not from 1 to 3: they are learned as numbers (model.task = pair-number)" in result.err


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        ("film 0.1 0.2\nstory 0.1 0.2 0.3\n", ("line 2", "expected 2 numbers after the word, got 3")),
        ("film 0.1 0.2\nstory 0.1 0.2\n", ("2 numbers", "model.width is 16", "set model.width=2")),
        ("film 0.1 nan\n", ("line 1", "expected a finite number")),
        ("", ("empty",)),
    ],
)
def test_bad_word_vectors(trained, tmp_path: Path, lines: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "vectors.txt").write_text(lines)
    out = ("--data", trained.data, "--out", tmp_path / "run")
    setting = ("--set", f"text.vectors={tmp_path / 'vectors.txt'}")
    result = tiny.run("train", trained.data / "text.toml", *out, *setting)
    one_line(result, ExitCode.BAD_DATA, tmp_path / "vectors.txt", *parts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["train.metric=acc"], "train.metric='acc' is not measured here; valid: accuracy, macro_f1"),
        (["train.metric=macro_f1", "train.direction=min"], "train.direction must be 'max'"),
        (["data.train=''"], "name your file (heedful train FILE, or --set data.train=FILE)"),
        (["data.set=tree"], "data set 'tree' is not known; did you mean 'trec'?"),
        (["data.options.encodng=latin-1"], "option 'encodng' of tables is unknown; did you mean 'encoding'?"),
        (
            ["data.options.labels=3"],
            "option 'labels' of tables is unknown; valid: encoding, group, header",
        ),
        (["data.options.text=label"], "option 'text' of tables is unknown"),
        (["data.options.encoding=3"], "data.options.encoding: must be a string; got 3"),
        (["data.options.encoding=base64"], "encoding 'base64' is not known; try utf-8, latin-1 or cp1252"),
        (["data.options.encoding=cp037"], "encoding 'cp037' does not extend ASCII; save the file as UTF-8"),
        (
            ["data.set=scenes", "data.options.foo=3"],
            "option 'foo' of the generated corpus is unknown; valid: acti",
        ),
        (["data.set=scenes", "data.options.train=0"], "data.options.train must be 1 or more pairs; got 0"),
        (
            ["data.set=scenes", "data.options.only=negation"],
            "data.options.only: must be a list; got 'negation'",
        ),
    ],
)
def test_settings_that_contradict_the_data(trained, tmp_path: Path, changes: list[str], message: str) -> None:
    overrides = [part for change in changes for part in ("--set", change)]
    out = ("--data", trained.data, "--out", tmp_path / "run")
    one_line(tiny.run("train", trained.data / "text.toml", *out, *overrides), ExitCode.USAGE, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model.task=pair", "data.text is not used by a task of pairs"),
        ("model.task=texts", "did you mean 'text'?"),
        (
            "data.score=label",
            "data.score is not used by a task of texts: remove it, or set model.task to one",
        ),
        ("translation.pieces=500", "translation.pieces is not used by model.task='text'"),
        ("model.task_options.loss=huber", "model.task_options.loss: unknown setting"),
    ],
)
def test_a_setting_that_the_task_does_not_use_is_refused_by_name(
    trained, tmp_path: Path, change: str, message: str
) -> None:
    result = tiny.run("train", trained.data / "text.toml", "--out", tmp_path / "run", "--set", change)
    assert result.code == ExitCode.USAGE
    assert message in result.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("name=caf\udce9", "name: must be whole characters, which a file of UTF-8 can hold"),
        ("train.seed=99999999999999999999999", "train.seed: must be a whole number of fewer digits"),
        ("train.seed=" + "9" * 401, "train.seed: must be a whole number of fewer digits"),
        ("train.optimizer.lr=" + "9" * 401, "train.optimizer.lr: must be a number of fewer digits"),
        ("train.optimizer.lr=" + "9" * 5000, "train.optimizer.lr: must be a number"),
    ],
)
def test_numbers_that_are_too_long(trained, tmp_path: Path, change: str, message: str) -> None:
    result = tiny.run("train", trained.data / "text.toml", "--out", tmp_path / "run", "--set", change)
    assert result.code == ExitCode.USAGE
    assert message in result.err
    assert "internal error" not in result.err


def refusing(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that opens files as ``real`` does, except one whose path ends so: root may read all."""

    def opening(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file).endswith(name):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return real(file, *arguments, **options)

    return opening


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("weights.safetensors", ("predict", "{runs}/text", "--text", "a"), ExitCode.BAD_ARTIFACT),
        ("manifest.json", ("predict", "{runs}/text", "--text", "a"), ExitCode.BAD_ARTIFACT),
        ("/text.csv", ("train", "{data}/text.toml", "--data", "{data}", "--out", "{out}"), ExitCode.BAD_DATA),
        ("text.toml", ("train", "{data}/text.toml", "--data", "{data}", "--out", "{out}"), ExitCode.USAGE),
    ],
)
def test_a_file_that_may_not_be_read(
    trained,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: tuple[str, ...],
    code: ExitCode,
) -> None:
    monkeypatch.setattr(io, "open", refusing(name, io.open))
    places = {"data": trained.data, "runs": trained.runs, "out": tmp_path / "run"}
    result = tiny.run(*(argument.format(**places) for argument in arguments))
    one_line(result, code, "Permission denied")


def test_a_folder_that_holds_no_model_yet(trained, tmp_path: Path) -> None:
    shutil.copytree(trained.runs / "text", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "model")
    result = tiny.run("predict", tmp_path / "run", "--text", "a")
    one_line(result, ExitCode.BAD_ARTIFACT, tmp_path / "run", "holds a run that has no model yet", "--resume")
    (tmp_path / "study" / "unfinished").mkdir(parents=True)
    result = tiny.run("predict", tmp_path / "study", "--text", "a")
    one_line(
        result, ExitCode.BAD_ARTIFACT, tmp_path / "study", "runs of a study, which keeps figures and no model"
    )


def test_scores_that_training_refuses_are_an_error_of_the_data_check(trained) -> None:
    scores = ("data", "check", trained.data / "score.toml", "--data", trained.data)
    assert "outside" not in tiny.run(*scores).out
    result = tiny.run(*scores, "--set", "model.outputs=3")
    assert result.code == ExitCode.GATE_FAILED
    assert "the score 4.5 is outside 1 to 3" in result.out


REQUESTS: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "missing column": (
        "t.csv",
        b"txt\na\n",
        ("no column 'text'; columns: txt; did you mean 'txt'?", "text=NAME"),
    ),
    "empty file": ("t.csv", b"", ("is empty; at least one row",)),
    "empty lines": ("t.txt", b"", ("is empty; at least one row",)),
    "wrong encoding": ("t.txt", b"a\ncaf\xe9\n", ("row 2", "0xe9")),
    "null": ("t.jsonl", b'{"text": "a"}\n{"text": null}\n', ("row 2", "field 'text'", "--on-missing empty")),
    "100,000 tokens": (
        "t.txt",
        b"a\n" + b"word " * 100_000 + b"\n",
        ("row 2, text: 100000 tokens", "max_tokens"),
    ),
}


@pytest.mark.parametrize("verb", ["predict", "encode"])
@pytest.mark.parametrize("case", REQUESTS)
def test_bad_requests(trained, tmp_path: Path, case: str, verb: str) -> None:
    name, content, parts = REQUESTS[case]
    (tmp_path / name).write_bytes(content)
    result = tiny.run(verb, trained.runs / "text", "--input", tmp_path / name)
    one_line(result, ExitCode.BAD_DATA, tmp_path / name, *parts)


def test_bad_standard_input(trained, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, message in (
        (b"", "standard input: is empty"),
        (b"a\n\xe9\n", "standard input: row 2: byte 0xe9"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        one_line(tiny.run("predict", trained.runs / "text", "--input", "-"), ExitCode.BAD_DATA, message)
    monkeypatch.setattr(sys, "stdin", None)
    closed = tiny.run("predict", trained.runs / "text", "--input", "-")
    one_line(closed, ExitCode.BAD_DATA, "standard input: is closed; pipe lines into the command")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\na\n")))
    result = tiny.run("predict", trained.runs / "pair", "--input", "-")
    one_line(result, ExitCode.BAD_DATA, "standard input: row 2: expected premise TAB hypothesis, got 1")


def test_missing_values_may_be_read_as_empty_texts(trained, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": null}\n{"text": "superb film"}\n')
    arguments = ("predict", trained.runs / "text", "--input", tmp_path / "t.jsonl", "--on-missing", "empty")
    result = tiny.run(*arguments)
    assert [line.split("\t")[-1] for line in result.out.splitlines()] == ["text without words", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to read: give --text, or --input FILE"),
        (["--premise", "a"], "this model takes single texts: use --text, or --input"),
        (["--text", "a", "--input", "b.txt"], "give either --text or --input, not both"),
        (
            ["--input", "b.csv", "--column", "label=b"],
            "--column label=: this command reads the column of text alone",
        ),
        (["--input", "b.csv", "--on-missing", "skip"], "choose error or empty"),
        (["--input", "b.txt", "--column", "text=a"], "--column is for tables"),
    ],
)
def test_requests_that_do_not_fit_the_model(trained, arguments: list[str], message: str) -> None:
    one_line(tiny.run("predict", trained.runs / "text", *arguments), ExitCode.USAGE, message)


def test_requests_that_do_not_fit_a_model_of_pairs(trained) -> None:
    for arguments, message in (
        (["--text", "a"], "this model takes pairs"),
        (["--premise", "a"], "--premise and --hypothesis go together"),
    ):
        one_line(tiny.run("predict", trained.runs / "pair", *arguments), ExitCode.USAGE, message)


def test_only_unknown_words_are_answered_and_flagged(trained) -> None:
    answer = tiny.run("predict", trained.runs / "text", "--text", "zyx wvu tsr", "--json").json()
    assert (answer["unknown"], answer["empty"]) == (3, False)
    assert all(0 < p < 1 for p in answer["probabilities"].values())


def test_a_missing_model_is_named(trained, tmp_path: Path) -> None:
    missing = tiny.run("predict", tmp_path / "no", "--text", "a")
    one_line(missing, ExitCode.BAD_ARTIFACT, tmp_path / "no", "there is none")
    other = tiny.run("predict", trained.data, "--text", "a")
    one_line(other, ExitCode.BAD_ARTIFACT, trained.data / MANIFEST, "missing")


@pytest.mark.parametrize("name", [*(name for name in MODEL_FILES if name != CARD), MANIFEST])
def test_a_model_with_a_missing_or_altered_file_is_refused(trained, tmp_path: Path, name: str) -> None:
    model = tmp_path / "model"
    shutil.copytree(trained.runs / "text" / "model", model)
    content = (model / name).read_bytes()
    (model / name).unlink()
    one_line(tiny.run("predict", model, "--text", "a"), ExitCode.BAD_ARTIFACT, model / name, "missing")
    for place in (0, len(content) // 2, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        (model / name).write_bytes(changed)
        named = (
            model if name == MANIFEST else model / name
        )  # which of the two was altered cannot always be told
        one_line(tiny.run("predict", model, "--text", "a"), ExitCode.BAD_ARTIFACT, named)
    (model / name).write_bytes(content)
    assert tiny.run("predict", model, "--text", "a").code == 0


@pytest.mark.parametrize("inside", ["", "deep/er"])
def test_a_file_in_place_of_the_output_folder(trained, tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("precious")
    out = tmp_path / "file" / inside
    result = tiny.run("train", trained.data / "text.toml", "--data", trained.data, "--out", out)
    one_line(result, ExitCode.CANNOT_WRITE, out, "is a file, not a folder", "Choose another folder")
    for arguments in (
        ("encode", trained.runs / "text", "--text", "a", "--output", tmp_path / "file" / "x.npy"),
        ("explain", trained.runs / "text", "--text", "a", "--json", "--html", tmp_path / "file" / "x.html"),
        ("explain", trained.runs / "text", "--text", "a", "--json", "--figure", tmp_path / "file" / "x.svg"),
    ):
        written = tiny.run(*arguments)
        assert written.code == ExitCode.CANNOT_WRITE
        assert "cannot write" in written.err
    assert (tmp_path / "file").read_text() == "precious"


def content(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with what is in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", ["model/a.py", "config.json", "config.toml", "env.json"])
@pytest.mark.parametrize("more", [(), ("--resume",), ("--overwrite",)])
def test_a_run_replaces_nothing_that_is_no_run(
    trained, tmp_path: Path, name: str, more: tuple[str, ...]
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")
    result = tiny.run("train", trained.data / "text.toml", "--data", trained.data, "--out", tmp_path, *more)
    named = name.partition("/")[0]
    one_line(result, ExitCode.CANNOT_WRITE, tmp_path, f"no run of Heedful's wrote {named} in it")
    assert content(tmp_path) == {name: b"{}"}


def test_a_recipe_in_the_run_folder_is_not_replaced(trained, tmp_path: Path) -> None:
    shutil.copytree(trained.data, tmp_path, dirs_exist_ok=True)
    recipe = tmp_path / "config.toml"
    (tmp_path / "text.toml").rename(recipe)
    before = content(tmp_path)
    for more in ((), ("--overwrite",)):
        result = tiny.run("train", recipe, "--data", tmp_path, "--out", tmp_path, *more)
        one_line(result, ExitCode.CANNOT_WRITE, "no run of Heedful's wrote config.toml")
    assert content(tmp_path) == before


def to_be_replaced(trained, tmp_path: Path) -> tuple[Path, tuple[object, ...]]:
    """Return a run that stands beside a letter of the user's, and the words that replace it."""
    out = tmp_path / "run"
    shutil.copytree(trained.runs / "text", out)
    (out / "letter.txt").write_text("Dear")
    return out, (
        "train",
        trained.data / "text.toml",
        "--data",
        trained.data,
        "--out",
        out,
        "--overwrite",
        "-q",
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [("train.metric=acuracy", 2), ("model.task=pair", 2), ("data.train=nosuch.csv", 3), ("train.epoch=3", 2)],
)
def test_overwrite_keeps_the_old_run_until_the_new_one_is_accepted(
    trained, tmp_path: Path, change: str, code: int
) -> None:
    out, arguments = to_be_replaced(trained, tmp_path)
    before = content(out)
    assert tiny.run(*arguments, "--set", change).code == code
    own = tiny.run("train", out / "config.toml", *arguments[2:])
    one_line(own, ExitCode.USAGE, "is the recipe, and --overwrite would delete it", "copy it elsewhere first")
    assert content(out) == before


def test_overwrite_removes_only_the_files_of_the_run(trained, tmp_path: Path) -> None:
    out, arguments = to_be_replaced(trained, tmp_path)
    assert tiny.run(*arguments, "--set", "train.max_steps=1").code == 0
    assert (out / "letter.txt").read_text() == "Dear"
    assert (out / "metrics.jsonl").read_bytes() != (trained.runs / "text" / "metrics.jsonl").read_bytes()


def test_the_demo_replaces_only_a_demo(trained, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    for name in ("manifest.json", "app.py"):
        (tmp_path / "web" / name).write_text("{}")
    shutil.copytree(trained.runs / "text", tmp_path / "run")
    before = content(tmp_path)
    web = tiny.run("demo", "--out", tmp_path / "web")
    one_line(web, ExitCode.CANNOT_WRITE, tmp_path / "web", "is not a run of Heedful's; choose another --out")
    run = tiny.run("demo", "--out", tmp_path / "run")
    one_line(run, ExitCode.CANNOT_WRITE, tmp_path / "run", "holds a run that is not the demo's")
    assert content(tmp_path) == before


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """Mount a file system in memory; the test is skipped, and counted, where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("a file system in memory cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def mounting() -> None:
    """Skip where there is no mount command."""
    if shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can mount a file system")


@pytest.mark.usefixtures("mounting")
def test_a_read_only_place(trained, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "ro") as disk:
        result = tiny.run("train", trained.data / "text.toml", "--data", trained.data, "--out", disk / "run")
        one_line(result, ExitCode.CANNOT_WRITE, disk / "run", "no permission")
        output = tiny.run("encode", trained.runs / "text", "--text", "a", "--output", disk / "x.npy")
        one_line(output, ExitCode.CANNOT_WRITE, disk / "x.npy", "Read-only file system")


@pytest.mark.usefixtures("mounting")
def test_a_disk_that_fills_up_while_training(trained, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=200k") as disk:
        arguments = ("train", trained.data / "text.toml", "--data", trained.data, "--out", disk / "run", "-q")
        result = tiny.run(*arguments)
        one_line(result, ExitCode.CANNOT_WRITE, disk / "run", "free some space")
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        resumed = tiny.run(*arguments, "--resume")
        assert resumed.code == 0, resumed.err
        ours, theirs = (
            run / "model" / "weights.safetensors" for run in (disk / "run", trained.runs / "text")
        )
        assert ours.read_bytes() == theirs.read_bytes(), "the resumed run is the unbroken one"


def test_a_full_disk_while_the_model_is_saved_loses_nothing(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    arguments = ("train", trained.data / "text.toml", "--data", trained.data, "--out", out, "-q")
    real = checkpoint.write_manifest

    def full_for_models(folder: Path, names: object) -> None:
        if "model" in folder.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(folder, names)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoint, "write_manifest", full_for_models)
    result = tiny.run(*arguments)
    one_line(result, ExitCode.CANNOT_WRITE, out / "model", "No space left on device", "free some space")
    assert not (out / "model").exists()
    assert not list(out.glob(".tmp-*"))
    monkeypatch.undo()
    assert tiny.run(*arguments, "--resume").code == 0
    assert (out / "model" / "weights.safetensors").read_bytes() == (
        trained.runs / "text" / "model" / "weights.safetensors"
    ).read_bytes()


def test_a_full_disk_while_a_model_is_replaced_keeps_the_old_one(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictor = load_model(trained.runs / "text" / "model")
    predictor.save(tmp_path / "model")
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        predictor.save(tmp_path / "model")
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_full_standard_output(trained) -> None:
    command = [sys.executable, "-m", "heedful", "predict", str(trained.runs / "text"), "--text", "a"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        6,
        "heedful: cannot write: No space left on device. Free some space.\n",
    )


ANY_TEXT = st.text(max_size=60)


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(ANY_TEXT, max_size=6))
def test_any_list_of_strings_gives_as_many_finite_answers(trained, texts: list[str]) -> None:
    predictor = load_model(trained.runs / "text")
    answers = predictor.answer(texts)
    assert len(answers) == len(texts)
    for answer in answers:
        assert np.isfinite(list(answer.probabilities.values())).all()
        assert sum(answer.probabilities.values()) == pytest.approx(1)
        assert answer.label in predictor.labels
    vectors = predictor.encode(texts)
    assert vectors.shape == (len(texts), 32)
    assert np.isfinite(vectors).all()


@settings(max_examples=30, deadline=None)
@given(pairs=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=5))
def test_any_list_of_pairs_gives_as_many_finite_answers(trained, pairs: list[tuple[str, str]]) -> None:
    scores = [answer.score for answer in load_model(trained.runs / "score").answer(pairs)]
    assert len(scores) == len(pairs)
    assert all(score is not None and 1 <= score <= 5 for score in scores)
    assert len(load_model(trained.runs / "pair").answer(pairs)) == len(pairs)


@settings(max_examples=15, deadline=None)
@given(text=ANY_TEXT)
def test_any_string_can_be_explained(trained, text: str) -> None:
    explanation = load_model(trained.runs / "text").explain(text)
    assert explanation.sides[0].text == text
    assert explanation.to_text()
