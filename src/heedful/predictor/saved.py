"""What all models that come from a folder share: reading it, and saying what is wrong with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from torch import nn

from heedful.checkpoint import ModelFolder, load_model_folder
from heedful.errors import ArtefactError, MissingExtraError, UsageError
from heedful.models.precision import has_rounded_weights
from heedful.predictor.folder import model_folder


def refuse_rounded(network: nn.Module) -> None:
    """Refuse to save a network at int8: a folder holds what training left, and is not read back from rounded numbers.

    Args:
        network: what is to be saved.

    Raises:
        UsageError: if its matrices are kept as whole numbers.
    """
    if has_rounded_weights(network):
        raise UsageError("a model at int8 is for answering: save the one that it was made from")


class SavedModel(ABC):
    """A model that a folder holds.

    Attributes:
        tasks: what its network may answer, ``model.task``.
    """

    tasks: ClassVar[tuple[str, ...]]

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model folder, checking every file against its checksum.

        Args:
            path: the folder, or the run folder it lies in.

        Returns:
            The model, in evaluation mode.

        Raises:
            ArtefactError: if anything is missing, altered or of an unknown version.
            UsageError: if the model answers something else.
        """
        path = model_folder(path)
        return cls.from_folder(load_model_folder(path), path)

    @classmethod
    def from_folder(cls, folder: ModelFolder, path: Path) -> Self:
        """Put together what a model folder holds.

        Args:
            folder: the content, checked.
            path: where it was read, for messages.

        Returns:
            The model, in evaluation mode.

        Raises:
            ArtefactError: if its files do not belong together.
            UsageError: if the model answers something else.
            MissingExtraError: if it needs a library that is not installed.
        """
        task = folder.config.get("model", {}).get("task")
        if task is not None and task not in cls.tasks:
            raise UsageError(f"{path}: this is a {task!r} model; {cls.__name__} reads {', '.join(cls.tasks)}")
        try:
            return cls._assemble(folder, path)
        except MissingExtraError:
            raise
        except (KeyError, TypeError, RuntimeError, UsageError) as error:
            reason = str(error).splitlines()[0]
            raise ArtefactError(f"{path}: the files do not belong together: {reason}") from error

    @classmethod
    @abstractmethod
    def _assemble(cls, folder: ModelFolder, path: Path) -> Self:
        """Build the model from the content of its folder; what fails here means that its files do not match."""
