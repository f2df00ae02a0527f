"""Several linear parts as one: a single regularized fit over the rows of all of them, side by side.

Of few rows no weights of parts can be told. One fit over all features has nothing to weigh, and what it finds is
handed to the parts again, so that a model keeps the same parts however they were fitted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heedful.tasks.schema import About
from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.fitting_wide import DENSE_STRENGTHS, FitSetting
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import ClassTargets, Floats, LinearTargets
from heedful.tasks.sentences.principal_rows import MOST_DIRECTIONS, Rows, WholeRows, dense, directions, whole

NAME = 4.0
"""How many examples the name of a class counts as."""
STRESS = 4.0
"""What the products of sentence vectors may count, beside 1: with many classes they tell more than the states."""
STRENGTHS = (0.3, *DENSE_STRENGTHS)
"""Inverse strengths of regularization of the one fit; the first is for rows of which some have a wrong label."""
STRONGER = (0.1, 0.03)
"""Further ones for rows of which many have one, tried where the first is the likeliest."""
SPREAD = 0.3
"""Variance that each block of features of whole texts is brought to at least; those of single sentences have more."""
_LEAST_SPREAD = 1e-4


@dataclass(frozen=True, eq=False)
class _Side:
    """A part as it stands in the one: rows of examples and names, and what the products of each feature count.

    Long texts, and such as have much in common, have nearly the same features, of which the rest is noise or says all;
    so what counts is how far the features of examples are from one another, and their means are taken off. ``size`` is
    that of all, and ``stressed`` what it comes to with more of sentence vectors.
    """

    part: PartRows
    rows: WholeRows
    means: Floats
    counts: Floats
    size: float
    stressed: float

    @classmethod
    def of(cls, part: PartRows, share: float, stress: float, names: int) -> _Side:
        rows, counts = whole(part.rows), np.full(part.rows.shape[1], share)
        sizes, means = _mean_squares(rows), np.zeros(len(counts))
        for start, end in pairwise(np.cumsum([0, *part.blocks]).tolist()):
            own = np.asarray(rows[:, start:end], np.float64)
            means[start:end] = own.mean(axis=0)
            sizes[start:end] = own[own.any(axis=1)].var(axis=0) if own.any() else 0
            counts[start:end] *= max(1.0, SPREAD / max(float(sizes[start:end].sum()), _LEAST_SPREAD))
        size = float(counts @ sizes)
        counts[len(counts) - part.vector :] *= stress
        if names:
            rows = _behind(rows, np.zeros((names, len(counts))) if part.named is None else part.named)
        rows = rows - means if part.blocks else rows
        return cls(part, rows, means, counts, size, float(counts @ sizes))

    def products(self, rows: Rows | None) -> Floats:
        """Return the products of other rows with its own, [., N]."""
        assert rows is not None  # the caller looked
        own = whole(rows)
        return self._products(own - self.means if isinstance(own, np.ndarray) else own)

    def _products(self, own: WholeRows) -> Floats:
        if isinstance(own, np.ndarray):
            return (own * self.counts) @ self.rows.T.astype(np.float64)
        return dense(own.multiply(self.counts).tocsr() @ self.rows.T)

    def own_products(self, known: dict[tuple[str, float], Floats]) -> Floats:
        """Return the products of its rows with one another; those of sparse rows are looked up where they are known.

        Only the share decides these: sparse rows have no vector of a sentence, and say nothing of names.
        """
        if isinstance(self.rows, np.ndarray) or self.part.named is not None or self.part.vector:
            return self._products(self.rows)
        count, kind = self.part.rows.shape[0], (self.part.name, float(self.counts.max(initial=0.0)))
        if kind not in known:
            known[kind] = self._products(self.rows)[:count, :count]
        names = self.rows.shape[0] - count
        return np.pad(known[kind], (0, names)) if names else known[kind]

    def weights(self, of_examples: Floats) -> Floats:
        """Return the weights of its features for weights of the examples, [N, Y]."""
        found: Floats = self.counts[:, None] * np.asarray(self.rows.T @ of_examples)
        return found


def together(
    parts: Sequence[PartRows],
    shares: Mapping[str, float],
    targets: LinearTargets,
    stress: float = 1.0,
    *,
    named: bool = False,
    known: dict[tuple[str, float], Floats] | None = None,
) -> PartRows:
    """Join parts to one part whose features are those of all, each part's values times the root of its share.

    The rows of N examples span at most N directions, whatever their features are. So the fit reads the examples in
    these directions, which the products of their rows give, and its weights are turned back into those of features.

    Args:
        parts: two or more, with rows of the same examples.
        shares: what the products of the rows of a part count, by its name; 1 for parts that are not named.
        targets: gold of the same examples; if all of them weigh the same, classes may count alike however many
            examples they have.
        stress: what the products of sentence vectors count; the products of an example with itself stay, on average.
        named: whether the names of the classes are taught as `NAME` examples each; words and characters do not read
            them. Then classes always count alike.
        known: products of sparse rows that other forms of the same parts have found, by the name and the share of a
            part; what is missing is added.

    Returns:
        The part. Its bias is kept with the first of the parts.
    """
    names = targets.outputs if named else 0
    sides = [_Side.of(part, shares.get(part.name, 1.0), stress, names) for part in parts]
    found = {} if known is None else known
    products = np.sum([side.own_products(found) for side in sides], axis=0)
    size = sum(side.size for side in sides) / max(sum(side.stressed for side in sides), 1e-300)
    squared, vectors = directions(size * products)
    lengths = np.sqrt(squared)
    turn = vectors / lengths
    held = None
    if all(part.held is not None for part in parts):
        held = size * np.sum([side.products(side.part.held) for side in sides], axis=0) @ turn

    def put(about: About, fit: LinearFit, weight: float) -> About:
        of_examples, bias = size * (turn @ fit.weights), fit.bias
        for side in sides:
            weights = side.weights(of_examples)
            about = side.part.put(about, LinearFit(weights, bias - side.means @ weights), weight)
            bias = np.zeros_like(bias)
        return about

    evens = (True,) if named or _is_even(targets) else (True, False) if _may_even(targets) else (False,)
    settings = tuple(FitSetting(strength, even=even) for even in evens for strength in STRENGTHS)
    name = _name(parts, stress, named=named)
    usual = DENSE_STRENGTHS[0]
    return PartRows(
        name,
        vectors * lengths,
        settings,
        put,
        held,
        _taught(parts, names),
        principal=True,
        usual=usual,
        stronger=STRONGER,
    )


def _name(parts: Sequence[PartRows], stress: float, *, named: bool) -> str:
    *first, last = [part.name for part in parts]
    name = f"{', '.join(first)} and {last} in one" + ", with the names of the classes" * named
    return name + f", sentence vectors times {stress:g}" * (stress != 1)


def forms(
    parts: Sequence[PartRows],
    shares: Mapping[str, float],
    targets: LinearTargets,
    wanted: Collection[str] = (),
) -> list[PartRows]:
    """Return the parts as one in every form that may suit: as they are, or with more of vectors or of names.

    Args:
        parts: two or more, with rows of the same examples.
        shares: see `together`.
        targets: gold of the same examples.
        wanted: names of the forms that are wanted; all of them, if there is none of these.

    Returns:
        The forms.
    """
    stresses = (1.0, STRESS) if any(part.vector for part in parts) else (1.0,)
    may_name = _may_even(targets) and any(part.named is not None for part in parts)
    every = [(stress, named) for named in ((False, True) if may_name else (False,)) for stress in stresses]
    own = [each for each in every if _name(parts, each[0], named=each[1]) in wanted]
    known: dict[tuple[str, float], Floats] = {}
    return [
        together(parts, shares, targets, stress, named=named, known=known) for stress, named in own or every
    ]


def may_join(parts: Sequence[PartRows]) -> bool:
    """Return whether there is anything to join, and few enough examples."""
    return len(parts) > 1 and all(part.rows.shape[0] <= MOST_DIRECTIONS for part in parts)


def evened(part: PartRows, targets: LinearTargets) -> PartRows:
    """Return a part that may be fitted with every class counting alike too, in each of its settings.

    Args:
        part: the part.
        targets: gold of the training examples.

    Returns:
        The part; as it is where the classes are even already, or may not be.
    """
    if not _may_even(targets) or _is_even(targets):
        return part
    even = tuple(replace(setting, even=True) for setting in part.settings)
    return replace(part, settings=even + part.settings)


def _may_even(targets: LinearTargets) -> bool:
    """Return whether classes may count alike: whoever weighs examples has said how much a class counts."""
    return isinstance(targets, ClassTargets) and not np.ptp(targets.weights)


def _is_even(targets: LinearTargets) -> bool:
    """Return whether they do so anyway."""
    return _may_even(targets) and bool(np.allclose(targets.evened().weights, targets.weights))


def _taught(parts: Sequence[PartRows], names: int) -> LinearTargets | None:
    """Return what a teacher says of further examples, and behind them the names as examples."""
    lessons = parts[0].taught
    if not names:
        return lessons
    named = ClassTargets.of_classes(np.arange(names), names, np.full(names, NAME))
    return named if lessons is None else lessons.with_(named)


def _mean_squares(rows: WholeRows) -> Floats:
    if isinstance(rows, np.ndarray):
        return np.asarray((rows.astype(np.float64) ** 2).mean(axis=0))
    return np.asarray(rows.power(2).mean(axis=0), np.float64).ravel()


def _behind(rows: WholeRows, further: NDArray[np.floating]) -> WholeRows:
    if isinstance(rows, np.ndarray):
        return np.concatenate([rows, further])
    from scipy import sparse

    return sparse.vstack([rows, sparse.csr_matrix(further)], format="csr")
