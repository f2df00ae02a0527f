"""``heedful info``."""

from __future__ import annotations

import click

from heedful.cli.options import json_option, threads_option
from heedful.cli.output import print_json


@click.command()
@threads_option
@json_option
def command(as_json: bool) -> None:
    """Print versions, threads and the implementations that this machine supports, to paste into a report."""
    from heedful.run.environment import describe

    facts = describe()
    if as_json:
        print_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {value}")
