"""``heedful demo``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from heedful.cli.option_groups import Printing, grouped
from heedful.cli.options import out_option, printing_options, set_option, threads_option
from heedful.cli.output import print_json


@click.command()
@out_option("Folder of the run. An earlier demo in it is replaced.", default="demo-run")
@set_option
@threads_option
@printing_options
@grouped(printing=Printing)
def command(out: Path, overrides: tuple[str, ...], printing: Printing) -> None:
    """Train on a corpus that Heedful generates, predict, and draw an explanation. No data is needed.

    If the package heedful-en is installed, the demo first shows predictions of its trained English models.
    """
    from heedful.run.demonstration import GOLD, run_demo

    result = run_demo(out, overrides, printing.reporter(), printing.print_line)
    if printing.as_json:
        answers = [
            {"premise": premise, "hypothesis": hypothesis, "label": label, "probability": probability}
            for (premise, hypothesis), label, probability in result.answers
        ]
        print_json({"answers": answers, "page": str(result.page), **result.run.summary()})
        return
    assert result.run.test is not None  # the generated corpus always has a test part
    click.echo(
        f"\nTest accuracy by phenomenon, {result.run.parameters:,} parameters, {result.run.seconds:.0f} s:"
    )
    click.echo(result.run.test.render())
    click.echo("\nPredictions:")
    for ((premise, hypothesis), label, probability), gold in zip(result.answers, GOLD, strict=True):
        remark = "" if label == gold else f"   (wrong: {gold})"
        click.echo(f"  {label:<13} {probability:.2f}  {premise}  =>  {hypothesis}{remark}")
    click.echo(f"\nExplanation page: {result.page}")
    activate = Path(sys.prefix, "bin", "activate")
    if shutil.which("heedful") is None and activate.is_file():  # as after `make demo`
        click.echo(f"\nTo make heedful a command in this shell:\n  . {activate}")
    click.echo(
        "\nNext:\n"
        "  heedful train reviews.csv       your own data: a table with texts and classes, pairs, numbers or tags\n"
        f'  heedful predict {out} "..." "..."\n'
        f'  heedful explain {out} "..." "..." --html why.html --figure why.png\n'
        "  heedful recipes                 the packaged recipes; heedful recipes NAME prints one to copy\n"
        "  heedful data list --data DIR    data sets Heedful reads"
    )
