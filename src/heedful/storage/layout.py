"""The names of what a run, a study and a table of the papers leave in their folders.

A model folder's own file names stand in `heedful.storage.model_folder`, which checks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SETTINGS, RECIPE, DATA, ENVIRONMENT = "config.json", "config.toml", "data.json", "env.json"
"""Of a run: everything that was asked for, the same as a recipe, what the data was read from, versions and threads."""
METRICS_LOG = "metrics.jsonl"
"""Of a run: one JSON line an event."""
RUN_FILES = (ENVIRONMENT, SETTINGS, DATA, RECIPE, METRICS_LOG)
"""Of a run: the files in its folder, the one by which it is known first."""
CHECKPOINTS, LATEST, MODEL = "checkpoints", "latest", "model"
"""Of a run: the folder of its checkpoints, the last complete one in it, and the trained model."""
STATE_FILES = ("state.safetensors", "state.json")
"""Of a checkpoint: its tensors, and where training stands."""
UNFINISHED = "unfinished"
"""Of a study: the folder of the runs that are not at their end."""
RUNS = "runs"
"""Of the papers' tables: the folder of all runs, which tables share, so that no run is repeated."""
SEED, FOLD = "train.seed", "data.fold"


@dataclass(frozen=True, order=True)
class Varied:
    """The setting that tells a run of a study from the others.

    Attributes:
        setting: ``train.seed`` or ``data.fold``.
        number: its value.
    """

    setting: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Varied | None:
        """Read ``train.seed=3``.

        Args:
            text: what `str` gives of one.

        Returns:
            The setting; None for anything else.
        """
        setting, _, number = text.partition("=")
        known = setting in (SEED, FOLD) and number.isascii() and number.isdigit()
        return cls(setting, int(number)) if known else None

    @property
    def is_fold(self) -> bool:
        """Return whether folds are varied: their runs answer different examples."""
        return self.setting == FOLD

    def __str__(self) -> str:
        return f"{self.setting}={self.number}"


def record_file(study: Path, varied: Varied | str) -> Path:
    """Return where a study keeps the record of a finished run."""
    return study / f"{varied}.json"


def unfinished_folder(study: Path, varied: Varied | str) -> Path:
    """Return where a study keeps a run that is not at its end."""
    return study / UNFINISHED / str(varied)


def record_files(study: Path) -> list[Path]:
    """Return the records that lie in the folder of a study, in the order of their seeds or folds."""
    found = [(varied, path) for path in study.glob("*.json") if (varied := Varied.parse(path.stem))]
    return [path for _, path in sorted(found)]


def holds_study(folder: Path) -> bool:
    """Return whether a folder holds the runs of a study, finished or not."""
    return bool(record_files(folder)) or (folder / UNFINISHED).is_dir()


def holds_run(folder: Path) -> bool:
    """Return whether a run was begun in a folder."""
    return (folder / METRICS_LOG).exists() or (folder / CHECKPOINTS).exists()
