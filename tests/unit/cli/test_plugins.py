"""Commands of other packages: the laboratory's, one that is not installed, one of a stranger."""

from __future__ import annotations

import click
import pytest

import tiny
from heedful.cli import plugins
from heedful.storage.entry_points import EntryPoint

WHERE = "test_plugins:hello"


@click.command()
def hello() -> None:
    """Greet."""
    click.echo("hello")


def bring(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let exactly these commands be installed."""
    points = {name: EntryPoint(name, WHERE, plugins.GROUP, "") for name in names}
    monkeypatch.setattr(plugins, "installed", lambda group: points)


def test_the_laboratory_brings_its_commands() -> None:
    assert set(plugins.plugged_commands()) >= {"reproduce", "bench"}
    assert tiny.run("reproduce", "--help").code == 0


def test_without_the_laboratory_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch)
    said = tiny.run("reproduce", "mtsa-table5")
    assert said.code == 2
    assert said.err.splitlines() == [
        "heedful: heedful reproduce needs heedful-lab, which is not installed: pip install heedful-lab"
    ]
    assert "Needs heedful-lab." in tiny.run("--help").out


def test_a_command_of_another_package_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, "hello")
    assert tiny.run("hello").out == "hello\n"
    assert "From another package." in tiny.run("--help").out
    assert "did you mean 'hello'" in tiny.run("helo").err
