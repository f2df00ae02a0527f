"""What a student learns from: the training examples, and behind them texts that a teacher alone has answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heedful.data.encoding import EncodedDataset


@dataclass(frozen=True, eq=False, kw_only=True)
class TransferSet(EncodedDataset):
    """Examples as numbers, with a teacher's answers in their targets.

    Attributes:
        gold: how many of them, the first ones, are training examples with gold.
    """

    gold: int

    @property
    def rest(self) -> EncodedDataset:
        """The examples that only the teacher has answered."""
        return self.select(np.arange(self.gold, len(self)))
