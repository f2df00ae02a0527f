"""The encoder of the Transformer (Vaswani et al., 2017), and the stack that a variant of its attention fits into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from heedful.encoders.base import ContextEncoder
from heedful.errors import UsageError
from heedful.modules import (
    Dense,
    Norm,
    build_residual,
    join_heads,
    last_norm,
    position_wise,
    positional_signal,
    split_heads,
)
from heedful.ops import dropout
from heedful.ops.dot_product import DotProductImpl, masked_head_attention
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class TransformerConfig:
    """Settings of `TransformerEncoder`; the defaults are those of the published base model, but for its width of 512.

    Attributes:
        layers: how many layers.
        heads: H, which divides the width.
        hidden: features of the position-wise network's hidden layer; 0 takes four times the width.
        norm: where layer norms stand: "pre" (Tensor2Tensor 1.9, which MTSA's translation model builds on) or "post"
            (the paper).
        dropout: of the input, of what every sublayer adds, and of the position-wise network's hidden layer.
        attention_dropout: of the attention weights.
        impl: implementation of the attention operation.
    """

    layers: int = 6
    heads: int = 8
    hidden: int = 0
    norm: Norm = "pre"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    impl: DotProductImpl = "auto"


class SelfAttention(nn.Module, ABC):
    """Base of what a layer of the stack may have as its attention."""

    @abstractmethod
    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Attend.

        Args:
            x: [B, L, D]; padding may hold anything finite.
            sentences: which tokens are real.
            need_weights: also return the weights.

        Returns:
            [B, L, D], and the weights of each head by name, empty unless asked for.
        """


class DotProductHeads(SelfAttention):
    """Multi-head attention with an output projection and no biases.

    Args:
        width: features D.
        config: the settings.
    """

    def __init__(self, width: int, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.dropout, self.impl = config.heads, config.attention_dropout, config.impl
        self.query, self.key, self.value, self.output = (Dense(width, width, bias=False) for _ in range(4))

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """See `SelfAttention.forward`; weights are [B, Q, K]."""
        query, key, value = (
            split_heads(dense(x), self.heads) for dense in (self.query, self.key, self.value)
        )
        attended = masked_head_attention(
            query,
            key,
            value,
            sentences.valid,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            impl="reference" if need_weights else self.impl,
        )
        output = self.output(join_heads(attended.output))
        if attended.weights is None:
            return output, {}
        return output, {f"head {i + 1}": weights for i, weights in enumerate(attended.weights.unbind(1))}


class _Layer(nn.Module):
    """Attention, then the position-wise network, each in a residual connection."""

    def __init__(self, width: int, config: TransformerConfig, attention: SelfAttention) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = position_wise(width, config.hidden, config.dropout)
        self.around_attention = build_residual(config.norm, width, config.dropout)
        self.around_feed_forward = build_residual(config.norm, width, config.dropout)

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool
    ) -> tuple[Tensor, dict[str, Tensor]]:
        read = self.around_attention.before(x)
        attended, maps = self.attention(read, sentences, need_weights=need_weights)
        x = self.around_attention.after(x, attended)
        changed = self.feed_forward(self.around_feed_forward.before(x))
        return self.around_feed_forward.after(x, changed), maps


class TransformerStack(nn.Module):
    """Positions, then layers of attention and a position-wise network.

    Args:
        width: features D, in and out.
        config: the settings, those of the attention aside.
        attention: makes the attention of one layer.

    Raises:
        UsageError: if there is no layer, or the heads do not divide the width.
    """

    def __init__(self, width: int, config: TransformerConfig, attention: Callable[[], SelfAttention]) -> None:
        super().__init__()
        if config.layers < 1:
            raise UsageError(f"layers must be 1 or more; got {config.layers}")
        if config.heads < 1 or width % config.heads:
            raise UsageError(f"heads={config.heads} must divide the width of the word vectors, {width}")
        self.dropout = config.dropout
        self.layers = nn.ModuleList(_Layer(width, config, attention()) for _ in range(config.layers))
        self.norm = last_norm(config.norm, width)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`."""
        padding = ~sentences.valid[..., None]
        x = x + positional_signal(x.shape[1], x.shape[2], x, exponent=1.0)
        x = dropout(x.masked_fill(padding, 0), self.dropout, self.training)
        maps: dict[str, Tensor] = {}
        for number, layer in enumerate(self.layers, start=1):
            x, found = layer(x, sentences, need_weights=need_weights)
            maps |= {f"layer {number} {name}": weights for name, weights in found.items()}
        return ContextStates(self.norm(x).masked_fill(padding, 0), maps)


class TransformerEncoder(ContextEncoder):
    """The Transformer's encoder: sinusoidal positions, layers of multi-head attention and a position-wise network.

    Unlike the baseline "multi-head" it has output projections, residuals and layer norms.

    Args:
        width: features D of the word vectors and of the states.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range.
    """

    def __init__(self, width: int, config: TransformerConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or TransformerConfig()
        self.width_in = self.width_out = width
        self.stack = TransformerStack(width, config, lambda: DotProductHeads(width, config))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K], one a layer and head."""
        return self.stack(x, sentences, need_weights=need_weights)
