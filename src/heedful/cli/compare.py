"""``heedful compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.early_checks import refuse_no_model
from heedful.cli.measuring_options import GoldOptions
from heedful.cli.option_groups import grouped
from heedful.cli.options import PATH, data_option, json_option, number_option, threads_option
from heedful.cli.output import print_json
from heedful.cli.reading_options import reading_options
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.data.readers.reading import FileReading
    from heedful.run.comparison import Run


@dataclass(frozen=True)
class ComparedExamples:
    """The examples that two models are compared on."""

    on: str | None
    reading: FileReading
    data: Path | None
    references: Path | None

    def has_options(self) -> bool:
        """Return whether any option but the folder of data sets is given."""
        options = (self.on, self.references, *self.reading.as_options().values())
        return any(value is not None for value in options)

    def gold(self) -> GoldOptions:
        """Return what one model is measured on."""
        file = Path(self.on) if self.on is not None and Path(self.on).suffix else None
        return GoldOptions(file, self.on if file is None else None, self.data, self.reading)


@dataclass(frozen=True)
class Resampling:
    """What is compared, and by how many resamples."""

    metrics: tuple[str, ...]
    resamples: int
    seed: int


@click.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option(
    "--on",
    metavar="SET:SPLIT|FILE",
    help="Examples for two models: a known data set, for example trec:test, or a file that is read like the one that "
    "each model was trained with.",
)
@reading_options
@data_option
@click.option(
    "--references",
    type=PATH,
    help="File with the translations of the FILE of --on, line by line, for translation models.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric to compare. May be repeated. The default is the first metric of the task, such as accuracy.",
)
@number_option("--resamples", 10_000, "Number of resamples of the bootstrap.", smallest=100)
@number_option("--seed", 0, "Random seed of the resamples.", smallest=0)
@threads_option
@json_option
@grouped(examples=ComparedExamples, how=Resampling)
def command(first: Path, second: Path, examples: ComparedExamples, how: Resampling, as_json: bool) -> None:
    """Test whether SECOND is better than FIRST. Both are folders of heedful study, or models, with --on.

    Two studies are paired by seed or fold and compared by a t-test over the runs and by a bootstrap over the test
    examples. Two models are compared on the examples of --on, by the bootstrap and, for accuracy, by McNemar's exact
    test.

    Example: heedful compare runs/disan-study runs/mtsa-study
    """
    for folder in (first, second):
        if examples.on is not None:
            refuse_no_model(folder)
        elif not folder.is_dir():
            raise UsageError(f"{folder}: there is no such folder")
    from heedful.run.comparison import compare

    runs = [_runs(folder, examples) for folder in (first, second)]
    names = (str(first), str(second))
    outcome = compare(names, runs[0], runs[1], how.metrics, resamples=how.resamples, seed=how.seed)
    if as_json:
        print_json(outcome.as_dict())
    else:
        click.echo(outcome.render())


def _runs(folder: Path, examples: ComparedExamples) -> list[Run]:
    from heedful.cli.opened_model import with_torch
    from heedful.run.comparison import Run, is_study, read_study
    from heedful.run.evaluate import evaluate_corpus

    if is_study(folder):
        if examples.has_options():
            raise UsageError(f"{folder} is a study; --on and the options of its file are for two models")
        return read_study(folder)
    if examples.on is None:
        raise UsageError(
            f"{folder} is no study; to compare two models, name examples with labels: --on SET:SPLIT, for example "
            "trec:test, or --on FILE"
        )
    predictor = with_torch(folder)
    corpus = examples.gold().read(predictor, examples.references)
    return [Run.of_report(evaluate_corpus(predictor, corpus, examples.data))]
