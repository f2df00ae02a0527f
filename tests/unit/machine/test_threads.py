"""The number of threads and how they wait; the user's settings stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from heedful.machine import threads
from heedful.machine.threads import VARIABLES, Look, choose, share
from heedful.machine.waiting import WAITING
from waiting import PATIENCE


@pytest.mark.parametrize(
    ("most", "cores", "granted", "others", "number", "word"),
    [
        (8, 8, None, None, 8, "all cores"),
        (8, 8, None, 0.4, 8, "all cores"),
        (8, 8, 3.9, 0.4, 3, "control group"),
        (8, 8, 0.5, 0.0, 1, "control group"),
        (8, 8, None, 2.6, 5, "other work"),
        (2, 2, None, 1.9, 1, "other work"),
        (2, 2, None, 0.4, 2, "all cores"),
        (2, 2, None, 2.0, 1, "other work"),
        (64, 64, 2.0, 30.0, 2, "control group"),
        (4, 8, None, 1.0, 4, "all cores"),  # torch takes one thread a core, not one a hardware thread
    ],
)
def test_the_least_of_cores_quota_and_free_cores_is_chosen(
    most: int, cores: int, granted: float | None, others: float | None, number: int, word: str
) -> None:
    choice = choose(most, cores, granted, others)
    assert choice.number == number
    assert word in choice.reason


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[threads._State]:
    """A process in which nothing was decided, on 8 cores without a quota."""
    fresh = threads._State()
    monkeypatch.setattr(threads, "_STATE", fresh)
    monkeypatch.setattr(threads, "quota", lambda: None)
    monkeypatch.setattr(threads, "allowed", lambda: frozenset(range(8)))
    before = torch.get_num_threads()
    yield fresh
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("jobs", "environment", "granted", "each"),
    [
        (1, {}, None, None),
        (3, {}, None, 2),
        (3, {}, 3.5, 1),
        (16, {}, None, 1),
        (3, {"OMP_NUM_THREADS": "5"}, None, None),
        (3, {"MKL_NUM_THREADS": "5"}, None, None),
        (3, {"OMP_NUM_THREADS": ""}, None, 2),
    ],
)
@pytest.mark.usefixtures("state")
def test_cores_are_dealt_out_to_processes_unless_the_user_has_said(
    monkeypatch: pytest.MonkeyPatch,
    jobs: int,
    environment: dict[str, str],
    granted: float | None,
    each: int | None,
) -> None:
    monkeypatch.setattr(threads, "quota", lambda: granted)
    assert share(jobs, environment) == each


@pytest.mark.usefixtures("state")
def test_a_number_that_was_asked_for_is_each_processes_own() -> None:
    threads.begin(3)
    threads.settle({"OMP_NUM_THREADS": "5"})
    assert torch.get_num_threads() == 3
    assert threads.settings()["threads_reason"] == "asked for"
    assert share(4, {}) == 3


@pytest.mark.usefixtures("state")
def test_where_torch_is_loaded_its_number_stays() -> None:
    torch.set_num_threads(2)
    threads.begin()
    threads.settle({})
    told = threads.settings()
    assert (torch.get_num_threads(), told["threads"]) == (2, 2)
    assert "loaded before" in str(told["threads_reason"])
    torch.set_num_threads(3)
    assert threads.settings()["threads_reason"] == "set in this process"


@pytest.mark.parametrize(
    ("environment", "number", "word"),
    [({}, 1, "other work"), ({"OMP_NUM_THREADS": "2"}, 2, "OMP_"), ({"MKL_NUM_THREADS": "2"}, 2, "MKL_")],
)
def test_a_full_machine_gets_one_thread_and_a_variable_wins(
    state: threads._State,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    number: int,
    word: str,
) -> None:
    torch.set_num_threads(2)
    state.open, state.before = True, Look(0, 0, 8, 0.0, 0.0)
    monkeypatch.setattr(Look, "now", classmethod(lambda cls: cls(800, 800, 8, 0.5, 1.0)))
    threads.settle(environment)
    assert torch.get_num_threads() == number
    assert word in str(threads.settings()["threads_reason"])
    torch.set_num_threads(2)
    threads.settle(environment)  # a second time it leaves alone what was set in between
    assert torch.get_num_threads() == 2


FRESH = (
    f"VARIABLES = {VARIABLES!r}"
    + """
import json, os, sys
import heedful
early = {name: os.environ[name] for name in VARIABLES if name in os.environ}
assert "torch" not in sys.modules
from heedful import Predictor
import torch
from heedful.machine import threads
print(json.dumps({"early": early, **threads.settings(), "torch": torch.get_num_threads()}))
"""
)


def fresh(code: str, settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )


def test_waiting_is_set_before_torch_is_loaded() -> None:
    found = json.loads(fresh(FRESH, {}).stdout)
    assert found["early"] == WAITING
    assert found["torch"] == found["threads"] >= 1
    assert found["threads_reason"] != "torch's own number"


USER = [
    ({"OMP_WAIT_POLICY": "ACTIVE"}, {"OMP_WAIT_POLICY": "ACTIVE"}),
    ({"GOMP_SPINCOUNT": "7", "OMP_NUM_THREADS": "1"}, {"GOMP_SPINCOUNT": "7", "OMP_NUM_THREADS": "1"}),
]


@pytest.mark.parametrize(("given", "kept"), USER, ids=["policy", "spin and number"])
def test_settings_of_the_user_survive(given: dict[str, str], kept: dict[str, str]) -> None:
    found = json.loads(fresh(FRESH, given).stdout)
    assert found["early"] == kept
    name = next(iter(given))
    assert found["threads_wait"] == f"{name}={given[name]}"
    if "OMP_NUM_THREADS" in given:
        assert (found["torch"], found["threads_reason"]) == (1, "OMP_NUM_THREADS=1")


LOADED_FIRST = """
import os, torch
torch.set_num_threads(3)
from heedful import TextClassifier
assert torch.get_num_threads() == 3
assert "GOMP_SPINCOUNT" not in os.environ
TextClassifier(threads=2)._use_threads()
assert torch.get_num_threads() == 2
print("done")
"""


def test_a_number_set_before_heedful_stays_until_another_is_asked_for() -> None:
    assert fresh(LOADED_FIRST, {}).stdout == "done\n"


COMMANDS = """
import sys
from heedful.cli.main import run
for words in (["--help"], ["train", "--help"], ["predict", "--threads", "0"]):
    run(words)
print(*(name for name in ("torch", "numpy") if name in sys.modules))
"""


def test_the_command_line_asks_for_threads_without_loading_torch(tmp_path: Path) -> None:
    done = fresh(COMMANDS, {})
    assert done.stdout.endswith("\n\n")
    assert "--threads" in done.stdout
    assert "--threads" in done.stderr  # 0 is refused


COMPUTING = (
    "train",
    "evaluate",
    "predict",
    "encode",
    "explain",
    "study",
    "compare",
    "tune",
    "reproduce",
    "demo",
)


@pytest.mark.parametrize("name", [*COMPUTING, "bench"])
def test_every_command_that_computes_takes_threads(name: str) -> None:
    from heedful.cli.main import group

    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    assert "threads" in {parameter.name for parameter in command.params}
