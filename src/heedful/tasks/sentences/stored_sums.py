"""Keeping sums over training rows in a model of classes, and learning on from those of the model before."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Ragged
from heedful.errors import UsageError
from heedful.model.answers import AnyAnswer
from heedful.model.training_examples import MOST_KEPT
from heedful.model.training_sums import MOST_DENSE, KeptSums
from heedful.models.config import NO_NETWORK
from heedful.tasks.schema import About
from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.learning_by_sums import (
    SETTINGS,
    SumRows,
    Wholes,
    first_sums,
    learned_by_sums,
    with_rows,
)
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import ClassTargets, LinearTargets
from heedful.tasks.sentences.part_rows import SHARE, WORDS_AND_CHARACTERS, phrases_of, sentence_rows
from heedful.tasks.sentences.part_weights import FittedPart, Halved, Joining, PartWeights, Steady
from heedful.tasks.sentences.principal_rows import as_array
from heedful.tasks.sentences.sentence_model import SentenceModel

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig

_log = logging.getLogger(__name__)
BY_SUMS = "sums of all rows"
MOST_ROWS = 20_000
"""Rows of a model with a network of which sums are kept at most."""


@dataclass(frozen=True)
class Settled(Joining):
    """A part that was weighed when it was fitted."""

    def join(
        self, network: NDArray[np.floating] | None, least: float = 0.0, most: float = np.inf
    ) -> PartWeights:
        """See `Joining.join`: the part joins as it is."""
        (part,) = self.parts
        weighed = {part.name: 1.0}
        return PartWeights(
            1.0, weighed, part.logits, self.targets.loss(part.logits), {part.name: part.logits}
        )


def sums_of(
    config: RunConfig,
    model: SentenceModel[AnyAnswer],
    targets: LinearTargets,
    training: EncodedDataset,
    reads: Sequence[PartRows],
) -> KeptSums | None:
    """Return the sums over the rows of a training that begins with nothing.

    Args:
        config: the settings of the run.
        model: the model.
        targets: gold of the rows.
        training: the rows.
        reads: what the parts read of them.

    Returns:
        The sums; None where the settings want none, for models that keep the texts of all rows, which are learned
        again themselves, and for models with another answer than a class, with columns beside the text or a teacher,
        without features of whole texts or with too many, and for networks of more than `MOST_ROWS` rows.
    """
    able = config.data.keep_sums and not config.data.features and not config.distil.teacher
    if not able or not isinstance(targets, ClassTargets):
        return None
    if config.data.keep_examples == "texts" and config.data.keep_share == 1 and len(training) <= MOST_KEPT:
        return None
    if model.model.encoder != NO_NETWORK and len(training) > MOST_ROWS:
        return None
    reads = [part for part in reads if part.name != WORDS_AND_CHARACTERS]
    if not reads or any(part.drawn is not None for part in reads):
        return None
    dense = _dense(reads, len(training))
    features = _features(reads)
    if not 0 < sum(count for _, count in features) <= MOST_DENSE:
        return None
    rows = SumRows(dense, _words(model, training), targets.shares.argmax(axis=1), targets.weights)
    return first_sums(features, targets.outputs, rows, model.text.phrases, SHARE, _wholes(reads))


def learn_on_by_sums(
    config: RunConfig,
    model: SentenceModel[AnyAnswer],
    targets: LinearTargets,
    training: EncodedDataset,
    judges: tuple[EncodedDataset, LinearTargets] | None = None,
) -> bool:
    """Let a model learn on from the sums of the one before, if that keeps sums of the features that are read now.

    Args:
        config: the settings of the run.
        model: the model, which gets its parts and sums.
        targets: gold of the rows; where classes stand for several rows, the old ones are the last.
        training: the rows.
        judges: the dev split with its gold, by which the part joins a network; None without a network.

    Returns:
        Whether it did.
    """
    sums, before = model.sums, model.before
    if sums is None or before is None or not isinstance(targets, ClassTargets):
        return False
    if len(sums.losses) != SETTINGS:
        raise UsageError(
            f"data.learn_from: the sums of the model have {len(sums.losses)} figures of settings, expected {SETTINGS}; "
            "train it anew, or learn on with data.keep_sums=false"
        )
    reads = sentence_rows(config, model, training, None if judges is None else judges[0])
    dense = _dense(reads, len(training))
    if _features(reads) != sums.features:
        _log.warning(
            "data.learn_from: the model keeps sums of %s, and %s are read now, so the weights alone are learned on.",
            *(
                ", ".join(name for name, _ in each) or "no features"
                for each in (sums.features, _features(reads))
            ),
        )
        model.sums = None
        return False
    weights = targets.weights.copy()
    if before.replayed:
        weights[-before.replayed :] = 0  # they are in the sums
        weights *= np.count_nonzero(weights) / max(float(weights.sum()), 1e-300)
    rule = model.text.phrases
    rows = SumRows(dense, _words(model, training), targets.shares.argmax(axis=1), weights)
    new = rows.of(np.flatnonzero(weights > 0))
    # Old rows that are kept choose too, each for those that it stands for: new ones may be of a new class alone.
    choosing = replace(rows, weights=targets.weights)
    found = learned_by_sums(with_rows(sums, new, rule), choosing, rule, SHARE, _wholes(reads))

    def put(about: About, weight: float) -> About:
        bias, start = found.dense.bias, 0
        for part in reads:
            width = part.rows.shape[1]
            about = part.put(about, LinearFit(found.dense.weights[start : start + width], bias), weight)
            start, bias = start + width, np.zeros_like(bias)
        return replace(about, wide=replace(found.wide, weight=weight)) if rule.reads else about

    model.sums = found.sums
    model.before = replace(before, wide=None, sentence=None)
    if judges is None:
        model.joining = Settled(targets, (FittedPart(BY_SUMS, found.logits, put),))
        model.nested = found.logits.astype(np.float32)
        return True
    dev, gold = judges
    held = np.concatenate([as_array(part.held) for part in reads if part.held is not None], axis=1)
    logits = found.dense.logits(held) + (found.wide.logits(phrases_of(dev)) if rule.reads else 0.0)
    joins = Halved if len(before.labels) < len(model.labels) else Steady  # few rows of old classes choose
    model.joining = joins(gold, (FittedPart(BY_SUMS, logits, put),))
    return True


def _dense(reads: Sequence[PartRows], count: int) -> NDArray[np.float32]:
    rows = [as_array(part.rows) for part in reads]
    return np.concatenate([np.zeros((count, 0), np.float32), *rows], axis=1)


def _wholes(reads: Sequence[PartRows]) -> Wholes:
    """Return what is known of whole texts beside the rows, in the order of `_dense`."""
    named = [part.named for part in reads if part.named is not None]
    names = np.concatenate(named, axis=1) if reads and len(named) == len(reads) else None
    vectors = [np.arange(part.rows.shape[1]) >= part.rows.shape[1] - part.vector for part in reads]
    return Wholes(names, np.concatenate([np.zeros(0, np.bool_), *vectors]))


def _features(reads: Sequence[PartRows]) -> tuple[tuple[str, int], ...]:
    return tuple((part.name, part.rows.shape[1]) for part in reads)


def _words(model: SentenceModel[AnyAnswer], training: EncodedDataset) -> Ragged:
    none = Ragged(np.zeros(0, np.int32), np.zeros(len(training) + 1, np.int64))
    return phrases_of(training) if model.text.phrases.reads else none
