"""What the commands ask of a model, with torch or without: their requests, and answers as printed rows."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import click

from heedful.cli.option_groups import NO_LIMITS, UNNAMED, NamedLabelOptions, Requests, TextLimits
from heedful.cli.request_options import RequestOptions
from heedful.data.examples import Corpus
from heedful.data.readers.reading import FileReading, RequestFiles
from heedful.errors import DataError, UsageError, check_known
from heedful.machine import threads
from heedful.opening import AnyModel, open_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heedful.model.answers import AnyAnswer
    from heedful.model.engine import Capability
    from heedful.models.precision import Precision
    from heedful.tasks import SavedModel


def opened(
    folder: Path,
    limits: TextLimits = NO_LIMITS,
    *,
    precision: Precision = "float32",
    named: NamedLabelOptions = UNNAMED,
    options: Mapping[str, object] | None = None,
    needs: Collection[Capability] = (),
) -> AnyModel:
    """Open a model, without torch where that has everything that is asked for.

    Args:
        folder: a model folder, or the run folder it lies in.
        limits: of the texts.
        precision: value of ``--precision``.
        named: labels for a model of vectors.
        options: options of the command that not every task takes.
        needs: what the engine must be able to do, if one of the two is.

    Returns:
        The model.

    Raises:
        ArtifactError: if a file is missing or altered.
        MissingExtraError: if it takes torch, which is not installed.
        UsageError: if the task of the model does not take one of the options.
    """
    options = options or {}
    model = open_model(
        folder,
        max_tokens=limits.max_tokens,
        truncate=limits.truncate,
        precision=precision,
        needs=needs,
    ).threaded(threads.requested())
    _warn(precision)
    if not {name for name, value in options.items() if value} <= model.options:
        model = with_torch(folder, limits)
        from heedful.tasks import refuse_options, task_of

        refuse_options(task_of(model), options)
    asked: AnyModel = named.of(model)
    return asked


def with_torch(
    folder: Path, limits: TextLimits = NO_LIMITS, precision: Precision = "float32"
) -> SavedModel[Any]:
    """Open a model with torch, whatever it answers; see `opened`."""
    found = open_model(
        folder,
        "torch",
        max_tokens=limits.max_tokens,
        truncate=limits.truncate,
        precision=precision,
    )
    _warn(precision)
    return cast("SavedModel[Any]", found)


def _warn(precision: Precision) -> None:
    """Warn of a precision that this processor has no instructions for."""
    if precision == "bfloat16":
        from heedful.machine.processors import bfloat16_obstacle

        if obstacle := bfloat16_obstacle():
            click.echo(f"--precision bfloat16: {obstacle}, so it is slower than float32 here", err=True)


def request_options(model: AnyModel, requests: Requests) -> RequestOptions:
    """Return what a command asks of a model: the options of the command with what the model adds to them.

    Args:
        model: the model.
        requests: the options.

    Returns:
        The requests, not yet read.
    """
    requests = requests.of(is_pair=model.is_pair)
    return RequestOptions(
        requests.texts,
        (requests.premise, requests.hypothesis),
        requests.input_file,
        requests.reading,
        model.is_pair,
        FileReading() if requests.input_file is None else FileReading.of_run(model.run_settings),
        files_of(model),
        cells=_cells_of(model, requests.cells),
    )


def _cells_of(model: AnyModel, given: Sequence[str]) -> dict[str, str] | None:
    """Read the values of ``--feature``, and refuse columns that the model does not read."""
    if not given:
        return None
    columns, found = model.engine.parts.columns, dict[str, str]()
    if columns is None:
        raise UsageError("--feature: this model reads no columns beside the text; leave it out")
    for each in given:
        name, sign, value = each.partition("=")
        if not sign:
            raise UsageError(
                f"--feature {each!r}: write NAME=VALUE, for example {columns.columns.names[0]}=12.5"
            )
        check_known(name, columns.columns.names, f"--feature {each!r}: the model reads no column {name!r}")
        if found.setdefault(name, value) != value:
            raise UsageError(f"--feature gives {name} twice: {found[name]!r} and {value!r}")
    return found


def files_of(model: AnyModel) -> RequestFiles | None:
    """Return which files a model reads in its own way, with the options that its training file was read with."""
    if not model.kind.of_words:
        own: RequestFiles | None = model.request_files()
        return own
    from heedful.data.readers.tag_files import files_of_words

    data = model.run_settings.get("data")
    options = data.get("options") if isinstance(data, Mapping) else None
    return files_of_words(dict(options) if isinstance(options, Mapping) else {})


def refuse_long(model: AnyModel, corpus: Corpus) -> None:
    """Refuse examples with a text that is too long or without their columns, naming the row, before anything runs.

    Args:
        model: the model.
        corpus: texts, or pairs.

    Raises:
        DataError: naming the row.
    """
    if (columns := model.engine.parts.columns) is not None:
        from heedful.data.tokens import place

        for number, example in enumerate(corpus.examples, start=1):
            columns.read(example.cells, place(corpus.source, example.row or number))
    if not model.reading.refuses_long:
        return
    if model.reading.vocabulary is None:  # it reads pieces of its own
        model.refuse_long(corpus)
        return
    from heedful.data import encoding

    encoding.refuse_long(corpus, model.reading.vocabulary, model.reading.cutter, model.reading.max_tokens)


def answers_of(
    model: AnyModel, corpus: Corpus, options: Mapping[str, object] | None = None
) -> Sequence[AnyAnswer]:
    """Answer examples, in order.

    Args:
        model: the model.
        corpus: the examples.
        options: options of the command that not every task takes.

    Returns:
        One answer an example.

    Raises:
        DataError: naming the row and the file, if a text is too long.
    """
    try:
        return list(model.predict(corpus, options))
    except DataError:
        refuse_long(model, corpus)  # names the row and the file
        raise


def vectors_of(model: AnyModel, corpus: Corpus) -> NDArray[np.float32]:
    """Return the vectors of examples of one text, [N, D]; see `answers_of`."""
    try:
        return model.encode(corpus)
    except DataError:
        refuse_long(model, corpus)
        raise


@runtime_checkable
class _InColumns(Protocol):
    def columns(self) -> str: ...


def columns_of(answer: AnyAnswer) -> str:
    """Return an answer in the columns of its format, for a model that has the option ``--conll``."""
    assert isinstance(answer, _InColumns)  # `Model.options` was asked
    return answer.columns()


def answer_rows(
    model: AnyModel, corpus: Corpus, answers: Sequence[AnyAnswer], *, with_row: bool
) -> tuple[list[str], list[list[str]]]:
    """Lay answers out.

    Args:
        model: what answered.
        corpus: the requests.
        answers: one a request.
        with_row: whether to begin with the request's row in its file.

    Returns:
        Header and rows, at least one row a request.
    """
    texts = sys.stdout.isatty() and model.shows_texts
    rows = [
        [*([str(example.row)] if with_row else []), *cells, *([" => ".join(example.texts)] if texts else [])]
        for example, answer in zip(corpus.examples, answers, strict=True)
        for cells in model.rows(answer)
    ]
    return [*(["row"] if with_row else []), *model.header, *(["text"] if texts else [])], rows
