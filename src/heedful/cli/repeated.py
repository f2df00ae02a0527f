"""Options that are given twice: of two values only one can count, so the call is refused instead of dropping one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from heedful.errors import UsageError


def once(command: click.Command) -> click.Command:
    """Let a command, and every command in a group, refuse an option that is given twice, unless it may be repeated.

    Args:
        command: what `LazyGroup.get_command` imported.

    Returns:
        The same command.
    """
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            once(inner)
    elif "parse_args" not in vars(command):
        read = command.parse_args

        def parse_args(context: click.Context, given: list[str]) -> list[str]:
            left = read(context, list(given))
            _, _, order = command.make_parser(context).parse_args(list(given))
            for parameter, count in Counter(order).items():
                if count > 1 and _takes_one(parameter):
                    raise UsageError(
                        f"{parameter.opts[0]}: is given {count} times, and one value was expected"
                    )
            overrides = context.params.get("overrides")
            refuse_two_values(overrides if isinstance(overrides, tuple) else ())
            return left

        command.parse_args = parse_args  # type: ignore[method-assign, assignment]
    return command


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
