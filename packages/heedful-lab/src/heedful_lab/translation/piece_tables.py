"""Vectors of subwords: what reads the source, what reads the translation, and the output layer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention.randomness import own_generator
from heedful.nn import VectorTables


class PieceTables(VectorTables, ABC):
    """Base of the two ways to keep the vectors of source, target and output layer.

    Vectors are multiplied by sqrt(D) where they are read and start normal with deviation ``D^-0.5``, so that the same
    numbers serve as an output layer (Vaswani et al., 2017, 3.4).

    Args:
        width: features D.

    Attributes:
        width: features D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    @abstractmethod
    def tables(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the vectors of the source, of the translation and of the output layer, [V, D] each."""

    def source(self, ids: Tensor) -> Tensor:
        """Look up subwords of the source: ids [B, L] int64 to vectors [B, L, D]."""
        return self._look_up(ids, self.tables()[0])

    def target(self, ids: Tensor) -> Tensor:
        """Look up subwords of the translation: ids [B, T] int64 to vectors [B, T, D]."""
        return self._look_up(ids, self.tables()[1])

    def logits(self, states: Tensor) -> Tensor:
        """Score every subword: states [..., D] to [..., V]."""
        return functional.linear(states, self.tables()[2])

    def _table(self, rows: int) -> nn.Parameter:
        table = nn.Parameter(torch.empty(rows, self.width))
        nn.init.normal_(table, std=self.width**-0.5, generator=own_generator())
        return table

    def _look_up(self, ids: Tensor, table: Tensor) -> Tensor:
        return functional.embedding(ids, table) * self.width**0.5


class SharedTables(PieceTables):
    """One table for the source, the translation and the output layer (Press and Wolf, 2017): both sides share subwords.

    Args:
        rows: subwords V.
        width: features D.
    """

    def __init__(self, rows: int, width: int) -> None:
        super().__init__(width)
        self.weight = self._table(rows)

    def tables(self) -> tuple[Tensor, Tensor, Tensor]:
        """See `PieceTables.tables`."""
        return self.weight, self.weight, self.weight


class SeparateTables(PieceTables):
    """Three tables: each side has subwords of its own, and the output layer its own weights.

    Args:
        source_rows: subwords of the source.
        target_rows: subwords V of the translation.
        width: features D.
    """

    def __init__(self, source_rows: int, target_rows: int, width: int) -> None:
        super().__init__(width)
        self.of_source, self.of_target = self._table(source_rows), self._table(target_rows)
        self.of_output = self._table(target_rows)

    def tables(self) -> tuple[Tensor, Tensor, Tensor]:
        """See `PieceTables.tables`."""
        return self.of_source, self.of_target, self.of_output
