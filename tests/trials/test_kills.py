"""SIGKILL at random moments of every command that writes: what is begun again ends as if it had never been cut off."""

from __future__ import annotations

import random
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import small_runs
from attempts import Ended, Started
from heedful.errors import ExitCode
from small_runs import WORKING, Command, wait_until
from tally import Kind, Outcome, Tally

CHAIN = 6
"""Kills of one run before it is left to end."""

JOBS = 2
"""Runs cut off at a time."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_runs.write_data(tmp_path_factory.mktemp("data"))


def kill_often(command: Command, place: Path, tally: Tally, kills: int, **options: Any) -> None:
    """Cut runs off until there were so many kills, and compare each run with an undisturbed one."""
    started = time.monotonic()
    whole = place / "undisturbed"
    end = command.run(whole, **options)
    assert end.code == 0, end.err
    seconds, expected = time.monotonic() - started, command.result(whole)
    done = 0
    with ThreadPoolExecutor(JOBS) as pool:
        for number in range(kills):  # far more chains than are needed
            if done >= kills:
                break
            draws = [random.Random(tally.draw.random()) for _ in range(JOBS)]
            folders = [place / f"{number}-{job}" for job in range(JOBS)]
            chains = [
                pool.submit(
                    chain, command, folder, draw, seconds, expected, min(CHAIN, kills - done), options
                )
                for folder, draw in zip(folders, draws, strict=True)
            ]
            for one in chains:
                outcomes = one.result()
                tally.add(*outcomes)
                done += len(outcomes)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)


def chain(
    command: Command,
    folder: Path,
    draw: random.Random,
    seconds: float,
    expected: Any,
    kills: int,
    options: dict[str, Any],
) -> list[Outcome]:
    """Kill one run again and again, let it end, and compare; an outcome a kill."""
    moments: list[str] = []
    for _ in range(kills):
        process = command.start(folder, **options)
        moments.append(wait_for_moment(process, folder, draw, seconds))
        if draw.random() < 0.5:
            process.send(signal.SIGKILL)
        process.send_all(signal.SIGKILL)
        end = process.wait()
        if end.code == -signal.SIGKILL:
            continue
        del moments[-1]
        if end.code == 0:
            break
        if end.code != ExitCode.USAGE:
            note = end.outcome(refusals=False, seconds=WORKING).note
            return _all(moments, "failed", f"{moments}: {note}", end)
    moments = moments or []
    end = command.run(folder, **options)
    trouble = end.outcome(refusals=False, seconds=WORKING).note
    if not trouble:
        left = small_runs.leftovers(folder)
        trouble = f"left {left}" if left else ""
        trouble = trouble or ("" if command.result(folder) == expected else "another result")
    note = f"{command.name} killed {moments}: {trouble}"
    return _all(moments, "failed" if trouble else "right", note, end)


def _all(moments: list[str], kind: Kind, note: str, end: Ended) -> list[Outcome]:
    outcome = Outcome(kind, note, end.cpu_seconds, end.megabytes)
    return [outcome, *(replace(outcome, note="as above") for _ in moments[1:])] if moments else []


def wait_for_moment(process: Started, folder: Path, draw: random.Random, seconds: float) -> str:
    """Wait for the moment of a kill: any, soon after the log grew, or while something is half written."""
    kind = draw.choice(("any", "log", "saving"))
    if kind == "any":
        moment = draw.uniform(0.0, seconds)
        wait_until(lambda: False, process, moment)
        return f"after {moment:.3f} s"
    if kind == "log":
        before, wanted = log_bytes(folder), draw.randint(1, 2000)
        wait_until(lambda: log_bytes(folder) > before + wanted, process)
        time.sleep(draw.uniform(0.0, 0.02))
        return f"after {wanted} bytes of log"
    times = draw.randint(1, 4)
    for _ in range(times):
        wait_until(lambda: not small_runs.leftovers(folder), process)
        wait_until(lambda: bool(small_runs.leftovers(folder)), process)
    time.sleep(draw.uniform(0.0, 0.002))
    return f"while save {times} was written"


def log_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("metrics.jsonl"))


def test_kills_of_train(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.train(data), tmp_path, tally, tally.count(90))


def test_kills_of_train_as_a_user_starts_it(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.train(data, real=True), tmp_path, tally, tally.count(24))


class OnThreads(Command):
    """A command that begins with two threads; once it is saved it goes on with one or two, and keeps its number."""

    def start(self, folder: Path, *more: str, **options: Any) -> Started:
        """See `Command.start`."""
        saved = (folder / "checkpoints" / "latest").exists()
        threads = random.choice("12") if saved else "2"
        return super().start(folder, *more, more={"OMP_NUM_THREADS": threads}, **options)


def test_kills_of_train_with_two_threads(data: Path, tmp_path: Path, tally: Tally) -> None:
    command = OnThreads(**vars(small_runs.train(data, real=True)))
    kill_often(command, tmp_path, tally, tally.count(18))


def test_kills_of_study(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.study(data), tmp_path, tally, tally.count(36))


def test_kills_of_tune(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.tune(data), tmp_path, tally, tally.count(30))


def test_kills_of_reproduce(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.reproduce(data), tmp_path, tally, tally.count(12))


def test_kills_of_predict(data: Path, tmp_path: Path, tally: Tally) -> None:
    kill_often(small_runs.predict(data), tmp_path, tally, tally.count(14))


@pytest.fixture
def cold_cache(tmp_path: Path) -> Path:
    folder = tmp_path / "own-cache"
    folder.mkdir()
    return folder


def test_kills_while_the_cache_is_written(data: Path, tmp_path: Path, cold_cache: Path, tally: Tally) -> None:
    """Each run begins with an empty cache of its own; afterwards it holds what is whole, and the run is right."""
    command = small_runs.train(data, epochs=1)
    expected = _with_cache(command, tmp_path / "undisturbed", cold_cache)
    for number in range(tally.count(18)):
        cache, folder = tmp_path / f"cache-{number}", tmp_path / f"run-{number}"
        process = command.start(folder, more={"HEEDFUL_CACHE": str(cache)})
        wait_until(lambda cache=cache: any(cache.rglob("*")), process)
        time.sleep(tally.draw.uniform(0.0, 0.01))
        process.send_all(signal.SIGKILL)
        killed = process.wait().code == -signal.SIGKILL
        result = _with_cache(command, folder, cache)
        left = [path.name for path in cache.rglob("*") if path.name.startswith(".tmp-") or "-" in path.name]
        trouble = "" if result == expected else f"another result: {result!r:.300}"
        trouble = trouble or (f"the cache keeps {left}" if any(".tmp-" in name for name in left) else "")
        if killed:
            tally.add(Outcome("failed" if trouble else "right", f"cache {number}: {trouble}"))


def _with_cache(command: Command, folder: Path, cache: Path) -> Any:
    end = command.run(folder, more={"HEEDFUL_CACHE": str(cache)})
    return command.result(folder) if end.code == 0 else end.err
