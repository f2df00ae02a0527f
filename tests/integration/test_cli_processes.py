"""``heedful train`` interrupted and resumed, and under torchrun, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from torch.distributed import TCPStore

import tiny
from forked_commands import Forked
from heedful.errors import ExitCode
from waiting import until

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}


def torchrun(rank: int, port: int = 0) -> dict[str, str]:
    """Return what torchrun sets for one of two processes; test_ddp.py starts them by torchrun's own agent."""
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
    return {
        "TORCHELASTIC_RUN_ID": "run",
        "MASTER_ADDR": "127.0.0.1",
        **{name: str(value) for name, value in numbers.items()},
    }


class Started(subprocess.Popen[str]):
    """``python -m heedful`` as a user starts it."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "heedful", *words]
        super().__init__(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def train_arguments(trained, out: Path, *more: str) -> list[str]:
    data = trained.data
    return [
        "train",
        str(data / "text.toml"),
        "--data",
        str(data),
        "--out",
        str(out),
        "--set",
        "train.device=cpu",
        *more,
    ]


def metrics(folder: Path) -> list[dict]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stopped_run_says_how_to_go_on_and_ends_as_an_unbroken_one(
    trained, tmp_path: Path, stop: signal.Signals
) -> None:
    out = tmp_path / "run"
    long = ("--set", "train.epochs=100000", "--set", "train.patience=0")
    words = train_arguments(trained, out, *long)
    child: Forked | Started = Started(*words) if stop == signal.SIGINT else Forked(*words)
    until(lambda: (out / "metrics.jsonl").exists() or child.poll() is not None)
    child.send_signal(stop)
    printed, said = child.communicate()
    assert (child.returncode, printed) == (130, ""), said
    last = said.splitlines()[-1]
    assert re.match(r"heedful: .* step \d+ of at most \d+", last)
    assert last.endswith("(the same command with --resume)")

    steps = json.loads((out / "checkpoints" / "latest" / "state.json").read_text())["state"]["step"]
    limit = ("--set", f"train.max_steps={steps + 5}", "--set", "train.epochs=0", "-q")
    resumed = tiny.run(*train_arguments(trained, out, *limit, "--resume"))
    assert resumed.code == 0, resumed.err
    unbroken = tiny.run(*train_arguments(trained, tmp_path / "unbroken", *limit))
    assert unbroken.code == 0, unbroken.err
    ours, theirs = (run / "model" / "weights.safetensors" for run in (out, tmp_path / "unbroken"))
    assert ours.read_bytes() == theirs.read_bytes()


def test_a_killed_study_goes_on_and_ends_as_an_unbroken_one(trained, tmp_path: Path) -> None:
    def arguments(out: Path) -> list[str]:
        _, *rest = train_arguments(trained, out, "--set", "train.epochs=20", "--set", "train.patience=0")
        return ["study", *rest, "--set", "train.save_steps=5", "--seeds", "1"]

    out = tmp_path / "study"
    child = Forked(*arguments(out))
    checkpoint = out / "unfinished" / "train.seed=1" / "checkpoints" / "latest"
    until(lambda: checkpoint.exists() or child.poll() is not None, 0.005)
    child.kill()
    _, said = child.communicate()
    assert child.returncode == -signal.SIGKILL, said

    resumed = tiny.run(*arguments(out))
    assert resumed.code == 0, resumed.err
    assert "train.seed=1: goes on from step " in resumed.err
    unbroken = tiny.run(*arguments(tmp_path / "unbroken"))
    assert unbroken.code == 0, unbroken.err
    ours, theirs = (
        json.loads((folder / "train.seed=1.json").read_text()) for folder in (out, tmp_path / "unbroken")
    )
    assert ours["answers"] == theirs["answers"]
    for part in ("dev", "test"):
        assert ours["figures"][part]["metrics"] == theirs["figures"][part]["metrics"]
    assert ours["figures"]["steps"] == theirs["figures"]["steps"] == 140


def test_two_processes_print_once_and_equal_one(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("--set", "train.epochs=2", "--set", "train.shards=2", "--json")
    # This process holds the meeting place, as torchrun does, on a port that the system gives: none is chosen and lost.
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    children, port = list[Forked](), store.port
    with monkeypatch.context() as patch:
        for rank in range(2):
            for name, value in torchrun(rank, port).items():
                patch.setenv(name, value)
            children.append(Forked(*train_arguments(trained, tmp_path / "two", *settings)))
    printed, said = map("".join, zip(*(child.communicate() for child in children), strict=True))
    assert [child.returncode for child in children] == [0, 0], said
    assert printed.count("\n") == 1, "only the first process prints"
    assert said.count("epoch 1.00") == 1
    alone = tiny.run(*train_arguments(trained, tmp_path / "one", *settings)).json()
    together = json.loads(printed)
    for part in ("dev", "test"):
        assert together[part]["metrics"] == pytest.approx(alone[part]["metrics"], abs=1e-6)
    for ours, theirs in zip(metrics(tmp_path / "two"), metrics(tmp_path / "one"), strict=True):
        assert ours["train_loss"] == pytest.approx(theirs["train_loss"], abs=1e-5)
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == sorted(
        path.name for path in (tmp_path / "one").iterdir()
    )


def test_shards_that_do_not_fit_the_processes_are_named(
    trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the processes meet, so that one of them is enough here."""
    for name, value in torchrun(0).items():
        monkeypatch.setenv(name, value)
    done = tiny.run(*train_arguments(trained, tmp_path / "run"))
    assert done.code == ExitCode.USAGE
    said = "train.shards must be a multiple of the number of processes, 2; got 1. Set train.shards=2."
    assert said in done.err
