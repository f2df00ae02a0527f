"""The guards of every command: no file is written over that it reads, and no option is given twice.

Options of the type `WRITTEN` name what a command writes; every other path that it is given is something it reads. Two
paths are one file if the system says so, whatever they are called: a link, a relative name, another case. Of two values
of one option only one can count, so the call is refused instead of dropping one.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from heedful.cli.early_checks import refuse_names_of_nothing
from heedful.errors import UsageError
from heedful.storage.overwriting import leads_to
from heedful.text.pipes import is_pipe, pipes_kept, spooled


class NamedPath(click.Path):
    """The type of an option that names a file or a folder; an empty one would be the folder where the command runs."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; see `click.Path.convert`."""
        if isinstance(value, str) and not value.strip():
            self.fail("it is empty; give a path", param, ctx)
        return super().convert(value, param, ctx)


class WrittenPath(NamedPath):
    """The type of an option that names a file or a folder that the command writes.

    Args:
        *makes: names of the files that the command writes into the folder; none where the option names a file.
        endings: of files that it may replace. A new file may have any name, but a table of the user's that stands
            there is no page. Empty for any.
    """

    def __init__(self, *makes: str, endings: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.makes = makes
        self.endings = endings


PATH = NamedPath()
"""The type of an option that names a file or a folder that the command reads."""
WRITTEN = WrittenPath()
PAGE = WrittenPath(endings=(".html", ".htm", ".xhtml"))
"""The type of an option that names a web page that the command writes."""
_NAMES_A_FILE = ("recipe", "what", "file", "texts", "none_of_these")
"""Arguments that may be the name of a recipe, of a data set, of a model, or of a file."""


def guarded(command: click.Command) -> click.Command:
    """Let a command, and every command in a group, refuse a call before it does anything.

    Refused is an option that is given twice, unless it may be repeated, and to write over what the command reads.

    Args:
        command: what `LazyGroup.get_command` imported.

    Returns:
        The same command.
    """
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            guarded(inner)
        return command
    if "parse_args" not in vars(command):
        command.parse_args = _each_once(command)  # type: ignore[method-assign, assignment]
    if command.callback is not None and not hasattr(command.callback, "__guarded__"):
        command.callback = _first_refusing(command.callback)
    return command


def refuse_overwriting(context: click.Context) -> None:
    """Refuse a call whose output is one of its inputs.

    Args:
        context: the call, its options read.

    Raises:
        UsageError: naming both options.
    """
    inputs, outputs = list(_named(context, written=False)), list(_named(context, written=True))
    for option, target in outputs:
        for other, source in inputs:
            if _is_same(target, source):
                raise UsageError(f"{option} {target}: is the {_kind(source)} of {other}; name another one")
            if _is_same(target / "model", source):
                raise UsageError(f"{option} {target}: holds the model of {other}; name another one")
            if any(_is_same(target, own) for own in _files_of_model(source)):
                raise UsageError(
                    f"{option} {target}: is a file of the model {source}, which {other} names; name another one"
                )
    _refuse_other_kinds(context)
    for place, (option, target) in enumerate(outputs):
        for other, earlier in outputs[:place]:
            if os.path.realpath(target) == os.path.realpath(earlier) or (
                os.path.isfile(target) and _is_same(target, earlier)
            ):
                raise UsageError(f"{option} {target}: {other} would be written there too; name another one")


def _refuse_other_kinds(context: click.Context) -> None:
    """Refuse to replace a file whose ending says that it is something else than what is written."""
    for parameter in context.command.params:
        target = context.params.get(parameter.name or "")
        endings = parameter.type.endings if isinstance(parameter.type, WrittenPath) else ()
        if endings and isinstance(target, Path) and os.path.isfile(leads_to(target)):
            ending = target.suffix.lower()
            if ending and ending not in endings:
                raise UsageError(
                    f"{parameter.opts[0]} {target}: is a file that ends in {ending}, and would be replaced by another "
                    f"kind of file; name one that ends in {endings[0]}"
                )


def _first_refusing(callback: Callable[..., Any]) -> Callable[..., Any]:

    @functools.wraps(callback)
    def call(*arguments: Any, **options: Any) -> Any:
        context = click.get_current_context()
        refuse_overwriting(context)
        refuse_names_of_nothing(context)
        read = {each.name for each in context.command.params if each.type is PATH}
        with pipes_kept():
            given = {name: _read_pipe(value) if name in read else value for name, value in options.items()}
            return callback(*arguments, **given)

    call.__guarded__ = True  # type: ignore[attr-defined]
    return call


def _read_pipe(value: Any) -> Any:
    """Return the value of an option, a pipe read into a file: a command may read its inputs several times."""
    return spooled(value) if isinstance(value, Path) and is_pipe(value) else value


def _named(context: click.Context, *, written: bool) -> Iterator[tuple[str, Path]]:
    """Yield what the call calls an option, and each path that it names."""
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        called = parameter.opts[0] if isinstance(parameter, click.Option) else (parameter.name or "").upper()
        if isinstance(parameter.type, click.Path):
            if parameter.name == "data":  # a folder of many things, in which a run may be kept
                continue
            made = parameter.type.makes if isinstance(parameter.type, WrittenPath) else ()
            if isinstance(parameter.type, WrittenPath) == written:
                for each in value if isinstance(value, tuple) else (value,):
                    if isinstance(each, Path):
                        yield from ((called, each / name) for name in ("", *made))
        elif not written and parameter.name in _NAMES_A_FILE and isinstance(value, str):
            yield called, Path(value)
        elif not written and parameter.name == "teachers" and isinstance(value, tuple):
            yield from ((called, Path(each)) for each in value)
        elif not written and parameter.name == "overrides" and isinstance(value, tuple):
            yield from _in_settings(value, context.params.get("data"))


def _in_settings(overrides: tuple[str, ...], folder: object) -> Iterator[tuple[str, Path]]:
    """Yield the settings whose value is the name of a file, relative to the data folder or to the working folder."""
    for each in overrides:
        name, _, value = each.partition("=")
        value = value.strip()
        values = value.strip("[]").split(",") if value[:1] == "[" else [value]
        for one in (part.strip().strip("\"'") for part in values):
            if one and "\n" not in one:
                yield f"--set {name}", Path(one)
                if isinstance(folder, Path):
                    yield f"--set {name}", folder / one


def _files_of_model(source: Path) -> Iterator[Path]:
    """Yield the files of a model folder or a run folder."""
    from heedful.storage.layout import DATA, ENVIRONMENT, METRICS_LOG, MODEL, RECIPE, SETTINGS
    from heedful.storage.manifest import MANIFEST, MODEL_FILES

    if not os.path.isdir(source):  # Path.is_dir fails at a name that is too long
        return
    for folder in (source, source / MODEL):
        if (folder / MANIFEST).is_file():
            yield from (folder / name for name in (MANIFEST, *MODEL_FILES))
    if (source / MODEL).is_dir():
        yield from (source / name for name in (SETTINGS, RECIPE, DATA, ENVIRONMENT, METRICS_LOG))


def _is_same(target: Path, source: Path) -> bool:
    try:
        return os.path.samefile(leads_to(target), source)
    except (OSError, ValueError):  # one of them does not exist, or is no name at all
        return False


def _kind(source: Path) -> str:
    return "folder" if os.path.isdir(source) else "file"


def _each_once(command: click.Command) -> Callable[[click.Context, list[str]], list[str]]:
    """Return what reads the arguments of a command, and refuses an option that is given twice."""
    read = command.parse_args

    def parse_args(context: click.Context, arguments: list[str]) -> list[str]:
        left = read(context, list(arguments))
        _, _, order = command.make_parser(context).parse_args(list(arguments))
        for parameter, count in Counter(order).items():
            if count > 1 and _takes_one(parameter):
                raise UsageError(f"{parameter.opts[0]}: is given {count} times, and one value was expected")
        overrides = context.params.get("overrides")
        refuse_two_values(overrides if isinstance(overrides, tuple) else ())
        return left

    return parse_args


def _takes_one(parameter: click.Parameter) -> bool:
    if not isinstance(parameter, click.Option) or parameter.multiple or parameter.count:
        return False
    return not parameter.is_flag or bool(parameter.secondary_opts)


def refuse_two_values(overrides: Sequence[str], short: Sequence[str] = ()) -> None:
    """Refuse two values for one setting.

    Args:
        overrides: values of ``--set``.
        short: the settings that other options are short for, written in the same way.

    Raises:
        UsageError: naming the setting and both values.
    """
    found: dict[str, str] = {}
    for each in (*overrides, *short):
        name, sign, value = each.partition("=")
        if (
            sign
            and (other := found.setdefault(name.strip(), value)) != value
            and _bare(other) != _bare(value)
        ):
            raise UsageError(
                f"--set {name}: is given as {other!r:.60} and as {value!r:.60}; keep one of them"
            )


def _bare(value: str) -> str:
    return value.strip().strip("\"'")
