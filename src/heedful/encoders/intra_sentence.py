"""Intra-sentence attention of decomposable attention (Parikh et al., 2016, section 3.4).

Equation to line: Eq. 6 `IntraSentenceEncoder.compare` and its product; Eq. 7 `distance_bias` and `scored_attention`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.attention import scored_attention
from heedful.attention.implementation import padding_of
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf
from heedful.nn import Activation, two_layers
from heedful.settings import Settings, at_least, ranged, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class IntraSentenceConfig(Settings):
    """Settings of `IntraSentenceEncoder`.

    Attributes:
        hidden: features of both layers of F_intra; 0 takes the width.
        distance: largest distance with a bias of its own; all larger distances share that bias. 10 gives 11 biases.
        activation: activation of F_intra.
        dropout: dropout rate on the input of every dense layer.
    """

    hidden: int = ranged(0, at_least(0))
    distance: int = ranged(10, at_least(0))
    activation: Activation = "relu"
    dropout: float = ranged(0.2, share)


class IntraSentenceEncoder(EncoderOf[IntraSentenceConfig]):
    """Put beside every word the words of its own sentence that it attends to: ``[x_i ; x'_i]``.

    ``f_ij = F_intra(x_i) · F_intra(x_j)``, ``x'_i = sum_j softmax_j(f_ij + d_|i-j|) x_j``; a word sees itself too.

    The paper does not say whether the distance is signed; here it is not, and distances are clipped at ``distance``.
    The parameter total of the paper, in thousands, fits either reading.

    The states are twice as wide as the input.
    """

    settings = IntraSentenceConfig

    def build(self, width: int, config: IntraSentenceConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = 2 * width
        self.compare = two_layers(
            width, config.hidden or width, activation=config.activation, dropout=config.dropout
        )
        self.distance_bias = nn.Parameter(torch.zeros(config.distance + 1))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. The one map is [B, Q, K]; there are no gates."""
        valid = sentences.valid
        x = x.masked_fill(padding_of(x, valid), 0)
        compared = self.compare(x)
        position = torch.arange(x.shape[1], device=x.device)
        distance = (position[:, None] - position[None, :]).abs().clamp(max=self.config.distance)
        score = compared @ compared.transpose(1, 2)
        score = score + self.distance_bias[distance].to(score.dtype)
        attended, weights = scored_attention(score, x, valid[:, :, None] & valid[:, None, :])
        maps = {MapPlace(kind="intra-sentence"): weights} if need_weights else {}
        return ContextStates(torch.cat([x, attended], dim=-1), maps)
