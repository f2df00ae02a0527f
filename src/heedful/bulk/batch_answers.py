"""A model that answers rows: each one gets its answer, or the reason why it has none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from heedful.bulk.prediction_table import Column, whole_columns
from heedful.data.examples import Corpus, Example
from heedful.data.readers.reading import FileReading
from heedful.data.readers.text_fields import is_missing
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.machine import threads
from heedful.model.decisions import Wish
from heedful.opening import AnyModel, Truncate, open_model
from heedful.storage.manifest import manifest_checksum
from heedful.storage.named_models import find_model

if TYPE_CHECKING:
    from heedful.model.answers import AnyAnswer


_HERE = "the row"
"""How messages of columns call a row, which is named in front of its reason."""


@dataclass(frozen=True)
class Bad:
    """A row that has no answer.

    Attributes:
        reason: why, as a clause that names the column.
    """

    reason: str


@dataclass(frozen=True)
class ModelOptions:
    """What is asked, and of which model.

    Attributes:
        model: a model folder, the run folder that holds it, or the name of a model (`find_model`).
        max_tokens: longest text, in tokens; None for what the model was trained with.
        truncate: what a longer text does; None for what the model was trained with.
        precision: precision of the network; other than float32 takes torch.
        checksum: the model must have this one (`manifest_checksum`); empty for any.
        wish: what is asked of sets and intervals; None where answers have none.
        tree: what separates the levels of classes that are paths; None where answers have no parents.
        at_least: the probability at which an answer in a tree stops; None for the class itself.

    Raises:
        UsageError: if an answer is to stop in a tree and there is none.
    """

    model: str
    max_tokens: int | None = None
    truncate: Truncate | None = None
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    checksum: str = ""
    wish: Wish | None = None
    tree: str | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if self.at_least is not None and self.tree is None:
            raise UsageError("at least: says where an answer in a tree stops: add the tree, such as tree='/'")

    def of(self, model: AnyModel) -> AnyModel:
        """Return a model with the sets and the parents that are asked for."""
        promising = model if self.wish is None else model.promising(self.wish)
        return promising if self.tree is None else promising.in_tree(self.tree, self.at_least)


class BatchAnswers:
    """A model, read once, that answers rows.

    The runtime computes where it can run the model, and every answer is then the same to the last bit whatever the
    other rows are. Any other model is computed by torch.

    Args:
        options: the model and how texts are read.

    Attributes:
        model: the model.
        roles: the texts of a row: ("text",) or ("premise", "hypothesis").
        features: the columns that the model reads beside the texts; None for texts alone.
        beside: their names.
        trained: how the training file of the model was read.
        columns: what an answer is as typed columns.

    Raises:
        ArtifactError: if the model is missing or damaged, or another one than was asked for.
        UsageError: if its answers have no such sets, or its classes make no such tree.
    """

    def __init__(self, options: ModelOptions) -> None:
        path = find_model(options.model)
        _refuse_another(path, options)
        opened = open_model(
            path, max_tokens=options.max_tokens, truncate=options.truncate, precision=options.precision
        )
        self.model = options.of(opened)
        self.roles = ("premise", "hypothesis") if self.model.is_pair else ("text",)
        self.features = self.model.columns
        self.beside: tuple[str, ...] = () if self.features is None else self.features.names
        self.columns: tuple[Column, ...] = whole_columns(self.model)
        self.trained = FileReading.of_run(self.model.run_settings)
        reading = self.model.reading
        self._longest = reading.max_tokens if reading.refuses_long else sys.maxsize

    def answers(self, rows: Sequence[Sequence[object]]) -> list[AnyAnswer | Bad]:
        """Answer rows.

        Args:
            rows: the values of `roles` of each row, and behind them those of `beside`.

        Returns:
            One answer a row, in order; `Bad` for a row of which a text is missing, no text or too long, or a column of
            another kind.
        """
        problems = [self._problem(row) for row in rows]
        good = [row for row, problem in zip(rows, problems, strict=True) if problem is None]
        found = iter(self._answered(good))
        return [next(found) if problem is None else problem for problem in problems]

    def _problem(self, row: Sequence[object]) -> Bad | None:
        for role, value in zip(self.roles, row, strict=False):
            if is_missing(value):
                return Bad(f"{role}: the value is missing")
            if not isinstance(value, str):
                return Bad(f"{role}: expected text, got {type(value).__name__} {value!r:.80}")
            if (
                len(value) > self._longest
                and (count := len(self.model.reading.cutter.words(value))) > self._longest
            ):
                return Bad(f"{role}: {count:,} tokens, and at most {self._longest:,} are allowed")
        if self.features is not None:
            try:
                self.features.read(self._cells(row), _HERE)
            except DataError as error:
                return Bad(str(error).removeprefix(f"{_HERE}, "))
        return None

    def _cells(self, row: Sequence[object]) -> dict[str, object]:
        """Return the values of the columns beside the texts of a row, by name."""
        return dict(zip(self.beside, row[len(self.roles) :], strict=True))

    def _answered(self, rows: Sequence[Sequence[object]]) -> list[AnyAnswer | Bad]:
        if not rows:
            return []
        try:
            return list(self.model.predict(self._inputs(rows)))
        except DataError:  # a text whose pieces are too many; the others are sound
            return [self._one(row) for row in rows]

    def _one(self, row: Sequence[object]) -> AnyAnswer | Bad:
        try:
            return next(iter(self.model.predict(self._inputs([row]))))
        except DataError as error:
            return Bad(str(error))

    def _inputs(self, rows: Sequence[Sequence[object]]) -> list[str | tuple[str, str]] | Corpus:
        """Return rows in which no problem was found as requests; with columns as the examples of a corpus."""
        if self.features is None:
            return [_request(row) for row in rows]
        sides = len(self.roles)
        return Corpus([Example(tuple(map(str, row[:sides])), cells=self._cells(row)) for row in rows])


def _request(row: Sequence[object]) -> str | tuple[str, str]:
    """Return the texts of a row in which no problem was found."""
    first, *second = map(str, row)
    return (first, second[0]) if second else first


def _refuse_another(path: Path, options: ModelOptions) -> None:
    if options.checksum and (found := manifest_checksum(path)) != options.checksum:
        raise ArtifactError(
            f"{path}: is another model than the one that was asked for: expected the checksum {options.checksum:.12}, "
            f"found {found:.12}. Copy the same model folder to every machine."
        )


def one_thread() -> None:
    """Let this process compute with one thread, also in torch if the model takes it."""
    threads.begin(1)
    if "torch" in sys.modules:
        threads.settle()
