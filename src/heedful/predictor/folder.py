"""Where in a run folder the model lies."""

from __future__ import annotations

from pathlib import Path


def model_folder(folder: Path | str) -> Path:
    """Return the model folder inside a run folder, or the folder itself."""
    path = Path(folder)
    inner = path / "model"
    return inner if inner.is_dir() and not (path / "weights.safetensors").exists() else path
