"""Which words and phrases matter to a model as a whole: their contributions, summed over many explained texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING

from heedful.explain.scene import phrases_of
from heedful.text.characters import visible

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation import Explanation

RAISES, LOWERS = "raises the number", "lowers the number"
"""What stands in the place of classes where the answers are numbers."""
_FAINT = 0.05
"""Words of less than this share of the mean contribution of the strongest one are not worth naming."""
_EVERYWHERE, _MANY = 0.95, 20
"""Share of so many texts or more from which on a word tells no class from another, whatever it contributes to all."""
_TEXTS = 3
"""Texts that are remembered of each word, those where it contributes most."""


@dataclass(frozen=True)
class WordSum:
    """A word or a phrase, and what it contributes to a class.

    Attributes:
        name: the word, in lower case.
        total: the sum of its contributions; above 0 it speaks for the class.
        count: in how many texts.
        texts: numbers of the texts where it contributes most, the first one first, each with the contribution.
        lowers: whether it lowers a number by its contributions.
    """

    name: str
    total: float
    count: int
    texts: tuple[tuple[float, int], ...] = ()
    lowers: bool = False

    @property
    def mean(self) -> float:
        """What it contributes to a text in which it stands."""
        return self.total / self.count

    @property
    def signed(self) -> float:
        """The mean as it is shown: below 0 for a word that lowers a number."""
        return -self.mean if self.lowers else self.mean

    @property
    def weight(self) -> float:
        """By what words are ranked: a rare word must be stronger than a frequent one."""
        return self.total / sqrt(self.count)


@dataclass
class WordSums:
    """Adds up explanations.

    Attributes:
        texts: how many have been added.
        quantity: what their numbers are called; empty where that is not known.
    """

    texts: int = 0
    quantity: str = ""
    _found: defaultdict[str, dict[str, WordSum]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, explanation: Explanation) -> None:
        """Add the explanation of one more text; its number is how many there were before."""
        said = explanation.attribution
        self.quantity = explanation.quantity
        if said is not None:
            two = _two_classes(explanation)
            for each in (said, *([] if two else explanation.others)):
                self._add(each, explanation)
        self.texts += 1

    def called(self, label: str) -> str:
        """Return what stands above the words of a class: of numbers, what they do to the number by its name."""
        if self.quantity and label in (RAISES, LOWERS):
            return label.replace("the number", f"“{visible(self.quantity)}”")
        return label

    def labels(self) -> list[str]:
        """Return the classes to which some word contributes; of numbers `RAISES` and `LOWERS`."""
        return [label for label, words in self._found.items() if words]

    def top(self, label: str, count: int = 10, least: int = 2) -> list[WordSum]:
        """Return the words that speak most for a class, the strongest first; none that stands in nearly all texts.

        Args:
            label: the class.
            count: how many at most.
            least: in how many texts a word stands at least; where no word does, in one.

        Returns:
            The words and phrases.
        """
        most = _EVERYWHERE * self.texts if self.texts >= _MANY else self.texts
        words = [word for word in self._found[label].values() if word.total > 0 and word.count <= most]
        often = [word for word in words if word.count >= least] or words
        ranked = sorted(often, key=lambda word: (-word.weight, word.name))[:count]
        return [word for word in ranked if word.mean >= _FAINT * ranked[0].mean]

    def _add(self, said: Attribution, explanation: Explanation) -> None:
        if said.is_log_odds:
            kinds = {1.0: said.label}
            if _two_classes(explanation):
                kinds[-1.0] = next(label for label in explanation.labels if label != said.label)
        else:
            kinds = {1.0: RAISES, -1.0: LOWERS}
        for name, value in _named(said, explanation):
            for sign, label in kinds.items():
                self._count(label, name, sign * value)

    def _count(self, label: str, name: str, value: float) -> None:
        found = self._found[label]
        before = found.get(name, WordSum(name, 0.0, 0, lowers=label == LOWERS))
        texts = sorted((*before.texts, (value, self.texts)), reverse=True)[:_TEXTS]
        found[name] = replace(before, total=before.total + value, count=before.count + 1, texts=tuple(texts))


def _two_classes(explanation: Explanation) -> bool:
    """Return whether what speaks against one class speaks for the other; of several labels each stands by itself."""
    return len(explanation.labels) == 2 and abs(float(sum(explanation.probabilities)) - 1) < 1e-6


def _named(said: Attribution, explanation: Explanation) -> Iterator[tuple[str, float]]:
    """Yield each word and phrase of a text once, with all that it contributes."""
    phrases = phrases_of(said)
    within = {(joint.side, place) for joint in phrases for place in range(joint.start, joint.end)}
    sums: defaultdict[str, float] = defaultdict(float)
    for joint in phrases:
        words = explanation.sides[joint.side].words[joint.start : joint.end]
        name = " ".join(word for word in words if any(map(str.isalnum, word)))
        sums[name.casefold()] += float(said.values[joint.side][joint.start : joint.end].sum())
    for side, (view, values) in enumerate(zip(explanation.sides, said.values, strict=True)):
        for place, (word, value) in enumerate(zip(view.words, values.tolist(), strict=True)):
            if (side, place) not in within and any(map(str.isalnum, word)):
                sums[word.casefold()] += value
    sums.pop("", None)
    yield from sums.items()
