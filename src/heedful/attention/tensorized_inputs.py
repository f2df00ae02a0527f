"""The inputs of tensorized attention as its operators pass them on: flat, so that torch can trace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from heedful.attention.derivatives import Context
from heedful.attention.dropouts import dropout
from heedful.attention.visibility import Band, Visible

ARGUMENTS = (
    "Tensor query, Tensor key, Tensor value, Tensor source, Tensor valid, Tensor[] keeps, int[] bands, "
    "Tensor? drop_pairs, Tensor? drop_source, float scale, bool sigmoid"
)
"""The fields of `TensorizedInputs` in a torch operator's schema."""


Fields: TypeAlias = tuple[
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    list[Tensor],
    list[int],
    Tensor | None,
    Tensor | None,
    float,
    bool,
]
"""The types of the fields of `TensorizedInputs`, for the functions that torch calls with them."""


class TensorizedInputs(NamedTuple):
    """Everything an implementation is given; the fields are the arguments of the torch operators, in order.

    Attributes:
        query: q, [B, H, L, C].
        key: k, [B, H, L, C].
        value: v, [B, H, L, C].
        source: z, [B, H, L, C].
        valid: True at a real token, [B, L].
        keeps: one a head: booleans [L, L] or [B, L, L], or an empty tensor where a band says it all.
        bands: three numbers a head: smallest and largest visible offset, and whether a token sees itself.
        drop_pairs: multipliers of phi, [B, H, Q, K], or None.
        drop_source: multipliers of exp(z), [B, H, K, C], or None.
        scale: what q·k is divided by.
        sigmoid: whether phi is the sigmoid; otherwise it is exp.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    source: Tensor
    valid: Tensor
    keeps: list[Tensor]
    bands: list[int]
    drop_pairs: Tensor | None
    drop_source: Tensor | None
    scale: float
    sigmoid: bool

    @classmethod
    def of(
        cls, heads: Sequence[Tensor], valid: Tensor, visible: Sequence[Visible], scoring: Scoring
    ) -> TensorizedInputs:
        """Gather query, key, value and source with the rest of a request."""
        keeps, bands = spell_out(visible, valid)
        drop = scoring.dropout
        pairs, features = (None, None) if drop is None else (drop.pairs, drop.source)
        query, key, value, source = heads
        return cls(
            query, key, value, source, valid, keeps, bands, pairs, features, scoring.scale, scoring.sigmoid
        )

    def float(self) -> TensorizedInputs:
        """Return the same in float32."""
        pairs, features = (None if x is None else x.float() for x in (self.drop_pairs, self.drop_source))
        query, key, value, source = (x.float() for x in self[:4])
        return TensorizedInputs(
            query,
            key,
            value,
            source,
            self.valid,
            self.keeps,
            self.bands,
            pairs,
            features,
            self.scale,
            self.sigmoid,
        )

    def band(self, head: int) -> Band:
        """Return the band of a head, with both ends written out."""
        low, high, diagonal = self.bands[3 * head : 3 * head + 3]
        return Band(low, high, bool(diagonal))

    def keep(self, head: int) -> Tensor:
        """Write a head's visibility out: booleans [L, L] or [B, L, L], or an empty tensor for every pair."""
        if self.keeps[head].numel():
            return self.keeps[head]
        band, length = self.band(head), self.query.shape[2]
        assert band.low is not None  # both ends are written out
        assert band.high is not None
        if band.diagonal and band.low <= 1 - length and band.high >= length - 1:
            return self.keeps[head]
        return band.keep(length, self.valid.device)


def spell_out(visible: Sequence[Visible], valid: Tensor) -> tuple[list[Tensor], list[int]]:
    """Turn visibility, one entry a head, into ``keeps`` and ``bands`` of `TensorizedInputs`."""
    keeps: list[Tensor] = []
    bands: list[int] = []
    for head in visible:
        band = head if isinstance(head, Band) else Band()
        keeps.append(valid.new_empty(0) if isinstance(head, Band) else head)
        low, high, diagonal = band.bounds  # one by one: torch 2.11 compiles no list += map
        bands += [low, high, int(diagonal)]
    return keeps, bands


def like_heads(query: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a tensor like the query, not initialized, laid out as [B, L, H, C], so that joining the heads is free."""
    batch, heads, length, width = query.shape
    return query.new_empty(batch, length, heads, width, dtype=dtype).transpose(1, 2)


class Kept(NamedTuple):
    """The numbers that an operator keeps for its backward pass: how many outputs, and fields of `TensorizedInputs`."""

    outputs: int
    bands: list[int]
    scale: float
    sigmoid: bool


def save(ctx: Context[tuple[Tensor, ...], Kept], inputs: Fields, output: tuple[Tensor, ...]) -> None:
    """Keep an operator's `TensorizedInputs` and outputs in torch's context for the backward pass."""
    given = TensorizedInputs(*inputs)
    drops = [x for x in (given.drop_pairs, given.drop_source) if x is not None]
    ctx.save_for_backward(*output, *given[:5], *given.keeps, *drops)
    ctx.kept = Kept(len(output), given.bands, given.scale, given.sigmoid)
    ctx.set_materialize_grads(False)


def restore(ctx: Context[tuple[Tensor, ...], Kept]) -> tuple[list[Tensor], TensorizedInputs]:
    """Undo `save`: return the outputs and the inputs."""
    tensors = list(ctx.saved_tensors)
    outputs, bands, scale, sigmoid = ctx.kept
    output, (query, key, value, source, valid, *rest) = tensors[:outputs], tensors[outputs:]
    heads = len(bands) // 3
    pairs, features = rest[heads:] or (None, None)
    return output, TensorizedInputs(
        query, key, value, source, valid, rest[:heads], bands, pairs, features, scale, sigmoid
    )


@dataclass(frozen=True)
class SlabPart:
    """Where one slab lies: a head and a range of sentences."""

    head: int
    sentences: slice

    def __call__(self, tensor: Tensor) -> Tensor:
        """Cut the part out of [B, H, ...]."""
        return tensor[self.sentences, self.head]


@dataclass(frozen=True)
class Scoring:
    """How scores become weights.

    Attributes:
        sigmoid: whether phi is the sigmoid; otherwise it is exp.
        scale: what q·k is divided by.
        dropout: multipliers of the two factors; None for no dropout.
    """

    sigmoid: bool
    scale: float
    dropout: FactorDropout | None = None


@dataclass(frozen=True)
class FactorDropout:
    """Multipliers 0 or ``1/sqrt(keep)`` of the two factors; drawn once, so every implementation can be given the same.

    Attributes:
        pairs: multiplies phi(q·k), [B, H, Q, K].
        source: multiplies exp(z), [B, H, K, C].
    """

    pairs: Tensor
    source: Tensor


def draw_dropout(source: Tensor, probability: float) -> FactorDropout:
    """Draw the multipliers, like z; each factor keeps with ``sqrt(1 - probability)``."""
    share = 1 - (1.0 - probability) ** 0.5
    batch, heads, length, _ = source.shape
    pairs = dropout(source.new_ones(batch, heads, length, length), share, True)
    return FactorDropout(pairs, dropout(torch.ones_like(source), share, True))
