"""Where in a run folder the model lies."""

from __future__ import annotations

import os
from pathlib import Path


def model_folder(folder: Path | str) -> Path:
    """Return the model folder inside a run folder, or the folder itself."""
    path = Path(folder)
    inner = path / "model"
    # Not Path.is_dir, which fails in a folder that may not be looked into; whoever reads it says so.
    return inner if os.path.isdir(inner) and not os.path.exists(path / "weights.safetensors") else path
