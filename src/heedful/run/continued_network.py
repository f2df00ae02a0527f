"""A run whose network goes on from that of another model: its settings, its steps, and the rows that choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

import numpy as np

from heedful.data.examples import Corpus, Example
from heedful.data.folds import split_dev
from heedful.errors import UsageError
from heedful.run.decided_by_data import ENGLISH_VECTORS
from heedful.run.run_config import RunConfig
from heedful.tasks import Corpora
from heedful.tasks.prepared import LearnedFrom
from heedful.text.vocabulary import Vocabulary

LEAST_STEPS = {False: 50, True: 200}
"""Steps are at least so many, where the settings set a limit: without and with new classes."""
FREE = frozenset(
    {"outputs", "dropout", "row_dropout", "wide", "sentence", "task_options", "start", "pretrained", "tagger"}
)
"""Settings of a network that may change from one training to the next."""
_FEWEST = 10
"""New rows of which some are held back; of fewer all are learned."""


def settings_of_network(
    config: RunConfig, before: LearnedFrom, rows: int, *, new_classes: bool
) -> dict[str, object]:
    """Return the settings with which a network goes on.

    The network stays as it is, so its own settings hold. The learning rate falls with the share of the new rows among
    all rows, as the noise of a mean does, unless there is a class of which nothing is known yet; and passes over the
    new rows are as many as a training has.

    Args:
        config: the settings of the run.
        before: the model whose network goes on.
        rows: how many new rows there are.
        new_classes: whether some of them are of a new class.

    Returns:
        By their dotted names.

    Raises:
        UsageError: if a setting asks for another network.
    """
    own = before.model.model
    table = before.model.about.run.get("model")
    given: Mapping[str, object] = table if isinstance(table, Mapping) else {}
    found: dict[str, object] = {"train.contrast": False}
    for name in (each.name for each in fields(own)):
        if name in FREE or name == "task":
            continue
        asked, has = getattr(config.model, name), getattr(own, name)
        if asked != has and name in given and asked != given[name]:
            raise UsageError(
                f"model.{name}={asked!r}: {before.name} has {has!r}, and learning on cannot change its network"
            )
        found[f"model.{name}"] = has
    if config.text.vectors == "auto":  # what the first texts decided, these do not decide again
        vocabulary = before.model.reading.vocabulary
        english = isinstance(vocabulary, Vocabulary) and bool(vocabulary.extra)
        found |= ENGLISH_VECTORS if english else {"text.vectors": "", "text.baseforms": ""}
        found["model.width"] = own.width
    share = 1.0 if new_classes else rows / (rows + (before.seen or rows))
    found["train.optimizer.lr"] = config.train.optimizer.lr * float(np.sqrt(share))
    if config.train.least_steps:
        found["train.least_steps"] = min(config.train.least_steps, LEAST_STEPS[new_classes])
    return found


def divided(before: LearnedFrom, fraction: float, seed: int) -> LearnedFrom:
    """Return a model of which a share of the old examples chooses, and is not learned again.

    Args:
        before: the model, with the examples that it keeps.
        fraction: the share.
        seed: of the draw; the rows that were seen move it, so that each time others choose.

    Returns:
        The model; the same one where it recalls nothing or too few examples are kept.
    """
    count = len(before.examples)
    chosen = round(count * fraction)
    if not before.recalls or not chosen:
        return before
    judges = set(np.random.default_rng([seed, before.seen]).permutation(count)[:chosen].tolist())
    parts: tuple[list[Example], list[Example]] = ([], [])
    for place, example in enumerate(before.examples):
        parts[place in judges].append(example)
    sizes = [before.each * count / max(len(part), 1) for part in parts]  # both stand for all of them
    own = [
        [replace(each, weight=each.weight / before.each * size) for each in part]
        for part, size in zip(parts, sizes, strict=True)
    ]
    return replace(
        before, examples=tuple(own[0]), each=sizes[0], judging=tuple(own[1]), judging_each=sizes[1]
    )


def with_judges(
    load: Callable[[], Corpora], before: LearnedFrom, fraction: float, seed: int
) -> Callable[[], Corpora]:
    """Return what also gives the examples that choose: new ones that are held back, and old ones behind them.

    Args:
        load: reads the new examples.
        before: the model, of which `divided` chose the old ones.
        fraction: share of the new ones that is held back; of a few none is, and all of them are measured.
        seed: of the draw.

    Returns:
        A function that reads the parts, with the old examples behind dev.
    """

    def read() -> Corpora:
        parts = load()
        train = parts["train"]
        if "dev" in parts:
            held, rest = list(parts["dev"].examples), train.examples
        elif len(train.examples) < _FEWEST:
            held, rest = list(train.examples), train.examples
        else:
            rest, held = split_dev(train.examples, max(fraction, 1 / len(train.examples)), seed)
        if before.judging:  # new rows that are held back stand for all new ones, as the old ones do
            stands = (len(rest) + len(held)) / len(held)
            held = [replace(each, weight=each.weight * stands) for each in held]
        dev = Corpus([*held, *before.judging], source=train.source)
        return {**parts, "train": replace(train, examples=rest), "dev": dev}

    return read
