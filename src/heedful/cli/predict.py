"""``heedful predict``."""

from __future__ import annotations

from pathlib import Path

import click

from heedful.cli.options import PATH, json_option, print_json, print_rows, request_options


@click.command()
@click.argument("model", type=PATH)
@request_options
@json_option
def command(
    model: Path,
    texts: tuple[str, ...],
    premise: str | None,
    hypothesis: str | None,
    input_file: Path | None,
    on_missing: str,
    as_json: bool,
) -> None:
    """Answer texts or pairs with MODEL; one line a request, in order.

    Columns: answer, its probability (or the score), remarks. --json gives every probability.

    Example: heedful predict runs/trec/model --text "Who wrote this?"
    """
    from heedful.cli.requests import gather
    from heedful.estimators import model_folder
    from heedful.predictor import Answer, Predictor

    predictor = Predictor.load(model_folder(model))
    requests = gather(texts, premise, hypothesis, input_file, on_missing, predictor.is_pair)
    answers = predictor.answer(requests)

    def remarks(answer: Answer) -> str:
        notes = [f"{answer.unknown} unknown word(s)"] if answer.unknown else []
        notes += ["text without words"] if answer.empty else []
        notes += ["text was cut"] if answer.truncated else []
        return ", ".join(notes)

    if as_json:
        for answer in answers:
            print_json(answer.as_dict())
    elif predictor.model.task == "relatedness":
        print_rows((f"{a.score:.3f}", remarks(a)) for a in answers)
    else:
        print_rows((a.label, f"{max(a.probabilities.values()):.3f}", remarks(a)) for a in answers)
