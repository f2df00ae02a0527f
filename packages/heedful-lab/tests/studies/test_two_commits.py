"""Times of two commits: what is read of a process and of a log, and what is said of the turns."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from heedful_lab.studies.two_commits import Times, seconds_at, told, used_by


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_processor_time_is_that_of_the_process() -> None:
    before, own = used_by(os.getpid()), time.process_time()
    assert abs(before - own) < 0.5
    while time.process_time() < own + 0.1:
        sum(range(1000))
    assert 0.05 < used_by(os.getpid()) - before < 1


def test_steps_are_read_from_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    assert not seconds_at(log)
    log.write_text(
        '{"kind": "train", "step": 24, "seconds": 3.5}\n{"kind": "dev", "step": 24}\n{"kind": "train", "st'
    )
    assert seconds_at(log) == {24: 3.5}


def test_ratios_are_those_of_each_turn() -> None:
    said = told([Times(4, 2), Times(9, 3), Times(6, 2)], [Times(2, 1), Times(3, 2), Times(6, 4)])
    assert "wall: 2.00 times as fast (1.00 to 3.00); least 4.00 s and 2.00 s" in said
    assert "processor: 1.50 times as fast (0.50 to 2.00); least 2.00 s and 1.00 s" in said
