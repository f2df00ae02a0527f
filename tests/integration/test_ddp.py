"""Two processes under torchrun take the same steps as one with the same number of shards."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict
from pathlib import Path

import torch
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

import toy_training
from forked_commands import CONTEXT
from heedful.training.train_settings import OptimizerSettings

HANGUPS = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGQUIT") if hasattr(signal, name))


def curve(folder: Path) -> list[float]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["train_loss"] for line in lines]


def share(folder: str, changes: dict) -> None:
    """Be one of two processes of torchrun, which tells each of them who it is."""
    optimizer = OptimizerSettings(**changes.pop("optimizer"))
    answer = Path(folder) / "answers" / os.environ["RANK"]
    toy_training.train_to_file(Path(folder) / "two", answer, {"optimizer": optimizer, **changes})


def run_two_processes(folder: Path, changes: dict) -> None:
    """Let torchrun's own agent start two processes, forked from one that has torch: each takes 7 s to import it."""
    ours = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, *HANGUPS)}
    CONTEXT.Process(target=int).start()  # before torch's own start of the server, which would preload nothing
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=2,
        run_id="two",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        start_method="forkserver",
        max_restarts=0,
        monitor_interval=0.05,
    )
    try:
        elastic_launch(config, share)(str(folder), changes)  # raises what one of them raises
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)


def test_two_processes_give_the_loss_curve_of_one(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    # 11 steps an epoch: shards of 2 and 1 rows, and a last batch of one row that leaves a shard empty
    changes = {"epochs": 2, "shards": 2, "clip_norm": 0.5, "batch": 3, "size": 31}
    optimizer = OptimizerSettings(weight_decay=1e-3)
    run_two_processes(tmp_path, {"optimizer": asdict(optimizer), **changes})
    toy_training.train_toy(tmp_path / "one", optimizer=optimizer, **changes)

    alone, together = curve(tmp_path / "one"), curve(tmp_path / "two")
    assert len(alone) == 22
    torch.testing.assert_close(torch.tensor(together), torch.tensor(alone), rtol=1e-6, atol=1e-6)
    first, second = ((answers / rank).read_text(encoding="utf-8") for rank in "01")
    assert first == second, "the processes' weights drifted apart"
