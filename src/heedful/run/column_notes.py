"""What training says of columns: which kind each beside the text is, that they were left out, numbers far off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heedful.data.encoding import EncodedDataset
from heedful.data.gold import spread_of_most
from heedful.features.feature_kinds import wanted_columns
from heedful.tables import markdown_table

if TYPE_CHECKING:
    from heedful.run.record import RunResult
    from heedful.tasks import AnyPrepared
    from heedful.tasks.schema import About

_FAR = 20
"""How many times as far as usual a number is from the median that is reported."""


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


def far_numbers(prepared: AnyPrepared) -> Iterator[str]:
    """Report training numbers far from all others, which the squared error makes decide what is learned.

    Args:
        prepared: the data of a run.

    Yields:
        One sentence at most.
    """
    train = prepared.datasets["train"]
    if not isinstance(train, EncodedDataset) or train.targets is None or train.targets.ndim != 1:
        return
    if not np.issubdtype(train.targets.dtype, np.floating):
        return
    numbers = train.targets.astype(np.float64)
    off, usual = np.abs(numbers - np.median(numbers)), spread_of_most(numbers)
    far = np.flatnonzero(off > _FAR * usual)
    if usual and len(far):
        file, first = next(iter(prepared.fingerprint), "training data"), int(far[off[far].argmax()])
        yield (
            f"{file}: {len(far):,} of {len(numbers):,} training numbers are more than {_FAR} times as far from the "
            f"median, {np.median(numbers):.6g}, as is usual, such as {numbers[first]:.6g} in row "
            f"{train.rows[first]:,}. They decide most of what is learned. Correct them, learn the logarithm of numbers "
            'of many sizes, or set model.task_options.loss="huber".'
        )
