"""``heedful bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from heedful.cli.options import PATH, json_option, quiet_option


@click.command()
@click.option(
    "--full/--quick",
    default=False,
    help="Lengths 16 to 2048 at 64 sentences, about half an hour; or 16 to 256 at 16 sentences, a few minutes.",
    show_default=True,
)
@click.option("--length", "lengths", type=click.IntRange(1), multiple=True, help="Tokens; may be repeated.")
@click.option("--batch", type=click.IntRange(1), help="Sentences, up to 256 tokens; fewer beyond.")
@click.option("--width", type=click.IntRange(1), help="Features, a multiple of 4.")
@click.option("--repeats", type=click.IntRange(7), help="Measurements behind every median.")
@click.option("--threads", type=click.IntRange(1), help="Threads torch and the kernels use.")
@click.option("--out", type=PATH, help="Folder for bench.md, bench.json, bench.csv and the figure.")
@json_option
@quiet_option
def command(
    full: bool,
    lengths: tuple[int, ...],
    batch: int | None,
    width: int | None,
    repeats: int | None,
    threads: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Time heedful against its peers in one process, after proving that its fast forms equal the reference.

    Refuses to time anything, with exit code 1, when a fast form is wrong.
    """
    import dataclasses

    import torch

    from heedful.bench import draw, run_bench, write
    from heedful.bench.run import FULL, QUICK

    changes: dict[str, Any] = {"lengths": lengths, "batch": batch, "width": width, "repeats": repeats}
    plan = dataclasses.replace(FULL if full else QUICK, **{k: v for k, v in changes.items() if v})
    if threads:
        torch.set_num_threads(threads)
    report = run_bench(plan, (lambda _: None) if quiet else (lambda line: click.echo(line, err=True)))
    click.echo(report.json() if as_json else report.markdown())
    if out is None:
        return
    for path in [*write(report, out), *draw(report, out)]:
        click.echo(f"wrote {path}", err=True)
