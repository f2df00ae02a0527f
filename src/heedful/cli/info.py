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
    from heedful.tables import aligned_table

    facts = describe()
    if as_json:
        print_json(facts)
        return
    for line in aligned_table((name, str(value)) for name, value in facts.items()):
        click.echo(line)
