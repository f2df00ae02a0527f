"""The turns and the table of the whole command with two commits; the trainings are made up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heedful_lab.studies.training_of_two_commits import in_turns, packages_of, processor_seconds, table


def test_each_turn_begins_with_the_other_commit_and_the_table_has_least_median_and_ratio(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = list[tuple[str, int]]()
    seconds = {"first": iter([10.0, 12.0, 20.0]), "second": iter([5.0, 6.0, 30.0])}

    def train(which: str, rows: int) -> float:
        asked.append((which, rows))
        return next(seconds[which])

    times = in_turns([1_000], 3, train)
    assert [which for which, _ in asked] == ["first", "second", "second", "first", "first", "second"]
    assert "| 1,000 | 10.0 | 5.0 | 12.0 | 6.0 | 0.50 |" in table(times, "a", "b")
    assert "1000 rows, turn 2: first 12.0 s, second 6.0 s" in capsys.readouterr().out


def test_seconds_are_those_of_the_processor_and_a_failure_is_said(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert packages_of(tmp_path / "src") == str(tmp_path / "src")
    busy = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    asleep = "import time; time.sleep(0.3)"
    assert processor_seconds([sys.executable, "-S", "-c", busy], tmp_path / "src") >= 0.2
    assert processor_seconds([sys.executable, "-S", "-c", asleep], tmp_path / "src") < 0.3
    with pytest.raises(SystemExit, match=r"ended with 1: .*wrong"):
        processor_seconds([sys.executable, "-S", "-c", "import sys; sys.exit('wrong')"], tmp_path / "src")
