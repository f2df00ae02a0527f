"""The page of baselines is what its boards and notes make of it, and no board holds a gold label."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from heedful_lab.repository import ROOT, baselines_page

BOARDS = sorted((ROOT / "results" / "baselines").glob("*.json.gz"))


def test_the_page_of_baselines_is_up_to_date() -> None:
    for file, text in (
        (baselines_page.PAGE, baselines_page.page()),
        (baselines_page.README, baselines_page.readme()),
    ):
        assert file.read_text(encoding="utf-8") == text, (
            "run: python -m heedful_lab.repository.baselines_page"
        )


@pytest.mark.parametrize("file", BOARDS, ids=lambda file: file.name.split(".")[0])
def test_a_board_is_whole_and_its_bits_give_its_figures(file: Path) -> None:
    board = json.loads(gzip.decompress(file.read_bytes()))
    rows = board["rows"]
    assert [row["metric"] for row in rows] == sorted((row["metric"] for row in rows), reverse=True)
    assert len(board["tests"]) == len(rows) * (len(rows) - 1) // 2
    assert sum(not row["own"] for row in rows) >= 3
    for row in rows:
        for run in row["runs"].values():
            if run["right"]:
                bits = bin(int(run["right"], 16)).count("1")
                assert run["metric"] == pytest.approx(bits / (4 * len(run["right"])), abs=8 / board["tested"])
            else:
                assert row["kept"] or board["metric"] == "pearson", (
                    "what is trained for a board has its answers"
                )
