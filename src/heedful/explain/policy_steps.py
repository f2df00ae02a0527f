"""The record of how a policy opened masks, step by step (MDMAN, Figure 2). Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.characters import shorten, visible

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PolicySteps:
    """From the first masks of a sentence to the final ones.

    The first masks are the two directions. The policy gives each word two probabilities: to be chosen as a query, which
    looks, and as a key, which is looked at. It opens a pair if it chooses its first word as a query and its second word
    as a key. The final masks are the first masks and all opened pairs.

    Attributes:
        name: name of the sentence: "text", "premise" or "hypothesis".
        words: the n words.
        query: probability of each word to be chosen as a query, [n].
        key: probability of each word to be chosen as a key, [n].
        opened: pairs (query, key) that were opened, [n, n] bool.
    """

    name: str
    words: tuple[str, ...]
    query: Array
    key: Array
    opened: NDArray[np.bool_]

    def __post_init__(self) -> None:
        n = len(self.words)
        object.__setattr__(self, "words", tuple(self.words))
        for name, kind, shape in (
            ("query", np.float64, (n,)),
            ("key", np.float64, (n,)),
            ("opened", np.bool_, (n, n)),
        ):
            values = np.array(getattr(self, name), kind).reshape(
                shape if n == 0 else np.shape(getattr(self, name))
            )
            object.__setattr__(self, name, values)
            if values.shape != shape or not ((values >= 0) & (values <= 1)).all():
                raise UsageError(f"policy: {name} must have shape {list(shape)} and values in 0..1")

    @property
    def pairs(self) -> Array:
        """Probability of each pair to be opened, [n, n]: both words are chosen independently; no word sees itself."""
        both: Array = self.query[:, None] * self.key[None]
        return both * (1 - np.eye(len(self.words)))

    def mask(self, direction: str, *, final: bool) -> NDArray[np.bool_]:
        """Return a mask.

        Args:
            direction: "forward", in which a word sees earlier words, or "backward".
            final: whether the opened pairs are in it.

        Returns:
            True where the word of the row may look at the word of the column, [n, n].
        """
        places = np.arange(len(self.words))
        earlier = places[None] < places[:, None]
        first = earlier if direction == "forward" else earlier.T
        return first | self.opened if final else first

    def of_words(self, places: list[int]) -> PolicySteps:
        """Return the same for some of the words."""
        words = tuple(self.words[place] for place in places)
        return PolicySteps(
            self.name, words, self.query[places], self.key[places], self.opened[np.ix_(places, places)]
        )

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }


def policy_lines(steps: PolicySteps, most: int = 6) -> list[str]:
    """Write what a policy opened for a terminal.

    Args:
        steps: of a sentence.
        most: how many pairs at most.

    Returns:
        A title and one line a pair, the most probable first.
    """
    pairs, words = steps.pairs, [shorten(visible(word), 20) for word in steps.words]
    found = sorted(np.argwhere(steps.opened).tolist(), key=lambda pair: -pairs[pair[0], pair[1]])
    lines = [f"  {words[i]} <- {words[j]} {pairs[i, j]:.2f}" for i, j in found[:most]]
    rest = [f"  and {len(found) - most} more"] if len(found) > most else []
    return [
        f"opened by the policy in the {visible(steps.name)}: {len(found)} pairs, with their probability",
        *lines,
        *rest,
    ]
