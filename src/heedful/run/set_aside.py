"""Rows of the training part that are set aside, so that they can say afterwards how far a model can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from heedful.data.examples import Corpus
from heedful.data.folds import split_dev
from heedful.errors import DataError, UsageError
from heedful.tasks import Corpora
from heedful.tasks.sentences.limit_options import ASIDE, held_out_share

_OTHER_ROWS = 7919
"""Added to the seed, so that the rows are others than those that a dev split of this share would have."""


def with_aside(
    load: Callable[[], Corpora], options: Mapping[str, object], seed: int
) -> Callable[[], Corpora]:
    """Cut the part off that is set aside.

    Args:
        load: reads the parts.
        options: the settings of the task itself, which say how much is set aside.
        seed: of the run, which says which rows.

    Returns:
        What reads the parts; a row of each class stays in training, and copies of a text stay together.

    Raises:
        DataError: if there are too few rows.
    """
    share = held_out_share(options)
    if not share:
        return load

    def cut() -> Corpora:
        parts = load()
        train = parts["train"]
        try:
            rest, aside = split_dev(train.examples, share, seed + _OTHER_ROWS)
        except UsageError as error:
            raise DataError(
                f"{train.source or 'training data'}: {len(train.examples):,} usable rows are too few to set aside "
                f"{share:.0%} of them (model.task_options.held_out); add rows, or set more aside"
            ) from error
        return {**parts, "train": replace(train, examples=rest), ASIDE: Corpus(aside, source=train.source)}

    return cut
