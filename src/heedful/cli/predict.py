"""``heedful predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from heedful.cli.options import PATH, input_options, json_option, limit_options, pair_options, text_option
from heedful.cli.output import print_json, print_rows


@click.command()
@click.argument("model", type=PATH)
@text_option
@pair_options
@input_options
@limit_options
@json_option
def command(
    model: Path,
    texts: tuple[str, ...],
    premise: str | None,
    hypothesis: str | None,
    input_file: Path | None,
    columns: str | None,
    on_missing: Literal["error", "empty"],
    max_tokens: int | None,
    truncate: Literal["error", "head"] | None,
    as_json: bool,
) -> None:
    """Answer texts or pairs with MODEL; one line a request, in order.

    Columns: the row in --input, the answer, its probability (not for a score), remarks (unknown words, no words, cut).
    Tab-separated in a pipe or file; aligned, with a header and the texts, on a terminal. --json prints one object a
    line, with every probability.

    Example: heedful predict runs/trec --text "Who wrote this?"
    """
    from heedful.cli.models import open_model
    from heedful.cli.requests import gather

    predictor = open_model(model, max_tokens, truncate)
    corpus = gather(texts, (premise, hypothesis), input_file, columns, on_missing, is_pair=predictor.is_pair)
    answers = predictor.answer(corpus)
    if as_json:
        for example, answer in zip(corpus.examples, answers, strict=True):
            print_json({"row": example.row, **answer.as_dict()})
    else:
        print_rows(*_table(corpus, answers, with_row=input_file is not None))
    cut = sum(answer.truncated for answer in answers)
    if cut:
        click.echo(f"{cut:,} request(s) cut to {predictor.text.max_tokens} tokens a text", err=True)


def _table(corpus: Any, answers: list[Any], *, with_row: bool) -> tuple[list[str], list[list[str]]]:
    import sys

    with_text = sys.stdout.isatty()
    rows = []
    for example, answer in zip(corpus.examples, answers, strict=True):
        value = [f"{answer.score:.3f}"] if answer.label is None else [answer.label, _top(answer)]
        row = [str(example.row)] if with_row else []
        rows.append([*row, *value, answer.remarks, *([" => ".join(example.texts)] if with_text else [])])
    scored = bool(answers) and answers[0].label is None
    header = ["row"] if with_row else []
    header += ["score"] if scored else ["answer", "prob."]
    return [*header, "remarks", *(["text"] if with_text else [])], rows


def _top(answer: Any) -> str:
    return f"{max(answer.probabilities.values()):.3f}"
