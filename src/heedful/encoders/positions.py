"""Learned relative positions, which MS-SAN's Table 4 sets against its fixed distances.

Both depend on the offset ``j - i`` alone, so a score is computed once an offset and then looked up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.modules import Dense

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
        nn.init.xavier_uniform_(self.of_keys)
        nn.init.xavier_uniform_(self.of_values)

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
        waves = _waves(length, heads * width, query.device).to(self.projection.weight.dtype)
        rows = self.projection(waves).to(query.dtype)
        rows = rows.unflatten(-1, (heads, width)).permute(1, 2, 0)
        by_offset = (query + self.position.to(query.dtype)) @ rows
        places = (_offsets(length, query.device) + length - 1).expand(*query.shape[:3], -1)
        of_content = self.content.to(query.dtype) @ key.transpose(-1, -2)
        return of_content + by_offset.gather(-1, places)


def _waves(length: int, width: int, device: torch.device) -> Tensor:
    """Return the sinusoids of i - j in the order of j - i, [2 L - 1, width] float32 whatever the model's type."""
    steps = torch.arange(length - 1, -length, -1, device=device)
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, device=device) / width)
    angles = steps[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :width]


def _offsets(length: int, device: torch.device) -> Tensor:
    position = torch.arange(length, device=device)
    return position[None, :] - position[:, None]
