"""Tests by resampling are made once for the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.errors import ArtifactError
from heedful.evaluation import paired_bootstrap
from heedful_lab.reproduce import resampled as resampling
from heedful_lab.reproduce.making import make
from heedful_lab.reproduce.resampled import FILE, Resampled, checksum
from heedful_lab.reproduce.runner import Order
from made_runs import TABLE, write

GOLD = np.array([1.0, 2.0, 3.0, 4.5, 2.5])
FIRST, SECOND = GOLD[::-1].copy(), np.stack([GOLD + 0.1, GOLD**2])


def test_a_known_test_is_read_again_as_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Resampled()
    found = made.compare("pearson", GOLD, FIRST, SECOND)
    assert found == paired_bootstrap("pearson", GOLD, FIRST, SECOND)
    assert (made.compare("pearson", GOLD, FIRST, SECOND), made.made) == (found, 1)
    made.write(tmp_path)
    monkeypatch.setattr(resampling, "paired_bootstrap", pytest.fail)
    read = Resampled.read(tmp_path)
    assert (read.compare("pearson", GOLD, FIRST, SECOND), read.made) == (found, 0)


def test_the_checksum_is_of_all_that_a_test_depends_on() -> None:
    changed = GOLD.copy()
    changed[0] = 9
    sums = {
        checksum(*arguments)
        for arguments in (
            ("pearson", GOLD, FIRST, SECOND),
            ("f1", GOLD, FIRST, SECOND),
            ("pearson", changed, FIRST, SECOND),
            ("pearson", GOLD, SECOND[0], SECOND),
            ("pearson", GOLD, FIRST, SECOND[:1]),
            ("pearson", GOLD, FIRST, SECOND[0]),
        )
    }
    assert len(sums) == 6
    assert checksum("f1", np.arange(3), FIRST, FIRST) == checksum(
        "f1", np.arange(3, dtype="i2"), FIRST, FIRST
    )


def test_what_nobody_asked_for_can_be_left_out(tmp_path: Path) -> None:
    both = Resampled()
    both.compare("pearson", GOLD, FIRST, SECOND)
    both.compare("pearson", GOLD, SECOND, FIRST)
    both.write(tmp_path)
    one = Resampled.read(tmp_path)
    one.compare("pearson", GOLD, FIRST, SECOND)
    one.write(tmp_path)
    assert len(Resampled.read(tmp_path).known) == 2
    one.write(tmp_path, asked_only=True)
    assert set(Resampled.read(tmp_path).known) == one.asked


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"answers": "0"}')
    with pytest.raises(ArtifactError, match="expected kept comparisons"):
        Resampled.read(tmp_path)


def test_a_table_keeps_its_tests_beside_its_runs(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "runs", "ours", (9,))
    write(tmp_path / "runs", "other", (2,))
    text = make(TABLE, Order(declared, tmp_path, run=False)).markdown.read_text()
    kept = (tmp_path / "runs" / FILE).read_bytes()
    again = make(TABLE, Order(declared, tmp_path, run=False))
    assert (again.result.resampled.made, again.markdown.read_text()) == (0, text)
    assert (tmp_path / "runs" / FILE).read_bytes() == kept
