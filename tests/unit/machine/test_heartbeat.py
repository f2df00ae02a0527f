"""Signs of life: how silence is measured, and that nobody waits for one who does not listen."""

from __future__ import annotations

import multiprocessing
import time

import pytest

from heedful.machine import heartbeat
from heedful.machine.heartbeat import Stillness, beat, heard
from waiting import until


def test_silence_counts_only_while_it_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(heartbeat.time, "monotonic", lambda: clock[0])
    still = Stillness()

    def look(passed: float, seen: object) -> float:
        clock[0] += passed
        return still.look(seen)

    assert [look(1, 5), look(1, 5), look(1.5, 5)] == [0, 1, 2.5]
    assert look(1_000, 5) == 4.5, "one who slept for an hour has seen two seconds of silence"
    assert [look(1, 6), look(1, 6), look(1, None), look(1, None)] == [0, 1, 0, 0]


def test_signs_come_and_the_last_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT", 0.001)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    signs = [b"", b"1", b"2"]
    beat(theirs, lambda: signs.pop(0) if signs else b"")
    found: list[bytes] = []
    until(lambda: found.append(heard(ours)) or found[-1] == b"2")
    for sign in (b"3", b"4"):
        theirs.send_bytes(sign)
    assert heard(ours) == b"4"
    assert heard(ours) == b""
    ours.close()


def test_one_who_is_not_heard_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipe is full after some thousand signs; looking them up goes on all the same."""
    monkeypatch.setattr(heartbeat, "BEAT", 0.0)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    count = 0

    def sign() -> bytes:
        nonlocal count
        count += 1
        return b"x" * 64

    beat(theirs, sign)
    while count < 20_000:
        time.sleep(0.01)
    ours.close()


def test_the_end_of_the_other_side_is_silence() -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    theirs.close()
    assert heard(ours) == b""
    ours.close()
