"""`heedful train --from` with a network, killed and resumed, ends as unbroken: every tensor equal to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from forked_commands import Forked
from heedful.storage.model_folder import load_model_folder
from tiny import run, texts, write_csv

NEW = [
    (f"Completely blue {noun} .", "color") for noun in ("door", "car", "roof", "boat", "bird", "hat", "cup")
]
PLAIN = ("--no-baseline", "--quiet")
SMALL = {
    "text.vectors": "",
    "model.sentence": "none",
    "model.encoder": "embedding",
    "model.width": 8,
    "model.hidden": 8,
    "model.dropout": 0.2,
    "train.least_steps": 40,
    "train.save_steps": 4,
    "data.few_rows": 0,
}
DIES = """
import os, signal
import heedful.training.loop as loop

step, taken = loop._Loop._step, []

def counted(self, rows, *, last):
    taken.append(1)
    if len(taken) > {steps}:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, rows, last=last)

loop._Loop._step = counted
"""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute with one thread, as the process that dies does: sums of several may be rounded in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run whose network goes on, which keeps a part of its rows, and new rows."""
    root = tmp_path_factory.mktemp("first")
    sets = [f"--set={name}={value}" for name, value in SMALL.items()]
    table = write_csv(root / "first.csv", texts()[:40], ("text", "label"))
    made = run(
        "train",
        table,
        "--out",
        root / "run",
        *sets,
        "--keep-examples",
        "--set=data.keep_share=0.3",
        *PLAIN,
    )
    assert made.code == 0, made.err
    write_csv(root / "new.csv", [*texts()[40:60], *NEW], ("text", "label"))
    return root


def test_killed_twice_and_resumed_it_is_the_unbroken_one(first: Path) -> None:
    on = ("train", first / "new.csv", "--from", first / "run", *PLAIN)
    assert run(*on, "--out", first / "whole").code == 0
    for steps, more in ((11, ()), (17, ("--resume",))):  # the second begins at a step that was saved
        dead = Forked(*on, "--out", first / "broken", *more, before=DIES.format(steps=steps))
        dead.communicate()
        assert dead.returncode == -9
        assert not (first / "broken" / "model").exists()
    ended = run(*on, "--out", first / "broken", "--resume")
    assert ended.code == 0, ended.err
    whole, broken = (load_model_folder(first / name / "model") for name in ("whole", "broken"))
    assert sorted(whole.state) == sorted(broken.state)
    assert any(name.startswith("examples.") for name in whole.state)
    for name, tensor in whole.state.items():
        assert torch.equal(tensor, broken.state[name]), name
    assert whole.labels == broken.labels
    assert {**whole.config, "run": None} == {**broken.config, "run": None}


def test_another_model_before_is_no_resumption(first: Path, tmp_path: Path) -> None:
    """What a run began with is part of what it is: with another model in that place it does not go on."""
    on = ("train", first / "new.csv", "--from", first / "run", "--out", tmp_path / "broken", *PLAIN)
    dead = Forked(*on, before=DIES.format(steps=9))
    dead.communicate()
    assert dead.returncode == -9
    sets = [f"--set={name}={value}" for name, value in SMALL.items()]
    assert run("train", first / "first.csv", "--out", tmp_path / "other", *sets, *PLAIN).code == 0
    on = ("train", first / "new.csv", "--from", tmp_path / "other", "--out", tmp_path / "broken", *PLAIN)
    other = run(*on, "--resume")
    assert other.code != 0
    assert "Traceback" not in other.err
    assert other.err.strip().splitlines()[-1].startswith("heedful: ")
