"""The folder of a run: where its config, environment, log and checkpoint lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.checkpoint import write_json
from heedful.errors import UsageError
from heedful.files import told_plainly
from heedful.training.log import environment
from heedful.training.state import checkpoint_exists


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
        return self.root / "config.json"

    @property
    def data(self) -> Path:
        """What the data was read from."""
        return self.root / "data.json"

    @property
    def environment(self) -> Path:
        """Versions and threads."""
        return self.root / "env.json"

    @property
    def metrics(self) -> Path:
        """One JSON line an event."""
        return self.root / "metrics.jsonl"

    @property
    def checkpoint(self) -> Path:
        """The last complete state."""
        return self.root / "checkpoints" / "latest"

    def begin(
        self, config: Mapping[str, Any] | None, files: Mapping[str, str] | None = None, *, resume: bool
    ) -> None:
        """Make the folder and write what is known before the first step.

        Args:
            config: everything the run was told; None writes no config.
            files: file to SHA-256 of what the data was read from; None writes none of it.
            resume: whether a run in the folder may go on.

        Raises:
            UsageError: if the folder holds a run and ``resume`` is False.
            OutputError: if it cannot be written.
        """
        with told_plainly(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            # Asked in any case: it repairs what a killed writer left, before other processes look at it.
            begun = checkpoint_exists(self.checkpoint) or self.metrics.exists()
            if begun and not resume:
                raise UsageError(f"{self.root} already holds a run: resume it, or choose another folder")
            if config is not None:
                write_json(self.config, config)
            if files is not None:
                write_json(self.data, files)
            write_json(self.environment, environment())
