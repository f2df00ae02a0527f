"""Packed runs: passed on without gold labels, read beside single files, and not made again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.machine.executors import OneByOne
from heedful.storage.layout import SEED, Varied, record_file
from heedful_lab.reproduce.cell_runs import gather
from heedful_lab.reproduce.kept_runs import pack, packed_file, read_packed, take_up
from heedful_lab.reproduce.making import make
from heedful_lab.reproduce.runner import Budget, Order
from made_runs import COLUMN, ROWS, TABLE, record, write, write_record

TINY = Path("standard") / "tiny"


def test_packed_runs_give_the_same_table(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "loose", "ours", (9, 10))
    write(tmp_path / "loose", "other", (2,))
    before = gather(TABLE, Budget(), tmp_path / "loose")
    assert take_up(tmp_path / "loose", tmp_path / "packed") == 3
    assert [path.name for path in (tmp_path / "packed").rglob("*.*")] == ["tiny.jsonl.gz"]
    after = gather(TABLE, Budget(), tmp_path / "packed")
    for row in ROWS:
        assert after.figure(row, COLUMN) == before.figure(row, COLUMN)
    assert list(after.tested()) == list(before.tested())
    packed = read_packed(packed_file(tmp_path / "packed", TINY))
    kept = packed["ours", Varied(SEED, 1)]
    assert kept.answers is not None
    assert (kept.answers.kind, kept.answers.predicted.sum()) == ("right", 9)


def test_more_runs_are_added_to_those_that_are_packed(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "results", "ours", (9,))
    assert take_up(tmp_path / "results", tmp_path / "results") == 1
    assert not list(tmp_path.rglob("*=*.json"))
    write_record(tmp_path / "results", "other", record("other", 2, 5))
    both = gather(TABLE, Budget(), tmp_path / "results")
    assert [runs.names for runs in both.cells] == [(Varied(SEED, 1),), (Varied(SEED, 2),)]
    assert take_up(tmp_path / "results", tmp_path / "results") == 1
    file = packed_file(tmp_path / "results", TINY)
    assert set(read_packed(file)) == {("ours", Varied(SEED, 1)), ("other", Varied(SEED, 2))}
    before = file.read_bytes()
    assert take_up(tmp_path / "results", tmp_path / "results") == 0
    assert file.read_bytes() == before


def test_a_single_file_comes_before_a_packed_one(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9,))
    take_up(tmp_path, tmp_path)
    write(tmp_path, "ours", (4,))
    assert gather(TABLE, Budget(), tmp_path).figure(ROWS[0], COLUMN).values == (40.0,)


def test_packed_runs_are_not_made_again(declared: Path, tmp_path: Path) -> None:
    made = make(TABLE, Order(declared, tmp_path, Budget(seeds=(1,))), executor=OneByOne())
    assert not made.result.missing
    take_up(tmp_path / "runs", tmp_path / "runs")
    again = make(TABLE, Order(declared, tmp_path, Budget(seeds=(1, 2))), executor=OneByOne())
    assert not again.failures
    files = sorted(path.name for path in (tmp_path / "runs").rglob("*=*.json"))
    assert files == ["train.seed=2.json"] * 2
    first, second = (one.figure(ROWS[0], COLUMN).values for one in (made.result, again.result))
    assert (len(second), second[0]) == (2, first[0])


def test_runs_with_and_without_gold_labels_are_compared(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9,))
    whole = gather(TABLE, Budget(), tmp_path)
    take_up(tmp_path, tmp_path)
    write(tmp_path, "other", (2,))
    ((_, _, mixed),) = gather(TABLE, Budget(), tmp_path).tested()
    write(tmp_path, "ours", (9,))
    ((_, _, plain),) = gather(TABLE, Budget(), tmp_path).tested()
    assert mixed == plain
    assert whole.cells[0].found[0].answers is not None


def test_damaged_packed_runs_are_named(declared: Path, tmp_path: Path) -> None:
    file = packed_file(tmp_path, TINY)
    pack(file, {("ours", Varied(SEED, 1)): record("ours", 1, 9)})
    for content in (b"", b"no gzip", file.read_bytes()[:-9]):
        file.write_bytes(content)
        with pytest.raises(ArtifactError, match=r"tiny\.jsonl\.gz: expected packed runs"):
            read_packed(file)
    scores = replace(record("ours", 1, 9), answers=None)
    write_record(tmp_path / "more", "ours", scores)
    file.unlink()
    assert take_up(tmp_path / "more", tmp_path) == 1
    assert read_packed(file)["ours", Varied(SEED, 1)].answers is None
    assert not record_file(tmp_path, Varied(SEED, 1)).exists()


def test_runs_may_be_packed_as_text_that_git_can_compare(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "loose", "ours", (9, 10))
    take_up(tmp_path / "loose", tmp_path / "gz")
    known = read_packed(packed_file(tmp_path / "gz", TINY))
    plain = tmp_path / "plain" / "standard" / "tiny.runs.jsonl"
    pack(plain, known)
    assert '"predicted":"1' in plain.read_text(encoding="utf-8")
    assert packed_file(tmp_path / "plain", TINY) == plain
    assert gather(TABLE, Budget(), tmp_path / "plain").figure(ROWS[0], COLUMN).values == (90.0, 100.0)
    write(tmp_path / "more", "other", (2,))
    assert take_up(tmp_path / "more", tmp_path / "plain") == 1
    assert {system for system, _ in read_packed(plain)} == {"ours", "other"}
