"""`heedful train reviews.csv` and what follows it, on a few rows."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest

import heedful
from heedful.cli.main import run
from heedful.data.examples import Example
from heedful.run.important_words import important_words
from heedful.storage.layout import MODEL

GOOD, BAD = ("lovely", "superb", "warm"), ("dull", "grim", "awful")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    with (folder / "reviews.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "review", "mood"])
        for k in range(36):
            words, mood = ((GOOD, "good"), (BAD, "bad"))[k % 2]
            rows.writerow([k, f"that song was {words[k % 3]} and number {k} played", mood])
    return folder


@pytest.fixture(scope="module")
def trained(shop: Path) -> Path:
    here = os.getcwd()
    os.chdir(shop)
    try:
        assert run(["train", "reviews.csv", "--no-baseline", "-q", "--no-cache"]) == 0
    finally:
        os.chdir(here)
    return shop / "runs" / "reviews"


@pytest.fixture(scope="module")
def network(trained: Path, shop: Path) -> Path:
    command = ["train", str(shop / "reviews.csv"), "--out", str(shop / "network"), "--no-baseline", "-q"]
    settings = [part for each in ("data.few_rows=0", "train.epochs=1") for part in ("--set", each)]
    assert run([*command, "--no-cache", *settings]) == 0
    return shop / "network"


@pytest.fixture
def inside(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)


def test_train_says_what_it_reads_and_what_comes_next(
    trained: Path, inside: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "reviews.csv", "--label", "mood", "--no-baseline", "-q", "--no-cache"]) == 0
    printed = capsys.readouterr()
    assert (
        "texts in “review”, classes in “mood” (bad, good); not read: id; trained as my-texts" in printed.err
    )
    assert "What the model finds important" in printed.out
    lines = {line.split()[0]: line for line in printed.out.splitlines() if line.startswith("  ")}
    assert any(word in lines["good"] for word in GOOD)
    assert any(word in lines["bad"] for word in BAD)
    assert "  heedful predict runs/reviews-2 " in printed.out
    assert (trained / MODEL).is_dir()
    assert Path("runs/reviews-2", MODEL).is_dir()


def test_texts_without_an_option(trained: Path, inside: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", "runs/reviews", "a superb song", "an awful song"]) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["good", "bad"]
    assert run(["explain", "runs/reviews", "a superb song"]) == 0
    assert "Why “good”" in capsys.readouterr().out
    assert run(["predict", "runs/reviews", "reviews.csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 36
    assert run(["predict", "runs/reviews", "reviews.csv", "--input", "reviews.csv"]) == 2
    assert "give one file" in capsys.readouterr().err
    assert run(["explain", "runs/reviews", "reviews.csv"]) == 2
    assert "reviews.csv has 36 texts, and one is explained at a time; of all: --all reviews.csv" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("command", ["predict", "encode", "explain"])
def test_a_minus_stands_for_standard_input(
    command: str, network: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed(*words: str) -> str:
        stdin = io.TextIOWrapper(io.BytesIO(b"a superb song\n"), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)
        code = run([command, str(network), *words])
        found = capsys.readouterr()
        return found.err if code else found.out

    if command != "explain":
        assert len(printed(str(network.parent / "reviews.csv")).splitlines()) == 36
    assert printed("-").removeprefix("1\t") == printed("a superb song")
    assert printed("--text", "-") != printed("a superb song")
    assert "- is standard input, and an awful song comes too: give one file" in printed("-", "an awful song")


def test_a_misspelt_file_and_a_folder_of_classes_are_no_texts(
    trained: Path, inside: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for command in ("predict", "explain", "encode"):
        assert run([command, "runs/reviews", "review.csv"]) == 2
        assert "review.csv: no such file; if it is the text" in capsys.readouterr().err
    assert run(["predict", "runs/reviews", "see the file review.csv"]) == 0
    assert run(["predict", "runs/reviews", "reviews.csv", "a superb song"]) == 2
    assert "give one file" in capsys.readouterr().err
    assert run(["predict", "runs/reviews", "--text", "review.csv"]) == 0
    for name, text in (("good/1.txt", "a superb song"), ("bad/1.txt", "an awful song")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    capsys.readouterr()
    for asked in (["reviews"], ["--input", "reviews"]):
        shutil.copytree(tmp_path, "reviews", dirs_exist_ok=True)
        assert run(["predict", "runs/reviews", *asked]) == 0
        answers = [line.split("\t")[1] for line in capsys.readouterr().out.splitlines()]
        assert answers == ["bad", "good"]


def test_a_whole_model(trained: Path, inside: None, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", "runs/reviews", "--all", "reviews.csv"]
    assert run([*command, "--html", "report.html"]) == 0
    printed = capsys.readouterr()
    assert "of 36 rows are right" in printed.out
    assert "36 explained texts" in printed.out
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<h2>Words and phrases</h2>" in page
    assert "id: " not in page  # a column that tells rows apart makes no slices
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 36
    header, *rows = Path("reviews.csv").read_text(encoding="utf-8").splitlines()
    gap = rows[0].rsplit(",", 1)[0] + ",-"
    Path("gaps.csv").write_text("\n".join([header, *rows, gap]), encoding="utf-8")
    assert run(["explain", "runs/reviews", "--all", "gaps.csv"]) == 0
    printed = capsys.readouterr()
    assert "of 36 rows are right" in printed.out
    assert "rows skipped: 1 (" in printed.err
    for wrong, said in (
        (["a superb song"], "looks at a whole file"),
        (["--attention"], "--attention is for one text"),
        (["--html", "reviews.csv"], "is the file of --all"),
    ):
        assert run([*command, *wrong]) == 2
        assert said in capsys.readouterr().err


def test_a_whole_model_of_numbers_and_of_tags(
    tmp_path: Path, inside: None, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"a song of {k} {'superb' if k % 2 else 'awful'} parts,{k % 2 * 3 + k / 100}" for k in range(40)]
    (tmp_path / "prices.csv").write_text("\n".join(["review,price", *lines]))
    words = ["the O", "superb B-X", "song O", ""] * 20 + ["an O", "awful O", "meal B-Y", ""] * 20
    (tmp_path / "words.conll").write_text("\n".join(words))
    for file, said, important in (
        ("prices.csv", "off by 0.", "lowers"),
        ("words.conll", "of the words have their tag", "\n  B-X  superb +"),
    ):
        out = tmp_path / file.partition(".")[0]
        assert run(["train", str(tmp_path / file), "--no-baseline", "--out", str(out)]) == 0
        printed = capsys.readouterr().out
        assert "--all new.csv" in printed
        assert important in printed.partition("What the model finds important")[2]
        report = out.with_suffix(".html")
        assert run(["explain", str(out), "--all", str(tmp_path / file), "--html", str(report)]) == 0
        assert said in capsys.readouterr().out
        assert "<h2>Words and phrases</h2>" in report.read_text(encoding="utf-8")


def test_what_is_open_is_one_line(shop: Path, inside: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"that song was number {k},{k % 5 + 1}" for k in range(20)]
    Path("stars.csv").write_text("\n".join(["review,stars", *lines]))
    assert run(["train", "stars.csv"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--label stars learns them as classes, --score stars as numbers" in said
    assert not Path("runs/stars").exists()


def test_an_earlier_run_is_named(inside: None, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--resume", "--overwrite"):
        assert run(["train", "reviews.csv", option]) == 2
        assert f"{option} needs --out FOLDER" in capsys.readouterr().err


def test_folds_of_an_own_file(inside: None, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "reviews.csv", "--folds", "2", "--no-baseline", "-q", "--no-cache"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "data.fold=2" in out
    assert "each of 2 folds in turn" in out
    assert Path("runs/reviews-study").is_dir()


def test_own_data_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recipes"]) == 0
    assert capsys.readouterr().out.startswith("my-texts")
    assert run(["--help"]) == 0
    assert "heedful train reviews.csv" in capsys.readouterr().out


def test_no_time_no_words(trained: Path) -> None:
    two = [Example(("a superb song",)), Example(("a grim song",))]
    assert important_words(trained, two, seconds=0) is None
    found = important_words(trained, two, seconds=60)
    assert found is not None
    assert found.texts == 2
    assert important_words(trained / "nothing", []) is None


def test_a_recipe_and_data_may_stand_in_either_order(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(shop / "reviews.csv")
    for number, order in enumerate((("my-texts", file), (file, "my-texts"))):
        assert (
            run(["train", *order, "--out", str(tmp_path / f"run{number}"), "--no-baseline", "--no-cache"])
            == 0
        )
        said = capfd.readouterr().err
        assert "texts in “review”, classes in “mood”" in said
        assert "trained as my-texts" in said
    card = (tmp_path / "run0" / MODEL / "README.md").read_text(encoding="utf-8")
    assert "# Linear model on reviews.csv" in card
    assert run(["train", "my-pairs", file, "--out", str(tmp_path / "other")]) != 0
    assert "my-pairs learns 'pair' and not what the data holds" in capfd.readouterr().err
    assert run(["train", file, file, "--out", str(tmp_path / "other")]) != 0
    assert "are both data" in capfd.readouterr().err
    assert not (tmp_path / "other").exists()


def test_texts_of_dev_and_test_that_are_training_texts_are_said(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    small = (
        "--set=text.vectors=",
        "--set=model.sentence=none",
        "--set=train.epochs=1",
        "--set=train.least_steps=1",
    )
    file, out = str(shop / "reviews.csv"), str(tmp_path / "run")
    for part, count in (("dev", 36), ("test", 32)):  # beside a test part some rows are held out as dev
        asked = ["train", file, "--label", "mood", f"--set=data.{part}={file}", "--out", out, "--overwrite"]
        assert run([*asked, *small, "--no-baseline"]) == 0
        assert f"{part}: {count} of its 36 texts are training texts too" in capsys.readouterr().err
    texts, moods = ["a lovely song", "a dull song"] * 8, ["good", "bad"] * 8
    model = heedful.TextClassifier(text__vectors="", model__sentence="none", train__epochs=1)
    model.fit(texts, moods, dev=(texts[:2], moods[:2]), baseline=False)
    assert "dev: 2 of its 2 texts are training texts too" in caplog.text
