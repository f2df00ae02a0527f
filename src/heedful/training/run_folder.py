"""The folder of a run: the paths of its settings, environment, log and checkpoint."""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import ArtifactError, OutputError, UsageError
from heedful.storage import alone, holds, is_empty, plain_errors, recover_folder, sweep, write_text
from heedful.storage.fields import Fields, damaged, is_table, read_fields, read_json, read_text
from heedful.storage.layout import (
    CHECKPOINTS,
    DATA,
    ENVIRONMENT,
    LATEST,
    METRICS_LOG,
    MODEL,
    RECIPE,
    RUN_FILES,
    SETTINGS,
    STATE_FILES,
    holds_run,
)
from heedful.storage.manifest import MANIFEST, MODEL_FILES, json_text
from heedful.storage.ownership import foreign_names, keeps_log, remove_run
from heedful.training.distributed import is_first_process
from heedful.training.progress import environment
from heedful.training.state import checkpoint_exists, may_change

_DAMAGED = damaged(
    "The checkpoint beside it does not depend on this file: delete the file and give the same command again."
)


@dataclass(frozen=True)
class RunStorage:
    """Where a run is kept, what is kept beside its state, and what happens to an earlier run there.

    Attributes:
        folder: see `RunFolder`.
        resume: continue the folder's run, if it has one.
        overwrite: replace the folder's run, if it has one; it is deleted when the first step can be taken.
        config: everything the caller was told; None for nothing.
        files: file to SHA-256 of what the data was read from; None for nothing.
    """

    folder: Path
    resume: bool = False
    overwrite: bool = False
    config: Mapping[str, object] | None = None
    files: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RunFolder:
    """Paths of a run.

    Attributes:
        root: the folder.
    """

    root: Path

    @property
    def config(self) -> Path:
        """Everything the run was told."""
        return self.root / SETTINGS

    @property
    def recipe(self) -> Path:
        """The same as a recipe, written when the run has ended."""
        return self.root / RECIPE

    @property
    def data(self) -> Path:
        """What the data was read from."""
        return self.root / DATA

    @property
    def environment(self) -> Path:
        """Versions, threads, precision and why they are what they are."""
        return self.root / ENVIRONMENT

    @property
    def metrics(self) -> Path:
        """One JSON line an event."""
        return self.root / METRICS_LOG

    @property
    def checkpoint(self) -> Path:
        """The last complete state."""
        return self.root / CHECKPOINTS / LATEST

    @property
    def model(self) -> Path:
        """The trained model."""
        return self.root / MODEL

    def holds_run(self) -> bool:
        """Return whether a run was begun here; nothing is repaired or changed."""
        return holds_run(self.root) or self.model.exists()

    @contextlib.contextmanager
    def alone(self, what: str = "run") -> Iterator[None]:
        """Keep other writers out of the folder, and undo first what one left that was killed.

        Of several processes that torchrun started, the first does this for all. A caller that has the folder already
        keeps it.

        Raises InUseError if another process is at work there. Raises OutputError if the folder cannot be made or
        written.
        """
        if not is_first_process():
            yield
            return
        with contextlib.nullcontext() if holds(self.root) else alone(self.root, what):
            with plain_errors(self.root):
                sweep(self.root)
                for folder in (self.checkpoint, self.model):
                    if folder.parent.is_dir():
                        recover_folder(folder)
            yield

    def begin(
        self,
        config: Mapping[str, object] | None,
        files: Mapping[str, str] | None = None,
        chosen: Mapping[str, str] | None = None,
        *,
        resume: bool,
        overwrite: bool = False,
    ) -> None:
        """Make the folder and write what is known before the first step.

        Args:
            config: everything the run was told; None writes no config.
            files: file to SHA-256 of what the data was read from; None writes none of it.
            chosen: what was chosen for this machine, kept with the environment; None for nothing.
            resume: whether a run in the folder may go on.
            overwrite: whether a run in the folder is to be removed first; see `remove`.

        Raises:
            UsageError: if the folder holds a run and neither ``resume`` nor ``overwrite`` is True.
            OutputError: if it cannot be written.
        """
        if overwrite:
            self.remove()
        with plain_errors(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            begun = checkpoint_exists(self.checkpoint) or self.metrics.exists()
            if begun and not resume:
                raise UsageError(f"{self.root} already holds a run: resume it, or choose another folder")
            # The environment first: by this file a folder is known to be a run's. Each file as a whole: a run that
            # goes on writes them again, and may be killed while it does.
            write_text(self.environment, json.dumps({**environment(), **(chosen or {})}, indent=1) + "\n")
            if config is not None:
                write_text(self.config, json_text(config))
            if files is not None:
                write_text(self.data, json_text(files))

    def written(self) -> tuple[Path, ...]:
        """Name all that a run writes, whether it is there or not."""
        return (*(self.root / name for name in RUN_FILES), self.checkpoint.parent, self.model)

    def refuse_foreign(self, *, replaces: bool = False) -> None:
        """Refuse a folder in which a run would replace what no run of Heedful's wrote; nothing is changed.

        Args:
            replaces: whether a run that is there is to be replaced: a folder that holds other things alone is then
                taken for a mistake.

        Raises:
            OutputError: naming what is in the way, or if the folder cannot be read.
            ArtifactError: if the folder holds a run whose ``env.json`` is damaged.
        """
        with plain_errors(self.root):
            if self.environment.exists() and self._holds_checkpoint():
                self._check_environment()
            foreign = [path.name for path in self._foreign()]
            if foreign:
                raise OutputError(
                    f"{self.root}: no run of Heedful's wrote {', '.join(foreign)} in it, and a new one would replace "
                    "it; choose another --out, or move it away"
                )
            if replaces and self.root.is_dir() and not self._is_run() and not is_empty(self.root):
                raise OutputError(f"{self.root}: exists and is not a run of Heedful's; choose another --out")

    def remove(self) -> None:
        """Delete the files of a run; whatever else the folder holds stays.

        Raises OutputError if one of them was not written by a run, or cannot be deleted.
        """
        self.refuse_foreign()
        with plain_errors(self.root):
            remove_run(self.root, keep=True)

    def _foreign(self) -> list[Path]:
        here = [path for path in self.written() if path.exists() or path.is_symlink()]
        if not self._is_run():
            return here
        judges = {
            self.recipe: lambda: _same_settings(self.recipe, self.config),
            self.metrics: lambda: keeps_log(self.root),
            self.checkpoint.parent: lambda: not foreign_names(self.checkpoint, STATE_FILES),
            self.model: lambda: not foreign_names(self.model, MODEL_FILES),
        }
        return [path for path in here if path in judges and not judges[path]()]

    def _is_run(self) -> bool:
        """Return whether there is an environment, which every run writes before all else, or else a checkpoint."""
        if not self.environment.exists():
            return self._holds_checkpoint()
        with contextlib.suppress(ArtifactError):
            self._check_environment()
            return True
        return False

    def _holds_checkpoint(self) -> bool:
        return (self.checkpoint / MANIFEST).is_file()

    def _check_environment(self) -> None:
        """Refuse an environment that is none that a run wrote."""
        read_fields(self.environment, _DAMAGED).part("packages").value("heedful")


def _same_settings(recipe: Path, config: Path) -> bool:
    """Return whether a recipe is the one that a run wrote beside its settings; a user's own says something else."""
    try:
        written = tomllib.loads(read_text(recipe))
        return _decisive(read_json(config, dict)) == _decisive(written)
    except (ValueError, RecursionError, ArtifactError):
        return False


def _decisive(settings: object) -> object:
    """Leave out what a resumed run may change: it rewrites its settings at once, and its recipe when it ends."""
    fields = Fields(settings, "")
    train = {
        key: value for key, value in fields.table("train", {}).items() if key not in may_change("constant")
    }
    return _without_none({**fields.record, "train": train})


def _without_none(value: object) -> object:
    """Leave out what TOML cannot say, as the recipe does."""
    if is_table(value):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return value
