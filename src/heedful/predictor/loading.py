"""A model folder to the class that answers with it."""

from __future__ import annotations

from pathlib import Path

from heedful.checkpoint import load_model_folder
from heedful.predictor.folder import model_folder
from heedful.predictor.predictor import Predictor
from heedful.predictor.roles import RolePredictor
from heedful.predictor.translator import Translator

AnyModel = Predictor | RolePredictor | Translator
BY_TASK: dict[str, type[AnyModel]] = {
    task: kind for kind in (Predictor, RolePredictor, Translator) for task in kind.tasks
}
"""``model.task`` to class."""


def load_model(path: Path | str) -> AnyModel:
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
