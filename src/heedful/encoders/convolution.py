"""The convolutional baselines: windows of several sizes (Kim, 2014) and gated layers (Gehring et al., 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.encoders.base import ContextEncoder
from heedful.errors import UsageError
from heedful.modules import Activation, Convolution, activate
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class CnnConfig:
    """Settings of `CnnEncoder`.

    Attributes:
        sizes: words of a window, one entry a kind of window.
        filters: features of each kind.
        activation: of the windows.
        dropout: on the words, a separate mask for each kind.
    """

    sizes: tuple[int, ...] = (3, 4, 5)
    filters: int = 200
    activation: Activation = "relu"
    dropout: float = 0.35


class CnnEncoder(ContextEncoder):
    """A state a word: the windows of 3, 4 and 5 words that begin with it; made for ``pooling = "max"``.

    720,600 parameters at width 300. Differs from the published code in which windows the maximum runs over: there those
    that lie in the longest sentence of the batch, so that a result depends on its neighbours. Here they are the windows
    that begin with a real word, running into zeros at the end of the sentence: what the published code does beside a
    neighbour at least four words longer, but for windows of padding alone.

    Args:
        width: features of the word vectors; the states have ``filters * len(sizes)``.
        config: the settings.

    Raises:
        UsageError: if there is no size, or a size or the number of filters is below 1.
    """

    def __init__(self, width: int, config: CnnConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or CnnConfig()
        if not config.sizes or min(*config.sizes, config.filters, config.filters) < 1:
            raise UsageError(
                f"sizes and filters must be 1 or more, and there must be a size; got {config.sizes}, {config.filters}"
            )
        self.width_in, self.width_out = width, config.filters * len(config.sizes)
        self.windows = nn.ModuleList(
            Convolution(width, config.filters, size, before=0, dropout=config.dropout)
            for size in config.sizes
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = ~sentences.valid[..., None]
        x = x.masked_fill(padding, 0)
        states = torch.cat([window(x) for window in self.windows], dim=-1)
        return ContextStates(activate(states, self.config.activation).masked_fill(padding, 0))


@dataclass(frozen=True)
class HierarchicalCnnConfig:
    """Settings of `HierarchicalCnnEncoder`.

    Attributes:
        layers: how many convolutions stand on each other.
        size: words of a window, an odd number.
        activation: of each convolution, before its gate.
        dropout: on the input of each convolution.
    """

    layers: int = 3
    size: int = 5
    activation: Activation = "relu"
    dropout: float = 0.35


class HierarchicalCnnEncoder(ContextEncoder):
    """Convolutions with gated linear units: 2,701,800 parameters at width 300.

    ``[a ; b] = act(conv(drop(x)))``, output ``a * sigmoid(b)``, plus the layer's input from the second layer on. As
    published, the activation comes before the split, so a gate with ReLU is never below one half. Padding is zero again
    after every layer.

    Args:
        width: features of the word vectors and of the states.
        config: the settings.

    Raises:
        UsageError: if there is no layer, or size is not odd.
    """

    def __init__(self, width: int, config: HierarchicalCnnConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or HierarchicalCnnConfig()
        if config.layers < 1 or config.size < 1 or config.size % 2 == 0:
            raise UsageError(
                f"layers must be 1 or more and size odd; got layers={config.layers}, size={config.size}"
            )
        self.width_in = self.width_out = width
        self.layers = nn.ModuleList(
            Convolution(width, 2 * width, config.size, before=config.size // 2, dropout=config.dropout)
            for _ in range(config.layers)
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = ~sentences.valid[..., None]
        x = x.masked_fill(padding, 0)
        for number, layer in enumerate(self.layers):
            value, gate = activate(layer(x), self.config.activation).chunk(2, dim=-1)
            gated = value * torch.sigmoid(gate)
            x = (gated if number == 0 else gated + x).masked_fill(padding, 0)
        return ContextStates(x)
