"""The table of ``heedful bench --runtime``: every figure for every way, and the ratio in the direction that is good."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.runtime import kernels
from heedful_lab.bench import product_speed, runtime_speed
from heedful_lab.bench.product_speed import Product, product_speeds
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
    monkeypatch.setattr(product_speed, "SIZES", ((3, 5, 7),))
    monkeypatch.setattr(runtime_speed, "_ROUNDS", {False: (1, 1, 1)})
    done = tiny.run("bench", "--runtime", "--json", "--quiet", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    rows = done.json()["rows"]
    assert json.loads((tmp_path / "out" / "runtime.json").read_text())["rows"] == rows
    by_way = {way: {row["what"] for row in rows if row["way"] == way} for way in {r["way"] for r in rows}}
    assert set(by_way) == {"torch", "runtime, float32", "runtime, float16", "runtime, int8"}
    assert len(set(map(frozenset, by_way.values()))) == 1
    assert len(by_way["torch"]) >= 5
    products = tuple(Product(**row) for row in done.json()["products"])
    assert {row.numbers for row in products} == (
        {"float32", "bfloat16", "int8"} if kernels.compiled() else set()
    )
    table = RuntimeReport(tuple(Measured(**row) for row in rows), products).markdown()
    assert (tmp_path / "out" / "runtime.md").read_text() == table + "\n"
    assert tiny.run("bench", "--runtime", "--models").code == 2


@pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")
def test_no_product_is_much_faster_than_the_processor_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_speed, "SIZES", ((192, 300, 300),))
    found = {row.numbers: row for row in product_speeds(5)}
    assert set(found) == {"float32", "bfloat16", "int8"}
    assert all(0.02 < row.share < 1.3 and row.speed > 0 and row.form for row in found.values())


def test_kernels_of_an_older_version_have_no_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LIBRARY", None)
    assert list(product_speeds(1)) == []
