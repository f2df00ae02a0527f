"""Commands that start together on one folder: one works, the others are refused in one line before they touch it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

import tiny
from forked_commands import Forked
from heedful.errors import ExitCode
from waiting import until

# A file system without `flock`.
WITHOUT_FLOCK = """
import errno, fcntl, os
def without(*_):
    raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
fcntl.flock = without
"""


def together(children: list[Forked]) -> list[tuple[int, str]]:
    """Wait for all; return exit status and last line on standard error of each, by exit status."""
    said = [child.communicate()[1] for child in children]
    lines = [text.splitlines()[-1] if text else "" for text in said]
    return sorted((child.returncode, line) for child, line in zip(children, lines, strict=True))


def train(trained, out: Path, *more: object) -> list[object]:
    where = ["--data", trained.data, "--out", out]
    return ["train", trained.data / "text.toml", *where, "--no-baseline", "-q", *more]


def weights(out: Path) -> bytes:
    return (out / "model" / "weights.safetensors").read_bytes()


@pytest.mark.parametrize("flock", [True, False])
def test_of_two_runs_that_start_together_one_trains(trained, tmp_path: Path, flock: bool) -> None:
    out = tmp_path / "run"
    (first, _), (second, refusal) = together(
        [Forked(*train(trained, out), before="" if flock else WITHOUT_FLOCK) for _ in range(2)]
    )
    assert (first, second) == (0, ExitCode.USAGE)
    assert "is at work there; wait for it" in refusal or "already holds a run" in refusal
    assert weights(out) == weights(trained.runs / "text")
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [record["step"] for record in records if record["kind"] != "sign"]
    assert steps == sorted(set(steps))
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


def running(out: Path, child: Forked) -> None:
    """Wait until a run has written its first line."""
    until(lambda: (out / "metrics.jsonl").exists() or child.poll() is not None)
    assert child.poll() is None, child.communicate()


def test_a_run_that_is_at_work_is_neither_resumed_nor_replaced_nor_sought(trained, tmp_path: Path) -> None:
    out = tmp_path / "run"
    long = ("--set", "train.epochs=100000", "--set", "train.patience=0")
    child = Forked(*train(trained, out, *long))
    try:
        running(out, child)
        environment = (out / "env.json").stat().st_ino
        others = (
            train(trained, out, *long, "--resume"),
            train(trained, out, "--overwrite"),
            train(trained, out),
            ["tune", trained.data / "text.toml", "--data", trained.data, "--out", out, "--trials", "1", "-q"],
            ["demo", "--out", out, "-q"],
            ["reproduce", "disan-table1", "--data", trained.data, "--out", out, "-q"],
        )
        for words in others:
            refused = tiny.run(*words)
            assert refused.code == ExitCode.USAGE
            assert refused.err.count("\n") == 1
            assert "is at work there; wait for it" in refused.err
        assert (out / "env.json").stat().st_ino == environment
        assert child.poll() is None
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate()
    assert child.returncode == ExitCode.INTERRUPTED
    steps = json.loads((out / "checkpoints" / "latest" / "state.json").read_text())["state"]["step"]
    enough = ("--set", f"train.max_steps={steps + 5}", "--set", "train.epochs=0", "--resume")
    codes = together([Forked(*train(trained, out, *enough)) for _ in range(2)])
    assert [code for code, _ in codes] in ([0, 0], [0, ExitCode.USAGE])
    assert (out / "model").is_dir()


def test_two_studies_of_one_folder_leave_one_result(trained, tmp_path: Path) -> None:
    words = [
        "study",
        trained.data / "text.toml",
        "--data",
        trained.data,
        "--out",
        tmp_path,
        "--seeds",
        "1",
        "-q",
    ]
    codes = together([Forked(*words) for _ in range(2)])
    assert [code for code, _ in codes] in ([0, 0], [0, ExitCode.USAGE])
    assert [path.name for path in tmp_path.iterdir()] == ["train.seed=1.json"]


BEFORE_THE_LOOP = """
import os, signal
import heedful.run
def prepare(*_):
    os.kill(os.getpid(), signal.SIG{0})
    raise AssertionError("went on")
heedful.run.prepare = prepare
"""
AFTER_THE_LOOP = """
import os, signal
from heedful.tasks import Predictor
real = Predictor.save
def save(*arguments):
    os.kill(os.getpid(), signal.SIG{0})
    raise AssertionError("went on")
Predictor.save = save
"""


@pytest.mark.parametrize("moment", [BEFORE_THE_LOOP, AFTER_THE_LOOP])
@pytest.mark.parametrize(("name", "code"), [("TERM", ExitCode.TERMINATED), ("INT", ExitCode.INTERRUPTED)])
def test_a_signal_outside_of_the_loop_ends_with_a_line(
    trained, tmp_path: Path, moment: str, name: str, code: ExitCode
) -> None:
    out = tmp_path / "run"
    words = [str(word) for word in train(trained, out)]
    child = Forked(*words, before=moment.format(name))
    _, said = child.communicate()
    assert child.returncode == code
    assert said.strip() == f"heedful: {'terminated' if name == 'TERM' else 'interrupted'}"
    if moment is BEFORE_THE_LOOP:
        assert not out.exists()
        return
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]
    assert tiny.run(*words, "--resume").code == 0
    assert weights(out) == weights(trained.runs / "text")


def test_a_rate_beyond_the_range_of_numbers_is_divergence(trained, tmp_path: Path) -> None:
    for optimizer in ("adagrad", "adadelta", "adam"):
        rate = ("--set", f"train.optimizer.name={optimizer}", "--set", "train.optimizer.lr=1e300")
        result = tiny.run(*train(trained, tmp_path / optimizer, *rate))
        assert result.code == ExitCode.DIVERGED
        assert result.err.count("\n") == 1
        assert "step 1: the learning rate 1e+300 is beyond the range of float32" in result.err


@pytest.mark.parametrize("damage", ["bytes", "folder", "behind", "environment"])
def test_a_damaged_file_of_a_run_is_named_when_it_is_resumed(trained, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "run"
    half = tiny.run(*train(trained, out, "--set", "train.epochs=3"))
    assert half.code == 0
    log, env = out / "metrics.jsonl", out / "env.json"
    lines = log.read_bytes().splitlines(keepends=True)
    if damage == "bytes":
        log.write_bytes(b"".join([lines[0], b"\xff\xfe\n", *lines[2:]]))
    elif damage == "folder":
        log.unlink()
        log.mkdir()
    elif damage == "behind":
        log.write_bytes(b"".join([*lines, b"\xff\xfe\n", lines[0]]))
    else:
        env.write_bytes(b"\xff\xfe")
    resumed = tiny.run(*train(trained, out, "--resume"))
    if damage == "behind":
        assert resumed.code == 0
    else:
        assert resumed.code == ExitCode.BAD_ARTIFACT
        assert resumed.err.count("\n") == 1
        assert f"{env if damage == 'environment' else log}" in resumed.err
        assert "no run of Heedful's" not in resumed.err
        (log.rmdir if damage == "folder" else log.unlink if damage == "bytes" else env.unlink)()
        assert tiny.run(*train(trained, out, "--resume")).code == 0
    assert weights(out) == weights(trained.runs / "text")
