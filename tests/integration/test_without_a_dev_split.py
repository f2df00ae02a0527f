"""Few rows have no dev split: whatever is said of a figure by cross-validation says so, on every door."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tiny

SAYS_DEV = re.compile(r"\bdev\b(?!\s*=)")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings that name 60 rows, in which one class is too rare to be answered, and a test file."""
    folder, rows = tmp_path_factory.mktemp("few"), tiny.texts()
    odd = [(rows[k][0], "odd") for k in (3, 5)]  # a text of each of the two others
    tiny.write_csv(folder / "few.csv", [*rows[:60], *odd], ["text", "label"])
    tiny.write_csv(folder / "test.csv", rows[60:80], ["text", "label"])
    files = (f"data.train={folder / 'few.csv'}", f"data.test={folder / 'test.csv'}", "model.sentence=none")
    return [word for each in files for word in ("--set", each)]


def test_train_and_the_card(settings: list[str], tmp_path: Path) -> None:
    done = tiny.run("train", "my-texts", *settings[:2], *settings[4:], "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert not SAYS_DEV.search(done.out + done.err), done.out
    assert "never predicts 'odd' in cross-validation, where 2 of 62 examples have it" in done.out
    card = (tmp_path / "run" / "model" / "README.md").read_text(encoding="utf-8")
    (index,) = re.findall(r"^model-index: (.*)$", card, re.MULTILINE)
    assert json.loads(index)[0]["results"][0]["dataset"]["split"] == "cross-validation"
    assert "| cross-validation | 62 |" in card


def test_a_study(settings: list[str], tmp_path: Path) -> None:
    asked = ("study", "my-texts", "--seeds", "1,2", *settings, "--no-baseline", "--out", tmp_path / "study")
    done = tiny.run(*asked)
    assert done.code == 0, done.err
    assert "train.seed=2" in done.out
    assert not SAYS_DEV.search(done.out), done.out


@pytest.mark.parametrize(
    ("rows", "word", "where"),
    [(1000, "cross-validated", "by cross-validation"), (0, "dev", "on the dev split")],
)
def test_a_search(rows: int, word: str, where: str, settings: list[str], tmp_path: Path) -> None:
    quick = [
        f"--set={each}"
        for each in (f"data.few_rows={rows}", "train.max_steps=2", "train.epochs=0", "model.width=8")
    ]
    asked = ("tune", "my-texts", *settings, *quick, "--trials", "1", "--vary", "text.lowercase=true,false")
    done = tiny.run(*asked, "--out", tmp_path / "search")
    assert done.code == 0, done.err
    assert f"trial 0  {word} accuracy " in done.err
    assert f"1 trials were scored {where}, so" in done.out
    recipe = (tmp_path / "search" / "best.toml").read_text(encoding="utf-8")
    assert recipe.startswith(f"# Best of 1 trials of heedful tune by {word} accuracy: ")
    assert bool(SAYS_DEV.search(done.out)) == (word == "dev")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("classes.csv", "text,label\n" + "good film,pos\nbad film,neg\n" * 8),
        ("tags.tsv", "the\tO\nfilm\tO\nRome\tB-LOC\n\n" * 12),
    ],
)
def test_copies_that_cannot_be_compared_are_said_once_and_no_class_is_called_missing(
    name: str, text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    plain = ("--set", "text.vectors=", "--no-baseline", "--out", tmp_path / "run")
    done = tiny.run("train", tmp_path / name, *plain)
    assert done.code == 0, done.err
    assert caplog.text.count("too few different texts for cross-validation") == 1
    assert "never predicts" not in done.out


@pytest.mark.parametrize("recipe", ["my-scores", "my-pair-numbers"])
def test_pairs_with_one_score_are_refused_in_one_line(recipe: str, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("premise,hypothesis,score\n" + "".join(f"film {n},book {n},3\n" for n in range(12)))
    done = tiny.run("train", recipe, "--set", f"data.train={file}", "--out", tmp_path / "run")
    assert (done.code, done.out) == (3, "")
    assert "all 12 training numbers are 3: there is nothing to learn" in done.err.splitlines()[-1]
