"""A model that answers rows: each one gets its answer, or the reason why it has none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from heedful.bulk.prediction_table import Column, columns_of
from heedful.data.readers.reading import Reading
from heedful.data.readers.text_fields import is_missing
from heedful.errors import ArtifactError, DataError, HeedfulError
from heedful.machine import threads
from heedful.runtime import Model
from heedful.runtime import load as load_runtime
from heedful.storage.manifest import manifest_checksum
from heedful.storage.named_models import find_model
from heedful.text.tokenize import Tokenizer

if TYPE_CHECKING:
    from heedful.runtime.settings import Settings
    from heedful.tasks.schema import AnyAnswer, Text, TextSettings

Truncate = Literal["error", "head"]


@dataclass(frozen=True)
class Bad:
    """A row that has no answer.

    Attributes:
        reason: why, as a clause that names the column.
    """

    reason: str


@dataclass(frozen=True)
class Asking:
    """What is asked, and of which model.

    Attributes:
        model: a model folder, the run folder that holds it, or the name of a model (`find_model`).
        max_tokens: longest text, in tokens; None for what the model was trained with.
        truncate: what a longer text does; None for what the model was trained with.
        precision: precision of the network; other than float32 takes torch.
        checksum: the model must have this one (`manifest_checksum`); empty for any.
    """

    model: str
    max_tokens: int | None = None
    truncate: Truncate | None = None
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    checksum: str = ""


class BatchAnswers:
    """A model, read once, that answers rows.

    The runtime computes where it can run the model, and every answer is then the same to the last bit whatever the
    other rows are. Any other model is computed by torch.

    Args:
        asking: the model and how texts are read.

    Attributes:
        task: its task.
        roles: the texts of a row: ("text",) or ("premise", "hypothesis").
        trained: how the training file of the model was read.
        columns: what an answer is as typed columns.
        header: names of the cells of an answer.
        rows: lays an answer out as rows of cells.

    Raises:
        ArtifactError: if the model is missing or damaged, or another one than was asked for.
    """

    def __init__(self, asking: Asking) -> None:
        self._answer: Callable[[Sequence[Text]], Iterable[AnyAnswer]]
        settings: Settings | TextSettings
        path = find_model(asking.model)
        _refuse_another(path, asking)
        plain = asking.precision == "float32"
        if (model := _runtime(path, asking) if plain else None) is not None:
            self.task, settings = model.settings.task, model.settings
            is_pair, run, self._answer = model.is_pair, settings.run, model.predict
            layout = settings.kind.layout
            self.header = layout.header
            self.rows: Callable[[AnyAnswer], Iterable[list[str]]] = lambda answer: [layout.cells(answer)]
        else:
            from heedful.models.precision import at_precision
            from heedful.tasks import load_model, task_of

            torch_model = load_model(path, max_tokens=asking.max_tokens, truncate=asking.truncate)
            torch_model.network = at_precision(torch_model.network, asking.precision)
            task = task_of(torch_model)
            self.task, settings, is_pair = task.name, torch_model.text, torch_model.is_pair
            run, self._answer = torch_model.about.run, torch_model.answer
            self.header, self.rows = task.header, task.rows
        self.roles = ("premise", "hypothesis") if is_pair else ("text",)
        self.columns: tuple[Column, ...] = columns_of(self.task)
        self.trained = Reading.of_run(run)
        self._longest = settings.max_tokens if settings.truncate == "error" else sys.maxsize
        self._tokenizer: Tokenizer = settings.cutter

    def answers(self, rows: Sequence[Sequence[object]]) -> list[AnyAnswer | Bad]:
        """Answer rows.

        Args:
            rows: the values of `roles` of each row.

        Returns:
            One answer a row, in order; `Bad` for a row of which a value is missing, no text or too long.
        """
        problems = [self._problem(row) for row in rows]
        good = [row for row, problem in zip(rows, problems, strict=True) if problem is None]
        found = iter(self._answered(good))
        return [next(found) if problem is None else problem for problem in problems]

    def _problem(self, row: Sequence[object]) -> Bad | None:
        for role, value in zip(self.roles, row, strict=True):
            if is_missing(value):
                return Bad(f"{role}: the value is missing")
            if not isinstance(value, str):
                return Bad(f"{role}: expected text, got {type(value).__name__} {value!r:.80}")
            if len(value) > self._longest and (count := len(self._tokenizer.words(value))) > self._longest:
                return Bad(f"{role}: {count:,} tokens, and at most {self._longest:,} are allowed")
        return None

    def _answered(self, rows: Sequence[Sequence[object]]) -> list[AnyAnswer | Bad]:
        if not rows:
            return []
        asked = [_request(row) for row in rows]
        try:
            return list(self._answer(asked))
        except DataError:  # a text whose pieces are too many; the others are sound
            return [self._one(request) for request in asked]

    def _one(self, request: Text) -> AnyAnswer | Bad:
        try:
            return next(iter(self._answer([request])))
        except DataError as error:
            return Bad(str(error))


def _request(row: Sequence[object]) -> Text:
    """Return the texts of a row in which no problem was found."""
    first, *second = map(str, row)
    return (first, second[0]) if second else first


def _runtime(path: Path, asking: Asking) -> Model | None:
    """Open a model without torch; None where it takes torch, which also says what is wrong with a folder."""
    try:
        return load_runtime(path).limited(asking.max_tokens, asking.truncate)
    except HeedfulError:
        return None


def _refuse_another(path: Path, asking: Asking) -> None:
    if asking.checksum and (found := manifest_checksum(path)) != asking.checksum:
        raise ArtifactError(
            f"{path}: is another model than the one that was asked for: expected the checksum {asking.checksum:.12}, "
            f"found {found:.12}. Copy the same model folder to every machine."
        )


def one_thread() -> None:
    """Let this process compute with one thread, also in torch if the model takes it."""
    threads.begin(1)
    if "torch" in sys.modules:
        threads.settle()
