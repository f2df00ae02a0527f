"""Decide which split trains, which split selects the best checkpoint, and which split is tested once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from heedful.config import DataConfig
from heedful.data.examples import Corpus
from heedful.data.folds import folds, split_dev
from heedful.errors import DataError, UsageError
from heedful.run.protocol import FOLD_SEED, Protocol
from heedful.tasks import Corpora


def arranged(read: Callable[[], Corpora], protocol: Protocol) -> Callable[[], Corpora]:
    """Add the part that selects.

    Args:
        read: reads "train", "test" where there is one, and "dev" where the data has such a part.
        protocol: says which part selects; where that is the test part, there must be one.

    Returns:
        What reads all parts.
    """
    if protocol.selects == "test":
        return lambda: _selected_on_test(read())
    if protocol.selects == "dev":
        return read
    seed = protocol.cut_seed
    assert seed is not None  # the protocol of one run
    return lambda: with_dev(read(), protocol.dev_fraction, seed)


def one_fold(whole: Corpus, data: DataConfig) -> Corpora:
    """Cut the held-out fold off as the test part."""
    fold = folds(len(whole.examples), seed=FOLD_SEED, n=data.folds)[data.fold - 1]
    train, test = ([whole.examples[i] for i in rows] for rows in (fold.train, fold.test))
    return {
        "train": Corpus(train, whole.skipped, whole.source),
        "test": Corpus(test, source=whole.source),
    }


def first(corpus: Corpus, limit: int) -> Corpus:
    """Keep the first examples of a corpus; all of them if the limit is 0."""
    return replace(corpus, examples=corpus.examples[:limit]) if limit else corpus


def with_dev(parts: Corpora, fraction: float, seed: int) -> Corpora:
    """Cut a dev part off the training part.

    Args:
        parts: "train", and "test" where there is one.
        fraction: share of the training examples.
        seed: of the cut.

    Returns:
        The parts with "dev".

    Raises:
        DataError: if there are too few examples.
    """
    train = parts["train"]
    try:
        rest, dev = split_dev(train.examples, fraction, seed)
    except UsageError as error:
        where = train.source or "training data"
        raise DataError(
            f"{where}: {len(train.examples)} usable rows are too few to hold out a dev split of {fraction:.0%}. "
            "Add rows, hold out more (--set data.dev_fraction=0.3), or name a dev file (--set data.dev=FILE)"
        ) from error
    cut = {"train": Corpus(rest, train.skipped, train.source), "dev": Corpus(dev, source=train.source)}
    return {**cut, **{name: part for name, part in parts.items() if name != "train"}}


def _selected_on_test(parts: Corpora) -> Corpora:
    """Let the test part select: "dev" and "test" are the same object."""
    return {"train": parts["train"], "dev": parts["test"], "test": parts["test"]}
