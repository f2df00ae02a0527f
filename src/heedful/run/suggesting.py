"""Which texts to label next: those that a model is least sure of, and among them those that are least alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example
from heedful.errors import checked_whole
from heedful.tasks import Predictor

By = Literal["margin", "entropy", "random"]
CANDIDATES = 5
"""By default so many times the wanted texts are looked at, the most uncertain ones, for those that are least alike."""


@dataclass(frozen=True)
class Suggestion:
    """A text that is worth a label.

    Attributes:
        row: its row in the pool.
        texts: the text, or the two texts of a pair.
        answer: the class that the model gives it.
        probability: of that class.
        uncertainty: from 0 for a sure answer to 1 for an even one; see `margin` and `entropy`.
        fields: the other columns of its row, such as its number in the pool.
    """

    row: int
    texts: tuple[str, ...]
    answer: str
    probability: float
    uncertainty: float
    fields: Mapping[str, object] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Return plain values: "text", or "premise" and "hypothesis", the other attributes, and the fields."""
        plain = asdict(self)
        fields = plain.pop("fields")
        names = ("text",) if len(self.texts) == 1 else ("premise", "hypothesis")
        texts = dict(zip(names, plain.pop("texts"), strict=True))
        own = {"row": plain.pop("row"), **texts, **plain}
        return {**own, **{name: value for name, value in fields.items() if name not in own}}


def margin(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 minus the distance between the two largest probabilities of each row, [N]."""
    best = np.sort(probabilities, axis=1)[:, -2:]
    return 1 - (best[:, 1] - best[:, 0])


def entropy(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of each row over that of even probabilities, [N]."""
    logarithms = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    found: NDArray[np.float64] = -(probabilities * logarithms).sum(axis=1) / np.log(probabilities.shape[1])
    return found


_MEASURES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "margin": margin,
    "entropy": entropy,
}


def farthest_first(vectors: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Choose rows one after another, each as far as can be from those chosen before; the first row comes first.

    Args:
        vectors: [N, D]; the angle between them counts, not their length.
        count: of rows to choose, at most N.

    Returns:
        Positions of the rows, in the order in which they were chosen; of equal ones the first.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths == 0, 1, lengths)
    chosen, nearest = [0], np.full(len(unit), np.inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, np.square(unit - unit[chosen[-1]]).sum(axis=1))
        nearest[chosen] = -1
        chosen.append(int(nearest.argmax()))
    return np.array(chosen[:count], np.int64)


def suggest(
    model: Predictor,
    pool: Corpus,
    count: int,
    *,
    by: By = "margin",
    candidates: int = CANDIDATES,
    seed: int = 0,
) -> list[Suggestion]:
    """Choose texts of a pool to label next.

    A text that the pool holds several times is chosen once at most, and a text without words never.

    Args:
        model: answers the classes of texts or of pairs.
        pool: texts without labels; gold is not looked at.
        count: of texts wanted.
        by: "margin" or "entropy", what is most uncertain; or "random", to compare with.
        candidates: so many times ``count`` of the most uncertain texts are looked at for those that are least alike by
            their sentence vectors; 1 takes the most uncertain ones as they are.
        seed: of "random".

    Returns:
        At most ``count`` texts, the most useful first.

    Raises:
        UsageError: if count or candidates is below 1.
    """
    for name, value in (("count", count), ("candidates", candidates)):
        checked_whole(name, value, 1)
    distinct: dict[tuple[str, ...], Example] = {}
    for example in pool.examples:
        if all(text.strip() for text in example.texts):
            distinct.setdefault(example.texts, example)
    examples = list(distinct.values())
    if not examples:
        return []
    logits, sides = model.run(model.encode_examples(examples, pool.source)[0])
    probabilities = model.probabilities(logits)
    answered = model.chosen(probabilities)
    uncertainty = _MEASURES.get(by, margin)(probabilities)
    if by == "random":
        order = np.random.default_rng(seed).permutation(len(examples))[:count]
    else:
        order = np.argsort(-uncertainty, kind="stable")[: count * candidates]
        if candidates > 1:
            order = order[farthest_first(np.concatenate(sides, axis=1)[order], min(count, len(order)))]
    return [
        Suggestion(
            examples[place].row,
            examples[place].texts,
            model.labels[answered[place]],
            float(probabilities[place, answered[place]]),
            float(uncertainty[place]),
            {
                name: value
                for name, value in (examples[place].fields or {}).items()
                if value not in examples[place].texts
            },
        )
        for place in order.tolist()
    ]
