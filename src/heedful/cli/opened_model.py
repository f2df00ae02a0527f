"""A model as the commands ask it, with torch or without, and its answers as rows for a terminal or a pipe."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import click

from heedful.cli.option_groups import NO_LIMITS, UNNAMED, Named, Requests, TextLimits
from heedful.cli.requests import Asked
from heedful.data.examples import Corpus, Example, one_example
from heedful.data.readers.reading import Reading, RequestFiles
from heedful.errors import DataError, HeedfulError, MissingExtraError, UsageError
from heedful.machine import threads
from heedful.model.decisions import kind_of
from heedful.runtime import load

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heedful.cli.explained_input import MethodOptions
    from heedful.explain import Explanation
    from heedful.models.precision import Precision
    from heedful.tasks import AnyModel
    from heedful.tasks.schema import AnyAnswer


@dataclass(frozen=True)
class Opened:
    """A model as a command asks it.

    Attributes:
        noun: what it is a model of, for messages.
        is_pair: whether a request is a pair of texts.
        max_tokens: longest text, in tokens.
        header: names of the columns of an answer.
        rows: lays an answer out.
        shows_texts: whether a terminal shows the texts beside the rows.
        trained: how the training file of the model was read.
        files: which files the model reads in its own way; None for none.
        refuse_long: refuses examples with a text that is too long.
        answer: answers examples, in order.
        encode: examples of one text to vectors [N, D]; None where the model has no vector of a text.
        explain: explains the answer to one example as options say; None where that takes torch.
        prefers_torch: says whether the model's own method of explanation takes torch, and torch is installed.
        options: options of the commands that not every task takes and this model does.
        labels: the classes, where the model answers with one of them.
        has_scores: whether it answers with a number.
    """

    noun: str
    is_pair: bool
    max_tokens: int
    header: tuple[str, ...]
    rows: Callable[[AnyAnswer], Iterable[list[str]]]
    shows_texts: bool
    trained: Reading
    files: RequestFiles | None
    refuse_long: Callable[[Corpus], None]
    answer: Callable[[Corpus], Sequence[AnyAnswer]]
    encode: Callable[[Corpus], NDArray[np.float32]] | None
    explain: Callable[[Corpus, MethodOptions], Explanation] | None
    prefers_torch: Callable[[], bool]
    options: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()
    has_scores: bool = False

    def asked(self, requests: Requests) -> Asked:
        """Return what a command asks of the model: the options of the command with what the model adds to them.

        Args:
            requests: the options.

        Returns:
            The requests, not yet read.
        """
        requests = requests.of(is_pair=self.is_pair)
        return Asked(
            requests.texts,
            (requests.premise, requests.hypothesis),
            requests.input_file,
            requests.reading,
            self.is_pair,
            self.trained,
            self.files,
        )


@runtime_checkable
class _InColumns(Protocol):
    def columns(self) -> str: ...


def columns_of(answer: AnyAnswer) -> str:
    """Return an answer in the columns of its format, for a model that has the option ``--conll``."""
    assert isinstance(answer, _InColumns)  # `Opened.options` was asked
    return answer.columns()


def answer_rows(
    opened: Opened, corpus: Corpus, answers: Sequence[AnyAnswer], *, with_row: bool
) -> tuple[list[str], list[list[str]]]:
    """Lay answers out.

    Args:
        opened: what was asked.
        corpus: the requests.
        answers: one a request.
        with_row: whether to begin with the request's row in its file.

    Returns:
        Header and rows, at least one row a request.
    """
    texts = sys.stdout.isatty() and opened.shows_texts
    rows = [
        [*([str(example.row)] if with_row else []), *cells, *([" => ".join(example.texts)] if texts else [])]
        for example, answer in zip(corpus.examples, answers, strict=True)
        for cells in opened.rows(answer)
    ]
    return [*(["row"] if with_row else []), *opened.header, *(["text"] if texts else [])], rows


def without_torch(folder: Path, limits: TextLimits = NO_LIMITS, named: Named = UNNAMED) -> Opened | None:
    """Open a model for `heedful.runtime`, which imports no torch.

    Args:
        folder: a model folder, or the run folder it lies in.
        limits: of the texts.
        named: labels for a model of vectors.

    Returns:
        The model; None where it has to be opened with torch, which also says what is wrong with a folder.
    """
    try:
        model = load(folder).limited(limits.max_tokens, limits.truncate).threaded(threads.asked())
    except HeedfulError:
        return None
    model = named.of(model)
    settings, layout = model.settings, model.settings.kind.layout

    tags = settings.kind.of_words

    def request(example: Example) -> str | tuple[str, ...]:
        if model.is_pair:
            return example.texts
        ready = example.words[0] if tags and example.words else None
        return example.texts[0] if ready is None else ready

    def check(corpus: Corpus) -> None:
        if settings.truncate == "error":
            from heedful.data.encoding import refuse_long

            refuse_long(corpus, model.asking.vocabulary, settings.cutter, settings.max_tokens)

    def answer(corpus: Corpus) -> list[AnyAnswer]:
        try:
            return list(model.predict(map(request, corpus.examples)))
        except DataError:
            check(corpus)  # names the row and the file
            raise

    def encode(corpus: Corpus) -> NDArray[np.float32]:
        try:
            return model.encode(e.texts[0] for e in corpus.examples)
        except DataError:
            check(corpus)
            raise

    def explain(corpus: Corpus, asked: MethodOptions) -> Explanation:
        from heedful.explain.from_runtime import explain as explained

        example = one_example(corpus)
        asked.check(tags=tags)
        try:
            return explained(model, request(example), asked.choice, asked.word)
        except DataError:
            check(Corpus([example]))
            raise

    return Opened(
        noun="tags of words" if tags else settings.task,
        is_pair=model.is_pair,
        max_tokens=settings.max_tokens,
        header=layout.header,
        rows=lambda answer: [layout.cells(answer)],
        shows_texts=not tags,
        trained=Reading.of_run(settings.run),
        files=_files_of_words(settings.run) if tags else None,
        refuse_long=check,
        answer=answer,
        encode=encode if model.width else None,
        explain=explain if model.program.shown is not None else None,
        options=frozenset({"conll"} if tags else ()),
        prefers_torch=lambda: _prefers_torch(model.metrics),
        labels=tuple(model.decision.names) if settings.kind.outputs == "classes" else (),
        has_scores=settings.kind.is_score,
    )


def _files_of_words(run: Mapping[str, object]) -> RequestFiles:
    """Return how files of words are read, with the options that the training file was read with."""
    from heedful.data.readers.tag_files import files_of_words

    data = run.get("data")
    options = data.get("options") if isinstance(data, Mapping) else None
    return files_of_words(dict(options) if isinstance(options, Mapping) else {})


def _prefers_torch(metrics: Mapping[str, object]) -> bool:
    from heedful.explain.methods import WITH_TORCH
    from heedful.explain.standing import standing_of

    standing = standing_of(metrics)
    best = "" if standing is None else standing.default
    return best in WITH_TORCH and importlib.util.find_spec("torch") is not None


def with_torch(model: AnyModel, given: Mapping[str, object]) -> Opened:
    """Return a model as a command asks it.

    Args:
        model: any model, from `open_model`.
        given: options of the command that not every task takes.

    Returns:
        The model.

    Raises:
        UsageError: if the task of the model does not take one of these options.
    """
    from heedful.tasks import SentenceModel, refuse_options, task_of

    task = task_of(model)
    refuse_options(task, given)
    return Opened(
        noun=task.noun,
        is_pair=model.is_pair,
        max_tokens=model.text.max_tokens,
        header=task.header,
        rows=task.rows,
        shows_texts=task.shows_texts,
        trained=Reading.of_run(model.about.run),
        files=task.request_files(model),
        refuse_long=model.refuse_long,
        answer=lambda corpus: task.answer(model, corpus, given),
        encode=model.encode if isinstance(model, SentenceModel) else None,
        explain=lambda corpus, asked: asked.explain(model, corpus, given),
        prefers_torch=lambda: False,  # torch is loaded already
        labels=tuple(getattr(model, "labels", ())) if kind_of(task.name).outputs == "classes" else (),
        has_scores=kind_of(task.name).is_score,
    )


def open_model(folder: Path, limits: TextLimits = NO_LIMITS, precision: Precision = "float32") -> AnyModel:
    """Read a model with torch, whatever it answers.

    Args:
        folder: a model folder, or the run folder it lies in.
        limits: of the texts.
        precision: value of ``--precision``.

    Returns:
        The model.

    Raises:
        ArtifactError: if a file is missing or altered.
        MissingExtraError: if torch is not installed.
    """
    _require_torch(folder)
    from heedful.machine.processors import bfloat16_obstacle
    from heedful.models.precision import at_precision
    from heedful.tasks import load_model

    if precision == "bfloat16" and (obstacle := bfloat16_obstacle()):
        click.echo(f"--precision bfloat16: {obstacle}, so it is slower than float32 here", err=True)
    model = load_model(folder, max_tokens=limits.max_tokens, truncate=limits.truncate)
    model.network = at_precision(model.network, precision)
    return model


def _require_torch(folder: Path) -> None:
    """Refuse to go on without torch; what is wrong with the folder itself is said first."""
    try:
        importlib.import_module("torch")
    except ImportError as error:
        with contextlib.suppress(
            UsageError
        ):  # that the runtime cannot run the model is no fault of the folder
            load(folder)
        raise MissingExtraError(
            "torch", "", f"{folder}: what was asked of this model", install="torch"
        ) from error
