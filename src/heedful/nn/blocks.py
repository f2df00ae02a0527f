"""The residual connection around a sublayer of a Transformer, and where its layer norm stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from torch import Tensor, nn

from heedful.attention import dropout
from heedful.errors import check_known
from heedful.nn.dense import Dense
from heedful.nn.fused_dense import dense
from heedful.settings import COUNT, Settings, at_least, ranged, share

Norm = Literal["pre", "post"]
"""``pre`` normalizes what a sublayer reads, ``post`` the sum of it and the sublayer's output."""


@dataclass(frozen=True)
class LayersConfig(Settings):
    """What the settings of every stack of attention and position-wise networks have.

    Attributes:
        layers: number of layers.
        heads: number H of heads, which divides the width; under masks also a multiple of their number.
        hidden: features of the position-wise network's hidden layer; 0 takes four times the width.
    """

    layers: int = ranged(6, COUNT)
    heads: int = ranged(8, COUNT)
    hidden: int = ranged(0, at_least(0))


@dataclass(frozen=True)
class StackConfig(LayersConfig):
    """Settings of a Transformer's layers; the defaults are those of the published base model, but for its width of 512.

    Attributes:
        norm: position of the layer norms: "pre" (Tensor2Tensor 1.9, which MTSA's translation model builds on) or "post"
            (the paper).
        dropout: dropout rate of the input, of the output of every sublayer, and of the position-wise network's hidden
            layer.
        attention_dropout: dropout rate of the attention weights.
    """

    norm: Norm = "pre"
    dropout: float = ranged(0.1, share)
    attention_dropout: float = ranged(0.1, share)


class Residual(nn.Module, ABC):
    """Base of the two places a layer norm may have; the sublayer is called between `before` and `after`.

    Args:
        width: features D.
        dropout: of what the sublayer adds.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-6), dropout

    @abstractmethod
    def before(self, x: Tensor) -> Tensor:
        """Return what the sublayer reads, [..., D]."""

    @abstractmethod
    def after(self, x: Tensor, change: Tensor) -> Tensor:
        """Add what the sublayer returned to what came in, [..., D]."""

    def _sum(self, x: Tensor, change: Tensor) -> Tensor:
        return x + dropout(change, self.dropout, self.training).to(x.dtype)


class PreNorm(Residual):
    """``x + drop(sublayer(LayerNorm(x)))``, the order of Tensor2Tensor 1.9."""

    def before(self, x: Tensor) -> Tensor:
        """See `Residual.before`."""
        normalized: Tensor = self.norm(x)
        return normalized

    def after(self, x: Tensor, change: Tensor) -> Tensor:
        """See `Residual.after`."""
        return self._sum(x, change)


class PostNorm(Residual):
    """``LayerNorm(x + drop(sublayer(x)))`` (Vaswani et al., 2017)."""

    def before(self, x: Tensor) -> Tensor:
        """See `Residual.before`."""
        return x

    def after(self, x: Tensor, change: Tensor) -> Tensor:
        """See `Residual.after`."""
        normalized: Tensor = self.norm(self._sum(x, change))
        return normalized


def build_residual(norm: Norm, width: int, dropout: float) -> Residual:
    """Build a residual connection.

    Args:
        norm: where the layer norm stands.
        width: features D.
        dropout: of what the sublayer adds.

    Returns:
        The module.

    Raises:
        UsageError: if norm is unknown.
    """
    check_known(norm, get_args(Norm), f"norm={norm!r} is unknown")
    return PreNorm(width, dropout) if norm == "pre" else PostNorm(width, dropout)


def last_norm(norm: Norm, width: int) -> nn.Module:
    """Build what follows the last layer of a stack: a layer norm after ``pre``, where nothing was normalized last.

    Args:
        norm: where the layer norms of the stack stand.
        width: features D.

    Returns:
        A layer norm, or the identity.
    """
    return nn.LayerNorm(width, eps=1e-6) if norm == "pre" else nn.Identity()


def position_wise(width: int, hidden: int, dropout: float) -> nn.Sequential:
    """Build the position-wise network of a Transformer, ``drop(ReLU(x W_1 + b_1)) W_2 + b_2``.

    Args:
        width: features D, in and out.
        hidden: features of the hidden layer; 0 takes four times the width.
        dropout: of the hidden layer.

    Returns:
        A module from [..., D] to [..., D].
    """
    hidden = hidden or 4 * width
    return nn.Sequential(Dense(width, hidden, activation="relu"), Dense(hidden, width, dropout=dropout))


class HeadDense(nn.Module):
    """One `Dense` a head: own weights, own Glorot fans and an own dropout mask, as the published code has them.

    Args:
        heads: H.
        dense: makes the layer of one head.
    """

    def __init__(self, heads: int, dense: Callable[[], Dense]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(dense() for _ in range(heads))

    def forward(self, *inputs: Tensor) -> Tensor:
        """Apply the layers to tensors whose features stand side by side.

        Args:
            *inputs: [B, L, D_k], which all heads read, or [B, H, L, D_k]; their widths add up to width_in.

        Returns:
            [B, H, L, width_out].
        """
        parts = [part for part in self.parts if isinstance(part, Dense)]
        heads = [x[:, None].expand(-1, len(parts), -1, -1) if x.dim() == 3 else x for x in inputs]
        # Each head lies in one piece, so that the next product reads it without a copy.
        dropped = [dropout(tokens_of(x), parts[0].dropout, self.training) for x in heads]
        widths = [x.shape[-1] for x in inputs]
        weights = zip(*(part.weight.split(widths, dim=1) for part in parts), strict=True)
        biases = [part.bias for part in parts if part.bias is not None]
        batch, length = len(inputs[0]), inputs[0].shape[-2]
        return heads_of(dense(dropped, list(weights), biases, parts[0].activation), batch, length)


def tokens_of(x: Tensor) -> Tensor:
    """Put the tokens of all sentences in one row, head by head: [B, H, L, C] to [H, B L, C]."""
    return x.transpose(0, 1).flatten(1, 2)


def heads_of(x: Tensor, batch: int, length: int) -> Tensor:
    """Undo `tokens_of`: [H, B L, C] to [B, H, L, C]."""
    return x.unflatten(1, (batch, length)).transpose(0, 1)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut features into heads, head after head: [B, L, H C] to [B, H, L, C]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """Set heads side by side, head after head: [B, H, L, C] to [B, L, H C]."""
    return x.transpose(1, 2).flatten(2)
