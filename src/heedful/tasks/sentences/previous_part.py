"""What a model of linear parts has learned before, as a part beside those that learn new rows.

The new parts learn what the old ones leave over: the old logits are added to theirs in every fit, and whatever is
chosen, be it how strongly they are drawn to 0, which means to the old model, is chosen so. Because both are linear in
the same features, their sum is a model of the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.runtime.sentence_part import SentencePart
from heedful.tasks.schema import About
from heedful.tasks.sentences.fitting_wide import MOST_FEATURES
from heedful.tasks.sentences.linear_targets import Floats, LinearTargets
from heedful.text.wide_part import WidePart

_UNLIKELY = -4.0
"""Logit of a label of which nothing was learned before; the fit on the new rows moves it."""


@dataclass(frozen=True, eq=False)
class LearnedBefore:
    """The linear parts of a model, with a column for each label that there is now.

    Attributes:
        wide: over words and characters; None for none.
        sentence: over features of whole texts; None for none.
        replayed: how many of the last training examples are old ones.
        each: for how many examples each of these stands.
        judging: how many of the last dev examples are old ones.
        judging_each: for how many examples each of these stands.
        labels: of the model.
        temperature: of the model.
        now: how many labels there are now.
    """

    wide: WidePart | None
    sentence: SentencePart | None
    replayed: int = 0
    each: float = 1.0
    judging: int = 0
    judging_each: float = 1.0
    labels: tuple[str, ...] = ()
    temperature: float = 1.0
    now: int = 0

    @classmethod
    def of(
        cls, about: About, labels: Sequence[str], now: Sequence[str], replayed: int = 0, each: float = 1.0
    ) -> LearnedBefore:
        """Take the parts of a model.

        Args:
            about: what the model keeps.
            labels: its labels.
            now: the labels that there are now, those of the model among them.
            replayed: how many of the last training examples are old ones.
            each: for how many examples each of these stands.

        Returns:
            The parts at the temperature of the model. A new label has no weights yet.
        """
        columns = np.array([now.index(label) for label in labels], np.int64)

        def spread(values: NDArray[np.float32]) -> NDArray[np.float32]:
            found = np.zeros((*values.shape[:-1], len(now)), np.float32)
            found[..., columns] = values
            return found

        share = 1 / about.temperature
        unseen = np.setdiff1d(np.arange(len(now)), columns)
        wide, sentence = about.wide, about.sentence
        if wide is not None:
            weights, bias = spread(wide.weights), spread(wide.bias)
            wide = replace(wide, weights=weights, bias=bias, weight=wide.weight * share)
        if sentence is not None:
            weights, bias = spread(sentence.weights), spread(sentence.bias)
            sentence = SentencePart(sentence.features, weights, bias, sentence.weight * share)
        if wide is not None:
            wide.bias[unseen] = _UNLIKELY / (wide.weight or 1.0)
        elif sentence is not None:
            sentence.bias[unseen] = _UNLIKELY / (sentence.weight or 1.0)
        return cls(
            wide, sentence, replayed, each, labels=tuple(labels), temperature=about.temperature, now=len(now)
        )

    def grown(self, outputs: int, empty: WidePart) -> WidePart:
        """Return a part without weights that knows the features of before and those of new texts.

        Args:
            outputs: columns of the logits.
            empty: what `empty_part` makes of the new examples alone.

        Returns:
            The part; a feature of before keeps its rarity.
        """
        if self.wide is None:
            return empty
        old = self.wide
        new = ~np.isin(empty.numbers, old.numbers)
        room = max(MOST_FEATURES - len(old.numbers), 0)
        numbers = np.concatenate([old.numbers, empty.numbers[new][:room]])
        rarity = np.concatenate([old.rarity, empty.rarity[new][:room]])
        order = np.argsort(numbers)
        weights = np.zeros((len(numbers), outputs), np.float32)
        return WidePart(old.rule, numbers[order], rarity[order], weights, np.zeros(outputs, np.float32))

    def blank(self) -> WidePart | None:
        """Return the wide part without weights; None where there is none."""
        if self.wide is None:
            return None
        zeros = np.zeros_like(self.wide.weights), np.zeros_like(self.wide.bias)
        return replace(self.wide, weights=zeros[0], bias=zeros[1], weight=1.0)

    def within(self, empty: WidePart) -> LearnedBefore:
        """Return the same with the wide part over the features of another one, those of before among them."""
        if self.wide is None:
            return self
        places = np.searchsorted(empty.numbers, self.wide.numbers)
        weights = np.zeros((len(empty.numbers), self.wide.outputs), np.float32)
        weights[places] = self.wide.weights
        wide = replace(empty, weights=weights, bias=self.wide.bias, weight=self.wide.weight)
        return replace(self, wide=wide)

    def temper(self, network: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return what a network gave, [N, Y], as it counted in the model."""
        return network / self.temperature

    def logits(self, dataset: EncodedDataset) -> Floats:
        """Return the logits of examples, [N, Y]."""
        rows, found = range(len(dataset)), np.zeros((len(dataset), self.outputs))
        if self.wide is not None:
            assert dataset.phrases is not None  # the settings of a run with a wide part read them
            found += self.wide.logits(dataset.phrases)
        if self.sentence is not None:
            assert dataset.kept is not None  # likewise the words
            found += self.sentence.of_words(dataset.kept.examples(rows))
        return found

    @property
    def outputs(self) -> int:
        """Columns of the logits."""
        part = self.wide or self.sentence
        return self.now if part is None else part.outputs

    def put(self, about: About) -> About:
        """Add the old parts to what a folder keeps."""
        wide, sentence = about.wide, about.sentence
        if self.wide is not None:
            wide = self.wide if wide is None else self.wide.beside(wide)
        if self.sentence is not None:
            sentence = self.sentence if sentence is None else _sum(self.sentence, sentence)
        return replace(about, wide=wide, sentence=sentence)


def _sum(one: SentencePart, other: SentencePart) -> SentencePart:
    """Return one part that adds what two add; features of the same kind have the sum of both weights."""
    if one.table()["texts"] != other.table()["texts"]:
        return one.beside(other)
    weights = one.weight * one.weights + other.weight * other.weights
    bias = one.weight * one.bias + other.weight * other.bias
    return SentencePart(one.features, weights.astype(np.float32), bias.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Beyond(LinearTargets):
    """Gold, of which a linear model is to learn what given logits leave over.

    Attributes:
        inner: the gold.
        offset: the logits, [N, Y].
    """

    inner: LinearTargets = field(kw_only=True)
    offset: Floats = field(kw_only=True)

    @property
    def beyond(self) -> Floats:
        """See `LinearTargets.beyond`."""
        return self.offset

    @classmethod
    def of_logits(cls, inner: LinearTargets, logits: Floats) -> LinearTargets:
        """Return gold beyond logits."""
        return cls(inner.weights, inner=inner, offset=logits)

    def _with(self, inner: Any, offset: Floats | None = None) -> Any:
        return Beyond(inner.weights, inner=inner, offset=self.offset if offset is None else offset)

    @property
    def outputs(self) -> int:
        """See `LinearTargets.outputs`."""
        return self.inner.outputs

    @property
    def varies(self) -> bool:
        """See `LinearTargets.varies`: also rows of one class differ from what the logits say."""
        return True

    @property
    def terms(self) -> int:
        """See `LinearTargets.terms`."""
        return self.inner.terms

    def smoothed(self) -> Any:
        """See `LinearTargets.smoothed`."""
        return self._with(self.inner.smoothed())

    def evened(self) -> Any:
        """See `LinearTargets.evened`."""
        return self._with(self.inner.evened())

    def losses(self, logits: Floats) -> Floats:
        """See `LinearTargets.losses`."""
        return self.inner.losses(logits + self.offset)

    def slopes(self, logits: Floats) -> Floats:
        """See `LinearTargets.slopes`."""
        return self.inner.slopes(logits + self.offset)

    def curvatures(self, logits: Floats) -> Floats:
        """See `LinearTargets.curvatures`."""
        return self.inner.curvatures(logits + self.offset)

    def of(self, places: NDArray[np.int64]) -> Any:
        """See `LinearTargets.of`."""
        return self._with(self.inner.of(places), self.offset[places])

    def with_(self, other: Any) -> Any:
        """See `LinearTargets.with_`; of what is taught the logits say nothing."""
        further = other.offset if isinstance(other, Beyond) else np.zeros((len(other), self.outputs))
        inner = other.inner if isinstance(other, Beyond) else other
        return self._with(self.inner.with_(inner), np.concatenate([self.offset, further]))

    def membership(self) -> Floats | None:
        """See `LinearTargets.membership`."""
        return self.inner.membership()

    def strata(self) -> NDArray[np.int64]:
        """See `LinearTargets.strata`."""
        return self.inner.strata()
