"""Multi-head self-attention as the baseline of DiSAN and MTSA has it (after Vaswani et al., 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.encoders.base import ContextEncoder
from heedful.errors import UsageError
from heedful.modules import Regularised, glorot_uniform, join_heads, positional_signal
from heedful.ops import dropout
from heedful.ops.dot_product import DotProductImpl, masked_head_attention
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MultiHeadConfig:
    """Settings of `MultiHeadEncoder`.

    Attributes:
        heads: H.
        head_width: features C of one head.
        dropout: on the input of every projection, and of the attention weights.
        signal: what the positional signal is multiplied by; 1 as published, 0 for none.
        gain: what the starting weights are multiplied by; 1 as published, 4.9 for those of a head's own matrix.
        impl: implementation of the attention operation.
    """

    heads: int = 8
    head_width: int = 75
    dropout: float = 0.35
    signal: float = 1.0
    gain: float = 1.0
    impl: DotProductImpl = "auto"


class _Projections(Regularised):
    """Query, key and value of every head from one tensor; in training each has its own dropout mask."""

    def __init__(self, width: int, config: MultiHeadConfig) -> None:
        super().__init__()
        self.l2, self.dropout = 1.0, config.dropout
        self.weight = nn.Parameter(torch.empty(3, config.heads, width, config.head_width))
        glorot_uniform(self.weight, width, config.head_width, field=3 * config.heads)
        with torch.no_grad():
            self.weight.mul_(config.gain)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """Map [B, L, D] to three [B, H, L, C]."""
        if not (self.training and self.dropout):
            return torch.einsum("bld,phdc->pbhlc", x, self.weight).unbind(0)
        # Projections first, so that one batched product reads the dropped inputs where they lie.
        batch, length, width = x.shape
        count, heads, _, head_width = self.weight.shape
        dropped = dropout(x.expand(count * heads, *x.shape), self.dropout, self.training)
        projected = dropped.reshape(count * heads, batch * length, width) @ self.weight.flatten(0, 1)
        return projected.view(count, heads, batch, length, head_width).transpose(1, 2).unbind(0)


class MultiHeadEncoder(ContextEncoder):
    """Dot-product attention in heads over word vectors with a positional signal: 540,000 parameters at width 300.

    Weaker than a Transformer's block, as published: no output projection, no residual, no layer norm, no biases. All
    three projections of all heads are one variable, whose start is therefore five times smaller than that of a head's
    own matrix (`heedful.modules.glorot_uniform`).

    Args:
        width: features of the word vectors; the states have ``heads * head_width``.
        config: the settings.

    Raises:
        UsageError: if there is no head, a head has no feature, or the gain is not positive.
    """

    def __init__(self, width: int, config: MultiHeadConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or MultiHeadConfig()
        if config.heads < 1 or config.head_width < 1:
            raise UsageError(
                f"heads and head_width must be 1 or more; got {config.heads} and {config.head_width}"
            )
        if not config.gain > 0:
            raise UsageError(f"gain multiplies the starting weights and must be positive; got {config.gain}")
        self.width_in, self.width_out = width, config.heads * config.head_width
        self.projections = _Projections(width, config)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K], one a head."""
        signal = self.config.signal * positional_signal(x.shape[1], self.width_in, x)
        x = (x + signal).masked_fill(~sentences.valid[..., None], 0)
        query, key, value = self.projections(x)
        attended = masked_head_attention(
            query,
            key,
            value,
            sentences.valid,
            dropout=self.config.dropout if self.training else 0.0,
            need_weights=need_weights,
            impl="reference" if need_weights else self.config.impl,
        )
        states = join_heads(attended.output)
        if attended.weights is None:
            return ContextStates(states)
        maps = {f"head {i + 1}": weights for i, weights in enumerate(attended.weights.unbind(1))}
        return ContextStates(states, maps)
