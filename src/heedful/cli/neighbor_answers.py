"""Answers beside the training examples that each text resembles, for ``heedful predict --neighbors``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from heedful.explain.neighbors import Neighbor, check_count, kept_of, neighbors
from heedful.explain.neighbors_shown import as_cell
from heedful.model.answers import AnyAnswer
from heedful.opening import AnyModel


@dataclass(frozen=True)
class BesideNeighbors:
    """An answer, and the training examples that its text resembles.

    Attributes:
        answer: the answer.
        neighbors: the examples, the most alike first.
    """

    answer: AnyAnswer
    neighbors: tuple[Neighbor, ...]

    @property
    def truncated(self) -> bool:
        """See `AnyAnswer.truncated`."""
        return self.answer.truncated

    @property
    def remarks(self) -> str:
        """See `AnyAnswer.remarks`."""
        return self.answer.remarks

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {**self.answer.as_dict(), "neighbors": [each.as_dict() for each in self.neighbors]}


class _WithNeighbors:
    """A model whose answers have neighbors; everything else is that of the model."""

    def __init__(self, model: AnyModel, count: int) -> None:
        self._model, self._count = model, count

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    @property
    def header(self) -> tuple[str, ...]:
        return (*self._model.header, "neighbors")

    def rows(self, answer: BesideNeighbors) -> Iterable[list[str]]:
        return [[*row, as_cell(answer.neighbors)] for row in self._model.rows(answer.answer)]

    def predict(
        self, requests: Any, options: Mapping[str, object] | None = None
    ) -> Iterator[BesideNeighbors]:
        answers = list(self._model.predict(requests, options))
        near = neighbors(self._model, requests, self._count)
        yield from map(BesideNeighbors, answers, near)


def with_neighbors(model: AnyModel, count: int) -> AnyModel:
    """Return a model whose answers also have the training examples that their texts resemble.

    Args:
        model: a model that keeps its training examples.
        count: how many.

    Returns:
        What answers.

    Raises:
        UsageError: if it keeps none.
    """
    check_count(count)
    kept_of(model)
    return cast("AnyModel", _WithNeighbors(model, count))
