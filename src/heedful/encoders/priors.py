"""The structural prior of a head of MS-SAN: a direction and a distance, or a mask of another kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.attention.dot_product import head_bias
from heedful.attention.masks import Mask, parse_mask
from heedful.attention.randomness import own_generator
from heedful.attention.visibility import Band, Visible, dense_keep
from heedful.errors import UsageError, nearest
from heedful.nn import Dense
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
        mask: what else a word may see, beside itself; None for everything.
    """

    direction: str = "none"
    distance: Distance = "none"
    mask: Mask | None = None

    def __str__(self) -> str:
        own = "none" if self.mask is None else str(self.mask)
        parts = [part for part in (self.direction, own, self.distance) if part != "none"]
        return " & ".join(parts) or "none"

    def setting_text(self) -> str:
        """Return the text that stands for the prior in settings."""
        return str(self)


def parse_prior(text: str) -> Prior:
    """Read a prior from its text: a direction, a distance, both joined by ``&``, or "none".

    A name of any other mask, such as a registered one, shows a word what that mask shows, and itself; several joined by
    ``&`` what all of them show.

    Returns the prior; its ``str`` reads back as an equal prior. Raises UsageError if a name is unknown or given twice.
    """
    direction, distance = "none", "none"
    mask: Mask | None = None
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
            try:
                own = parse_mask(name)
            except UsageError:
                hint = nearest(name, [*DIRECTIONS, *_DISTANCES])
                raise UsageError(f"head {text!r}: {name!r} is unknown: {hint}; {_EXAMPLE}") from None
            mask = own if mask is None else mask & own
    return Prior(
        direction, "word" if distance == "word" else "dependency" if distance != "none" else "none", mask
    )


def word_offset(sentences: Sentences) -> Tensor:
    """Return how many words token j stands after token i; 0 between the pieces of one word.

    Returns ``j - i``, int64: [L, L] for words, [B, L, L] for pieces; padding holds anything.
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
        [_shown(prior, sentences) for prior in priors],
        [known[prior.distance] for prior in priors],
        alpha,
        sentences.valid,
        dtype,
    )


def _shown(prior: Prior, sentences: Sentences) -> Visible:
    """Return what a head may see: what its direction and its mask show, and a word itself."""
    direction = _visible(DIRECTIONS[prior.direction], sentences)
    if prior.mask is None:
        return direction
    valid = sentences.valid
    own = torch.eye(valid.shape[1], dtype=torch.bool, device=valid.device)
    return (
        dense_keep(direction, valid) & dense_keep(_of_mask(prior.mask.visible(sentences), sentences), valid)
    ) | own


def _of_mask(visible: Visible, sentences: Sentences) -> Visible:
    return _visible(visible, sentences) if isinstance(visible, Band) else visible


def _visible(direction: Band, sentences: Sentences) -> Visible:
    """Read a direction as one between words, whatever the tokens are."""
    return direction if sentences.words is None else direction.sees(word_offset(sentences))


PositionName = Literal["none", "relative", "transformer-xl"]


class Positions(nn.Module, ABC):
    """Adds positions to the attention of a layer.

    Attributes:
        changes_values: whether `values` adds anything, which needs the attention weights.
    """

    changes_values: bool = False

    @abstractmethod
    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return what is added to ``q·k`` before it is divided: [B, H, L, L] from two [B, H, L, C]."""

    def values(self, weights: Tensor) -> Tensor:
        """Return what is added to the output: [B, H, L, C] from weights [B, H, L, L]."""
        raise NotImplementedError(f"{type(self).__name__} does not change the values")


class RelativePositions(Positions):
    """A vector an offset, added to keys and to values (Shaw, Uszkoreit and Vaswani, 2018).

    ``score_ij = q_i · (k_j + a_ij)``, ``output_i = sum_j w_ij (v_j + b_ij)``; offsets beyond ``reach`` share the
    vectors of the furthest one, and all heads share all vectors.

    Args:
        width: features C of one head.
        reach: k, the largest offset with vectors of its own.
    """

    changes_values = True

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.of_keys = nn.Parameter(torch.empty(2 * reach + 1, width))
        self.of_values = nn.Parameter(torch.empty(2 * reach + 1, width))
        for table in (self.of_keys, self.of_values):
            nn.init.xavier_uniform_(table, generator=own_generator())

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """See `Positions.scores`."""
        by_offset = query @ self.of_keys.to(query.dtype).T
        return by_offset.gather(-1, self._places(query).expand(*query.shape[:3], -1))

    def values(self, weights: Tensor) -> Tensor:
        """See `Positions.values`."""
        places = self._places(weights).expand_as(weights)
        by_offset = weights.new_zeros(*weights.shape[:3], 2 * self.reach + 1).scatter_add(-1, places, weights)
        return by_offset @ self.of_values.to(weights.dtype)

    def _places(self, like: Tensor) -> Tensor:
        offset = _offsets(like.shape[2], like.device)
        return offset.clamp(-self.reach, self.reach) + self.reach


class SinusoidPositions(Positions):
    """Sinusoids of the offset through a learned projection (Transformer-XL; Dai et al., 2019).

    ``score_ij = (q_i + u) · k_j + (q_i + v) · W_R r_{i-j}``, with u and v learned for each head and
    ``r_t = [sin(t f) ; cos(t f)]``, ``f_m = 10000^(-2m / D)``. There is no memory of earlier segments, and offsets run
    both ways.

    Args:
        width: features D of all heads together.
        heads: H.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.content = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.position = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.projection = Dense(width, width, bias=False)

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """See `Positions.scores`."""
        heads, length, width = query.shape[1:]
        waves = _waves(length, heads * width, self.projection.weight)
        rows = self.projection(waves).to(query.dtype)
        rows = rows.unflatten(-1, (heads, width)).permute(1, 2, 0)
        by_offset = (query + self.position.to(query.dtype)) @ rows
        places = (_offsets(length, query.device) + length - 1).expand(*query.shape[:3], -1)
        of_content = self.content.to(query.dtype) @ key.transpose(-1, -2)
        return of_content + by_offset.gather(-1, places)


def _waves(length: int, width: int, like: Tensor) -> Tensor:
    """Return the sinusoids of i - j in the order of j - i, [2 L - 1, width], computed in float32 at least."""
    exact = torch.promote_types(like.dtype, torch.float32)
    steps = torch.arange(length - 1, -length, -1, device=like.device, dtype=exact)
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, device=like.device, dtype=exact) / width)
    angles = steps[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :width].to(like.dtype)


def _offsets(length: int, device: torch.device) -> Tensor:
    position = torch.arange(length, device=device)
    return position[None, :] - position[:, None]
