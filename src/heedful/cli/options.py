"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from heedful.machine import threads

if TYPE_CHECKING:
    from heedful.machine.executors import Executor

F = TypeVar("F", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)


def data_option(function: F) -> F:
    """Add ``--data``."""
    return click.option(
        "--data",
        type=PATH,
        envvar="HEEDFUL_DATA",
        show_envvar=True,
        help="Folder of the data sets. File names in settings are relative to it, or to the working folder.",
    )(function)


def set_option(function: F) -> F:
    """Add ``--set``, which changes single settings."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change a setting, for example train.epochs=3. May be repeated.",
    )(function)


def json_option(function: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(function)


def quiet_option(function: F) -> F:
    """Add ``--quiet``."""
    return click.option("-q", "--quiet", is_flag=True, help="Print no progress on standard error.")(function)


def no_baseline_option(function: F) -> F:
    """Add ``--no-baseline``."""
    return click.option(
        "--no-baseline",
        is_flag=True,
        help="Do not also train linear baselines (TF-IDF with logistic regression, NB-SVM), which takes some seconds.",
    )(function)


def ray_option(function: F) -> F:
    """Add ``--ray``; the command gets a context that gives an executor, or None."""
    return click.option(
        "--ray",
        metavar="ADDRESS",
        help="Run what is independent as tasks of a Ray cluster: its address, 'auto' for the one that runs on this "
        "machine, or 'local' to start one here. All its machines must have --out and --data under the same paths.",
    )(function)


def executor_of(address: str | None) -> AbstractContextManager[Executor | None]:
    """Return a context that connects to the cluster that ``--ray`` names, and gives None without it."""
    if address is None:
        return nullcontext()
    from heedful.machine.executors import ray_cluster

    return ray_cluster(address)


def track_option(function: F) -> F:
    """Add ``--track``."""
    return click.option(
        "--track",
        "trackers",
        multiple=True,
        type=click.Choice(["tensorboard", "mlflow", "wandb"]),
        help="Also send the figures of every evaluation to this tracker. May be repeated. By default nothing is sent.",
    )(function)


def cache_option(function: F) -> F:
    """Add ``--no-cache``."""

    def begin(context: click.Context, _option: click.Parameter, no_cache: bool) -> None:
        if no_cache:
            from heedful.data.cache import CACHE_VARIABLE, NONE

            before = os.environ.get(CACHE_VARIABLE)
            os.environ[CACHE_VARIABLE] = NONE  # also for processes that the command starts
            context.call_on_close(lambda: _set_back(CACHE_VARIABLE, before))

    return click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=begin,
        help="Neither read nor keep encoded data and word vectors on disk. HEEDFUL_CACHE=none does the same for every "
        "command; 'heedful data cache' lists what is kept.",
    )(function)


@contextmanager
def first_use_reported(*, quiet: bool) -> Iterator[None]:
    """Report on standard error where encoded data is kept, if the body is the first that keeps any.

    Args:
        quiet: whether nothing is printed.
    """
    from heedful.data.cache import cache_folder
    from heedful.data.cache_contents import first_use_note

    notes = () if quiet else first_use_note()
    try:
        yield
    finally:
        place = cache_folder()
        if place is not None and place.exists():
            for note in notes:
                click.echo(note, err=True)


def _set_back(variable: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = before


def threads_option(function: F) -> F:
    """Add ``--threads``; commands of several processes give it to each."""

    def begin(_context: click.Context, _option: click.Parameter, number: int | None) -> None:
        threads.begin(number)

    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        expose_value=False,
        callback=begin,
        help="Number of threads for computation. The default is OMP_NUM_THREADS, or as many as the quota of the "
        "process and other work on the machine leave free.",
    )(function)


def limit_options(function: F) -> F:
    """Add the options for long texts."""
    truncate = click.option(
        "--truncate",
        type=click.Choice(["error", "head"]),
        help="What happens to a text longer than --max-tokens: 'error' stops the command, and 'head' keeps the "
        "beginning of the text and counts it. The default is the setting that the model was trained with.",
    )
    longest = click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        help="Longest text, in tokens. The default is the setting that the model was trained with.",
    )
    return truncate(longest(function))


def precision_option(function: F) -> F:
    """Add ``--precision``."""
    return click.option(
        "--precision",
        type=click.Choice(["float32", "bfloat16", "int8"]),
        default="float32",
        show_default=True,
        help="Precision of the network in prediction. bfloat16 is faster if the processor has instructions for it and "
        "slower otherwise ('heedful info' reports this); int8 stores the matrices as 8-bit integers.",
    )(function)


def text_option(function: F) -> F:
    """Add ``--text``."""
    return click.option("--text", "texts", multiple=True, help="A text. May be repeated.")(function)


def predicates_option(function: F) -> F:
    """Add ``--predicates``."""
    return click.option(
        "--predicates",
        multiple=True,
        metavar="WORD[,WORD]",
        help="For semantic roles: the predicates of a text, as its words or as their numbers from 1. Give the option "
        "once for each text. By default the model finds the predicates.",
    )(function)


def pair_options(function: F) -> F:
    """Add ``--premise`` and ``--hypothesis``."""
    second = click.option("--hypothesis", help="Second text of a pair.")
    return click.option("--premise", help="First text of a pair.")(second(function))


_INPUT = (
    "a .csv, .tsv, .jsonl, .json or .parquet table, or a .txt file with one text in each line. It may be compressed. "
    "With -, lines are read from standard input"
)


def input_options(function: F) -> F:
    """Add ``--input``, for commands that predict."""
    return _input_option(
        f"File of inputs: {_INPUT}; the line of a pair is premise TAB hypothesis. Models of semantic roles also read "
        ".conll and .conllu files, with their predicates."
    )(function)


def text_input_options(function: F) -> F:
    """Add ``--input``, for commands that take single texts, whatever the model predicts."""
    return _input_option(f"File of texts: {_INPUT}.")(function)


def _input_option(help_text: str) -> Callable[[F], F]:
    return click.option("--input", "input_file", type=PATH, help=help_text)
