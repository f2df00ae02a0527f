"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from heedful.cli.main import group
from heedful.errors import MOST_AT_ONCE


def _numbers(command: click.Command, path: str) -> Iterator[tuple[str, click.Parameter]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _numbers(inner, f"{path} {name}")
    for parameter in command.params:
        yield path, parameter


NUMBERS = [
    (path, each)
    for path, each in _numbers(group, "heedful")
    if isinstance(each.type, click.types.IntParamType)
]


@pytest.mark.parametrize(
    ("path", "option"), [pytest.param(*each, id=f"{each[0]} {each[1].name}") for each in NUMBERS]
)
def test_no_number_of_threads_or_processes_is_unbounded(path: str, option: click.Parameter) -> None:
    if {"--threads", "--jobs", "--workers"} & {*option.opts}:
        assert isinstance(option.type, click.IntRange), path
        assert (option.type.min, option.type.max) == (1, MOST_AT_ONCE)
    elif option.name != "seed":
        assert isinstance(option.type, click.IntRange), path
        assert option.type.min is not None


def test_they_are_found() -> None:
    assert sum("--threads" in option.opts for _, option in NUMBERS) >= 8
