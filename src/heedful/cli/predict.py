"""``heedful predict``, for some inputs or for many files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.answer_options import SetOptions, TreeOptions
from heedful.cli.guards import WRITTEN
from heedful.cli.option_groups import NamedLabelOptions, Requests, TextLimits, grouped
from heedful.cli.options import (
    PATH,
    input_options,
    json_option,
    limit_options,
    neighbors_option,
    precision_option,
    set_options,
    threads_option,
    tree_options,
    typed_inputs,
)
from heedful.cli.output import RowPrinter, print_json, print_note
from heedful.cli.reading_options import reading_options_of_predict
from heedful.errors import MOST_AT_ONCE, UsageError

if TYPE_CHECKING:
    from heedful.bulk.batch_answers import ModelOptions
    from heedful.bulk.prediction_table import PredictionFile
    from heedful.cli.option_groups import Requests
    from heedful.data.examples import Corpus
    from heedful.models.precision import Precision


def predict_many(many: Many, model: ModelOptions, requests: Requests, written: PredictionForm) -> None:
    """Predict for many files, and print the counts.

    Args:
        many: what the options say of them.
        model: the model.
        requests: the files, and how they are read.
        written: where the predictions go, and whether the counts are printed as JSON on standard output.

    Raises:
        UsageError: if an option is missing, or is not for many files.
    """
    from heedful.bulk.part_task import PartForm
    from heedful.bulk.predict_parts import predict_parts
    from heedful.cli.output import print_json

    others = {
        "--text": requests.texts or requests.words,
        "--premise": requests.premise,
        "--hypothesis": requests.hypothesis,
        "--predicates": requests.predicates,
        "--conll": written.as_columns,
        "--neighbors": written.neighbors,
    }
    for option, value in others.items():
        if value:
            raise UsageError(
                f"{option}: is not for many files; leave it out, or leave --jobs and the pattern out"
            )
    input_file, output = requests.input_file, written.output
    if input_file is None or str(input_file) == "-":
        raise UsageError("--jobs: name the files: --input 'part-*.parquet'")
    if output is None:
        raise UsageError("predictions of many files go to a folder: add --output FOLDER")
    if output.is_file():
        raise UsageError(f"--output {output}: is a file; predictions of many files go to a folder")
    totals = predict_parts(
        model,
        str(input_file),
        output,
        jobs=many.jobs or 1,
        reading=requests.reading,
        form=PartForm(many.wanted or "", written.header is not False, many.bad_rows == "skip"),
        print_line=lambda line: click.echo(line, err=True),
    )
    if written.as_json:
        print_json(totals.as_dict())
    else:
        click.echo(totals.render(output), err=True)


@dataclass(frozen=True)
class PredictionForm:
    """In which form predictions are written."""

    output: Path | None
    header: bool | None
    as_json: bool
    as_columns: bool
    neighbors: int | None = None

    def check(self) -> None:
        """Refuse options that contradict each other, before anything is computed.

        Raises:
            UsageError: naming the options.
        """
        path = self.output
        if self.neighbors and self.as_columns:
            raise UsageError("--neighbors is not for --conll; leave one of them out")
        if path is None:
            if self.header is not None and (self.as_json or self.as_columns):
                raise UsageError("--header is for rows of columns; leave it out with --json and --conll")
            return
        from heedful.bulk.prediction_table import SUFFIXES

        if self.as_json or self.as_columns:
            raise UsageError("--output says the format by its name; leave --json and --conll out")
        if path.suffix.lower() not in SUFFIXES:
            raise UsageError(f"--output {path}: expected a name that ends in {', '.join(SUFFIXES)}")
        if self.header is not None and not SUFFIXES[path.suffix.lower()]:
            raise UsageError(f"--output {path}: lines of JSON have no header; leave --header out")

    def file(self, names: Sequence[str]) -> AbstractContextManager[PredictionFile | None]:
        """Open ``--output``, which appears when it is complete; None where predictions are printed.

        Args:
            names: of the columns of a prediction.

        Returns:
            What takes the predictions, as a context.
        """
        if self.output is None:
            return nullcontext()
        from heedful.bulk.prediction_table import prediction_file

        return prediction_file(self.output, names, with_header=self.header is not False)


@dataclass(frozen=True)
class Many:
    """What the options say of many files."""

    jobs: int | None
    wanted: str | None
    bad_rows: str | None

    def is_meant(self, input_file: Path | None) -> bool:
        """Return whether many files are to be predicted; refuse options that are for them alone.

        Args:
            input_file: value of ``--input``.

        Returns:
            Whether ``--jobs`` is given or ``--input`` is a pattern.

        Raises:
            UsageError: if another option for many files is given.
        """
        if self.jobs is not None:
            return True
        if input_file is not None:
            from heedful.bulk.part_files import is_pattern

            if is_pattern(str(input_file)):
                return True
        for option, value in {"--format": self.wanted, "--bad-rows": self.bad_rows}.items():
            if value is not None:
                raise UsageError(
                    f"{option} is for many files: add --jobs N, with a pattern or file as --input and a folder as "
                    "--output"
                )
        return False


@click.command()
@click.argument("model", type=PATH)
@typed_inputs
@input_options
@reading_options_of_predict
@limit_options
@precision_option
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="For a model of vectors such as en-sentences: the name of a label that it may answer with; give two or more.",
)
@click.option(
    "--examples",
    type=PATH,
    help="A table with the columns text and label: a few examples that refine the names of --label.",
)
@set_options
@tree_options
@click.option(
    "--conll",
    "as_columns",
    is_flag=True,
    help="Print semantic roles in the columns of CoNLL-2005, tags as lines of a word and its tag.",
)
@neighbors_option(
    "Also show so many training examples that each text resembles, of a model that was trained with --keep-examples.",
    1,
)
@click.option(
    "--output",
    type=WRITTEN,
    help="Write to this .csv, .tsv or .jsonl file instead of printing, with all columns of --input (or the texts) "
    "before the prediction.",
)
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether the names of the columns come first. By default they do on a terminal and in --output.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, MOST_AT_ONCE),
    help="Predict for many files: --input is a file or a pattern in quotes such as 'part-*.parquet', and --output a "
    "folder. This many processes predict at the same time, each with one thread.",
)
@click.option(
    "--format",
    "wanted",
    type=click.Choice(["parquet", "csv", "tsv", "jsonl"]),
    help="For many files: the format of the output. The default is the format of each input file.",
)
@click.option(
    "--bad-rows",
    type=click.Choice(["stop", "skip"]),
    help="For many files: what happens if a row cannot be predicted, because a value is missing, is not a text or is "
    "too long. 'stop', the default, ends the command; 'skip' counts the row and writes it with the reason to the "
    "folder _bad in --output.",
)
@threads_option
@json_option
@grouped(
    requests=Requests,
    limits=TextLimits,
    written=PredictionForm,
    many=Many,
    named=NamedLabelOptions,
    sets=SetOptions,
    tree=TreeOptions,
)
def command(
    model: Path,
    requests: Requests,
    limits: TextLimits,
    precision: Precision,
    written: PredictionForm,
    many: Many,
    named: NamedLabelOptions,
    sets: SetOptions,
    tree: TreeOptions,
) -> None:
    """Predict with MODEL, one line for each input TEXT or pair, in input order.

    TEXT is a text, or for a model of pairs two; --text, --premise and --hypothesis say the same. The name of a table,
    such as new.csv, stands for --input, and - for standard input.

    The columns are the row in --input, the prediction, its probability (not for a score), and warnings (unknown words,
    no words, truncated). For semantic roles there is one line for each predicate: its word, the probability that it is
    a predicate, warnings, and the text in brackets; for tags of words the text with its tags. In a pipe or file the
    columns are separated by tabs. On a terminal they are aligned, with a header and the texts. --json prints one object
    in each line, with every probability. --output writes a file, which appears when it is complete.

    Texts are read in blocks, so memory does not grow with the length of the input. A file is checked as a whole before
    the first prediction, so a mistake in it is reported before anything is printed. For standard input, the predictions
    before the mistake are printed.

    With --jobs, or a pattern as --input, each row group of a Parquet file and each other file gets a file of
    predictions in the folder --output. A file appears there when it is complete. If the command was interrupted, run it
    again: it predicts only what is missing. At the end it prints the counts, with --json as an object.

    A model of vectors answers with the names of labels: --label refund --label praise.

    A model that needs no torch is computed with one thread; --threads N computes blocks of 64 texts on N threads, with
    the same output.

    Example: heedful predict runs/trec "Who wrote this?"
    """
    from heedful.cli.opened_model import (
        answer_rows,
        answers_of,
        columns_of,
        opened,
        refuse_long,
        request_options,
    )
    from heedful.cli.output import exact
    from heedful.cli.requests import stream

    if many.is_meant(requests.input_file):
        if named.labels or named.examples:
            raise UsageError("--label and --examples are not for many files; predict one file at a time")
        from heedful.bulk.batch_answers import ModelOptions

        tree.check()
        asking = ModelOptions(
            str(model),
            limits.max_tokens,
            limits.truncate,
            precision,
            wish=sets.wish(),
            tree=tree.tree,
            at_least=tree.at_least,
        )
        predict_many(many, asking, requests, written)
        return
    written.check()
    given = {"predicates": requests.predicates, "conll": written.as_columns}
    answering = opened(model, limits, precision=precision, named=named, options=given)
    answering = tree.of(sets.of(answering))
    if written.neighbors:
        from heedful.cli.neighbor_answers import with_neighbors

        answering = with_neighbors(answering, written.neighbors)
    asked = request_options(answering, requests)
    printer = RowPrinter(written.header)
    cut = 0
    with written.file(answering.header) as file:

        def check(corpus: Corpus) -> None:
            refuse_long(answering, corpus)
            if file is not None:
                file.expect(corpus)

        for corpus in stream(replace(asked, keep_fields=file is not None), check):
            found = answers_of(answering, corpus, given)
            if file is not None:
                file.add(corpus, found, answering.rows)
            elif written.as_json:
                for example, answer in zip(corpus.examples, found, strict=True):
                    print_json({"row": example.row, **answer.as_dict()})
            elif written.as_columns:
                click.echo("\n".join(map(columns_of, found)), file=exact(sys.stdout))
            else:
                printer.print(*answer_rows(answering, corpus, found, with_row=asked.input_file is not None))
            cut += sum(answer.truncated for answer in found)
    if file is not None:
        print_note(f"{written.output}: {file.count:,} predictions")
    if answering.promise is not None:
        click.echo(answering.promise.sentence(), err=True)
    if cut:
        click.echo(f"texts truncated to {answering.reading.max_tokens} tokens: {cut:,}", err=True)
