"""Files as people keep them: columns of any name, Latin-1, semicolons; named once and remembered by the model."""

from __future__ import annotations

import csv
import json
import logging
from pathlib import Path

import pytest

import tiny
from heedful.errors import ExitCode
from heedful.tasks import About, load_model


def write(path: Path, rows, separator: str = ";", encoding: str = "latin-1") -> Path:
    """Write a table with columns of other names than the roles, and one that Heedful does not need."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["id", "review", "mood"])
        writer.writerows([f"r{n}", f"caf\xe9 {text}", label] for n, (text, label) in enumerate(rows))
    return path


COLUMNS = ("--column", "text=review", "--column", "label=mood")
READ_AND_ALONE = (*COLUMNS, "--encoding", "latin-1", "--no-baseline", "--set", "data.test=''")


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train on a Latin-1 file with semicolons, its columns named on the command line."""
    folder = tmp_path_factory.mktemp("mine")
    write(folder / "train.csv", tiny.texts()[:120])
    write(folder / "test.csv", tiny.texts()[120:160])
    (folder / "settings.toml").write_text(tiny.TEXT)
    how = (*READ_AND_ALONE, "--set", "train.epochs=2")
    result = tiny.run(
        "train",
        folder / "settings.toml",
        "--data",
        folder,
        "--set",
        "data.train=train.csv",
        *how,
        "--out",
        folder / "run",
    )
    assert result.code == 0, result.err
    return folder


def test_a_model_remembers_how_its_file_was_read(mine: Path) -> None:
    assert tiny.run("evaluate", mine / "run", mine / "test.csv", "--json").json()["count"] == 40
    for command in ("predict", "encode"):
        result = tiny.run(command, mine / "run", "--input", mine / "test.csv")
        assert (result.code, result.out.count("\n")) == (0, 40), result.err


def test_a_file_in_utf_8_is_read_as_such_whatever_the_training_file_was(mine: Path, tmp_path: Path) -> None:
    rows = [("\u4f60\u597d", "pos")]
    tables = [write(tmp_path / f"{e}.csv", [("fine film", "pos")], encoding=e) for e in ("utf-8", "latin-1")]
    answers = [tiny.run("predict", mine / "run", "--input", path, "--json").json() for path in tables]
    assert answers[0] == answers[1]
    assert (
        tiny.run("predict", mine / "run", "--input", write(tmp_path / "c.csv", rows, encoding="utf-8")).code
        == 0
    )


def test_a_column_that_is_named_is_read_instead(mine: Path, tmp_path: Path) -> None:
    path = tiny.write_csv(tmp_path / "in.csv", [("fine film",)], ["text"])
    missing = tiny.run("predict", mine / "run", "--input", path)
    assert missing.code == ExitCode.BAD_DATA
    assert "no column 'review'" in missing.err
    assert tiny.run("predict", mine / "run", "--input", path, "--column", "text=text").code == 0


def test_a_model_saved_without_its_run_reads_the_usual_columns(mine: Path, tmp_path: Path) -> None:
    model = load_model(mine / "run")
    model.about = About()
    model.save(tmp_path / "old")
    path = tiny.write_csv(tmp_path / "in.csv", [("fine film",)], ["text"])
    assert tiny.run("predict", tmp_path / "old", "--input", path).code == 0


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_separator_is_found_in_the_first_line_and_said_once(
    mine: Path, tmp_path: Path, separator: str
) -> None:
    path = write(tmp_path / f"in{ord(separator)}.csv", tiny.texts()[:5], separator=separator)
    heard: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("heedful.data.readers.reading")
    logger.addHandler(handler)
    try:
        result = tiny.run("predict", mine / "run", "--input", path)
    finally:
        logger.removeHandler(handler)
    assert (result.code, result.out.count("\n")) == (0, 5), result.err
    assert [str(path) in line for line in heard] == [True]


def test_a_separator_that_is_named_is_taken_at_its_word(mine: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", tiny.texts()[:5], separator=":")
    assert tiny.run("predict", mine / "run", "--input", path).code == ExitCode.BAD_DATA
    assert tiny.run("predict", mine / "run", "--input", path, "--separator", ":").code == 0
    wrong = tiny.run("predict", mine / "run", "--input", path, "--separator", "::")
    assert wrong.code == ExitCode.USAGE
    assert wrong.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.xlsx", b"PK\x03\x04"),
        ("t.csv", b"PK\x03\x04\x00\x00"),
        ("t.csv", b"\x89PNG\r\n\x1a\n\x00"),
    ],
)
def test_a_spreadsheet_and_a_picture_are_named_as_what_they_are(
    mine: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    for arguments in (
        ("evaluate", mine / "run", tmp_path / name),
        ("predict", mine / "run", "--input", tmp_path / name),
    ):
        result = tiny.run(*arguments)
        assert result.code in (ExitCode.USAGE, ExitCode.BAD_DATA)
        assert result.err.count("\n") == 1
        assert any(word in result.err for word in ("spreadsheet", "picture")), result.err


def test_arrays_of_records_are_read(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{"review": "fine film", "mood": "pos"}] * 3, indent=1))
    assert tiny.run("predict", mine / "run", "--input", tmp_path / "t.json").out.count("\n") == 3
    assert tiny.run("evaluate", mine / "run", tmp_path / "t.json", "--json").json()["count"] == 3


@pytest.mark.parametrize("given", ["review", "review=text", "texts=review", "text=", "text=a,text=b"])
def test_a_column_option_that_says_nothing_is_refused(mine: Path, given: str) -> None:
    options = [part for each in given.split(",") for part in ("--column", each)]
    result = tiny.run("predict", mine / "run", "--input", mine / "test.csv", *options)
    assert (result.code, result.err.count("\n")) == (ExitCode.USAGE, 1)


def rows_of(path: Path, separator: str = ",") -> list[list[str]]:
    """Read a table that a command wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


@pytest.mark.parametrize(("name", "separator"), [("out.csv", ","), ("out.tsv", "\t")])
def test_predictions_stand_beside_everything_that_the_input_says(
    mine: Path, tmp_path: Path, name: str, separator: str
) -> None:
    source = write(tmp_path / "in.csv", [("fine; or\nnot", "pos"), ("dull,\r film", "neg")])
    result = tiny.run("predict", mine / "run", "--input", source, "--output", tmp_path / name)
    assert (result.code, result.out) == (0, ""), result.err
    header, *rows = rows_of(tmp_path / name, separator)
    printed = tiny.run("predict", mine / "run", "--input", source).out.splitlines()
    assert header[:3] == ["id", "review", "mood"]
    assert [row[:3] for row in rows] == [
        ["r0", "café fine; or\nnot", "pos"],
        ["r1", "café dull,\r film", "neg"],
    ]
    assert [row[3:] for row in rows] == [line.split("\t")[1:] for line in printed]
    bare = ("predict", mine / "run", "--input", source, "--no-header", "--output", tmp_path / name)
    assert tiny.run(*bare).code == 0
    assert rows_of(tmp_path / name, separator) == rows


def test_predictions_as_lines_of_json(mine: Path, tmp_path: Path) -> None:
    records = [
        {"review": "fine film", "prediction": "of another model", "n": {"a": [1, None]}},
        {"review": ""},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    result = tiny.run(
        "predict", mine / "run", "--input", tmp_path / "in.jsonl", "--output", tmp_path / "out.jsonl"
    )
    assert result.code == 0, result.err
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [{k: v for k, v in line.items() if k != "prediction_2"} for line in lines] == records
    assert all(sum(line["prediction_2"]["probabilities"].values()) == pytest.approx(1) for line in lines)
    table = tiny.run(
        "predict", mine / "run", "--input", tmp_path / "in.jsonl", "--output", tmp_path / "out.csv"
    )
    assert table.code == 0, table.err
    assert [row[:3] for row in rows_of(tmp_path / "out.csv")][1:] == [
        ["fine film", "of another model", '{"a": [1, null]}'],
        ["", "", ""],
    ]


def test_texts_from_the_command_line_stand_beside_their_predictions(mine: Path, tmp_path: Path) -> None:
    texts = ("--text", "fine film", "--text", "dull")
    assert tiny.run("predict", mine / "run", *texts, "--output", tmp_path / "out.csv").code == 0
    assert [row[0] for row in rows_of(tmp_path / "out.csv")] == ["text", "fine film", "dull"]
    header, *_ = tiny.run("predict", mine / "run", *texts, "--header").out.splitlines()
    assert len(header.split("\t")) == len(rows_of(tmp_path / "out.csv")[0]) - 1


def test_a_file_of_predictions_is_written_whole_or_not_at_all(mine: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.csv"
    output.write_text("of a former call")
    source.write_bytes(b"fine\ncaf\xe9\n")
    result = tiny.run("predict", mine / "run", "--input", source, "--output", output)
    assert (result.code, output.read_text()) == (ExitCode.BAD_DATA, "of a former call")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.csv"]


@pytest.mark.parametrize(
    "options",
    [
        ("--output", "out.xlsx"),
        ("--output", "in.csv"),
        ("--output", "out.jsonl", "--header"),
        ("--output", "out.csv", "--json"),
        ("--json", "--no-header"),
    ],
)
def test_outputs_that_contradict_themselves_are_refused(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = write(tmp_path / "in.csv", [("fine", "pos")]).read_bytes()
    result = tiny.run("predict", mine / "run", "--input", "in.csv", *options)
    assert (result.code, result.out, result.err.count("\n")) == (ExitCode.USAGE, "", 1)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def training(mine: Path, out: Path, *options: object) -> tiny.Result:
    """Train for a step on the file of the fixture."""
    how = (*READ_AND_ALONE, "--set", "train.max_steps=1")
    recipe = ("train", mine / "settings.toml", "--data", mine, "--set", "data.train=train.csv")
    return tiny.run(*recipe, *how, *options, "--out", out)


def test_what_is_kept_is_said_once_listed_and_cleared(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "cache"
    monkeypatch.setenv("HEEDFUL_CACHE", str(place))
    assert training(mine, tmp_path / "none", "--no-cache").code == 0
    assert not place.exists()
    first, second = training(mine, tmp_path / "first"), training(mine, tmp_path / "second")
    assert [str(place) in result.err for result in (first, second)] == [True, False]
    (place / "mine.txt").write_text("a note of the user's")
    listed = tiny.run("data", "cache", "--json").json()
    assert [(entry["kind"], entry["size"] > 1_000) for entry in listed["entries"]] == [("encoded", True)]
    assert tiny.run("data", "cache").out.splitlines()[-1].startswith(f"{place}: 1 entries")
    assert tiny.run("data", "cache", "--clear", "--json").json()["deleted"] == 1
    assert tiny.run("data", "cache", "--json").json()["entries"] == []
    assert (place / "mine.txt").exists()
    monkeypatch.setenv("HEEDFUL_CACHE", "none")
    assert tiny.run("data", "cache", "--json").json()["folder"] is None


def test_a_search_says_once_where_data_is_kept_and_keeps_none_if_asked(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    place = tmp_path / "cache"
    monkeypatch.setenv("HEEDFUL_CACHE", str(place))

    def searching(out: str, *options: object) -> tiny.Result:
        recipe = (
            "tune",
            mine / "settings.toml",
            "--data",
            mine,
            "--set",
            "data.train=train.csv",
            "--trials",
            1,
        )
        how = (*COLUMNS, "--encoding", "latin-1", "--set", "data.test=''", "--set", "train.max_steps=1")
        result = tiny.run(*recipe, *how, *options, "--out", tmp_path / out)
        assert result.code == 0, result.err
        return result

    searching("none", "--no-cache")
    assert not place.exists()
    said = [str(place) in searching(*how).err for how in (("first",), ("second",))]
    assert said == [True, False]


def test_resume_where_there_is_nothing_to_resume_says_so(mine: Path, tmp_path: Path) -> None:
    result = training(mine, tmp_path / "run", "--resume")
    assert result.code == 0
    assert [line for line in result.err.splitlines() if line.startswith("--resume: ")]


def test_a_text_that_is_too_long_names_the_options_of_the_command(mine: Path, tmp_path: Path) -> None:
    refused = training(mine, tmp_path / "run", "--max-tokens", "2", "--truncate", "error")
    assert (refused.code, refused.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert "--max-tokens" in refused.err
    assert training(mine, tmp_path / "run", "--max-tokens", "2", "--truncate", "head").code == 0
    assert training(mine, tmp_path / "windows", "--max-tokens", "4", "--truncate", "window").code == 0
