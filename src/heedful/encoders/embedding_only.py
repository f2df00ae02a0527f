"""No context: the word vectors themselves, the baseline that cannot see the order of words."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from heedful.encoders.base import ContextEncoder
from heedful.modules import Activation, Dense
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class EmbeddingConfig:
    """Settings of `EmbeddingEncoder`.

    Attributes:
        hidden: features of an activated dense layer on each word; 0 for none. 600 is MTSA "w/o proposed modules".
        activation: of that layer.
        dropout: on its input.
    """

    hidden: int = 0
    activation: Activation = "elu"
    dropout: float = 0.25


class EmbeddingEncoder(ContextEncoder):
    """Hand word vectors to the pooling, through one dense layer if ``hidden`` is set.

    Args:
        width: features of the word vectors; the states have ``hidden``, or the same where it is 0.
        config: the settings.
    """

    def __init__(self, width: int, config: EmbeddingConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EmbeddingConfig()
        self.width_in, self.width_out = width, config.hidden or width
        self.layer = (
            Dense(width, config.hidden, activation=config.activation, dropout=config.dropout)
            if config.hidden
            else None
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. There are no maps and no gates."""
        padding = ~sentences.valid[..., None]
        x = x.masked_fill(padding, 0)
        return ContextStates(x if self.layer is None else self.layer(x).masked_fill(padding, 0))
