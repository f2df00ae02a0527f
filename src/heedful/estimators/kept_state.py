"""An estimator as plain values: settings, and the files of its model folder, for writers that keep no objects of torch.

skops asks an object for its state and stores what it finds, so that a state of plain values is one that it can store.
"""

from __future__ import annotations

import copyreg
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from sklearn.base import BaseEstimator

from heedful.errors import ArtifactError
from heedful.run.recipe_files import from_table
from heedful.run.run_config import KeepExamples, RunConfig
from heedful.tasks import load_model

_KIND = "heedful_state"
"""The entry by which this state is known from the dictionary of an object, which pickle keeps."""


class _Estimator(Protocol):
    """What a state is taken from."""

    text: Any
    features: Any
    threads: int | None
    verbose: bool
    keep_examples: KeepExamples | None
    _config: RunConfig | None
    _settings: dict[str, Any]


class KeptState(BaseEstimator):
    """Gives an estimator a state of plain values; copies and pickles keep the whole object as it is.

    The state has what `save_pretrained` writes, so that a restored estimator equals one that `from_pretrained` reads,
    with its own settings.
    """

    def __getstate__(self: _Estimator) -> dict[str, Any]:
        """Return settings and files."""
        given = self._config
        state: dict[str, Any] = {
            _KIND: 1,
            "text": self.text,
            "features": None if self.features is None else list(self.features),
            "threads": self.threads,
            "verbose": self.verbose,
            "keep_examples": self.keep_examples,
            "config": asdict(given) if isinstance(given, RunConfig) else given,
            "settings": dict(self._settings),
        }
        if "predictor_" in vars(self):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "model"
                self.predictor_.complete().save(folder)  # type: ignore[attr-defined]
                state["files"] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` or pickle has kept."""
        if _KIND in state:
            _restore(self, state)
        else:
            super().__setstate__(state)

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        """Return what pickle and `copy` keep: the object as it is, with its results."""
        return copyreg.__newobj__, (type(self),), vars(self).copy()  # type: ignore[attr-defined]


def _restore(estimator: Any, state: Mapping[str, Any]) -> None:
    """Set what the state has; a model that was altered is refused by its checksums."""
    given, settings = state.get("config"), state.get("settings")
    if state[_KIND] != 1 or not isinstance(settings, dict):
        raise ArtifactError("this estimator was written by another version of heedful; write it again")
    estimator.threads, estimator._settings = state.get("threads"), settings
    estimator.verbose = bool(state.get("verbose"))
    estimator.keep_examples = state.get("keep_examples")
    estimator.text, estimator.features = state.get("text"), state.get("features")
    estimator._config = from_table(given, "the kept settings") if isinstance(given, dict) else given
    files = state.get("files")
    if files is None:
        return
    with tempfile.TemporaryDirectory() as place:
        for name, content in files.items():
            if not isinstance(name, str) or Path(name).name != name or not isinstance(content, bytes):
                raise ArtifactError(f"the kept estimator holds a file that is none of a model: {name!r:.60}")
            (Path(place) / name).write_bytes(content)
        predictor = load_model(Path(place))
    if not isinstance(predictor, estimator.model_type) or predictor.model.task not in estimator.tasks:
        raise ArtifactError(f"the kept model is one for {predictor.model.task!r}, not for this estimator")
    run = from_table(predictor.about.run, "the kept model")
    estimator._set_fitted(predictor, estimator._targets_in(predictor, run))
