"""The counts of a report, of models whose parts know more words than their network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny

ROWS = [
    ("I want my money back", "refund"),
    ("please return the payment", "refund"),
    ("my card was charged twice", "refund"),
    ("the parcel never arrived", "delivery"),
    ("where is my order", "delivery"),
    ("it came a week late", "delivery"),
]


def test_a_word_that_a_part_beside_the_network_knows_is_known(tmp_path: Path) -> None:
    """As in the answers of `heedful predict`; a report counted every word that training lacked."""
    pytest.importorskip("heedful_en")
    file = tiny.write_csv(tmp_path / "first.csv", ROWS, ["text", "label"])
    new = [("yesterday somebody stole it", "refund"), ("the zorblix came", "delivery")]
    gold = tiny.write_csv(tmp_path / "new.csv", new, ["text", "label"])
    done = tiny.run("train", file, "--out", tmp_path / "run", "--no-baseline")
    assert done.code == 0, done.err
    notes = tiny.run("evaluate", tmp_path / "run", gold, "--json").json()["notes"]
    assert notes == {"texts without words": 0, "unknown words": 1, "texts cut": 0}
    answers = tiny.run("predict", tmp_path / "run", "--input", gold, "--json").out.splitlines()
    assert [json.loads(line)["unknown"] for line in answers] == [0, 1]
