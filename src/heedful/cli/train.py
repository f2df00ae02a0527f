"""``heedful train``."""

from __future__ import annotations

from pathlib import Path

import click

from heedful.cli.options import PATH, data_option, json_option, print_json, quiet_option


@click.command()
@click.argument("recipe")
@click.option("--out", type=PATH, required=True, help="Run folder to write: settings, metrics.jsonl, model.")
@data_option
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting: train.epochs=3.")
@click.option("--seed", type=int, help="Short for --set train.seed=N.")
@click.option("--resume", is_flag=True, help="Continue an interrupted run in --out.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier run in --out.")
@json_option
@quiet_option
def command(
    recipe: str,
    out: Path,
    data: Path | None,
    overrides: tuple[str, ...],
    seed: int | None,
    resume: bool,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a model from RECIPE, a packaged recipe ('heedful recipes') or a TOML file of the same form.

    Example: heedful train disan-trec --data DIR --out runs/trec --set train.epochs=3
    """
    from heedful.config import load_config
    from heedful.files import remove_folder
    from heedful.pipeline import prepare, train
    from heedful.training.progress import choose_reporter

    if seed is not None:
        overrides = (*overrides, f"train.seed={seed}")
    config = load_config(recipe, overrides)
    if overwrite and not resume:
        remove_folder(out)
    reporter = choose_reporter(quiet=quiet)
    prepared = prepare(config, data)
    if not quiet:
        for note in prepared.notes:
            click.echo(note, err=True)
    result = train(config, prepared, folder=out, resume=resume, reporter=reporter)
    if as_json:
        print_json(result.summary())
        return
    click.echo(f"protocol: {prepared.protocol}")
    click.echo(f"dev   {result.dev.render()}")
    if result.test is not None:
        click.echo(f"test  {result.test.render()}")
    click.echo(f"model: {out / 'model'}  ({result.parameters:,} parameters, {result.seconds:.0f} s)")
