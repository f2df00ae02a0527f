"""``heedful recipes``."""

from __future__ import annotations

import click

OWN = "my-"
"""Beginning of the names of recipes for one's own data."""
FIRST = "my-texts"
"""The one that a newcomer wants."""


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the packaged recipes, those for your own data first, or print the recipe NAME, to copy and change.

    Example: heedful recipes my-texts > mine.toml
    """
    from heedful.storage.installed import recipe_names, recipe_text
    from heedful.tables import aligned_table

    if name is not None:
        click.echo(recipe_text(name), nl=False)
        return
    names = sorted(recipe_names(), key=lambda each: (each != FIRST, not each.startswith(OWN), each))
    for line in aligned_table((each, recipe_text(each).splitlines()[0].lstrip("# ")) for each in names):
        click.echo(line)
