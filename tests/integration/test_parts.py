"""``heedful predict --jobs``: every row of many files is predicted once, in files that are whole or not there."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

import tiny
from heedful.bulk import part_rows, predict_parts
from heedful.bulk.part_files import PredictionPart
from heedful.bulk.prediction_table import columns_of
from heedful.errors import ExitCode
from heedful.model.decisions import KINDS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = [text for text, _ in tiny.texts()]
LONG = "word " * 500


@pytest.fixture(autouse=True)
def blocks_of_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_rows, "BLOCK_ROWS", 7)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Two Parquet files of three and one row groups, whose rows have an id."""
    folder = tmp_path / "in"
    folder.mkdir()
    write_parquet(folder / "part-a.parquet", TEXTS[:25], rows=10)
    write_parquet(folder / "part-b.parquet", TEXTS[25:32], start=25)
    return folder


def write_parquet(path: Path, texts: list, *, rows: int = 100, start: int = 0) -> Path:
    ids = pa.array(range(start, start + len(texts)), pa.int32())
    pq.write_table(pa.table({"id": ids, "text": pa.array(texts, pa.string())}), path, row_group_size=rows)
    return path


def predict(model: Path, pattern: object, output: Path, *more: object) -> tiny.Result:
    return tiny.run("predict", model, "--input", pattern, "--output", output, *more)


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "_heedful" not in path.parts
    }


def table(folder: Path) -> list[dict]:
    """Read a folder as engines do, without the names that begin with an underscore."""
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: row["id"])


def test_row_groups_get_a_file_each_and_every_row_its_prediction(
    trained, parts: Path, tmp_path: Path
) -> None:
    output, model = tmp_path / "out", trained.runs / "text"
    result = predict(model, parts / "part-*.parquet", output)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == [
        f"{output}: 4 files of predictions from 2 files",
        "rows read 32, answered 32, bad 0",
    ]
    names = ["part-a-00000", "part-a-00001", "part-a-00002", "part-b-00000"]
    assert list(content(output)) == [f"{name}.parquet" for name in names]
    rows = table(output)
    assert [(row["id"], row["text"]) for row in rows] == list(enumerate(TEXTS[:32]))
    schema = pq.read_schema(output / "part-b-00000.parquet")
    assert [str(each.type) for each in schema] == ["int32", "string", "string", "double", "string"]
    lines = tmp_path / "t.txt"
    lines.write_text("".join(f"{text}\n" for text in TEXTS[:32]))
    alone = [
        json.loads(line) for line in tiny.run("predict", model, "--input", lines, "--json").out.splitlines()
    ]
    assert [row["prediction"] for row in rows] == [answer["label"] for answer in alone]
    assert [row["probability"] for row in rows] == [max(a["probabilities"].values()) for a in alone]


def test_two_processes_write_the_bytes_of_one(trained, parts: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        result = predict(
            trained.runs / "text", parts / "*.parquet", tmp_path / f"{jobs}", "--jobs", jobs, "--json"
        )
        assert json.loads(result.out) == {
            "files": 2, "parts": 4, "before": 0, "rows": 32, "answered": 32, "bad": 0, "truncated": 0
        }  # fmt: skip
    assert content(tmp_path / "1") == content(tmp_path / "2")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.txt", "t.csv.gz"])
def test_a_file_gets_the_bytes_of_output(trained, tmp_path: Path, name: str) -> None:
    bare = name.removesuffix(".gz")
    path = tmp_path / bare
    if bare.endswith("sv"):
        tiny.write_csv(path, [(k, text) for k, text in enumerate(TEXTS[:20])], ["id", "text"])
    elif bare == "t.txt":
        path.write_text("".join(f"{text}\n" for text in TEXTS[:20]))
    else:
        path.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in enumerate(TEXTS[:20])))
    if name != bare:
        path = path.rename(tmp_path / "plain.csv")
        (tmp_path / name).write_bytes(gzip.compress(path.read_bytes()))
    form = {"t.txt": "csv"}.get(name, bare.split(".")[-1])
    whole = tmp_path / f"whole.{form}"
    assert tiny.run("predict", trained.runs / "text", "--input", path, "--output", whole).code == 0
    assert predict(trained.runs / "text", tmp_path / name, tmp_path / "out", "--jobs", 1).code == 0
    assert content(tmp_path / "out") == {f"t.{form}": whole.read_bytes()}


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_row_groups_as_text(trained, parts: Path, tmp_path: Path, form: str) -> None:
    output = tmp_path / "out"
    assert predict(trained.runs / "text", parts / "*", output, "--format", form).code == 0
    lines = (output / f"part-b-00000.{form}").read_text().splitlines()
    if form == "jsonl":
        assert [json.loads(line)["text"] for line in lines] == TEXTS[25:32]
        return
    mark = {"csv": ",", "tsv": "\t"}[form]
    assert lines[0] == mark.join(["id", "text", "prediction", "probability", "warnings"])
    assert len(lines) == 8


def test_pairs_and_a_column_of_another_name(trained, tmp_path: Path) -> None:
    rows = [{"a": first, "b": second} for first, second, _ in tiny.pairs()[:9]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "p.parquet")
    named = ("--column", "premise=a", "--column", "hypothesis=b", "--jobs", 1)
    for task, added in (
        ("pair", ["prediction", "probability", "warnings"]),
        ("score", ["score", "warnings"]),
    ):
        output = tmp_path / task
        assert predict(trained.runs / task, tmp_path / "p.parquet", output, *named).code == 0
        assert pq.read_table(output).column_names == ["a", "b", *added]


def bad_file(folder: Path, form: str) -> tuple[Path, list[tuple[int, str]]]:
    """Write six rows of which some are bad; return the bad rows and how their reasons begin."""
    path = folder / f"bad.{form}"
    if form == "parquet":
        write_parquet(path, ["fine", None, LONG, "good", "", "x"], rows=4)
        return path, [(2, "text: the value is missing"), (3, "text: 500 tokens")]
    if form == "csv":
        path.write_text(f"id,text\n0,fine\n1\n2,{LONG}\n3,good\n4,\n5,x\n")
        return path, [(3, "expected 2 fields"), (4, "text: 500 tokens")]
    records = [{"text": "fine"}, {"text": None}, {"text": 7}, {"txt": "x"}, {"text": LONG}]
    lines = [*map(json.dumps, records), "[1]", "{", json.dumps({"text": "good"})]
    path.write_text("\n".join(lines) + "\n")
    reasons = ["text: the value is missing", "text: expected text, got int 7", "no column 'text'"]
    reasons += ["text: 500 tokens", "expected one JSON object a line", "not JSON"]
    return path, list(enumerate(reasons, start=2))


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_bad_rows_stop_the_run_or_are_skipped_and_counted(trained, tmp_path: Path, form: str) -> None:
    path, bad = bad_file(tmp_path, form)
    output = tmp_path / "out"
    stopped = predict(trained.runs / "text", path, output, "--jobs", 1)
    assert (stopped.code, stopped.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert f"{path}: row {bad[0][0]}: {bad[0][1]}" in stopped.err
    assert content(output) == {}
    result = predict(trained.runs / "text", path, output, "--jobs", 1, "--bad-rows", "skip", "--json")
    count = json.loads(result.out)
    assert (count["rows"], count["bad"]) == (count["answered"] + len(bad), len(bad))
    side = [
        json.loads(line) for file in (output / "_bad").iterdir() for line in file.read_text().splitlines()
    ]
    assert [each["row"] for each in side] == [row for row, _ in bad]
    for each, (_, reason) in zip(side, bad, strict=True):
        assert each["reason"].startswith(reason)
    if form == "parquet":
        assert side[0]["fields"] == {"id": 1, "text": None}
        assert [row["id"] for row in table(output)] == [0, 3, 4, 5]


def test_a_field_that_an_object_leaves_out_is_a_missing_text(trained, tmp_path: Path) -> None:
    file, output, model = tmp_path / "texts.jsonl", tmp_path / "out", trained.runs / "text"
    file.write_text('{"id": 1}\n{"id": 2, "text": "warm"}\n{"id": 3, "text": null}\n')
    stopped = predict(model, file, output, "--jobs", 1)
    assert stopped.code == ExitCode.BAD_DATA
    assert "row 1: no column 'text'" in stopped.err
    assert predict(model, file, output, "--jobs", 1, "--on-missing", "empty").code == 0
    many = [json.loads(line) for line in (output / "texts.jsonl").read_text().splitlines()]
    tiny.run("predict", model, "--input", file, "--on-missing", "empty", "--output", tmp_path / "one.jsonl")
    one = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    assert many == one
    assert [each["id"] for each in many] == [1, 2, 3]
    wrong = ("--column", "text=txt", "--on-missing", "empty")
    refused = predict(model, file, tmp_path / "other", "--jobs", 1, *wrong)
    assert (refused.code, refused.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert "no column 'txt'" in refused.err
    assert content(tmp_path / "other") == {}


def test_finished_parts_stay_and_missing_ones_are_made(trained, parts: Path, tmp_path: Path) -> None:
    output, command = tmp_path / "out", (trained.runs / "text", parts / "*.parquet", tmp_path / "out")
    assert predict(*command).code == 0
    before, moment = content(output), (output / "part-a-00000.parquet").stat().st_mtime_ns
    (output / "part-a-00001.parquet").unlink()
    (output / "part-b-00000.parquet").write_bytes(b"PAR1")
    result = predict(*command)
    assert "4 files of predictions from 2 files (2 of them by an earlier run)" in result.err
    assert content(output) == before
    assert (output / "part-a-00000.parquet").stat().st_mtime_ns == moment
    write_parquet(parts / "part-c.parquet", TEXTS[40:45], start=40)
    assert "5 files of predictions from 3 files (4 of them by an earlier run)" in predict(*command).err


def test_what_is_refused_is_said_in_a_line(trained, parts: Path, tmp_path: Path) -> None:
    output, model, every = tmp_path / "out", trained.runs / "text", parts / "*.parquet"
    assert predict(model, every, output).code == 0
    other = tmp_path / "other"
    shutil.copytree(parts, other)
    (other / "part-c.parquet").write_bytes(b"PAR1")
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "notes.txt").write_text("mine")
    tiny.write_csv(tmp_path / "n.csv", [("1", "a b")], ["id", "review"])
    cases = [
        (model, tmp_path / "nothing-*.parquet", output, (), ExitCode.BAD_DATA, "no file has such a name"),
        (trained.runs / "pair", every, output, (), ExitCode.BAD_DATA, "no column 'premise'"),
        (model, tmp_path / "n.csv", tmp_path / "o", ("--jobs", 1), ExitCode.BAD_DATA, "no column 'text'"),
        (model, every, output, ("--column", "text=id"), ExitCode.BAD_DATA, "holds int32, and text was"),
        (model, every, output, ("--max-tokens", 9), ExitCode.USAGE, "with another max-tokens (null, now 9)"),
        (model, every, output, ("--format", "csv"), ExitCode.USAGE, 'with another format ("", now csv)'),
        (model, other / "*", tmp_path / "o", (), ExitCode.BAD_DATA, "part-c.parquet: not a readable Parquet"),
        (model, parts / "part-b*", output, (), ExitCode.USAGE, "which --input does not name any more"),
        (model, every, parts, (), ExitCode.USAGE, "name another folder"),
        (model, every, strange, (), ExitCode.USAGE, "holds other files"),
        (model, every, tmp_path / "n.csv", (), ExitCode.USAGE, "is a file"),
        (
            model,
            tmp_path / "n.csv",
            tmp_path / "o",
            ("--jobs", 1, "--format", "parquet"),
            2,
            "csv, tsv, jsonl",
        ),
        (model, every, output, ("--on-missing", "skip"), ExitCode.USAGE, "--bad-rows skip"),
        (model, every, output, ("--text", "x"), ExitCode.USAGE, "--text: is not for many files"),
        (model, every, output, ("--column", "label=id"), ExitCode.USAGE, "reads the column of text alone"),
        (tmp_path, every, output, (), ExitCode.BAD_ARTIFACT, "expected a model folder"),
    ]
    for asked, pattern, folder, more, code, said in cases:
        result = predict(asked, pattern, folder, *more)
        assert (result.code, result.err.count("\n")) == (code, 1), (said, result)
        assert said in result.err
    write_parquet(parts / "part-b.parquet", TEXTS[:3])
    assert "has changed since it was predicted" in predict(model, every, output).err


def test_a_file_that_changes_while_it_is_read_is_refused(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, output, listed = tmp_path / "texts.csv", tmp_path / "out", predict_parts.list_parts
    file.write_text("text\n" + "warm\n" * 20)

    def changing(*given: object) -> list[PredictionPart]:
        found = listed(*given)
        file.write_text("text\n" + "cold\n" * 5)
        return found

    monkeypatch.setattr(predict_parts, "list_parts", changing)
    result = predict(trained.runs / "text", file, output, "--jobs", 1)
    assert (result.code, result.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert "texts.csv: was changed while it was read" in result.err
    assert content(output) == {}
    monkeypatch.undo()
    assert predict(trained.runs / "text", file, output, "--jobs", 1).code == 0


def test_a_folder_of_another_model_is_refused(trained, parts: Path, tmp_path: Path) -> None:
    """The content of the model counts, and not where its folder is."""
    copy, output = tmp_path / "copy", tmp_path / "out"
    shutil.copytree(trained.runs / "text" / "model", copy)
    assert predict(trained.runs / "text", parts / "*.parquet", output).code == 0
    assert predict(copy, parts / "*.parquet", output).code == 0
    retrained = tiny.run(
        "train", trained.data / "text.toml", "--data", trained.data, "--out", tmp_path / "run",
        "--set", "train.device=cpu", "--set", "train.epochs=1", "--no-baseline", "--quiet",
    )  # fmt: skip
    assert retrained.code == 0
    result = predict(tmp_path / "run", parts / "*.parquet", output)
    assert result.code == ExitCode.USAGE
    assert "holds predictions of another model" in result.err


@pytest.mark.parametrize("option", [("--format", "csv"), ("--bad-rows", "skip")])
def test_options_for_many_files_alone(trained, tmp_path: Path, option: tuple[str, str]) -> None:
    result = tiny.run("predict", trained.runs / "text", "--text", "x", *option)
    assert (result.code, "is for many files" in result.err) == (ExitCode.USAGE, True)


def test_two_files_that_would_get_one_name(trained, tmp_path: Path) -> None:
    for suffix in ("csv", "tsv"):
        tiny.write_csv(tmp_path / f"t.{suffix}", [("a b",)], ["text"])
    result = predict(trained.runs / "text", tmp_path / "t.*sv", tmp_path / "out")
    assert (result.code, "would be written to t.*" in result.err) == (ExitCode.USAGE, True)


def test_folders_of_the_input_are_kept(trained, tmp_path: Path) -> None:
    for day in ("day=1", "day=2"):
        (tmp_path / "in" / day).mkdir(parents=True)
        write_parquet(tmp_path / "in" / day / "p.parquet", TEXTS[:2])
    assert predict(trained.runs / "text", tmp_path / "in" / "*" / "p.parquet", tmp_path / "out").code == 0
    assert list(content(tmp_path / "out")) == ["day=1/p-00000.parquet", "day=2/p-00000.parquet"]


def test_a_model_that_needs_torch(trained, parts: Path, tmp_path: Path) -> None:
    """With another precision torch computes; the labels of this model are the same."""
    plain, rounded = tmp_path / "float32", tmp_path / "int8"
    assert predict(trained.runs / "text", parts / "*.parquet", plain).code == 0
    assert predict(trained.runs / "text", parts / "*.parquet", rounded, "--precision", "int8").code == 0
    labels = [[row["prediction"] for row in table(folder)] for folder in (plain, rounded)]
    assert labels[0] == labels[1]


@pytest.mark.parametrize("task", [task for task in KINDS if task != "tags"])
def test_typed_columns_have_the_names_of_the_others(task: str) -> None:
    assert tuple(column.name for column in columns_of(task)) == KINDS[task].layout.header
