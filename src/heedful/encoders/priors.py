"""What a head of MS-SAN is told about the structure of a sentence: a direction and a distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.masks import Band, Visible
from heedful.ops.dot_product import head_bias
from heedful.structures import Sentences

Distance = Literal["none", "word", "dependency"]
WithoutParse = Literal["word", "none"]
"""What stands in for a tree distance that is not known: the word distance, or no distance at all."""

DIRECTIONS = {"none": Band(), "forward": Band(None, 0), "backward": Band(0, None)}
"""Unlike DiSAN's, these directions show a word itself, so that no word is without anything to attend to."""

_DISTANCES: tuple[Distance, ...] = ("word", "dependency")
_EXAMPLE = "write for example 'forward & word', 'dependency', 'backward' or 'none'"


@dataclass(frozen=True)
class Prior:
    """The structure one head is given.

    Attributes:
        direction: a key of `DIRECTIONS`: forward shows a word and what stands before it, backward what follows.
        distance: what its scores are lowered by.
    """

    direction: str = "none"
    distance: Distance = "none"

    def __str__(self) -> str:
        parts = [part for part in (self.direction, self.distance) if part != "none"]
        return " & ".join(parts) or "none"


def parse_prior(text: str) -> Prior:
    """Read a prior from its text: a direction, a distance, both joined by ``&``, or "none".

    Args:
        text: for example ``"forward & dependency"``.

    Returns:
        The prior; its ``str`` reads back as an equal prior.

    Raises:
        UsageError: if a name is unknown or given twice.
    """
    direction, distance = "none", "none"
    for name in (part.strip() for part in text.split("&")):
        if name == "none":
            if text.strip() != "none":
                raise UsageError(f"head {text!r}: 'none' stands alone; {_EXAMPLE}")
        elif name in DIRECTIONS:
            if direction != "none":
                raise UsageError(f"head {text!r}: one direction a head; {_EXAMPLE}")
            direction = name
        elif name in _DISTANCES:
            if distance != "none":
                raise UsageError(f"head {text!r}: one distance a head; {_EXAMPLE}")
            distance = name
        else:
            hint = nearest(name, [*DIRECTIONS, *_DISTANCES])
            raise UsageError(f"head {text!r}: {name!r} is unknown: {hint}; {_EXAMPLE}")
    return Prior(direction, "word" if distance == "word" else "dependency" if distance != "none" else "none")


def word_offset(sentences: Sentences) -> Tensor:
    """Return how many words token j stands after token i; 0 between the pieces of one word.

    Args:
        sentences: of words, or of word pieces that know their words.

    Returns:
        ``j - i``, int64: [L, L] for words, [B, L, L] for pieces; padding holds anything.
    """
    words = sentences.words
    if words is None:
        words = torch.arange(sentences.valid.shape[1], device=sentences.valid.device)
    return words[..., None, :] - words[..., :, None]


def tree_distance(sentences: Sentences, without_parse: WithoutParse = "word") -> Tensor:
    """Return the steps between two words in the dependency tree, and a stand-in where they are not known.

    Args:
        sentences: their ``tree_distance`` is -1 where there is no path or no parse, or None.
        without_parse: what stands in.

    Returns:
        Distances of at least 0, [B, L, L] or, for words without any parse, [L, L].
    """
    steps = word_offset(sentences).abs()
    if without_parse == "none":
        steps = torch.zeros_like(steps)
    tree = sentences.tree_distance
    return steps if tree is None else torch.where(tree < 0, steps, tree.to(steps.dtype))


def prior_bias(
    priors: Sequence[Prior],
    alpha: float,
    sentences: Sentences,
    *,
    without_parse: WithoutParse = "word",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Write the priors of all heads as one term that is added to the scores (MS-SAN, Eq. 3 to 6).

    ``M_h = M_direction - alpha * distance``. Word pieces have the direction and the distance of their words: those of
    one word all see each other, at distance 0.

    Args:
        priors: one a head.
        alpha: weight of the distances.
        sentences: validity and tree distances.
        without_parse: see `tree_distance`.
        dtype: of the result; take that of the queries.

    Returns:
        The term, [B, H, L, L].
    """
    wanted = {prior.distance for prior in priors}
    known: dict[str, Tensor | None] = {"none": None}
    if "word" in wanted:
        known["word"] = word_offset(sentences).abs()
    if "dependency" in wanted:
        known["dependency"] = tree_distance(sentences, without_parse)
    return head_bias(
        [_visible(DIRECTIONS[prior.direction], sentences) for prior in priors],
        [known[prior.distance] for prior in priors],
        alpha,
        sentences.valid,
        dtype,
    )


def _visible(direction: Band, sentences: Sentences) -> Visible:
    """Read a direction as one between words, whatever the tokens are."""
    return direction if sentences.words is None else direction.sees(word_offset(sentences))
