"""The attention all forms of MTSA share: heads, each with a mask; either part of the score can be left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.encoders.names import numbered
from heedful.errors import UsageError
from heedful.masks import parse_mask
from heedful.ops.tensorized import TensorizedImpl, tensorized_attention
from heedful.ops.types import AttentionResult
from heedful.structures import Sentences

Token2Token = Literal["sigmoid", "exp"]


class TensorizedHeads(nn.Module):
    """Tensorized attention under masks; it has no parameters.

    Args:
        masks: what the heads see, each mask for an equal share of them, the first mask's heads first.
        heads: H, a multiple of the number of masks.
        self_visible: whether a token also sees itself.
        token2token: how the score of a pair becomes a factor of its weight.
        dropout: of the attention weights, ``sqrt(1 - dropout)`` kept in each of the two factors.
        impl: implementation of the attention operation.

    Raises:
        UsageError: if heads is no multiple of the number of masks, or a mask is unknown.
    """

    def __init__(
        self,
        masks: Sequence[str],
        heads: int,
        *,
        self_visible: bool,
        token2token: Token2Token,
        dropout: float,
        impl: TensorizedImpl,
    ) -> None:
        super().__init__()
        if not masks or heads < 1 or heads % len(masks):
            raise UsageError(
                f"heads={heads} must be a multiple of the number of masks, {len(masks)}: every mask gets an equal share"
            )
        if not 0 <= dropout < 1:
            raise UsageError(
                f"attention_dropout must be at least 0 and below 1 (the share dropped); got {dropout!r}"
            )
        of_heads = [mask for mask in masks for _ in range(heads // len(masks))]
        self.masks = [parse_mask(f"({mask}) | window(0)" if self_visible else mask) for mask in of_heads]
        self.names = numbered([str(mask) for mask in self.masks])
        self.token2token: Token2Token = token2token
        self.dropout, self.impl = dropout, impl

    def forward(
        self,
        query: Tensor | None,
        key: Tensor | None,
        value: Tensor,
        source: Tensor | None,
        sentences: Sentences,
        *,
        need_weights: bool = False,
    ) -> AttentionResult:
        """Attend.

        Args:
            query: [B, H, L, C]; None, with key, leaves the score of the pair out: every pair counts the same.
            key: [B, H, L, C].
            value: [B, H, L, C].
            source: the score of every token and feature, [B, H, L, C]; None counts every token the same.
            sentences: validity and structure.
            need_weights: also return the weights.

        Returns:
            Output [B, H, L, C], exactly zero for a token that sees nothing; weights [B, H, Q, K, C] or None.
        """
        equal = torch.zeros_like(value)
        return tensorized_attention(
            equal if query is None else query,
            equal if key is None else key,
            value,
            equal if source is None else source,
            sentences.valid,
            [mask.visible(sentences) for mask in self.masks],
            token2token=self.token2token,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            impl="reference" if need_weights else self.impl,
        )

    def named(self, values: Tensor | None) -> dict[str, Tensor]:
        """Take [B, H, ...] apart into one entry a head, by the head's name; none for None."""
        return {} if values is None else dict(zip(self.names, values.unbind(1), strict=True))
