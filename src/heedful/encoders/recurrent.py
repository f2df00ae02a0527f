"""The recurrent baselines: bi-directional LSTM and GRU."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn

from heedful.encoders.base import ContextEncoder
from heedful.errors import UsageError
from heedful.modules import BothWays, Gru, Lstm
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class RecurrentConfig:
    """Settings of `BiLstmEncoder` and `BiGruEncoder`.

    Attributes:
        hidden: features of each direction's state.
        layers: how many layers stand on each other, 1 as published. Each reads the states of both directions of the one
            below and adds its own to them (Wu et al., 2016), without which three hardly begin to learn.
        dropout: on the input of the cells, a separate mask for each layer, direction and step.
    """

    hidden: int = 300
    layers: int = 1
    dropout: float = 0.35


class _RecurrentEncoder(ContextEncoder):
    """Base of the two encoders: layers of cells that read both ways."""

    @abstractmethod
    def __init__(self, width: int, config: RecurrentConfig | None, cell: type[Lstm] | type[Gru]) -> None:
        super().__init__()
        self.config = config = config or RecurrentConfig()
        if config.layers < 1:
            raise UsageError(f"layers must be 1 or more; got {config.layers}")
        self.width_in, self.width_out = width, 2 * config.hidden

        def layer(width_in: int) -> BothWays:
            return BothWays(*(cell(width_in, config.hidden, dropout=config.dropout) for _ in range(2)))

        # the first one alone, under the name that it has in saved models of one layer
        self.layers = layer(width)
        self.deeper = nn.ModuleList(layer(self.width_out) for _ in range(config.layers - 1))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        states = self.layers(x, sentences.valid)
        for layer in self.deeper:
            states = states + layer(states, sentences.valid)
        return ContextStates(states)


class BiLstmEncoder(_RecurrentEncoder):
    """Bi-directional LSTM with one bias vector a direction: 1,442,400 parameters at width 300.

    Args:
        width: features of the word vectors; the states have ``2 * hidden``.
        config: the settings.

    Raises:
        UsageError: if there is no layer.
    """

    def __init__(self, width: int, config: RecurrentConfig | None = None) -> None:
        super().__init__(width, config, Lstm)


class BiGruEncoder(_RecurrentEncoder):
    """Bi-directional GRU whose reset comes before the candidate's product: 1,081,800 parameters at width 300.

    Args:
        width: features of the word vectors; the states have ``2 * hidden``.
        config: the settings.

    Raises:
        UsageError: if there is no layer.
    """

    def __init__(self, width: int, config: RecurrentConfig | None = None) -> None:
        super().__init__(width, config, Gru)
