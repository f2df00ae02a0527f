"""Distance-based self-attention (Im and Cho, 2017), the parent of MS-SAN: directional blocks with word distances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from heedful.attention import TorchImpl
from heedful.attention.dot_product import head_bias, masked_head_attention
from heedful.attention.implementation import padding_of
from heedful.attention.masks import Mask, parse_mask
from heedful.encoders.context_encoder import EncoderOf, side_by_side
from heedful.encoders.priors import word_offset
from heedful.nn import Activation, Dense, FeedForward
from heedful.settings import COUNT, Settings, at_least, ranged, readable, share
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class DistanceSanConfig(Settings):
    """Settings of `DistanceSanEncoder`.

    Attributes:
        masks: masks of the blocks. There is one block for each mask, and blocks share no weights. Under "forward" and
            "backward" a word does not see itself.
        heads: number of heads of a block; if they do not divide the width, the width of a head is rounded up.
        alpha: weight of the word distance, in every head.
        hidden: features of the feed-forward network's hidden layer; 0 takes four times the width.
        activation: activation of the feed-forward network.
        dropout: dropout rate on the input of every dense layer.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    masks: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    heads: int = ranged(5, COUNT)
    alpha: float = ranged(1.5, at_least(0))
    hidden: int = ranged(0, at_least(0))
    activation: Activation = "relu"
    dropout: float = ranged(0.1, share)
    impl: TorchImpl = "auto"


class NormalizedGate(nn.Module):
    """``norm(f * w + (1 - f) * c)``, ``w = norm(W_S word)``, ``c = norm(W_H context)``, ``f = sigmoid(w + c + b)``.

    One normalization serves all three places, as in the public port.

    Args:
        width: features D.
        dropout: on the input of both dense layers.
    """

    def __init__(self, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.word = Dense(width, width, bias=False, dropout=dropout)
        self.context = Dense(width, width, bias=False, dropout=dropout)
        self.bias = nn.Parameter(torch.zeros(width))
        self.norm = nn.LayerNorm(width)

    def forward(self, word: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Fuse two [B, L, D]; return the states and the gate, [B, L, D] each."""
        word, context = self.norm(self.word(word)), self.norm(self.context(context))
        gate = torch.sigmoid(word + context + self.bias.to(word.dtype))
        return self.norm(torch.lerp(context, word, gate)), gate


class DistanceSanBlock(nn.Module):
    """One direction: attention, gate, feed-forward network; 1,264,020 parameters at width 300.

    Args:
        width: features D, in and out.
        mask: which keys a query may see.
        config: the settings.
    """

    def __init__(self, width: int, mask: Mask, config: DistanceSanConfig) -> None:
        super().__init__()
        self.width, self.mask, self.config = width, mask, config
        each = -(-width // config.heads)
        joined, dropout = each * config.heads, config.dropout
        self.query = Dense(width, joined, bias=False, dropout=dropout)
        self.key = Dense(width, joined, bias=False, dropout=dropout)
        self.value = Dense(width, joined, bias=False, dropout=dropout)
        self.head_norm = nn.LayerNorm(each)
        self.output = Dense(joined, width, dropout=dropout)
        self.output_norm = nn.LayerNorm(width)
        self.gate = NormalizedGate(width, dropout=dropout)
        self.feed_forward = FeedForward(
            width, config.hidden or 4 * width, activation=config.activation, dropout=dropout
        )

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """Run the block.

        Args:
            x: [B, L, D], zero at padding.
            sentences: validity and structure.
            need_weights: also return the attention weights.

        Returns:
            States [B, L, D], zero at padding; weights [B, Q, K, H] or None; gate [B, L, D].
        """
        config, valid = self.config, sentences.valid
        query, key, value = (
            self.head_norm(projection(x).unflatten(-1, (config.heads, -1))).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        distance = word_offset(sentences).abs()
        visible = self.mask.visible(sentences)
        bias = head_bias([visible], [distance], config.alpha, valid, query.dtype)
        attended = masked_head_attention(
            query,
            key,
            value,
            valid,
            bias.expand(-1, config.heads, -1, -1),  # every head has the same
            scale=self.width**0.5,  # the port divides by the root of the model's width, not of the head's
            need_weights=need_weights,
            impl=config.impl,
        )
        context = self.output_norm(self.output(attended.output.transpose(1, 2).flatten(-2)))
        fused, gate = self.gate(x, context)
        states = self.feed_forward(fused).masked_fill(padding_of(x, valid), 0)
        weights = attended.weights
        return states, None if weights is None else weights.permute(0, 2, 3, 1), gate


class DistanceSanEncoder(EncoderOf[DistanceSanConfig]):
    """Blocks side by side, one a mask, their states concatenated; 2,528,040 parameters at width 300.

    Follows the public PyTorch port. Differs from it in where dropout sits: on the input of every dense layer.

    The states have ``width * len(config.masks)`` features.
    """

    settings = DistanceSanConfig

    def build(self, width: int, config: DistanceSanConfig) -> None:
        """See `EncoderOf.build`."""
        self.width_out = width * len(config.masks)
        self.blocks = nn.ModuleList(
            DistanceSanBlock(width, parse_mask(mask), config) for mask in config.masks
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are [B, Q, K, H], one a mask, heads last."""
        x = x.masked_fill(padding_of(x, sentences.valid), 0)
        parts = [block(x, sentences, need_weights=need_weights) for block in self.blocks]
        return side_by_side(parts, self.config.masks, axis="heads")
