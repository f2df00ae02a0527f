"""Files of strangers through whole commands: what is read, what is refused, and what is counted."""

from __future__ import annotations

import csv
import gzip
import json
import os
import threading
from pathlib import Path

import pytest

import heedful
import tiny
from heedful.errors import ExitCode

FEW = (
    "--set",
    "train.max_steps=2",
    "--set",
    "model.width=8",
    "--set",
    "model.hidden=8",
    "--no-baseline",
    "-q",
)


def train(folder: Path, *arguments: object, recipe: str = "my-texts") -> tiny.Result:
    return tiny.run("train", recipe, "--out", folder / "run", *FEW, *arguments)


def table(path: Path, rows: list[tuple[str, ...]], header: bool = True) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows] if header else rows)
    return path


def test_a_file_without_a_header_goes_through_all_commands(tmp_path: Path) -> None:
    file = table(tmp_path / "a.csv", tiny.texts()[:60], header=False)
    columns = ("--no-header", "--column", "text=1", "--column", "label=2")
    told = train(tmp_path, "--set", f"data.train={file}")
    assert (told.code, "--no-header --column text=NUMBER" in told.err) == (ExitCode.BAD_DATA, True)
    found = train(tmp_path, "--set", f"data.train={file}", *columns)
    assert found.code == 0, found.err
    run = tmp_path / "run"
    assert tiny.run("evaluate", run, file, "--json").json()["count"] == 60  # the model remembers
    assert len(tiny.run("predict", run, "--input", file).out.splitlines()) == 60
    assert len(tiny.run("encode", run, "--input", file).out.splitlines()) == 60
    named = table(tmp_path / "b.csv", tiny.texts()[:60])
    other = ("--input-header", "--column", "text=text")
    assert len(tiny.run("predict", run, "--input", named, *other).out.splitlines()) == 60
    checked = tiny.run("data", "check", "my-texts", "--set", f"data.train={file}", *columns)
    assert checked.code == 0, checked.err
    assert sum(int(line.split()[1]) for line in checked.out.splitlines() if " rows" in line[:20]) == 60


def test_an_option_that_is_given_twice_is_refused(trained, tmp_path: Path) -> None:
    pair = trained.runs / "pair"
    for arguments, option in (
        (
            ("predict", pair, "--premise", "a", "--hypothesis", "b", "--premise", "c", "--hypothesis", "d"),
            "--premise",
        ),
        (("predict", pair, "--input", "a.csv", "--input", "b.csv"), "--input"),
        (("predict", pair, "--input", "a.csv", "--output", "a.tsv", "--output", "b.tsv"), "--output"),
        (("predict", pair, "--input", "a.csv", "--header", "--no-header"), "--header"),
        (("data", "check", "my-texts", "--encoding", "latin-1", "--encoding", "utf-8"), "--encoding"),
        (
            ("train", "my-texts", "--out", "r", "--set", "train.seed=1", "--set", "train.seed=2"),
            "--set train.seed",
        ),
    ):
        found = tiny.run(*arguments)
        assert (found.code, found.err.count("\n")) == (ExitCode.USAGE, 1), found
        assert f"{option}: is given" in found.err
    twice = ("--set", "train.max_steps=1", "--set", "train.max_steps=1")
    again = tiny.run("train", "my-texts", "--out", tmp_path / "r", "-q", "-q", *twice)
    assert "is given" not in again.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_pipes_go_through_all_commands(trained, tmp_path: Path, caplog) -> None:
    def piped(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        held = content.encode() if isinstance(content, str) else content
        threading.Thread(target=lambda: path.write_bytes(held), daemon=True).start()
        return path

    run = trained.runs / "text"
    lines = "a lovely film\na dull film\n"
    rows = "text,label\na lovely film,pos\na dull film,neg\n"
    expected = tiny.run(
        "predict", run, "--text", "a lovely film", "--text", "a dull film", "--json"
    ).out.splitlines()

    def answers(found: tiny.Result) -> list[object]:
        assert found.code == 0, found.err
        return [{k: v for k, v in json.loads(line).items() if k != "row"} for line in found.out.splitlines()]

    wanted = [json.loads(line) for line in expected]
    wanted = [{k: v for k, v in each.items() if k != "row"} for each in wanted]
    assert answers(tiny.run("predict", run, "--input", piped("p", lines), "--json")) == wanted
    assert answers(tiny.run("predict", run, "--input", piped("p.csv", rows), "--json")) == wanted
    as_table = ("--column", "text=text")
    assert answers(tiny.run("predict", run, "--input", piped("p", rows), "--json", *as_table)) == wanted
    packed = gzip.compress(rows.encode())
    assert answers(tiny.run("predict", run, "--input", piped("p", packed), "--json", *as_table)) == wanted
    for table in (rows, rows.replace(",", ";"), "text\na lovely film\na dull film\n"):
        assert answers(tiny.run("predict", run, "--input", piped("p", table), "--json")) == wanted
    (tmp_path / "rows.txt").write_text(rows)
    assert tiny.run("predict", run, "--input", tmp_path / "rows.txt").code == 0
    assert "looks like the names of the columns of a table" in caplog.text
    packed = gzip.compress(lines.encode())
    assert answers(tiny.run("predict", run, "--input", piped("p", packed), "--json")) == wanted
    assert len(tiny.run("encode", run, "--input", piped("p", lines)).out.splitlines()) == 2
    measured = tiny.run("evaluate", run, piped("p", rows), "--json")
    assert measured.json()["count"] == 2
    refused = tiny.run("evaluate", run, piped("p", rows), "--column", "label=mood")
    assert refused.err.startswith(f"heedful: {tmp_path / 'p'}: "), refused.err
    output = tmp_path / "out.csv"
    assert tiny.run("predict", run, "--input", piped("p.csv", rows), "--output", output).code == 0
    assert len(output.read_text().splitlines()) == 3
    texts = "text,label\n" + "".join(
        f"{text.replace(',', '')},{label}\n" for text, label in tiny.texts()[:60]
    )
    found = train(tmp_path, "--set", f"data.train={piped('train.csv', texts)}")
    assert found.code == 0, found.err


@pytest.mark.parametrize("path", [".", "/", "{folder}"])
def test_a_folder_as_input_is_named(trained, tmp_path: Path, path: str) -> None:
    for command in ("predict", "encode"):
        found = tiny.run(command, trained.runs / "text", "--input", path.format(folder=tmp_path))
        assert (found.code, found.err.count("\n")) == (ExitCode.BAD_DATA, 1), found
        assert "is a folder, a file was expected" in found.err


def test_a_file_as_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x")
    for command in (
        ("predict", "--text", "a"),
        ("evaluate", "a.csv"),
        ("explain", "--text", "a"),
        ("export", "--int8", "x"),
    ):
        found = tiny.run(command[0], tmp_path / "model.bin", *command[1:])
        assert (found.code, found.err.count("\n")) == (ExitCode.BAD_ARTIFACT, 1), found
        assert "is a file, and a model is a folder" in found.err


def test_suggestions_keep_the_columns_of_the_pool(trained, tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    texts = [text for text, _ in tiny.texts()[:30]]
    with pool.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("ticket", "text", "from"), *((f"T{k}", text, "web") for k, text in enumerate(texts))]
        )
    assert (
        tiny.run("suggest", trained.runs / "text", pool, "-n", "4", "--output", tmp_path / "next.csv").code
        == 0
    )
    with (tmp_path / "next.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row in rows:
        assert (row["from"], texts[int(row["ticket"][1:])]) == ("web", row["text"])
        assert int(row["row"]) == int(row["ticket"][1:]) + 2


def test_copies_of_a_text_do_not_make_a_dev_split_easy(tmp_path: Path) -> None:
    rows = [(f"text number {k % 40} {'!' * (k % 2)}", "ab"[k % 2]) for k in range(200)]
    found = train(tmp_path, "--set", f"data.train={table(tmp_path / 'a.csv', rows)}", "--json")
    assert found.code == 0, found.err
    labels = tiny.run(
        "data", "labels", tmp_path / "a.csv", "--column", "label=label", "--folds", "3", "--json"
    )
    assert labels.code == 0, labels.err


def test_a_dev_split_of_many_rare_classes(tmp_path: Path) -> None:
    rows = [(f"text {k} of kind {k % 60}", f"kind {k % 60}") for k in range(300)]
    found = train(tmp_path, "--set", f"data.train={table(tmp_path / 'a.csv', rows)}", "--json")
    assert found.code == 0, found.err
    assert found.json()["dev"]["count"] == 30


def test_one_label_alone_is_learned(tmp_path: Path) -> None:
    rows = [(text, "good" if label == "pos" else "") for text, label in tiny.texts()[:60]]
    file = table(tmp_path / "a.csv", rows)
    found = train(tmp_path, "--set", f"data.train={file}", recipe="my-labels")
    assert found.code == 0, found.err
    measured = tiny.run("evaluate", tmp_path / "run", file, "--json").json()
    assert list(measured["per_class"]) == ["good"]
    answers = tiny.run("predict", tmp_path / "run", "--input", file, "--json").out.splitlines()
    told = [bool(json.loads(line)["labels"]) for line in answers]
    gold = [bool(label) for _, label in rows]
    both = sum(a and b for a, b in zip(told, gold, strict=True))
    assert measured["metrics"]["micro_f1"] == pytest.approx(2 * both / (sum(told) + sum(gold)))


def test_numbers_that_single_precision_cannot_hold_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"

    def learned(numbers: list[float]) -> tiny.Result:
        table(file, [(f"text {k}", str(number)) for k, number in enumerate(numbers)])
        return train(tmp_path, "--set", f"data.train={file}", "--column", "score=label", recipe="my-numbers")

    for start in (100_000_000, 20_240_100):
        found = learned([start + k % 4 for k in range(40)])
        assert (found.code, found.err.count("\n")) == (ExitCode.BAD_DATA, 1), found
        assert f"for single precision. Subtract a number such as {start} from" in found.err
    found = learned([1e39, 2e39] * 20)
    assert (found.code, "too large for single precision. Divide all" in found.err) == (
        ExitCode.BAD_DATA,
        True,
    )
    found = learned([20_240_000 + 37 * k for k in range(40)])
    assert found.code == 0, found.err


def test_gold_that_does_not_vary_says_that_correlations_are_not_defined(trained, tmp_path: Path) -> None:
    rows = [("The dog runs .", "The cat sleeps .", "3"), ("The hen eats .", "The goat sings .", "3")]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "score"), *rows])
    found = tiny.run("evaluate", trained.runs / "score", tmp_path / "a.csv")
    assert found.code == 0, found.err
    assert "2 examples with one and the same gold number: correlations and R² are not defined" in found.out


def test_scores_from_0_are_learned_by_both_recipes(tmp_path: Path) -> None:
    rows = [(f"text {k}", f"other {k}", str(k % 6)) for k in range(40)]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "score"), *rows])
    for recipe in ("my-scores", "my-pair-numbers"):
        found = train(tmp_path, "--set", f"data.train={tmp_path / 'a.csv'}", "--overwrite", recipe=recipe)
        assert found.code == 0, found.err
        model = heedful.from_pretrained(tmp_path / "run")
        pairs = [("text 1", "another longer text"), ("text 2", "other 3")]
        there, back = (model.predict(each).tolist() for each in (pairs, [pair[::-1] for pair in pairs]))
        assert there == back
        assert there[0] != there[1]


def test_lines_of_fasttext_go_through_all_commands(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text("".join(f"__label__{label} {text}\n" for text, label in tiny.texts()[:60]))
    found = train(tmp_path, "--set", f"data.train={file}")
    assert found.code == 0, found.err
    assert tiny.run("evaluate", tmp_path / "run", file, "--json").json()["count"] == 60
    lines = tiny.run("predict", tmp_path / "run", "--input", file, "--output", tmp_path / "o.csv")
    assert lines.code == 0, lines.err
    assert "__label__" not in (tmp_path / "o.csv").read_text()


def test_what_is_skipped_and_noted_is_printed(tmp_path: Path) -> None:
    rows = [*tiny.texts()[:60], ("odd", "-"), ("both", "pos#neg"), ("both of them", "pos#neg")]
    file = table(tmp_path / "a.csv", rows)
    found = tiny.run("train", "my-texts", "--out", tmp_path / "run", *FEW[:-1], "--set", f"data.train={file}")
    assert found.code == 0, found.err
    assert "train: rows skipped: 1 (no gold label: '-')" in found.err
    assert "2 rows have a label such as 'pos#neg'" in found.err


def test_what_is_nested_too_deeply_or_wrong_too_often_ends_in_a_short_message(tmp_path: Path) -> None:
    deep, many = tmp_path / "deep.toml", tmp_path / "many.toml"
    deep.write_text("a=" + "[" * 5_000 + "]" * 5_000)
    many.write_text("".join(f"[t{k}]\nx=1\n" for k in range(3_000)))
    found = tiny.run("train", deep, "--out", tmp_path / "run")
    assert (found.code in (ExitCode.USAGE, ExitCode.BAD_DATA), found.err.count("\n")) == (True, 1), found
    assert "internal error" not in found.err
    found = tiny.run("train", many, "--out", tmp_path / "run")
    assert (found.code, found.err.rstrip().endswith(" more")) == (ExitCode.USAGE, True)
    assert len(found.err) < 10_000


def test_numbers_below_single_precision_are_refused_in_a_line(tmp_path: Path) -> None:
    rows = [(text, 1e-300 * (k % 5)) for k, (text, _) in enumerate(tiny.texts()[:40])]
    tiny.write_csv(tmp_path / "tiny.csv", rows, ["text", "score"])
    found = tiny.run(
        "train", "my-numbers", "--set", f"data.train={tmp_path / 'tiny.csv'}", "--out", tmp_path / "run"
    )
    assert found.code == 3
    assert "the largest number, 4e-300, is too small for single precision" in found.err
