"""The linear part of tags in training: how strongly it is regularized, and with which weights it joins the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heedful.attention.crf import Chain
from heedful.data.taught_tags import TaughtTags
from heedful.data.word_tags import WordTagDataset, word_offsets
from heedful.model.decisions import TagsDecision
from heedful.model.decisions.tag_paths import TagChain
from heedful.runtime.tag_part import NeighborVectors, TagPart
from heedful.tasks.words.fitting_chain import ChainFit, ChainRows, ChainStrength, fit_chain
from heedful.tasks.words.tag_rows import TagReading, gold_tags, texts_of
from heedful.tasks.words.tag_sequences import ScaledParts, allowed_chain, chain_of, chosen_tags
from heedful.training.stages import stage

STRENGTHS = (ChainStrength(3.0, 0.3), ChainStrength(10.0, 1.0))
"""Strengths of regularization that are tried, the strongest first; word vectors need more of it."""
_MUCH = 2e8
"""Numbers in all words, times tags, above which the first strength alone is tried."""
_LIMITS = (0.0, 20.0)
OUTSIDE_STEPS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""What may be taken from the score of O where tags mark spans."""


@dataclass(frozen=True, eq=False)
class TagGold:
    """Sentences whose tags are known.

    Attributes:
        texts: the words of each.
        tags: the number of each word's tag, end to end, [T]; -1 for one that the model does not know.
        weights: how much each sentence counts, [N]; None where all count alike.
    """

    texts: Sequence[Sequence[str]]
    tags: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    def of(self, sentences: NDArray[np.int64]) -> TagGold:
        """Return some of the sentences."""
        cut = np.split(self.tags, np.cumsum([len(text) for text in self.texts])[:-1])
        chosen = [cut[k] for k in sentences]
        none = np.zeros(0, np.int64)
        weights = None if self.weights is None else self.weights[sentences]
        return TagGold([self.texts[k] for k in sentences], np.concatenate([none, *chosen]), weights)

    def with_(self, other: TagGold) -> TagGold:
        """Return these sentences and others behind them, each of which counts as one of these does on average."""
        weights = None if self.weights is None else np.concatenate([self.weights, np.ones(len(other.texts))])
        return TagGold([*self.texts, *other.texts], np.concatenate([self.tags, other.tags]), weights)


@dataclass(frozen=True)
class JoinedTags:
    """The weights of the parts of a model of tags.

    Attributes:
        network: of the network's logits; 1 where there is none.
        words: of what the linear part says of single words.
        chain: of what it says of tags side by side.
        loss: of a word's share of its sentence, on what chose the weights.
    """

    network: float
    words: float
    chain: float
    loss: float


@dataclass(frozen=True, eq=False)
class TagJoining:
    """A fitted linear part that waits for a network, or does without one.

    Attributes:
        part: the part, fitted on the training sentences.
        labels: the tags.
        held: sentences that choose the weights.
        note: how the part was fitted.
    """

    part: TagPart
    labels: tuple[str, ...]
    held: TagGold
    strength: ChainStrength

    @cached_property
    def emissions(self) -> NDArray[np.float32]:
        """What the part says of the words that choose, [T, Y]."""
        none = np.zeros((0, len(self.labels)), np.float32)
        return np.concatenate([none, *map(self.part.emissions, self.held.texts)])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sentence that chooses begins, and the end."""
        return np.cumsum([0, *map(len, self.held.texts)]).astype(np.int64)

    def join(self, network: NDArray[np.floating] | None) -> JoinedTags:
        """Find the weights under which the gold is likeliest.

        Args:
            network: logits of the network for the words that choose, [T, Y]; None without a network.

        Returns:
            The weights; the same input gives the same.
        """
        from scipy.optimize import minimize

        parts = [self.emissions] if network is None else [network, self.emissions]
        chain, allowed = chain_of(self.labels, self.part.chain), allowed_chain(self.labels)
        bare = Chain(*(x.masked_fill(may < 0, 0) for x, may in zip(chain, allowed, strict=True)))
        problem = ScaledParts(parts, bare, allowed, self.offsets, self.held.tags, self.held.weights)
        limits = [_LIMITS] * (len(parts) + 1)
        start = np.full(len(limits), 1.0 if network is None else 0.6)
        options = {"maxiter": 25, "ftol": 1e-6}
        found = minimize(problem.loss, start, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        *own, words, beside = (float(x) for x in found.x)
        return JoinedTags(own[0] if own else 1.0, words, beside, float(found.fun))

    def tags(
        self, network: NDArray[np.floating] | None, joined: JoinedTags, outside: float = 0.0
    ) -> NDArray[np.int64]:
        """Return the tags of the words that choose, as the composed model gives them, [T].

        Args:
            network: see `join`.
            joined: the weights.
            outside: what is taken from the score of O.

        Returns:
            The numbers of the tags.
        """
        scores = np.float32(joined.words) * self.emissions
        if network is not None:
            scores = scores + np.float32(joined.network) * network
        chain = self.part.scaled(1.0, joined.chain).chain
        return chosen_tags(
            TagsDecision(self.labels, chain, outside), np.asarray(scores, np.float32), self.offsets
        )


def tag_gold(dataset: WordTagDataset, known: int) -> TagGold:
    """Return the words and tags of a data set, as the linear part learns them.

    Args:
        dataset: sentences with gold.
        known: how many tags the model knows.

    Returns:
        The sentences.
    """
    assert dataset.tags is not None  # what is trained on has gold
    weights = None if dataset.weights is None else dataset.weights.astype(np.float64)
    return TagGold(texts_of(dataset), gold_tags(dataset.tags.values, known), weights)


def taught_gold(transfer: TaughtTags, decision: TagsDecision) -> TagGold:
    """Return what a teacher says of texts without gold as gold: the likeliest tags that fit together.

    Args:
        transfer: texts with a teacher's answers.
        decision: chooses tags.

    Returns:
        The texts that were answered.
    """
    rest = transfer.select(np.arange(transfer.gold, len(transfer)))
    offsets = word_offsets(rest)
    rows = [rest.taught[start:end] for start, end in pairwise(offsets.tolist())]
    answered = [row for row, own in enumerate(rows) if len(own) and own.sum(axis=1).min() > 0]
    texts = texts_of(rest)
    logits = [np.log(np.maximum(rows[row], np.float32(1e-9))) for row in answered]
    none = np.zeros(0, np.int64)
    return TagGold(
        [texts[row] for row in answered], np.concatenate([none, *decision.chosen(logits)]).astype(np.int64)
    )


def strengths_for(rows: ChainRows, tags: int) -> tuple[ChainStrength, ...]:
    """Return the strengths that are tried: where a fit takes long, one alone."""
    work = (rows.words.nnz + rows.words.shape[0] * rows.width // 4) * tags
    return STRENGTHS[:1] if work > _MUCH else STRENGTHS


def fit_on_dev(
    training: TagGold, held: TagGold, labels: tuple[str, ...], vectors: NeighborVectors | None, seed: int
) -> TagJoining:
    """Fit the linear part in several strengths, and keep the one under which the dev split is likeliest.

    Args:
        training: what it learns from.
        held: the dev split.
        labels: the tags.
        vectors: word vectors that are read too; None for none.
        seed: of the order of the sentences.

    Returns:
        The part, which waits for the network.
    """
    reading = TagReading.of(training.texts, len(labels), vectors)
    rows, allowed = reading.rows(training.texts), allowed_chain(labels)
    strengths = strengths_for(rows, len(labels))
    found = []
    for place, strength in enumerate(strengths):
        fit = fit_chain(rows, training.tags, allowed, strength, weights=training.weights, seed=seed)
        joining = TagJoining(reading.part(fit), labels, held, strength)
        loss = joining.join(None).loss if len(strengths) > 1 else 0.0
        found.append((loss, place, joining))
    return min(found, key=lambda each: each[:2])[2]


@dataclass(frozen=True, eq=False)
class TagsByFolds:
    """A linear part that cross-validation chose.

    Attributes:
        part: fitted on all sentences.
        strength: that was chosen.
        tags: of each word by a model that was neither fitted nor chosen with its sentence, [T].
    """

    part: TagPart
    strength: ChainStrength
    tags: NDArray[np.int64]


def fit_by_folds(
    training: TagGold,
    folds: NDArray[np.int64],
    labels: tuple[str, ...],
    vectors: NeighborVectors | None,
    seed: int,
) -> TagsByFolds:
    """Choose the strength of regularization by cross-validation, and fit on all sentences.

    Args:
        training: the sentences.
        folds: the fold of each, [N].
        labels: the tags.
        vectors: word vectors that are read too; None for none.
        seed: of the order of the sentences.

    Returns:
        The part, and nested predictions.
    """
    allowed, kinds = allowed_chain(labels), np.unique(folds)
    losses = np.zeros((len(kinds), len(STRENGTHS)))
    offsets = np.cumsum([0, *map(len, training.texts)]).astype(np.int64)
    answers = np.zeros((len(STRENGTHS), len(training.tags)), np.int64)
    fold_of_word = np.repeat(folds, np.diff(offsets))
    with stage("fitting the chain of tags", len(kinds) * len(STRENGTHS)) as fits:
        for row, fold in enumerate(kinds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            own, held = training.of(outside), training.of(inside)
            reading = TagReading.of(own.texts, len(labels), vectors)
            rows, others = reading.rows(own.texts), reading.rows(held.texts)
            for column, strength in enumerate(STRENGTHS):
                fit = fit_chain(rows, own.tags, allowed, strength, weights=own.weights, seed=seed)
                emissions = fit.emissions(others)
                problem = ScaledParts(
                    [emissions], _bare(fit), allowed, others.offsets, held.tags, held.weights
                )
                losses[row, column] = problem.loss(np.ones(2))[0] * problem.count
                decision = TagsDecision(labels, TagChain(fit.follows, fit.first, fit.last))
                answers[column, fold_of_word == fold] = chosen_tags(decision, emissions, others.offsets)
                fits.step()
    total = losses.sum(axis=0)
    nested = np.zeros(len(training.tags), np.int64)
    for row, fold in enumerate(kinds):
        best_of_others = int(np.argmin(total - losses[row]))
        places = fold_of_word == fold
        nested[places] = answers[best_of_others, places]
    chosen = STRENGTHS[int(np.argmin(total))]
    reading = TagReading.of(training.texts, len(labels), vectors)
    rows = reading.rows(training.texts)
    fit = fit_chain(rows, training.tags, allowed, chosen, weights=training.weights, seed=seed)
    return TagsByFolds(reading.part(fit), chosen, nested)


def _bare(fit: ChainFit) -> Chain:
    """Return the chain of a fit without what may not be."""
    from heedful.tasks.words.tag_sequences import torch_chain

    return torch_chain(TagChain(fit.follows, fit.first, fit.last))
