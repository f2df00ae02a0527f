"""``heedful recipes``."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the packaged recipes, or print the one called NAME to copy and change."""
    from importlib import resources

    from heedful.config.load import recipe_names
    from heedful.errors import UsageError, nearest

    names = recipe_names()
    folder = resources.files("heedful") / "recipes"
    if name is None:
        for each in names:
            first = (folder / f"{each}.toml").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
            click.echo(f"{each:<20} {first}")
        return
    if name not in names:
        raise UsageError(f"recipe {name!r} is unknown: {nearest(name, names)}")
    click.echo((folder / f"{name}.toml").read_text(encoding="utf-8"), nl=False)
