"""A model folder to the class that answers with it."""

from __future__ import annotations

from pathlib import Path

from heedful.checkpoint import load_model_folder
from heedful.predictor.base import TextModel
from heedful.predictor.folder import model_folder
from heedful.predictor.predictor import Predictor

_CLASSES: tuple[type[TextModel], ...] = (Predictor,)
BY_TASK: dict[str, type[TextModel]] = {task: kind for kind in _CLASSES for task in kind.tasks}
"""``model.task`` to class."""


def load_model(path: Path | str) -> TextModel:
    """Read a model folder, whatever it answers.

    Args:
        path: the folder, or the run folder it lies in.

    Returns:
        The model, in evaluation mode.

    Raises:
        ArtefactError: if anything is missing, altered or of an unknown version.
    """
    path = model_folder(path)
    folder = load_model_folder(path)
    task = folder.config.get("model", {}).get("task")
    return BY_TASK.get(task, Predictor).from_folder(folder, path)
