"""The declared experiment in the place of the packaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from heedful_lab.reproduce import cell_runs as gathering
from heedful_lab.reproduce import listing, making, runner
from heedful_lab.reproduce.plan import Effort, Experiment
from made_runs import SYSTEMS


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Declare one experiment on the tiny text task; return the folder of its data."""
    folder = tiny.write_tasks(tmp_path / "data")
    settings = ("train.max_steps=2", "train.device=cpu")
    known = {
        "tiny": Experiment(
            "tiny",
            "a tiny set",
            str(folder / "text.toml"),
            settings,
            {"standard": Effort((), 1.0)},
            (1, 2),
            0,
            (),
        )
    }
    for module in (runner, making, gathering, listing):
        monkeypatch.setattr(module, "experiments", lambda: known)
    monkeypatch.setattr(runner, "systems", lambda: SYSTEMS)
    return folder
