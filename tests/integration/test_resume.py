"""A run that is killed or stopped at any moment and resumed ends with the weights of an unbroken one, to the bit."""

from __future__ import annotations

import json
import os
import random
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import torch

from forked_commands import CONTEXT
from heedful.errors import ArtifactError
from heedful.training.train_settings import OptimizerSettings
from toy_training import train_to_file, train_toy, weights_hash
from waiting import PATIENCE, until

CHANGES = {
    "epochs": 6,
    "save_steps": 3,
    "evaluate_every": 5,
    "pause": 0.01,
}  # 48 steps, at least half a second
OPTIMIZERS = [
    OptimizerSettings(weight_decay=1e-3),
    OptimizerSettings("adam", lr=0.02, weight_decay=1e-3),
    OptimizerSettings("adagrad", lr=0.1),
]


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, as the children do: with several, sums may be rounded in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def start(folder: Path, answer: Path, changes: dict) -> BaseProcess:
    child = CONTEXT.Process(target=train_to_file, args=(folder, answer, changes))
    child.start()
    return child


def kill_until_done(folder: Path, answer: Path, changes: dict, draw: random.Random) -> list[int]:
    """Kill -9 at random moments until one start lives to the end; return the lines logged at each kill.

    Two kills in three wait for one to six lines more than there were, however slow the machine is.
    """
    log = folder / "metrics.jsonl"
    reached: list[int] = []
    while not answer.exists():
        child = start(folder, answer, changes)
        if len(reached) < 12 and len(reached) % 3:
            wait_for_lines(child, log, lines_in(log) + draw.randint(1, 6))
            child.join(draw.uniform(0.0, 0.02))
        else:
            child.join(draw.uniform(0.0, 0.3) if len(reached) < 12 else None)
        if child.is_alive():
            child.kill()
            child.join()
            reached.append(lines_in(log))
        else:
            assert child.exitcode == 0
    return reached


def wait_for_lines(child: BaseProcess, log: Path, count: int) -> None:
    until(lambda: not child.is_alive() or lines_in(log) >= count)


def lines_in(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.name)
def test_killed_at_random_moments(tmp_path: Path, optimizer: OptimizerSettings) -> None:
    changes = {**CHANGES, "optimizer": optimizer}
    network, _ = train_toy(tmp_path / "unbroken", **changes)
    answer = tmp_path / "answer"
    reached = kill_until_done(tmp_path / "broken", answer, changes, random.Random(optimizer.name))
    assert len({step for step in reached if 0 < step < 48}) >= 3, f"too few kills in mid-run: {reached}"
    assert answer.read_text(encoding="utf-8") == weights_hash(network)
    assert log_without_times(tmp_path / "broken") == log_without_times(tmp_path / "unbroken")


def log_without_times(folder: Path) -> list[dict]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 48
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_run_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    changes = {**CHANGES, "save_steps": 0, "evaluate_every": 1000, "pause": 0.03}
    network, _ = train_toy(**{**changes, "pause": 0.0})
    folder, answer = tmp_path / "run", tmp_path / "answer"
    child = start(folder, answer, changes)
    until(lambda: lines_in(folder / "metrics.jsonl") >= 5)
    assert not (folder / "checkpoints" / "latest").exists()
    os.kill(child.pid, number)
    child.join(PATIENCE)
    assert child.exitcode == 1  # multiprocessing's status for the uncaught Interrupted
    assert (folder / "checkpoints" / "latest").is_dir()
    assert not answer.exists()
    child = start(folder, answer, changes)
    child.join(PATIENCE)
    assert child.exitcode == 0
    assert answer.read_text(encoding="utf-8") == weights_hash(network)


def test_a_checkpoint_that_is_refused_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    train_toy(tmp_path, epochs=2, save_steps=3)
    weights = next((tmp_path / "checkpoints").rglob("*.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    with pytest.raises(ArtifactError):
        train_toy(tmp_path, resume=True, epochs=4)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
