"""The recurrent baselines: bi-directional LSTM and GRU."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from heedful.encoders.base import ContextEncoder
from heedful.modules import BothWays, Gru, Lstm
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class RecurrentConfig:
    """Settings of `BiLstmEncoder` and `BiGruEncoder`.

    Attributes:
        hidden: features of each direction's state.
        dropout: on the input of the cells, a separate mask for each direction and step.
    """

    hidden: int = 300
    dropout: float = 0.35


class BiLstmEncoder(ContextEncoder):
    """Bi-directional LSTM with one bias vector a direction: 1,442,400 parameters at width 300.

    Args:
        width: features of the word vectors; the states have ``2 * hidden``.
        config: the settings.
    """

    def __init__(self, width: int, config: RecurrentConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or RecurrentConfig()
        self.width_in, self.width_out = width, 2 * config.hidden
        self.layers = BothWays(
            Lstm(width, config.hidden, dropout=config.dropout),
            Lstm(width, config.hidden, dropout=config.dropout),
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        return ContextStates(self.layers(x, sentences.valid))


class BiGruEncoder(ContextEncoder):
    """Bi-directional GRU whose reset comes before the candidate's product: 1,081,800 parameters at width 300.

    Args:
        width: features of the word vectors; the states have ``2 * hidden``.
        config: the settings.
    """

    def __init__(self, width: int, config: RecurrentConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or RecurrentConfig()
        self.width_in, self.width_out = width, 2 * config.hidden
        self.layers = BothWays(
            Gru(width, config.hidden, dropout=config.dropout),
            Gru(width, config.hidden, dropout=config.dropout),
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        return ContextStates(self.layers(x, sentences.valid))
