"""``heedful predict``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.file_options import reading_options
from heedful.cli.many_files import Many, Written, predict_many
from heedful.cli.option_groups import Requests, TextLimits, grouped
from heedful.cli.options import (
    PATH,
    input_options,
    json_option,
    limit_options,
    pair_options,
    precision_option,
    predicates_option,
    text_option,
    threads_option,
)
from heedful.cli.output import RowPrinter, print_json

if TYPE_CHECKING:
    from heedful.data.examples import Corpus
    from heedful.models.precision import Precision


@click.command()
@click.argument("model", type=PATH)
@text_option
@pair_options
@predicates_option
@input_options
@reading_options
@limit_options
@precision_option
@click.option(
    "--conll",
    "as_columns",
    is_flag=True,
    help="Print semantic roles in the columns of CoNLL-2005, tags as lines of a word and its tag.",
)
@click.option(
    "--output",
    type=PATH,
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
    type=click.IntRange(min=1),
    help="Predict for many files: --input is a file or a pattern in quotes such as 'part-*.parquet', and --output a "
    "folder. This many processes predict at the same time, each with one thread.",
)
@click.option(
    "--format",
    "wanted",
    type=click.Choice(["parquet", "csv", "tsv", "jsonl"]),
    help="For many files: the format of what is written. The default is the format of each file.",
)
@click.option(
    "--bad-rows",
    type=click.Choice(["stop", "skip"]),
    help="For many files: what a row does that has no prediction, because a value is missing, no text or too long. "
    "'stop' ends the command, and is the default; 'skip' writes the row with its reason to the folder _bad in "
    "--output, and counts it.",
)
@threads_option
@json_option
@grouped(requests=Requests, limits=TextLimits, written=Written, many=Many)
def command(
    model: Path,
    requests: Requests,
    limits: TextLimits,
    precision: Precision,
    written: Written,
    many: Many,
) -> None:
    """Predict with MODEL, one line for each input text or pair, in input order.

    The columns are the row in --input, the prediction, its probability (not for a score), and warnings (unknown words,
    no words, truncated). For semantic roles there is one line for each predicate: its word, the probability that it is
    a predicate, warnings, and the text in brackets; for tags of words the text with its tags. In a pipe or file the
    columns are separated by tabs. On a terminal they are aligned, with a header and the texts. --json prints one object
    in each line, with every probability. --output writes a file, which appears when it is complete.

    Texts are read in blocks, so memory does not grow with the length of the input. A file is checked as a whole before
    the first prediction, so a mistake in it is reported before anything is printed. For standard input, the predictions
    before the mistake are printed.

    With --jobs, or a pattern as --input, each row group of a Parquet file and each other file gets a file of
    predictions in the folder --output, which is whole or not there. Run the same command again after an interruption,
    and it predicts what is missing. At the end it prints the counts; with --json as an object.

    A model that needs no torch is computed with one thread; --threads N computes blocks of 64 texts on N threads, with
    the same output.

    Example: heedful predict runs/trec --text "Who wrote this?"
    """
    from heedful.bulk.batch_answers import Asking
    from heedful.bulk.prediction_file import prediction_file, refuse_output
    from heedful.cli.opened_model import answer_rows, open_model, with_torch, without_torch
    from heedful.cli.output import exact
    from heedful.cli.requests import stream

    if many.asked(requests.input_file):
        asking = Asking(str(model), limits.max_tokens, limits.truncate, precision)
        predict_many(many, asking, requests, written)
        return
    output, header = written.output, written.header
    refuse_output(output, requests.input_file, header, as_json=written.as_json, as_columns=written.as_columns)
    given = {"predicates": requests.predicates, "conll": written.as_columns}
    opened = without_torch(model, limits) if precision == "float32" else None
    if opened is None or any(value and name not in opened.options for name, value in given.items()):
        opened = with_torch(open_model(model, limits, precision), given)
    asked = opened.asked(requests)
    printer = RowPrinter(header)
    cut = 0
    with prediction_file(output, opened.header, with_header=header is not False) as file:

        def check(corpus: Corpus) -> None:
            opened.refuse_long(corpus)
            if file is not None:
                file.expect(corpus)

        for corpus in stream(replace(asked, keep_fields=file is not None), check):
            found = opened.answer(corpus)
            if file is not None:
                file.add(corpus, found, opened.rows)
            elif written.as_json:
                for example, answer in zip(corpus.examples, found, strict=True):
                    print_json({"row": example.row, **answer.as_dict()})
            elif written.as_columns:
                click.echo("\n".join(answer.columns() for answer in found), file=exact(sys.stdout))
            else:
                printer.print(*answer_rows(opened, corpus, found, with_row=asked.input_file is not None))
            cut += sum(answer.truncated for answer in found)
    if file is not None:
        click.echo(f"{output}: {file.count:,} predictions", err=True)
    if cut:
        click.echo(f"texts truncated to {opened.max_tokens} tokens: {cut:,}", err=True)
