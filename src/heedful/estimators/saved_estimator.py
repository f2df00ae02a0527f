"""How an estimator is written to a model folder or to the Hub, and read again."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from heedful.errors import ArtifactError, UsageError
from heedful.estimators.has_settings import HasSettings
from heedful.estimators.kept_state import KeptState
from heedful.estimators.targets import AnyTargets
from heedful.run import RunConfig
from heedful.run.recipe_files import from_table
from heedful.storage.checked_paths import checked_path
from heedful.storage.named_models import find_model, push_model
from heedful.tasks import TextModel, load_model

Model = TypeVar("Model", bound=TextModel[Any])


class SavedEstimator(HasSettings, KeptState, Generic[Model]):
    """What an estimator does with the folder of its model.

    Attributes:
        tasks: the tasks whose models it reads.
        model_type: the class of its model.
        predictor_: the model.
    """

    tasks: ClassVar[tuple[str, ...]]
    model_type: type[Model]
    predictor_: Model

    @property
    @abstractmethod
    def predictor(self) -> Model:
        """The trained model; an `UnfittedError` where there is none."""

    @abstractmethod
    def _set_fitted(self, predictor: Model, targets: AnyTargets) -> None:
        """Take a trained model."""

    @classmethod
    @abstractmethod
    def _targets_in(cls, predictor: Model, config: RunConfig) -> AnyTargets:
        """Return what reads the targets of a model that was saved."""

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the model folder; an old one stays until the new one is complete.

        Classes that are not strings, numbers or booleans are saved as strings (`str`), and a loaded model predicts
        these strings.

        Args:
            folder: the folder.
        """
        self.predictor.complete().save(checked_path(folder, "folder"))

    def push_to_hub(
        self, name: str, *, private: bool = False, license: str = "", token: str | None = None
    ) -> str:
        """Write the model to the Hugging Face Hub; `heedful.storage.named_models.push_model` has the details.

        Args:
            name: "user/name"; the repository is created if it does not exist.
            private: whether a new repository is private.
            license: the Hub's short name of the license of the model, such as "apache-2.0".
            token: a token with write access; None for ``HF_TOKEN`` or the token that ``hf auth login`` stored.

        Returns:
            The address of the commit.
        """
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "model"
            self.save_pretrained(folder)
            return push_model(folder, name, private=private, license=license, token=token)

    @classmethod
    def from_pretrained(
        cls,
        folder: Path | str,
        *,
        revision: str | None = None,
        download: bool = False,
        max_tokens: int | None = None,
        truncate: Literal["error", "head"] | None = None,
    ) -> Self:
        """Read a model folder.

        Args:
            folder: a folder that `save_pretrained` or ``heedful train`` wrote, or the name of a model of an installed
                package or of the Hugging Face Hub (`heedful.storage.named_models.find_model`).
            revision: branch, tag or commit on the Hub.
            download: whether a model of the Hub that is not on this machine may be downloaded.
            max_tokens: longest text, in tokens; None for what the model was saved with.
            truncate: what happens to a longer text: "error", or "head" to read its beginning; None for what was saved.

        Returns:
            The estimator.

        Raises:
            UsageError: if the model is for another task.
            ArtifactError: if a file is missing or altered.
            DataError: if the Hub does not give the model.
        """
        folder = find_model(folder, revision=revision, download=download)
        predictor = load_model(folder, max_tokens=max_tokens, truncate=truncate)
        if not isinstance(predictor, cls.model_type) or predictor.model.task not in cls.tasks:
            raise UsageError(
                f"{folder}: this is a {predictor.model.task!r} model, which {cls.__name__} does not read: use "
                "heedful.from_pretrained"
            )
        return cls._around(predictor, folder)

    @classmethod
    def _around(cls, predictor: Model, folder: Path | str) -> Self:
        try:
            estimator = cls(from_table(predictor.about.run, f"{folder}"))
        except UsageError as error:
            raise ArtifactError(f"{error} Train the model again with this version of heedful.") from error
        estimator._set_fitted(predictor, cls._targets_in(predictor, estimator.config))
        return estimator
