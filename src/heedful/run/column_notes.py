"""What training says of the columns beside the text: which kind each is, or that they were left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedful.features.feature_kinds import wanted_columns
from heedful.tables import markdown_table

if TYPE_CHECKING:
    from heedful.run.record import RunResult
    from heedful.tasks.schema import About


def columns_left_out(features: Sequence[str], about: About) -> str:
    """Say that a model reads no columns although its run named some.

    Args:
        features: ``data.features``.
        about: what the folder of the model keeps.

    Returns:
        One sentence; empty where the columns are read, or none were named.
    """
    wanted = wanted_columns(features)
    if not wanted or about.columns is not None:
        return ""
    named = ", ".join(f"“{each.name}”" for each in wanted)
    what, they = ("column", "it") if len(wanted) == 1 else ("columns", "them")
    return (
        f"The {what} {named} beside the text {'was' if len(wanted) == 1 else 'were'} left out: examples that trained "
        f"nothing were no likelier with {they}, so the model reads the text alone."
    )


def columns_of_card(features: Sequence[str], result: RunResult) -> list[str]:
    """Write the columns of a model, each with its kind, for its card.

    Args:
        features: ``data.features``.
        result: what was trained.

    Returns:
        Lines of Markdown; none where no columns were named.
    """
    about = result.predictor.about
    if about.columns is None:
        said = columns_left_out(features, about)
        return ["", said] if said else []
    rows = (
        [" ".join(each.name.split()), *each.summary().split(", ", 1)]
        for each in about.columns.columns.columns
    )
    return [
        "",
        "The model also reads these columns beside the text, and a request must have them; an empty value is a "
        "missing one:",
        "",
        *markdown_table(["column", "kind", "in the training rows"], rows),
    ]
