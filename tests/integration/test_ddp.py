"""Two processes under torchrun take the same steps as one with the same number of shards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import torch

import toy_training
from heedful.training.train_settings import OptimizerSettings
from waiting import PATIENCE


def curve(folder: Path) -> list[float]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["train_loss"] for line in lines]


def run_two_processes(folder: Path, answers: Path, changes: dict) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [toy_training.__file__, str(folder), str(answers), json.dumps(changes)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_two_processes_give_the_loss_curve_of_one(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    # 11 steps an epoch: shards of 2 and 1 rows, and a last batch of one row that leaves a shard empty
    changes = {"epochs": 2, "shards": 2, "clip_norm": 0.5, "batch": 3, "size": 31}
    optimizer = OptimizerSettings(weight_decay=1e-3)
    done = run_two_processes(tmp_path / "two", answers, {"optimizer": asdict(optimizer), **changes})
    assert done.returncode == 0, done.stderr
    toy_training.train_toy(tmp_path / "one", optimizer=optimizer, **changes)

    alone, together = curve(tmp_path / "one"), curve(tmp_path / "two")
    assert len(alone) == 22
    torch.testing.assert_close(torch.tensor(together), torch.tensor(alone), rtol=1e-6, atol=1e-6)
    first, second = ((answers / rank).read_text(encoding="utf-8") for rank in "01")
    assert first == second, "the processes' weights drifted apart"
