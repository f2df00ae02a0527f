"""The page of baselines is what its boards and notes make of it, and no board holds a gold label."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOARDS = sorted((ROOT / "results" / "baselines").glob("*.json.gz"))


def test_the_page_of_baselines_is_up_to_date() -> None:
    script = ROOT / "scripts" / "baselines_page.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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
