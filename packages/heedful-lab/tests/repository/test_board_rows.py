"""Rows measured anew take the place of the old ones of a kept board; what they do not concern stays bit for bit."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from heedful_lab.repository import baselines_page
from heedful_lab.repository.board_rows import with_rows

NAME = "cr-1000"
SYSTEM = "NB-SVM (words 1-2)"


@pytest.fixture
def board() -> dict[str, Any]:
    return kept(baselines_page.BOARDS)


@pytest.fixture
def boards(board: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one kept board."""
    file = baselines_page.BOARDS / f"{NAME}.json.gz"
    (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(baselines_page, "BOARDS", tmp_path)
    return tmp_path


def kept(folder: Path) -> dict[str, Any]:
    board: dict[str, Any] = json.loads(gzip.decompress((folder / f"{NAME}.json.gz").read_bytes()))
    return board


def row(board: dict[str, Any], system: str = SYSTEM) -> dict[str, Any]:
    return next(each for each in board["rows"] if each["system"] == system)


def test_the_kept_answers_give_the_kept_tests_and_file_again(boards: Path, board: dict[str, Any]) -> None:
    before = (boards / f"{NAME}.json.gz").read_bytes()
    (boards / f"{NAME}.json").write_text(json.dumps({**board, "rows": [row(board)]}), encoding="utf-8")
    baselines_page.collect(boards, rows_alone=True)
    assert (boards / f"{NAME}.json.gz").read_bytes() == before


def test_a_better_row_moves_up_and_is_tested_against_all(boards: Path, board: dict[str, Any]) -> None:
    best = board["rows"][0]
    runs = {varied: {**run, "chosen": "C = 3"} for varied, run in best["runs"].items()}
    new = {**row(board), "metric": 0.99, "runs": runs, "texts_per_cpu_second": 1.0, "train_cpu_seconds": 2.0}
    (boards / f"{NAME}.json").write_text(json.dumps({**board, "rows": [new]}), encoding="utf-8")
    baselines_page.collect(boards, rows_alone=True)
    found = kept(boards)
    assert [each["system"] for each in found["rows"]][:2] == [SYSTEM, best["system"]]
    assert found["rows"][0] == {**new, "texts_per_cpu_second": row(board)["texts_per_cpu_second"]}
    assert found["rows"][1:] == [each for each in board["rows"] if each["system"] != SYSTEM]
    assert len(found["tests"]) == len(board["tests"])
    same = next(
        test for test in found["tests"] if (test["better"], test["worse"]) == (SYSTEM, best["system"])
    )
    assert (same["difference"], same["p"]) == (0.0, 1.0)
    assert {key: found[key] for key in board if key not in ("rows", "tests")} == {
        key: board[key] for key in board if key not in ("rows", "tests")
    }
    others = [test for test in board["tests"] if SYSTEM not in (test["better"], test["worse"])]
    again = [test for test in found["tests"] if SYSTEM not in (test["better"], test["worse"])]
    assert [{**test, "p_holm": 0} for test in again] == [{**test, "p_holm": 0} for test in others]


@pytest.mark.parametrize("fault", ["system", "runs"])
def test_rows_of_other_systems_or_runs_are_refused(board: dict[str, Any], fault: str) -> None:
    new = copy.deepcopy(row(board))
    new[fault] = "another" if fault == "system" else {"data.fold=7": new["runs"]["data.fold=1"]}
    with pytest.raises(ValueError, match="no row of another" if fault == "system" else "other runs"):
        with_rows(board, [new])


def test_a_board_that_keeps_no_answers_is_refused(board: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="collect the whole board"):
        with_rows({**board, "metric": "pearson"}, [])
