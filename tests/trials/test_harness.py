"""The trials' own measure: each kind of outcome is told from the others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from attempts import Ended, call, command, computed, watch
from heedful.errors import DataError, HeedfulError
from tally import Outcome, Tally, table, write


def ended(code: int, err: str = "", **changes) -> Ended:
    facts = {"out": "", "cpu_seconds": 1.0, "wall_seconds": 2.0, "megabytes": 3.0, "hung": False, **changes}
    return Ended(("predict",), code, err=err, **facts)


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (ended(0, "epoch 1\n"), "right"),
        (ended(3, "row 1\nheedful: row 1: no text\n"), "refused"),
        (ended(3, "heedful: row 1: no text\nat all\n"), "failed"),
        (ended(3, "heedful: one\nheedful: two\n"), "failed"),
        (ended(3), "failed"),
        (ended(70, "heedful: internal error: KeyError: 'x'\n"), "failed"),
        (ended(-15), "failed"),
        (ended(-9, hung=True), "failed"),
        (ended(0, cpu_seconds=11.0), "failed"),
        (ended(0, "Traceback (most recent call last):\n"), "failed"),
        (ended(3, "heedful: \x1b[31mred\n"), "failed"),
        (ended(0, out="a\u202eb"), "failed"),
    ],
)
def test_an_end_is_judged(end: Ended, kind: str) -> None:
    assert end.outcome().kind == kind


def test_a_wrong_result_and_a_refusal_that_is_not_allowed_fail() -> None:
    assert ended(0).outcome(lambda _: False).kind == "failed"
    assert ended(3, "heedful: no\n").outcome(refusals=False).kind == "failed"


def raises(error: Exception):
    raise error


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda: 4, "right"),
        (lambda: 5, "failed"),
        (lambda: raises(DataError("row 1: no text")), "refused"),
        (lambda: raises(DataError("row 1:\nno text")), "failed"),
        (lambda: raises(HeedfulError("of no kind")), "failed"),
        (lambda: raises(KeyError("x")), "failed"),
    ],
)
def test_a_call_is_judged(function, kind: str) -> None:
    assert call("four", function, lambda value: value == 4).kind == kind


def test_the_command_line_runs_in_a_process() -> None:
    tally = Tally("commands")
    tally.add(command("info", "--json").outcome(lambda end: "torch" in json.loads(end.out), refusals=False))
    tally.add(command("train", "no-such-recipe", "--out", "x").outcome())
    assert (tally.right, tally.refused) == (1, 1), tally.finds
    assert tally.megabytes > 10


@pytest.mark.parametrize(("program", "hangs"), [("time.sleep(60)", True), ("spin()", False)])
def test_a_process_hangs_that_does_nothing_and_not_one_that_has_few_turns(program: str, hangs: bool) -> None:
    """One that computes is waited for until it has had the processor for as long as it may."""
    spin = "import time\ndef spin():\n    while time.process_time() < 30: pass\n"
    child = subprocess.Popen([sys.executable, "-c", spin + program], start_new_session=True)
    try:
        killed, ended, limit = threading.Event(), threading.Event(), 0.5 if hangs else 1.0
        begun = computed(child.pid)
        watch(child.pid, limit, ended, killed.set)
        assert killed.is_set()
        used = computed(child.pid) - begun
        assert used < limit if hangs else used > limit * 0.9
        killed.clear()
        ended.set()
        watch(child.pid, limit, ended, killed.set)
        assert not killed.is_set()
    finally:
        child.kill()
        child.wait()


def test_the_table_holds_counts_and_the_worst(tmp_path: Path) -> None:
    row = Tally("bits", seed=1, share=0.1)
    assert (row.count(100), row.count(3)) == (10, 1)
    assert row.verdict() == "nothing was tried"
    row.add(Outcome("right", seconds=2.0), Outcome("refused", megabytes=70.0))
    assert row.verdict() == ""
    row.add(Outcome("failed", "bit 3 of x"))
    assert "1 of 3 failed" in row.verdict()
    cells = [cell.strip() for cell in table([row]).splitlines()[2].split("|")[1:-1]]
    assert cells == ["bits", "3", "1", "1", "1", "2.0", "70"]
    write([row], tmp_path / "table.json")
    kept = json.loads((tmp_path / "table.json").read_text())
    assert (kept[0]["tried"], kept[0]["finds"]) == (3, ["bit 3 of x"])
    assert Tally("bits", 1).draw.random() == Tally("bits", 1).draw.random() != Tally("bits", 2).draw.random()


def test_every_trial_stands_behind_a_promise() -> None:
    here = Path(__file__)
    page = (here.parents[2] / "docs" / "RELIABILITY.md").read_text(encoding="utf-8")
    for file in sorted(here.parent.glob("test_*.py")):
        names = re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        lacking = [name for name in names if f"`tests/trials/{file.name}::{name}`" not in page]
        assert file == here or lacking == [], f"name them in docs/RELIABILITY.md: {file.name}"
