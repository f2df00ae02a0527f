"""How an estimator reads X: texts or pairs alone, or the columns of a table that hold them and stand beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus
from heedful.data.readers.reading import OnMissing
from heedful.data.readers.text_fields import read_requests
from heedful.errors import UsageError, checked_list
from heedful.estimators.columns import rows_of
from heedful.estimators.table_columns import TableColumns, named_texts
from heedful.features.feature_kinds import wanted_columns
from heedful.run.run_config import RunConfig
from heedful.tasks import task_named
from heedful.tasks.tables import PAIR, TEXT


class ReadsTables:
    """What an estimator reads of X.

    Attributes:
        task: what the network predicts.
        text: see `heedful.estimators.estimator.Estimator`.
        features: likewise.
        feature_names_in_: names of the columns of X that are read; set by `fit` where X is a table with features.
        n_features_in_: how many they are.
    """

    task: ClassVar[str]
    text: str | Sequence[str] | None
    features: Sequence[str] | None
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int
    _config: RunConfig | None
    _settings: dict[str, Any]

    @abstractmethod
    def _trained_columns(self) -> Mapping[str, object]:
        """Return the settings of the data of the trained model; none before training."""

    @classmethod
    def _pair(cls) -> bool:
        """Say whether an example is a pair of texts."""
        return task_named(cls.task).sides == 2

    def _on_missing(self) -> object:
        """Return what is to be done with a missing text; the other settings, which a model was fitted by, may wait."""
        if "data__options__on_missing" in self._settings:
            return self._settings["data__options__on_missing"]
        given = self._config.data.options if isinstance(self._config, RunConfig) else {}
        return dict(self._settings.get("data__options") or given).get("on_missing")

    def _requests(self, X: object) -> Corpus:
        pair, missing = self._pair(), self._on_missing()
        if missing == "skip":
            raise UsageError(
                "data__options: on_missing='skip' is for files; drop the rows of X and y, or choose 'error' or 'empty'"
            )
        on_missing: OnMissing = "empty" if missing == "empty" else "error"
        if (beside := self._beside()) is None:
            return read_requests(rows_of(X, pair=pair), pair=pair, on_missing=on_missing)
        texts, cells = beside.parted(X)
        corpus = read_requests(texts, pair=pair, on_missing=on_missing)
        examples = zip(corpus.examples, cells, strict=True)
        return replace(corpus, examples=[replace(each, cells=own) for each, own in examples])

    def _request(self, request: Any) -> Any:
        """Return one request as a model takes it: a row of a table with its columns, where the model reads some."""
        if isinstance(request, str) or self._beside() is None:
            return request
        return self._requests([request.to_dict() if hasattr(request, "to_dict") else request])

    def _beside(self, *, trained: bool = True) -> TableColumns | None:
        """Return which columns of a table are read, as they were chosen in training; None without any but texts."""
        data = self._trained_columns() if trained else {}
        features = cast("Sequence[str]", data.get("features")) or self._features()
        if not features:
            return None
        pair = self._pair()
        kept = tuple(str(data[role]) for role in (PAIR if pair else TEXT) if data.get(role))
        return TableColumns(kept or named_texts(self.text, pair=pair), wanted_columns(features), pair)

    def _features(self) -> tuple[str, ...]:
        """Return the columns beside the text that the settings name."""
        if self.features is not None:
            return tuple(map(str, checked_list("features", self.features, "names")))
        given = self._config.data.features if isinstance(self._config, RunConfig) else ()
        return tuple(self._settings.get("data__features") or given)

    def _named_columns(self) -> dict[str, object]:
        """Return the settings that name columns of a table."""
        names = named_texts(self.text, pair=self._pair())
        roles = (PAIR if self._pair() else TEXT)[: len(names)]
        found: dict[str, object] = {f"data.{role}": name for role, name in zip(roles, names, strict=True)}
        return found if self.features is None else {**found, "data.features": list(self._features())}

    def _choose_columns(self, X: object) -> dict[str, object]:
        """Return the settings that say which columns of a table are the texts, and keep the names of all of them."""
        beside = self._beside(trained=False)
        if beside is None:
            if self.text is not None:
                raise UsageError(
                    "text names a column of a table X: name the columns beside it too, features=[...]"
                )
            return {}
        names = beside.texts_in(X)
        self.feature_names_in_ = np.array([*names, *(each.name for each in beside.features)], object)
        self.n_features_in_ = len(self.feature_names_in_)
        return {
            f"data.{role}": name for role, name in zip(PAIR if self._pair() else TEXT, names, strict=True)
        }
