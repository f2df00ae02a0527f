"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from heedful.cli.guards import PATH, WRITTEN, WrittenPath
from heedful.errors import MOST_AT_ONCE, Interrupted
from heedful.machine import threads

if TYPE_CHECKING:
    from heedful.machine.executors import Executor

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in the order in which the help lists them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def number_option(
    name: str, default: int, help_text: str, *, smallest: int = 1, largest: int | None = None
) -> Callable[[F], F]:
    """Return an option that takes a whole number.

    Args:
        name: of the option, or ``"-x dest"`` with the name of its value.
        default: its value where it is not given; the help shows it.
        help_text: what the number means.
        smallest: the smallest number that is allowed.
        largest: the largest; None for any.

    Returns:
        The decorator.
    """
    kind = click.IntRange(smallest, largest)
    return click.option(*name.split(), type=kind, default=default, show_default=True, help=help_text)


def out_option(help_text: str, default: str | None = None, makes: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Return ``--out``, the folder that a command writes, which has to be given where there is no default.

    Args:
        help_text: what is written there.
        default: the folder where the option is not given; empty where the command finds one.
        makes: files in the folder that are replaced; see `WrittenPath`.

    Returns:
        The decorator.
    """
    folder: dict[str, Any] = {"required": True} if default is None else {}
    if default:
        folder = {"default": Path(default), "show_default": True}
    return click.option("--out", type=WrittenPath(*makes), help=help_text, **folder)


teacher_options = together(
    click.option(
        "--teacher",
        "teachers",
        multiple=True,
        help="A model whose probabilities are learned too: a model folder, a .jsonl file of soft labels, or a "
        "transformer, the folder or the name on the Hugging Face Hub, which is fine-tuned first. Several folders are "
        "an ensemble: the mean of their probabilities is learned. Short for --set distil.teacher=[...].",
    ),
    click.option(
        "--texts",
        help="File of texts without labels, for which the teacher also predicts. Short for --set distil.texts=FILE.",
    ),
)
"""The options of commands that train a student; the record is `heedful.cli.option_groups.Lessons`."""


class _Kept(click.ParamType):
    """What is kept of the training examples; a name of something else was meant as an argument of its own."""

    name = "texts|rows"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in ("texts", "rows"):
            return value
        self.fail(
            f"expected texts or rows, got {value!r:.60}; write --keep-examples texts {value!s:.60}",
            param,
            ctx,
        )


keep_examples_option = click.option(
    "--keep-examples",
    type=_Kept(),
    is_flag=False,
    flag_value="texts",
    help="Keep the training texts in the model folder, so that 'predict --neighbors' and 'explain' show which of them "
    "a text resembles; 'rows' keeps their rows and labels without the texts. Whoever has the model can read the texts. "
    "Short for --set data.keep_examples=texts.",
)
"""``--keep-examples``, alone or with what is kept."""


def neighbors_option(help_text: str, smallest: int) -> Callable[[F], F]:
    """Return ``--neighbors``, how many training examples are shown; the command gets the number or None."""
    return click.option("--neighbors", type=click.IntRange(smallest, 100), metavar="NUMBER", help=help_text)


def figures_option(help_text: str) -> Callable[[F], F]:
    """Return ``--figure``, the files that a drawing is written to; the command gets them as ``figures``."""
    return click.option("--figure", "figures", type=WRITTEN, multiple=True, help=help_text)


data_option = click.option(
    "--data",
    type=PATH,
    envvar="HEEDFUL_DATA",
    show_envvar=True,
    help="Folder of the data sets. File names in settings are relative to it, or to the working folder.",
)
set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting, for example train.epochs=3. May be repeated.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no progress on standard error.")
printing_options = together(json_option, quiet_option)
no_baseline_option = click.option(
    "--no-baseline",
    is_flag=True,
    help="Do not also train linear baselines (TF-IDF with logistic regression, NB-SVM), which takes some seconds.",
)
ray_option = click.option(
    "--ray",
    metavar="ADDRESS",
    help="Run independent work as tasks of a Ray cluster. ADDRESS is the address of the cluster, 'auto' for the one "
    "that runs on this machine, or 'local' to start one on this machine. All machines of the cluster must have --out "
    "and --data under the same paths.",
)
track_option = click.option(
    "--track",
    "trackers",
    multiple=True,
    type=click.Choice(["tensorboard", "mlflow", "wandb"]),
    help="Also send the figures of every evaluation to this tracker. May be repeated. By default nothing is sent.",
)


def executor_of(address: str | None) -> AbstractContextManager[Executor | None]:
    """Return a context that connects to the cluster that ``--ray`` names, and gives None without it."""
    if address is None:
        return nullcontext()
    from heedful.machine.executors import ray_cluster

    return ray_cluster(address)


def _begin_cache(context: click.Context, _option: click.Parameter, no_cache: bool) -> None:
    if no_cache:
        from heedful.data.cache import CACHE_VARIABLE, NONE

        before = os.environ.get(CACHE_VARIABLE)
        os.environ[CACHE_VARIABLE] = NONE  # also for processes that the command starts
        context.call_on_close(lambda: _set_back(CACHE_VARIABLE, before))


def _set_back(variable: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = before


def _begin_threads(_context: click.Context, _option: click.Parameter, number: int | None) -> None:
    threads.begin(number)


cache_option = click.option(
    "--no-cache",
    is_flag=True,
    expose_value=False,
    callback=_begin_cache,
    help="Neither read nor keep encoded data and word vectors on disk. HEEDFUL_CACHE=none does the same for every "
    "command; 'heedful data cache' lists what is kept.",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MOST_AT_ONCE),
    expose_value=False,
    callback=_begin_threads,
    help="Number of threads for computation. The default is OMP_NUM_THREADS, or as many as the quota of the "
    "process and other work on the machine leave free.",
)
computing_options = together(cache_option, threads_option)


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


@contextmanager
def going_on_by(how: str) -> Iterator[None]:
    """Add to the message of an interruption how the work is taken up again.

    Args:
        how: the end of the message.

    Raises:
        Interrupted: if the body was interrupted.
    """
    try:
        yield
    except Interrupted as error:
        raise Interrupted(f"{error} ({how})") from None


limit_options = together(
    click.option(
        "--truncate",
        type=click.Choice(["error", "head"]),
        help="What happens to a text longer than --max-tokens: 'error' stops the command, and 'head' keeps the "
        "beginning of the text and counts it. The default is the setting that the model was trained with.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        help="Longest text, in tokens. The default is the setting that the model was trained with.",
    ),
)
precision_option = click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16", "int8"]),
    default="float32",
    show_default=True,
    help="Precision of the network in prediction. bfloat16 is faster if the processor has AMX, or AVX-512 BF16 of "
    "AMD, and slower otherwise ('heedful info' reports this); int8 stores the matrices as 8-bit integers.",
)
text_option = click.option("--text", "texts", multiple=True, help="A text. May be repeated.")
predicates_option = click.option(
    "--predicates",
    multiple=True,
    metavar="WORD[,WORD]",
    help="For semantic roles: the predicates of a text, as its words or as their numbers from 1. Give the option "
    "once for each text. By default the model finds the predicates.",
)
pair_options = together(
    click.option("--premise", help="First text of a pair."),
    click.option("--hypothesis", help="Second text of a pair."),
)
_INPUT = (
    "a .csv, .tsv, .jsonl, .json or .parquet table, or a .txt file with one text in each line. It may be compressed. "
    "With -, lines are read from standard input"
)
input_options = click.option(
    "--input",
    "input_file",
    type=PATH,
    help=f"File of inputs: {_INPUT}; the line of a pair is premise TAB hypothesis. Models of semantic roles also read "
    ".conll and .conllu files, with their predicates.",
)
text_input_options = click.option("--input", "input_file", type=PATH, help=f"File of texts: {_INPUT}.")
typed_inputs = together(
    click.argument("words", nargs=-1, metavar="[TEXT]..."),
    text_option,
    pair_options,
    predicates_option,
    click.option(
        "--feature",
        "cells",
        multiple=True,
        metavar="NAME=VALUE",
        help="For a model that reads columns beside the text: the value of one, empty where it is not known. May be "
        "repeated; it holds for every text of the command line.",
    ),
)
tree_options = together(
    click.option(
        "--tree",
        metavar="SEPARATOR",
        help="Take classes as paths, such as sport/football with /: a parent has the sum of its children's "
        "probabilities (docs/limits.md).",
    ),
    click.option(
        "--at-least",
        type=float,
        metavar="PROBABILITY",
        help="With --tree, answer the deepest class or parent that is at least so likely.",
    ),
)
"""The options of commands whose classes may be paths; the record is `answer_options.TreeOptions`."""
set_options = together(
    click.option(
        "--coverage",
        type=float,
        metavar="SHARE",
        help="Also give a set of labels that holds the right one so often, such as 0.9, or for numbers an "
        "interval (docs/limits.md).",
    ),
    click.option(
        "--sets",
        "method",
        type=click.Choice(["lac", "aps", "raps"]),
        help="With --coverage, how sets of classes are made: lac, the default, gives the smallest; aps and raps give "
        "larger sets to unsure texts.",
    ),
    click.option(
        "--by-class", is_flag=True, help="With --coverage, hold it for each class by itself, in larger sets."
    ),
)
"""The options of commands whose answers may have a set or an interval; the record is `answer_options.SetOptions`."""
