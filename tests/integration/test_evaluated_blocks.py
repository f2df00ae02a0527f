"""``heedful evaluate`` measures a large file in blocks, with the figures of the whole and the errors of each row."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from heedful.data.readers import corpus_builder
from heedful.errors import ExitCode
from heedful.run import evaluate

COLUMNS = ("--column", "group=group")


@pytest.fixture
def blocks_of_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of more than 20 rows is measured in blocks of 7."""
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)
    monkeypatch.setattr(evaluate, "WHOLE", 20)


def table(folder: Path, rows: list[tuple[str, str]], count: int = 61) -> Path:
    """Repeat rows with a group that changes from row to row, empty texts and wrong labels among them."""
    found = [(*rows[number % len(rows)], "abc"[number % 3]) for number in range(count)]
    found[5], found[33] = ("", "neg", ""), ("The film was lovely .", "neg", "a")
    return tiny.write_csv(folder / "rows.csv", found, ["text", "label", "group"])


def measured(trained, path: Path, *more: object) -> dict:
    found = tiny.run("evaluate", trained.runs / "text", path, "--json", *COLUMNS, *more).json()
    del found["seconds"]
    return found


@pytest.fixture
def whole(trained, tmp_path: Path) -> dict:
    """The figures of a table that is read and measured in one piece."""
    return measured(trained, table(tmp_path, tiny.texts()[:40]))


def test_blocks_give_the_figures_of_the_whole(
    trained, whole: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)
    monkeypatch.setattr(evaluate, "WHOLE", 20)
    blocks = measured(trained, tmp_path / "rows.csv")
    assert whole["count"] == 61
    assert set(whole["by_group"]) == {"(none)", "a", "b", "c"}
    before, after = (found.pop("calibration") for found in (whole, blocks))
    intervals, others = (found.pop("intervals") for found in (whole, blocks))
    assert blocks == whole
    assert others["accuracy"] == intervals["accuracy"]
    for end in ("low", "high"):  # other random numbers
        assert others["macro_f1"][end] == pytest.approx(intervals["macro_f1"][end], abs=0.02)
    for name in ("before", "after"):
        assert after[name]["ece"] == pytest.approx(before[name]["ece"], abs=1e-6)
        assert after[name]["nll"] == pytest.approx(before[name]["nll"], abs=1e-6)


def test_as_many_rows_as_are_held_are_measured_as_before(
    trained, whole: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)
    assert measured(trained, tmp_path / "rows.csv") == whole  # intervals too


BAD = {
    "no label": ("The film was lovely .,,a", "row 62, field 'label': value is missing"),
}


@pytest.mark.usefixtures("blocks_of_seven")
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_row_of_a_late_block_is_named(trained, tmp_path: Path, fault: str) -> None:
    line, said = BAD[fault]
    path = table(tmp_path, tiny.texts()[:40], 60)
    path.write_text(path.read_text() + line + "\n")
    result = tiny.run("evaluate", trained.runs / "text", path)
    assert (result.code, result.out, result.err.count("\n")) == (ExitCode.BAD_DATA, "", 1)
    assert said in result.err


def test_labels_that_training_did_not_have_count_as_wrong_in_blocks_too(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path, tiny.texts()[:40], 60)
    path.write_text(path.read_text() + "The film was lovely .,rare,a\nThe film was fine .,odd,a\n" * 2)
    whole = measured(trained, path)
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)
    monkeypatch.setattr(evaluate, "WHOLE", 20)
    blocks = measured(trained, path)
    assert whole["count"] == blocks["count"] == 64
    assert blocks["metrics"] == pytest.approx(whole["metrics"])
    for key in ("per_class", "notes"):
        assert blocks[key] == whole[key], key
    assert {name: sum(row.values()) for name, row in blocks["confusion"].items()}.items() >= {
        ("rare", 2),
        ("odd", 2),
    }


@pytest.mark.usefixtures("blocks_of_seven")
@pytest.mark.parametrize("good", [60, 63])  # the skipped rows are in a block of their own after 63
def test_skipped_rows_are_counted(trained, tmp_path: Path, good: int) -> None:
    path = table(tmp_path, tiny.texts()[:40], good)
    path.write_text(path.read_text() + "The film was lovely .,,a\n" * 3)
    found = measured(trained, path, "--on-missing", "skip")
    assert (found["count"], found["left_out"]) == (good, {"no label": 3})
    result = tiny.run("evaluate", trained.runs / "text", path, "--on-missing", "skip")
    assert result.err == "rows skipped: 3 (no label)\n"


@pytest.mark.parametrize(("name", "file"), [("pair", "pair-test.tsv"), ("score", "score-test.jsonl")])
def test_pairs_and_scores_in_blocks(trained, monkeypatch: pytest.MonkeyPatch, name: str, file: str) -> None:
    words = ("evaluate", trained.runs / name, trained.data / file, "--json")
    words = (*words, "--column", "group=animal") if name == "pair" else words
    whole = tiny.run(*words).json()
    monkeypatch.setattr(corpus_builder, "BLOCK_ROWS", 7)
    monkeypatch.setattr(evaluate, "WHOLE", 20)
    blocks = tiny.run(*words).json()
    assert whole["count"] > 20
    for key in ("count", "per_class", "confusion", "notes"):
        assert blocks[key] == whole[key], key
    assert blocks["metrics"] == pytest.approx(whole["metrics"], rel=1e-5)  # texts have other neighbors
    for key in ("by_group", "by_length"):
        assert list(blocks[key]) == list(whole[key]), key
        for part, figures in whole[key].items():
            assert blocks[key][part] == pytest.approx(figures, rel=1e-5), (key, part)
