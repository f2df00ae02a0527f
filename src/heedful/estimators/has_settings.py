"""The settings of a run as parameters of scikit-learn: read, changed, refused, and put on top of the defaults."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from heedful.data.readers.table_files import read_table
from heedful.data.readers.tag_files import TagOptions
from heedful.errors import UsageError, nearest
from heedful.estimators.reading_tables import ReadsTables
from heedful.estimators.setting_types import EstimatorSettings
from heedful.run import RunConfig
from heedful.run.recipe_files import override
from heedful.run.run_config import KeepExamples
from heedful.text.boundaries import AUTO
from heedful.training.train_settings import OptimizerSettings

_OF_FILES = (
    "set",
    "train",
    "dev",
    "test",
    "train_limit",
    "text",
    "premise",
    "hypothesis",
    "label",
    "score",
    "languages",
    "protocol",
    "folds",
    "fold",
)
"""Settings of the table ``[data]`` that name files, their columns, and how a data set is divided."""


def refuse_file_settings(settings: Mapping[str, object], taken: Collection[str]) -> None:
    """Refuse settings that would be ignored, and options of the data that are misspelled.

    Args:
        settings: those of the constructor, by their names with ``__``.
        taken: the options of ``data.options`` that the estimator honors.

    Raises:
        UsageError: naming the setting.
    """
    for name in _OF_FILES:
        if settings.get(f"data__{name}"):
            raise UsageError(
                f"data__{name}: is for files, and the examples of an estimator are X and y; leave it out"
            )
    options = settings.get("data__options")
    single = {name[15:]: value for name, value in settings.items() if name.startswith("data__options__")}
    for option in {**(options if isinstance(options, Mapping) else {}), **single}:
        if option in taken:
            continue
        if option in {*inspect.signature(read_table).parameters, *(each.name for each in fields(TagOptions))}:
            raise UsageError(
                f"data__options: {option!r} is for files, and the examples of an estimator are X and y; leave it out"
            )
        raise UsageError(
            f"data__options: there is no option {option!r:.60}; {nearest(str(option), tuple(taken))}"
        )


_OWN = ("text", "features", "threads", "verbose", "keep_examples")
"""Arguments of the constructor that are no settings of a run."""


class HasSettings(ReadsTables):
    """What an estimator takes in its constructor; see `heedful.estimators.estimator.Estimator`."""

    metric: ClassVar[str]
    """The metric that selects the best checkpoint."""

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        text: str | Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        threads: int | None = None,
        verbose: bool = False,
        keep_examples: KeepExamples | None = None,
        **settings: Unpack[EstimatorSettings],
    ) -> None:
        self.threads, self.verbose, self.keep_examples = threads, verbose, keep_examples
        self.text, self.features = text, features
        self._config, self._settings = config, dict[str, Any](**settings)

    @property
    def config(self) -> RunConfig:
        """All settings that `fit` uses: the single settings applied to ``config``, or to the defaults.

        Raises:
            UsageError: listing every setting that is wrong.
        """
        given = self._start() if self._config is None else self._config
        if not isinstance(given, RunConfig):
            raise UsageError(f"config: expected a RunConfig or None, got {given!r:.60}")
        of_fit = inspect.signature(getattr(self, "fit")).parameters  # noqa: B009
        for name in self._settings.keys() & (of_fit.keys() - {"X", "y"}):
            raise UsageError(
                f"{name}: is an argument of fit, and none of the constructor: fit(X, y, {name}=...)"
            )
        dotted = {name.replace("__", "."): _plain(value) for name, value in self._settings.items()}
        if self.keep_examples is not None:
            dotted["data.keep_examples"] = self.keep_examples
        dotted |= self._named_columns()
        return override(given, dotted) if dotted else given

    def _start(self) -> RunConfig:
        """Return the settings that single ones are put on top of, where none are given as a whole."""
        return self._defaults()

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = RunConfig()
        optimizer = OptimizerSettings(name="adam", lr=1e-3)
        return replace(
            config,
            data=replace(config.data, truncate="head"),
            text=replace(config.text, tokenizer=AUTO, normalize=True),
            model=replace(config.model, task=cls.task, dropout=0.3),
            distil=replace(config.distil, augment=-1),
            train=replace(
                config.train, metric=cls.metric, epochs=20, patience=5, least_steps=400, optimizer=optimizer
            ),
        )

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the constructor's arguments, as scikit-learn's ``clone`` and searches need them."""
        own = {name: getattr(self, name) for name in _OWN}
        return {"config": self._config, **own, **self._settings}

    def set_params(self, **params: Any) -> Self:
        """Change settings, named as in the constructor, for the next `fit`; a trained model stays until then."""
        self._config = params.pop("config", self._config)
        for name in _OWN:
            setattr(self, name, params.pop(name, getattr(self, name)))
        self._settings = {**self._settings, **params}
        return self


def _plain(value: object) -> object:
    """A search over an array of settings brings NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value
