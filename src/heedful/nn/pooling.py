"""What every pooling is: a module from one state a token to one vector a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from heedful.attention import clear_padding, source_to_token
from heedful.attention.implementation import padding_of
from heedful.nn import Activation, Dense, MultiDimensionalAttention, activate
from heedful.structures import Pooled


class Pooling(nn.Module, ABC):
    """Turn the states of a sentence into one vector.

    Args:
        width: features D of the states.
        width_out: features of the vector; None for as many.

    Attributes:
        width_in: features of the states.
        width_out: features of the vector.
    """

    def __init__(self, width: int, width_out: int | None = None) -> None:
        super().__init__()
        self.width_in, self.width_out = width, width if width_out is None else width_out

    @abstractmethod
    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool.

        Args:
            states: [B, L, width_in]; padding may hold anything.
            valid: True at a real token, [B, L] bool.
            need_weights: also return the weight of each token.

        Returns:
            The vector [B, width_out], exactly zero for a sentence without words; weights if asked for.
        """


def mean_of(states: Tensor, valid: Tensor) -> Tensor:
    """Average the real tokens of [B, L, D]: [B, D], zero for a sentence without words."""
    return (shares(states, valid) * clear_padding(states, valid)).sum(dim=1)


def shares(states: Tensor, valid: Tensor) -> Tensor:
    """Return the same weight for every real token, [B, L, 1]; the weights of a sentence sum to 1."""
    count = valid.sum(dim=1, keepdim=True).clamp(min=1)
    return (valid.to(states.dtype) / count)[..., None]


class MeanPooling(Pooling):
    """Average the real tokens."""

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`."""
        weights = shares(states, valid).expand_as(states) if need_weights else None
        return Pooled(mean_of(states, valid), weights)


class MaxPooling(Pooling):
    """Take the largest value of every feature over the real tokens."""

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. The weight of a token is 1 for the features it wins."""
        masked = states.masked_fill(padding_of(states, valid), torch.finfo(states.dtype).min)
        if not states.shape[1]:  # torch takes no largest of nothing
            return Pooled(states.sum(dim=1), torch.zeros_like(states) if need_weights else None)
        value, winner = masked.max(dim=1)
        has_words = valid.any(dim=1, keepdim=True)
        vector = value.masked_fill(~has_words, 0)
        if not need_weights:
            return Pooled(vector)
        weights = torch.zeros_like(states).scatter_(1, winner[:, None, :], 1.0)
        return Pooled(vector, weights * valid[..., None])


class AdditiveAttention(Pooling):
    """Weigh every token by a number of its own, and sum.

    ``score = drop(act(drop(u) W + b)) w``, softmax over tokens, sum of the undropped ``u``: 90,600 parameters at width
    300. The vector w has no bias and is not under L2, as published.

    Args:
        width: features D.
        activation: of the layer.
        dropout: on the input of layer and score.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__(width)
        self.hidden = Dense(width, width, activation=activation, dropout=dropout)
        self.score = Dense(width, 1, bias=False, dropout=dropout, l2=False)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. All features share a token's weight."""
        states = clear_padding(states, valid)
        score = self.score(self.hidden(states)).expand_as(states)
        vector, weights = source_to_token(states, score, valid)
        return Pooled(vector, weights if need_weights else None)


class SourceToToken(Pooling):
    """Weigh every token for every feature, and sum.

    ``score = drop(act(drop(u) W_1 + b_1)) W_2 + b_2``, softmax over tokens, sum of the undropped ``u``. Both layers are
    D to D with a bias: 721,200 parameters at width 600; with fewer hidden units D to H and H to D.

    Args:
        width: features D.
        hidden: units of the first layer; None for D, as the paper has it.
        activation: of the first layer.
        dropout: on the input of both layers.
    """

    def __init__(
        self,
        width: int,
        *,
        hidden: int | None = None,
        activation: Activation = "elu",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(width)
        units = width if hidden is None else hidden
        self.hidden = Dense(width, units, activation=activation, dropout=dropout)
        self.score = Dense(units, width, dropout=dropout)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`."""
        states = clear_padding(states, valid)
        vector, weights = source_to_token(states, self.score(self.hidden(states)), valid)
        return Pooled(vector, weights if need_weights else None)


class AttentiveMax(Pooling):
    """``[sum_i softmax_i(FFN(u_i)) * u_i ; max_i u_i]``, 2 D features (MS-SAN, Eq. 11).

    The sum over tokens is implied by the paper, which writes only the product. 180,600 parameters at width 300.

    Args:
        width: features D of the states.
        activation: of the hidden layer of the FFN.
        dropout: on the input of both its layers.
    """

    def __init__(self, width: int, *, activation: Activation = "relu", dropout: float = 0.0) -> None:
        super().__init__(width, 2 * width)
        self.attentive = SourceToToken(width, activation=activation, dropout=dropout)
        self.maximum = MaxPooling(width)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. Weights are [B, L, 2 D], for the features of the vector."""
        parts = [pool(states, valid, need_weights=need_weights) for pool in (self.attentive, self.maximum)]
        vector = torch.cat([part.vector for part in parts], dim=-1)
        weights = [part.weights for part in parts if part.weights is not None]
        return Pooled(vector, torch.cat(weights, dim=-1) if weights else None)


class NormalizedAttentiveMax(Pooling):
    """Feature-wise attention with a layer normalization after both score layers, beside the maximum (Im and Cho, 2017).

    One normalization serves both layers, as in the public port: 722,400 parameters at width 600. Differs from the port
    in that padding cannot win the maximum.

    Args:
        width: features D of the states.
        activation: between the two layers; ELU in the port.
        dropout: on the input of both.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__(width, 2 * width)
        self.activation: Activation = activation
        self.hidden = Dense(width, width, dropout=dropout)
        self.score = Dense(width, width, dropout=dropout)
        self.norm = nn.LayerNorm(width)
        self.maximum = MaxPooling(width)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. Weights are [B, L, 2 D], for the features of the vector."""
        states = clear_padding(states, valid)
        scores = self.norm(self.score(activate(self.norm(self.hidden(states)), self.activation)))
        vector, weights = source_to_token(states, scores, valid)
        largest = self.maximum(states, valid, need_weights=need_weights)
        vector = torch.cat([vector, largest.vector], dim=-1)
        return Pooled(
            vector, None if largest.weights is None else torch.cat([weights, largest.weights], dim=-1)
        )


class DotProduct(Pooling):
    """Weigh every token by its inner product with the mean (DiSAN, Eq. 6).

    ``score_i = (W_1 drop(u_i)) · (W_2 drop(m))``, m the mean of the real tokens; softmax over tokens, sum of the
    undropped ``u``. Two matrices D to D without biases: 180,000 parameters at width 300. The product is not scaled.

    Args:
        width: features D.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__(width)
        self.token = Dense(width, width, bias=False, dropout=dropout)
        self.query = Dense(width, width, bias=False, dropout=dropout)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`. All features share a token's weight."""
        states = clear_padding(states, valid)
        query = self.query(mean_of(states, valid))
        score = (self.token(states) * query[:, None, :]).sum(dim=-1, keepdim=True)
        vector, weights = source_to_token(states, score.expand_as(states), valid)
        return Pooled(vector, weights if need_weights else None)


class MultiDimensional(Pooling):
    """Weigh every token for every feature, seen from the mean (DiSAN, Eq. 8 and 9).

    ``score = W drop(act(W_1 drop(u_i) + W_2 drop(m) + b_1)) + b``, m the mean of the real tokens; softmax over tokens,
    sum of the undropped ``u``. 270,600 parameters at width 300.

    Args:
        width: features D.
        activation: of the score's hidden layer.
        dropout: on the input of the three layers.
    """

    def __init__(self, width: int, *, activation: Activation = "elu", dropout: float = 0.0) -> None:
        super().__init__(width)
        self.attention = MultiDimensionalAttention(width, activation=activation, dropout=dropout)

    def forward(self, states: Tensor, valid: Tensor, *, need_weights: bool = False) -> Pooled:
        """Pool; see `Pooling.forward`."""
        states = clear_padding(states, valid)
        attended = self.attention(states, mean_of(states, valid)[:, None, :], valid)
        assert attended.weights is not None  # this form always builds them
        return Pooled(attended.output[:, 0], attended.weights[:, 0] if need_weights else None)
