"""What a run writes about itself: one JSON line an event, and the environment it ran in."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from heedful.errors import DataError
from heedful.files import told_plainly, write_text

_PACKAGES = ("heedful", "torch", "numpy", "safetensors", "lightning-fabric")


class MetricsLog:
    """The events of a run, in memory and in ``metrics.jsonl``.

    Args:
        path: the file; None keeps the events in memory only.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []

    def restore(self, step: int) -> None:
        """Read the file back up to a step and drop what was written after it.

        Args:
            step: the step a checkpoint was taken at; later lines will be written anew.

        Raises:
            DataError: if a line before the last is no JSON record.
            OutputError: if the file cannot be rewritten.
        """
        if self.path is None:
            return
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                keep = record["step"] <= step
            except (ValueError, TypeError, KeyError) as error:
                if number == len(lines):
                    break  # a killed run may leave its last line half written
                raise DataError(f"{self.path}, line {number}: expected a JSON record with a step") from error
            if keep:
                self.records.append(record)
        write_text(self.path, "".join(json.dumps(record) + "\n" for record in self.records))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one event.

        Args:
            record: plain values with at least a step; a number that is not finite is written as null.

        Raises:
            OutputError: if it cannot be written.
        """
        plain = {key: _finite(value) for key, value in record.items()}
        self.records.append(plain)
        if self.path is not None:
            with told_plainly(self.path), self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(plain, allow_nan=False) + "\n")


def environment() -> dict[str, Any]:
    """Describe what a run's numbers may depend on: versions, threads and machine type; no names, users or paths."""
    import torch

    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
