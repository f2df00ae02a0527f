"""The table of ``heedful bench --runtime``: every figure for every way, and the ratio in the direction that is good."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful_lab.bench import runtime_speed
from heedful_lab.bench.runtime_speed import Measured, RuntimeReport, _rows


def test_a_ratio_above_one_is_better_than_torch() -> None:
    times = {"torch": np.array([4.0, 4.0, 9.0]), "runtime, float32": np.array([1.0, 1.0, 3.0])}
    seconds = list(_rows("ms", times))
    assert [row.median for row in seconds] == [4.0, 1.0]
    assert seconds[1].beside_torch == 4.0
    assert 1.0 < seconds[1].high <= 3.0
    assert [row.beside_torch for row in _rows("a second", times, more_is_better=True)] == [1.0, 0.25]


def test_the_command_writes_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_speed, "TRAINED", 20)
    monkeypatch.setattr(runtime_speed, "FROZEN", 5)
    monkeypatch.setattr(runtime_speed, "_ROUNDS", {False: (1, 1, 1)})
    done = tiny.run("bench", "--runtime", "--json", "--quiet", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    rows = done.json()["rows"]
    assert json.loads((tmp_path / "out" / "runtime.json").read_text())["rows"] == rows
    by_way = {way: {row["what"] for row in rows if row["way"] == way} for way in {r["way"] for r in rows}}
    assert set(by_way) == {"torch", "runtime, float32", "runtime, int8"}
    assert len(set(map(frozenset, by_way.values()))) == 1
    assert len(by_way["torch"]) >= 5
    table = RuntimeReport(tuple(Measured(**row) for row in rows)).markdown()
    assert (tmp_path / "out" / "runtime.md").read_text() == table + "\n"
    assert tiny.run("bench", "--runtime", "--models").code == 2
