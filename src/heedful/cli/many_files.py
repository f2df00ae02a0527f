"""``heedful predict`` for many files, and the counts that it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.bulk.batch_answers import Asking
    from heedful.cli.option_groups import Requests
    from heedful.cli.predict import Many, Written


def predict_many(many: Many, asking: Asking, requests: Requests, written: Written) -> None:
    """Predict for many files, and print the counts.

    Args:
        many: what the options say of them.
        asking: the model.
        requests: the files, and how they are read.
        written: where the predictions go, and whether the counts are printed as JSON on standard output.

    Raises:
        UsageError: if an option is missing, or is not for many files.
    """
    from heedful.bulk.part_task import Form
    from heedful.bulk.predict_parts import predict_parts
    from heedful.cli.output import print_json

    others = {
        "--text": requests.texts,
        "--premise": requests.premise,
        "--hypothesis": requests.hypothesis,
        "--predicates": requests.predicates,
        "--conll": written.as_columns,
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
        asking,
        str(input_file),
        output,
        jobs=many.jobs or 1,
        reading=requests.reading,
        form=Form(many.wanted or "", written.header is not False, many.bad_rows == "skip"),
        say=lambda line: click.echo(line, err=True),
    )
    if written.as_json:
        print_json(totals.as_dict())
    else:
        click.echo(totals.render(output), err=True)
