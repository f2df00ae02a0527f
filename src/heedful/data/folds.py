"""Cutting a corpus: cross-validation folds and a dev part, each a pure function of the seed."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example
from heedful.data.leaks import keys
from heedful.errors import UsageError


@dataclass(frozen=True)
class Fold:
    """One fold: places of the examples that train and of those held out."""

    train: list[int]
    test: list[int]


def shuffled(count: int, seed: int) -> list[int]:
    """Return 0 … count-1 in a random order that depends on the seed only.

    Sorts by `random.Random.random`, the one method whose sequence Python promises to keep between versions.
    """
    generator = random.Random(seed)
    keys = [generator.random() for _ in range(count)]
    return sorted(range(count), key=keys.__getitem__)


def folds(count: int, seed: int, n: int = 10) -> list[Fold]:
    """Shuffle once, then cut at floor(i · count / n); each part is held out once.

    The public DiSAN and MTSA code cuts the same way but shuffles without a seed.

    Returns the folds. Raises UsageError if there are fewer than two folds or fewer examples than folds.
    """
    if n < 2 or count < n:
        raise UsageError(f"cannot cut {count} examples into {n} folds; at least 2 folds and one example each")
    order = shuffled(count, seed)
    cuts = [i * count // n for i in range(n + 1)]
    return [Fold(order[:start] + order[end:], order[start:end]) for start, end in itertools.pairwise(cuts)]


def copies(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """Return what is equal for examples of the same text, or of the same pair in either order.

    Case, punctuation and spaces do not count; see `heedful.data.leaks.normalized`. Empty texts are no copies.
    """
    texts = (tuple(sorted(key)) for key in keys(examples))
    return [key if any(key) else (f"{place}",) for place, key in enumerate(texts)]


def shared_with_training(corpora: Mapping[str, Corpus]) -> list[str]:
    """Say how many texts of the other parts are training texts too, whose answers the model has seen.

    Args:
        corpora: the parts by name, "train" among them; parts named "dev" and "test" are looked at.

    Returns:
        A sentence for each part that has such texts.
    """
    known = {example.texts for example in corpora["train"].examples}
    found = []
    for name in ("dev", "test"):
        examples = corpora[name].examples if name in corpora else []
        count = sum(example.texts in known for example in examples)
        if count:
            found.append(
                f"{name}: {count:,} of its {len(examples):,} texts are training texts too, so its figures are too good"
                "; 'heedful data check' shows them"
            )
    return found


def together(fold: NDArray[np.int64], same: Sequence[Hashable]) -> NDArray[np.int64]:
    """Move copies to the fold of the first one, so that no model is asked about a text that it was trained on.

    Args:
        fold: of each example, [N].
        same: what is equal for copies, [N].

    Returns:
        The fold of each example, [N].
    """
    first: dict[Hashable, int] = {}
    return np.array([first.setdefault(key, int(own)) for key, own in zip(same, fold, strict=True)], np.int64)


def split_dev(
    examples: Sequence[Example],
    fraction: float,
    seed: int,
    stratified: bool = True,
    together: bool = True,
) -> tuple[list[Example], list[Example]]:
    """Cut a dev part out of training data.

    Copies of a text stay on one side, and every class that is held out is trained on too. The examples of classes that
    are too small for a share of their own are shared out together.

    Args:
        examples: the training data.
        fraction: share of the dev part, between 0 and 1.
        seed: the seed.
        stratified: take the share of every class (of class names; scores and missing gold count as one class).
        together: keep copies of a text on one side; else they are examples like any others.

    Returns:
        What is left for training and the dev part, both in the order of the file.

    Raises:
        UsageError: if the fraction leaves one of the two parts empty.
    """
    if not 0 < fraction < 1:
        raise UsageError(f"fraction must lie between 0 and 1, got {fraction!r}")
    targets = [example.target for example in examples]
    classes = [target if stratified and isinstance(target, str) else "" for target in targets]
    strata: dict[str, list[int]] = {}
    for place in shuffled(len(examples), seed):
        strata.setdefault(classes[place], []).append(place)
    small = [name for name, own in strata.items() if name and not round(fraction * len(own))]
    rare = set(itertools.chain.from_iterable(strata.pop(name) for name in small))
    pools = [*strata.values(), [place for place in shuffled(len(examples), seed) if place in rare]]
    held = _Held(classes, copies(examples) if together else range(len(examples)))
    for pool in pools:
        held.take(pool, round(fraction * len(pool)))
    if not held.dev and len(examples) * fraction >= 1:
        held.take(shuffled(len(examples), seed), 1, larger=True)
    if not 0 < len(held.dev) < len(examples):
        raise UsageError(
            f"fraction {fraction} of {len(examples)} examples leaves one split empty; add examples or change it"
        )
    train = [example for place, example in enumerate(examples) if place not in held.dev]
    return train, [examples[place] for place in sorted(held.dev)]


class _Held:
    """What is held out; a text with all its copies or not at all, and of no class everything.

    Args:
        classes: of each example; empty for none.
        same: what is equal for copies.
    """

    def __init__(self, classes: Sequence[str], same: Sequence[Hashable]) -> None:
        self.dev: set[int] = set()
        self._classes, self._same = classes, same
        self._left = Counter(classes)
        self._copies: dict[Hashable, list[int]] = {}
        for place, key in enumerate(same):
            self._copies.setdefault(key, []).append(place)

    def take(self, pool: Sequence[int], wanted: int, *, larger: bool = False) -> None:
        """Hold out so many examples of a pool, in its order, and their copies.

        Args:
            pool: places of examples.
            wanted: how many; fewer where copies would be more than are wanted.
            larger: whether one text may have more copies than are wanted.
        """
        left = wanted - sum(place in self.dev for place in pool)
        for place in pool:
            if left <= 0:
                return
            own = self._copies[self._same[place]]
            if place in self.dev or (len(own) > left and not larger):
                continue
            lost = Counter(self._classes[each] for each in own)
            if any(name and self._left[name] <= count for name, count in lost.items()):
                continue
            self._left -= lost
            self.dev.update(own)
            left -= len(own)
