"""The record of single features of an attention: one word, in one sentence or several. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import UsageError
from heedful.text.characters import shorten, visible

Array = NDArray[np.float64]
_SAME = 1e-6
"""Features whose weights differ by less from the mean say nothing of their own."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What single features of one attention map give the words that one word sees.

    Attributes:
        name: caption of the map.
        axis: what a feature is: "features", "heads" or "features of the head".
        count: how many of them the map has.
        features: numbers of those that are kept, from 1; the one that differs most from the mean comes first.
        distances: of each of them from the mean over all features: half of the sum of the absolute differences of the
            weights (total variation, 0 to 1), on average over the sentences.
        weights: for each sentence [features, n].
        means: for each sentence the mean over all features, [n].
    """

    name: str
    axis: str
    count: int
    features: tuple[int, ...]
    distances: tuple[float, ...]
    weights: tuple[Array, ...]
    means: tuple[Array, ...]

    @property
    def alike(self) -> bool:
        """Whether all features agree: the word sees one word or none, or the network does not tell features apart."""
        return not any(distance > _SAME for distance in self.distances)

    @property
    def unit(self) -> str:
        """What one of the features is called."""
        return "head" if self.axis == "heads" else "feature"


@dataclass(frozen=True, eq=False)
class FeatureShares:
    """The weight of one word in single features of the sentence vector (source2token), as in Figure 8 of DiSAN.

    Attributes:
        count: how many features the sentence vector has.
        features: numbers of those that are kept, from 1. Of several sentences, the feature comes first whose weight
            differs most between them; of one sentence, the one whose weight is farthest from the mean.
        weights: [sentences, features].
        means: of each sentence the mean over all features.
    """

    count: int
    features: tuple[int, ...]
    weights: Array
    means: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", np.array(self.weights, np.float64))
        if self.weights.shape != (len(self.means), len(self.features)) or not np.isfinite(self.weights).all():
            raise UsageError("features: expected one finite weight for each sentence and feature")


@dataclass(frozen=True, eq=False)
class WordFeatures:
    """Single features of one word.

    Attributes:
        word: the word.
        sentences: the words of each sentence that has it.
        places: where the word is in each of them, from 0; of several times the first.
        maps: one for each attention with features.
        shares: weights in the sentence vector; None where the pooling has one weight a word.
    """

    word: str
    sentences: tuple[tuple[str, ...], ...]
    places: tuple[int, ...]
    maps: tuple[FeatureMap, ...] = ()
    shares: FeatureShares | None = None

    def __post_init__(self) -> None:
        sentences = tuple(tuple(sentence) for sentence in self.sentences)
        maps = tuple(FeatureMap(**each) if isinstance(each, Mapping) else each for each in self.maps)
        shares = self.shares
        for name, value in (
            ("sentences", sentences),
            ("places", tuple(int(place) for place in self.places)),
            ("maps", tuple(_arrays(each, [len(sentence) for sentence in sentences]) for each in maps)),
            ("shares", FeatureShares(**shares) if isinstance(shares, Mapping) else shares),
        ):
            object.__setattr__(self, name, value)
        if not self.maps and self.shares is None:
            raise UsageError("features: expected at least one attention or pooling with features")

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        plain = {**asdict(self), "maps": [_plain(each) for each in self.maps]}
        return {**plain, "shares": None if self.shares is None else _plain(self.shares)}

    def strongest(self) -> Iterator[tuple[str, int, int, str, float]]:
        """Yield what each kept feature sees most: map, feature, sentence from 1, seen word, weight."""
        for each in self.maps:
            if each.alike:
                continue
            for row, feature in enumerate(each.features):
                for number, (words, weights) in enumerate(zip(self.sentences, each.weights, strict=True), 1):
                    best = int(weights[row].argmax())
                    yield each.name, feature, number, words[best], float(weights[row, best])


def feature_map(name: str, axis: str, rows: Sequence[ArrayLike], keep: int) -> FeatureMap:
    """Keep the features of a map that differ most from the mean over all features.

    Args:
        name: caption of the map.
        axis: what a feature is.
        rows: for each sentence the weights that the word gives, [n, features].
        keep: how many features.

    Returns:
        The features.
    """
    weights = [np.asarray(each, np.float64) for each in rows]
    means = [each.mean(axis=1) for each in weights]
    pairs = zip(weights, means, strict=True)
    distances = np.mean([np.abs(each - mean[:, None]).sum(axis=0) / 2 for each, mean in pairs], axis=0)
    best = np.argsort(-distances, kind="stable")[:keep]
    return FeatureMap(
        name,
        axis,
        len(distances),
        tuple(int(k) + 1 for k in best),
        tuple(float(distances[k]) for k in best),
        tuple(each[:, best].T for each in weights),
        tuple(means),
    )


def feature_shares(rows: Sequence[ArrayLike], keep: int) -> FeatureShares:
    """Keep the features of the sentence vector that tell most of a word.

    Args:
        rows: for each sentence the weights of the word, [features].
        keep: how many features.

    Returns:
        The weights, with the feature first that differs most between the sentences, or of one sentence from the mean.
    """
    weights = np.stack([np.asarray(each, np.float64) for each in rows])
    spread = np.ptp(weights, axis=0) if len(weights) > 1 else np.abs(weights[0] - weights[0].mean())
    best = np.argsort(-spread, kind="stable")[:keep]
    means = tuple(float(mean) for mean in weights.mean(axis=1))
    return FeatureShares(weights.shape[1], tuple(int(k) + 1 for k in best), weights[:, best], means)


def feature_lines(features: WordFeatures, most: int = 8) -> list[str]:
    """Write what single features see, for a terminal.

    Args:
        features: of a word.
        most: how many lines at most.

    Returns:
        A title and one line for each feature and sentence, those that differ most from the mean first.
    """
    word = shorten(visible(features.word), 24)
    found = [
        f"  {name}, feature {feature}, sentence {number}: {shorten(visible(seen), 24)} {weight:.2f}"
        for name, feature, number, seen, weight in features.strongest()
    ]
    shares = features.shares
    if shares is not None:
        found += [
            f"  source2token, feature {feature}: "
            + ", ".join(f"sentence {number} {weight:.2f}" for number, weight in enumerate(column, 1))
            for feature, column in zip(shares.features, shares.weights.T.tolist(), strict=True)
        ]
    rest = [f"  and {len(found) - most} more on the page (--html)"] if len(found) > most else []
    return [f"features of {word}: what a single feature sees most", *found[:most], *rest]


def _arrays(each: FeatureMap, lengths: Sequence[int]) -> FeatureMap:
    """Return the same map with arrays of the right sizes."""
    weights = tuple(np.array(rows, np.float64) for rows in each.weights)
    means = tuple(np.array(mean, np.float64) for mean in each.means)
    wanted = [(len(each.features), length) for length in lengths]
    if [rows.shape for rows in weights] != wanted or [len(mean) for mean in means] != list(lengths):
        raise UsageError(f"features: {each.name}: expected one weight for each feature and word")
    if not all(np.isfinite(rows).all() for rows in weights):
        raise UsageError(f"features: {each.name}: expected finite weights")
    features, distances = tuple(each.features), tuple(each.distances)
    return FeatureMap(each.name, each.axis, each.count, features, distances, weights, means)


def _plain(record: FeatureMap | FeatureShares) -> dict[str, object]:
    return {name: _listed(value) for name, value in asdict(record).items()}


def _listed(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_listed(item) for item in value] if isinstance(value, tuple | list) else value
