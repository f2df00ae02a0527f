"""The group of commands and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import io
import logging
import os
import sys
import threading

import click

from heedful.cli.guards import guarded
from heedful.cli.output import message, outlet
from heedful.cli.plugins import load_plugged, plugged_commands
from heedful.errors import ExitCode, HeedfulError, check_known
from heedful.machine.signals import Terminated, exit_at_once, ignore_signals, signals_raise
from heedful.version import __version__

COMMANDS = {
    "train": "Train a model on your own data, or from a recipe.",
    "predict": "Predict for texts or pairs of texts.",
    "explain": "Show what each word contributes to a prediction, as text, HTML page or figure.",
    "evaluate": "Measure a model on a file or data set with labels.",
    "demo": "Train on a generated corpus, predict, and draw an explanation.",
    "distil": "Train a small model with the predictions of a better one, and report the gain.",
    "encode": "Turn texts into vectors.",
    "faithfulness": "Measure how faithful the explanations of a model are, and show the best by default.",
    "serve": "Serve models over HTTP, with a page to try them in.",
    "export": "Write a model for use without torch.",
    "parse": "Write dependency trees of texts as CoNLL-U.",
    "data": "List, check and download data sets; list and clear the cache.",
    "study": "Run a recipe over seeds or folds, and report mean and spread.",
    "tune": "Search for the settings of a recipe with the best score on the dev split.",
    "baselines": "Train simple models (TF-IDF, NB-SVM, fastText) on the same data, and test which is best.",
    "label": "Label texts in the browser, with a model that learns meanwhile.",
    "suggest": "Choose which texts of a pool to label next.",
    "compare": "Test whether one system is better than another.",
    "recipes": "List the packaged recipes, or print one.",
    "info": "Print versions, threads and what this machine supports.",
}
"""Name to one line of help; the command itself is ``heedful.cli.<name>:command``. Those of `plugged` join them."""

SEARCHED = 20_000
"""New objects after which Python looks for cycles of them; with its own 700 that is a twentieth of a short training."""


class OutputGone(Exception):
    """The reader of standard output has gone, as ``head`` does when it has seen enough."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which a new user needs them."""
        return [*COMMANDS, *plugged_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import a command.

        Args:
            ctx: the call.
            cmd_name: its name.

        Returns:
            The command.

        Raises:
            UsageError: if there is none of this name, and gives the nearest; if its package is not installed.
        """
        if cmd_name in COMMANDS:
            return guarded(importlib.import_module(f"heedful.cli.{cmd_name}").command)
        plugged = plugged_commands()
        check_known(cmd_name, [*COMMANDS, *plugged], f"there is no command {cmd_name!r}")
        return guarded(load_plugged(cmd_name))

    def invoke(self, ctx: click.Context) -> object:
        """Call the command; click would take a reader that went away for failure.

        Args:
            ctx: the call.

        Returns:
            What the command returns.

        Raises:
            OutputGone: if nobody reads the output any more.
        """
        from heedful.storage import operation

        try:
            with operation():
                return super().invoke(ctx)
        except BrokenPipeError as error:
            raise OutputGone from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *plugged_commands().items()])


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message="heedful %(version)s")
def group() -> None:
    """Train, use and explain small, fast text models whose attention is guided by the structure of the text.

    \b
    Your own data:
      heedful train reviews.csv                       recognizes texts and classes, trains, measures
      heedful predict runs/reviews "some text"
      heedful explain runs/reviews "some text" --html why.html

    Results go to standard output; progress and messages go to standard error. Exit codes: 0 success; 1 a check such as
    --fail-under failed; 2 wrong usage or settings; 3 bad data; 4 training diverged; 5 a saved model is missing or
    altered; 6 something could not be written; 70 internal error; 71 out of memory; 130 interrupted (training saved its
    state first); 143 terminated outside of training.
    """  # noqa: D301  (click reads the character of \b, not its two letters)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with a documented code.

    Args:
        arguments: what was typed after ``heedful``; None reads the process's own.
    """
    alone = threading.current_thread() is threading.main_thread()
    gc.set_threshold(SEARCHED, *gc.get_threshold()[1:])
    if alone:
        atexit.register(ignore_signals)  # what is registered first is called last
    code = run(arguments)
    if alone:
        exit_at_once(code)
        # Python ends by SIGINT, and not with our code, if the last text that it executed as a program was interrupted,
        # as that of a dataclass can be. An empty text takes that back.
        exec("")
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: what was typed after ``heedful``; None reads the process's own.

    Returns:
        The exit code.
    """
    if sys.stdout is None:  # the shell closed it
        return _report(
            "cannot write: standard output is closed. Send it to /dev/null.", ExitCode.CANNOT_WRITE
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that lacks a character still gets the rest
    with outlet():
        return _run(arguments)


def _run(arguments: list[str] | None) -> int:
    # Every command reports cut texts itself, from the cache too.
    encoding = logging.getLogger("heedful.data.encoding")
    former = encoding.level
    encoding.setLevel(logging.ERROR)
    try:
        with signals_raise():
            return _call(arguments)
    finally:
        encoding.setLevel(former)


_HELP_INSTEAD: tuple[type[click.UsageError], ...] = tuple(
    getattr(click.exceptions, name) for name in ("NoArgsIsHelpError",) if hasattr(click.exceptions, name)
)
"""What click raises from 8.2 on where a group is called without a command; before, it prints the help itself."""


def _call(arguments: list[str] | None) -> int:
    """Call the command and turn whatever ends it into an exit code."""
    try:
        result = group.main(arguments, prog_name="heedful", standalone_mode=False)
        sys.stdout.flush()
        return int(result) if isinstance(result, int) else ExitCode.OK
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _report("interrupted", ExitCode.INTERRUPTED)
    except Terminated:
        return _report("terminated", ExitCode.TERMINATED)
    except _HELP_INSTEAD as error:
        error.show(file=sys.stderr)
        return ExitCode.USAGE
    except click.ClickException as error:
        return _report(_usage(error), ExitCode.USAGE)
    except HeedfulError as error:
        return _report(str(error), error.exit_code)
    except RecursionError:
        said = "what was read is nested too deeply: settings, a rule of a mask, or JSON; write it with fewer levels"
        return _report(said, ExitCode.BAD_DATA)
    except (OutputGone, BrokenPipeError):
        _drop_output()
        return ExitCode.OK
    except Exception as error:
        if os.environ.get("HEEDFUL_DEBUG"):
            raise
        if _is_out_of_memory(error):
            said = "out of memory; read fewer or shorter texts at a time, use smaller batches, or free some memory"
            return _report(said, ExitCode.OUT_OF_MEMORY)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            _drop_output()
            return _report(f"cannot write: {error.strerror}. Free some space.", ExitCode.CANNOT_WRITE)
        if isinstance(error, OSError) and error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            return _report(f"{error.filename!s:.80}: {error.strerror}; give another path", ExitCode.USAGE)
        kind = type(error).__name__
        return _report(f"internal error: {kind}: {error} (HEEDFUL_DEBUG=1 shows where)", ExitCode.INTERNAL)


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    message = error.format_message().rstrip(".")
    if context is None:
        return message
    taken = {option for each in context.command.params for option in each.opts}
    if isinstance(error, click.NoSuchOption):
        named = _as_setting(error.option_name) if "--set" in taken else ""
        if named := named or _elsewhere(error.option_name):
            message = f"No such option {error.option_name!r}{named}"
    return f"{message}; see {context.command_path} --help"


def _elsewhere(option: str) -> str:
    """Return which commands have an option that the called one has not."""
    commands = {name: importlib.import_module(f"heedful.cli.{name}").command for name in COMMANDS}
    found = [name for name, each in commands.items() if any(option in param.opts for param in each.params)]
    return f"; it is one of heedful {', '.join(found)}" if found else ""


def _as_setting(option: str) -> str:
    """Return how the setting is changed that an unknown option is named like."""
    from heedful.run.run_config import RunConfig
    from heedful.settings import names_ending_in

    names = names_ending_in(RunConfig, option.lstrip("-").replace("-", "_"))
    return "".join(f"; for the setting {name} pass --set {name}=VALUE" for name in names[:2])


def _drop_output() -> None:
    """Send what is still buffered for standard output nowhere, so that it fails no more when the process ends."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no number
        number = sys.stdout.fileno()
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), number)


def _is_out_of_memory(error: Exception) -> bool:
    """Return whether Python's memory, or torch's on the processor or the GPU, is used up."""
    words = ("can't allocate memory", "out of memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(said in str(error).lower() for said in words)
    )


def _report(text: str, code: ExitCode) -> int:
    click.echo(message(f"heedful: {text}"), err=True)
    return code
