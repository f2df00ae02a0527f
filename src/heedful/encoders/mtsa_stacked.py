"""MTSA in a deep stack, as its published interface offers it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from heedful.attention import Impl, dropout
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf, in_layer
from heedful.encoders.mtsa import MtsaPaperConfig, MtsaPaperEncoder, Token2Token
from heedful.errors import UsageError
from heedful.nn import Activation, Dense
from heedful.settings import COUNT, Settings, at_least, ranged, readable, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MtsaStackedConfig(Settings):
    """Settings of `MtsaStackedEncoder`.

    Attributes:
        layers: number of layers.
        masks: masks of the heads in every layer; each mask has an equal share of the heads.
        heads: number of heads of a layer; it must be a multiple of the number of masks and divide ``hidden``.
        hidden: features of the states; 0 for the width of the word vectors.
        activation: activation of the dense layer and of the attention's output.
        dropout: dropout rate on the input of every dense layer.
        attention_dropout: dropout rate of the attention weights, in training.
        residual_dropout: dropout rate of the output of a sublayer, before it is added to its input.
        token2token: how q·k becomes a factor of the attention weight.
        self_visible: whether a token also sees itself.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    layers: int = ranged(10, COUNT)
    masks: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    heads: int = ranged(8, COUNT)
    hidden: int = ranged(0, at_least(0))
    activation: Activation = "relu"
    dropout: float = ranged(0.1, share)
    attention_dropout: float = ranged(0.2, share)
    residual_dropout: float = ranged(0.2, share)
    token2token: Token2Token = "exp"
    self_visible: bool = False
    impl: Impl = "auto"


class _StackedLayer(nn.Module):
    """A dense layer, then attention; each is added to its input and normalized after that."""

    def __init__(self, width: int, config: MtsaStackedConfig, attention: MtsaPaperConfig) -> None:
        super().__init__()
        hidden = attention.heads * attention.head_width
        self.residual_dropout = config.residual_dropout
        self.dense = Dense(width, hidden, activation=config.activation, dropout=config.dropout)
        self.attention = MtsaPaperEncoder(hidden, attention)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden, eps=1e-6) for _ in range(2))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool) -> ContextStates:
        after_dense = self.dense(x)
        # Only where the first layer changes the width is there nothing to add to.
        x = self._add(x, after_dense, 0) if x.shape == after_dense.shape else self.norms[0](after_dense)
        context = self.attention(x, sentences, need_weights=need_weights)
        return ContextStates(self._add(x, context.states, 1), context.maps)

    def _add(self, x: Tensor, change: Tensor, norm: int) -> Tensor:
        change = dropout(change, self.residual_dropout, self.training)
        normalized: Tensor = self.norms[norm](x + change.to(x.dtype))
        return normalized


class MtsaStackedEncoder(EncoderOf[MtsaStackedConfig]):
    """Layers of (dense, residual, layer norm), (tensorized attention, residual, layer norm).

    The attention is the published stacked form: q, k, v and the score straight from the input, ``exp`` of both parts of
    the score, an activated output projection and no gate (`heedful.encoders.mtsa`).

    Raises:
        UsageError: if heads does not divide the width of the states.
    """

    settings = MtsaStackedConfig

    def build(self, width: int, config: MtsaStackedConfig) -> None:
        """See `EncoderOf.build`."""
        hidden = config.hidden or width
        if config.heads < 1 or hidden % config.heads:
            raise UsageError(
                f"heads={config.heads} must divide the width of the states, {hidden}; set encoder_options.heads or "
                "encoder_options.hidden"
            )
        self.width_out = hidden
        attention = MtsaPaperConfig(
            masks=config.masks,
            heads=config.heads,
            head_width=hidden // config.heads,
            activation=config.activation,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            token2token=config.token2token,
            score_from="input",
            output="activated",
            self_visible=config.self_visible,
            impl=config.impl,
        )
        widths = [width] + [hidden] * (config.layers - 1)
        self.layers = nn.ModuleList(_StackedLayer(each, config, attention) for each in widths)

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a layer and head."""
        padding = padding_of(x, sentences.valid)
        x = x.masked_fill(padding, 0)
        maps: dict[MapPlace, Tensor] = {}
        for number, layer in enumerate(self.layers, start=1):
            context = layer(x, sentences, need_weights=need_weights)
            x = context.states.masked_fill(padding, 0)
            maps |= in_layer(number, context.maps)
        return ContextStates(x, maps)
