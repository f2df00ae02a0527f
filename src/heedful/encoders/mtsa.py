"""MTSA: multi-mask tensorized self-attention (Shen et al., NAACL 2019), as its published code has it.

The form of its printed equations, ``mtsa-paper``, is here too; how the two differ is in `docs/math/mtsa.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention import AttentionResult, Impl, clear_padding, dropout, scored_attention, source_to_token
from heedful.attention.implementation import padding_of
from heedful.attention.masks import parse_mask
from heedful.attention.tensorized import tensorized_attention
from heedful.attention.visibility import dense_keep
from heedful.attention_names import MapPlace
from heedful.encoders.context_encoder import EncoderOf, places_of
from heedful.errors import UsageError
from heedful.nn import Activation, Dense, HeadDense, join_heads, split_heads
from heedful.nn.blocks import heads_of, tokens_of
from heedful.nn.mixture import mix
from heedful.settings import COUNT, Settings, at_least, ranged, readable, share
from heedful.structures import ContextStates, Factors, Sentences

Token2Token = Literal["sigmoid", "exp"]
Source2Token = Literal["sigmoid", "exp"]


def scaled_source(score: Tensor, source2token: Source2Token) -> Tensor:
    """Apply MTSA's sigma_s (Appendix A.1): identity for "exp", the log of the sigmoid for "sigmoid".

    The attention takes the exponential, so that the factor of a weight becomes ``exp(z)`` or ``sigmoid(z)``.
    """
    return functional.logsigmoid(score) if source2token == "sigmoid" else score


class TensorizedSettings(Protocol):
    """What tensorized attention needs of the settings of an encoder.

    Attributes:
        masks: what the heads see, each mask for an equal share of them, the first mask's heads first.
        heads: number H of heads, a multiple of the number of masks.
        self_visible: whether a token also sees itself.
        token2token: how the score of a pair becomes a factor of its weight; with "none" the heads are called without
            queries and keys.
        attention_dropout: dropout rate of the attention weights; each of the two factors keeps a share of
            ``sqrt(1 - attention_dropout)``.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
    """

    @property
    def masks(self) -> tuple[str, ...]:
        """See the class."""

    @property
    def heads(self) -> int:
        """See the class."""

    @property
    def self_visible(self) -> bool:
        """See the class."""

    @property
    def token2token(self) -> Literal["sigmoid", "exp", "none"]:
        """See the class."""

    @property
    def attention_dropout(self) -> float:
        """See the class."""

    @property
    def impl(self) -> Impl:
        """See the class."""


class TensorizedHeads(nn.Module):
    """Tensorized attention under masks; it has no parameters.

    Args:
        config: the settings.

    Raises:
        UsageError: if heads is no multiple of the number of masks, or a mask is unknown.
    """

    def __init__(self, config: TensorizedSettings) -> None:
        super().__init__()
        masks, heads = config.masks, config.heads
        if not masks or heads < 1 or heads % len(masks):
            raise UsageError(
                f"heads={heads} must be a multiple of the number of masks, {len(masks)}: every mask gets an equal share"
            )
        of_heads = [mask for mask in masks for _ in range(heads // len(masks))]
        self.masks = [
            parse_mask(f"({mask}) | window(0)" if config.self_visible else mask) for mask in of_heads
        ]
        self.places = places_of([str(mask) for mask in self.masks], axis="features")
        self.token2token: Token2Token = "sigmoid" if config.token2token == "none" else config.token2token
        self.dropout, self.impl = config.attention_dropout, config.impl

    def forward(
        self,
        query: Tensor | None,
        key: Tensor | None,
        value: Tensor,
        source: Tensor | None,
        sentences: Sentences,
        *,
        need_weights: bool = False,
    ) -> AttentionResult:
        """Attend.

        Args:
            query: [B, H, L, C]; None, with key, leaves the score of the pair out: every pair counts the same.
            key: [B, H, L, C].
            value: [B, H, L, C].
            source: the score of every token and feature, [B, H, L, C]; None counts every token the same.
            sentences: validity and structure.
            need_weights: also return the weights.

        Returns:
            Output [B, H, L, C], exactly zero for a token that sees nothing; weights [B, H, Q, K, C] or None.
        """
        equal = torch.zeros_like(value)
        return tensorized_attention(
            equal if query is None else query,
            equal if key is None else key,
            value,
            equal if source is None else source,
            sentences.valid,
            [mask.visible(sentences) for mask in self.masks],
            token2token=self.token2token,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            impl=self.impl,
        )

    def factors(
        self, query: Tensor | None, key: Tensor | None, source: Tensor | None, sentences: Sentences
    ) -> Factors:
        """Normalize the two scores apart, as MTSA's Figure 3 shows them.

        Args:
            query: as for `forward`.
            key: as for `forward`.
            source: as for `forward`.
            sentences: validity and structure.

        Returns:
            Of token2token the softmax of sigma_t(q·k / sqrt(C)) over the keys that a query sees, and of source2token
            the softmax of sigma_s(z) over the tokens; for each head that has them.
        """
        pairs: dict[MapPlace, Tensor] = {}
        tokens: dict[MapPlace, Tensor] = {}
        for head, (place, mask) in enumerate(zip(self.places, self.masks, strict=True)):
            if query is not None and key is not None:
                q, k = (clear_padding(side[:, head], sentences.valid) for side in (query, key))
                score = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
                score = functional.logsigmoid(score) if self.token2token == "sigmoid" else score
                keep = dense_keep(mask.visible(sentences), sentences.valid)
                pairs[place] = scored_attention(score, k, keep)[1]
            if source is not None:
                alone = source[:, head]
                tokens[place] = source_to_token(alone, alone, sentences.valid)[1]
        return Factors(pairs, tokens)

    def apart(self, values: Tensor | None) -> dict[MapPlace, Tensor]:
        """Take [B, H, ...] apart into one entry a head; none for None."""
        return {} if values is None else dict(zip(self.places, values.unbind(1), strict=True))


@dataclass(frozen=True)
class HeadsConfig(Settings):
    """Settings that both forms have.

    Attributes:
        masks: masks of the heads. Each mask has an equal share of the heads, the first mask the first ones.
        heads: number H of heads, a multiple of the number of masks.
        head_width: features C of one head; 0 for the width of the word vectors.
        activation: activation of the first score layer, and of the values or the output if these have one.
        dropout: dropout rate on the input of every dense layer; in the paper's form q, k and v share one dropout mask.
        attention_dropout: dropout rate of the attention weights in training; as published, the sum that normalizes the
            weights has no dropout.
    """

    masks: tuple[str, ...] = ranged(("forward", "backward"), readable(parse_mask))
    heads: int = ranged(2, COUNT)
    head_width: int = ranged(0, at_least(0))
    activation: Activation = "elu"
    dropout: float = ranged(0.35, share)
    attention_dropout: float = ranged(0.0, share)


@dataclass(frozen=True)
class MtsaConfig(HeadsConfig):
    """Settings of `MtsaEncoder`.

    Attributes:
        token2token: how q·k becomes a factor of the attention weight: "sigmoid" for one layer, "exp" for stacked
            layers, and "none" to do without q and k.
        score_layers: number of dense layers of the source2token score: 2 as published, 1, or 0 for no such score.
        attend_from: what q, k and the score are computed from: the activated "value" as published, or the "input".
        gate: whether a fusion gate mixes each value with its context.
        self_visible: whether a token also sees itself.
        l2: factor of the L2 penalty of the block's matrices; 2 reproduces the published SNLI runs.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
        source2token: how the score z of a token becomes a factor of the weight: "exp" as published (sigma_s is the
            identity), or "sigmoid" (the log of the sigmoid, which Appendix A.1 also offers).
    """

    token2token: Literal["sigmoid", "exp", "none"] = "sigmoid"
    score_layers: Literal[0, 1, 2] = 2
    attend_from: Literal["value", "input"] = "value"
    gate: bool = True
    self_visible: bool = False
    l2: float = ranged(1.0, at_least(0))
    impl: Impl = "auto"
    source2token: Source2Token = "exp"


class MtsaEncoder(EncoderOf[MtsaConfig]):
    """Heads side by side: 631,200 parameters each at width 300.

    For every head: ``v = act(x W_v + b_v)``; ``q = v W_q``; ``k = v W_k``; ``z = act(v W_1 + b_1) W_2 + b_2``;
    ``s = tensorized_attention(q, k, v, z)``; ``g = sigmoid([v ; s] W_g + b_g)``; state ``g * v + (1 - g) * s``.

    Differs from the paper as its published code does: the values are activated, q, k and z come from them and not from
    the input, and a fusion gate stands where the paper has an output projection.

    The states have ``heads * head_width`` features.

    Raises:
        UsageError: if a setting is out of range, or both parts of the attention score are left out.
    """

    settings = MtsaConfig

    def build(self, width: int, config: MtsaConfig) -> None:
        """See `EncoderOf.build`."""
        if config.token2token == "none" and config.score_layers == 0:
            raise UsageError(
                "token2token='none' and score_layers=0 leave no attention score; for the ablation without both use "
                "encoder='embedding' with encoder_options.hidden"
            )
        heads, head = config.heads, config.head_width or width
        self.width_out = heads * head
        self.attention = TensorizedHeads(config)

        def dense(width_in: int, *, bias: bool = True, activation: Activation = "linear") -> HeadDense:
            shared = {"dropout": config.dropout, "l2": config.l2}
            return HeadDense(heads, lambda: Dense(width_in, head, bias=bias, activation=activation, **shared))

        read = head if config.attend_from == "value" else width
        self.value = dense(width, activation=config.activation)
        self.query = None if config.token2token == "none" else dense(read, bias=False)
        self.key = None if config.token2token == "none" else dense(read, bias=False)
        self.hidden = dense(read, activation=config.activation) if config.score_layers == 2 else None
        self.score = dense(head if self.hidden else read) if config.score_layers else None
        self.gate = dense(2 * head) if config.gate else None

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a head."""
        x = clear_padding(x, sentences.valid)
        value = self.value(x)
        read = value if self.config.attend_from == "value" else x
        hidden = read if self.hidden is None else self.hidden(read)
        query = None if self.query is None else self.query(read)
        key = None if self.key is None else self.key(read)
        source = None if self.score is None else scaled_source(self.score(hidden), self.config.source2token)
        attended = self.attention(query, key, value, source, sentences, need_weights=need_weights)
        states, gate = attended.output, None
        if self.gate is not None:
            word, context, score = map(tokens_of, (value, states, self.gate(value, states)))
            mixed = mix(word, context, score, sentences.valid.flatten())
            states, gate = (heads_of(each, *x.shape[:2]) for each in mixed)
        states = join_heads(states)  # zero at padding
        if not need_weights:
            return ContextStates(states)
        return ContextStates(
            states,
            self.attention.apart(attended.weights),
            self.attention.apart(gate),
            factors=self.attention.factors(query, key, source, sentences),
        )


@dataclass(frozen=True)
class MtsaPaperConfig(HeadsConfig):
    """Settings of `MtsaPaperEncoder`.

    Attributes:
        token2token: how q·k becomes a factor of the attention weight.
        score_from: what the source2token score is computed from: "key" by two layers for each head (Eq. 9), or "input"
            by one linear layer on the word vectors, as in the published stacked form.
        output: output layer: "linear" without a bias (Eq. 13), or "activated" with a bias and an activation, as in the
            published stacked form.
        self_visible: whether a token also sees itself.
        impl: implementation of the attention operation; "auto" chooses the fastest one that supports the input.
        source2token: how the source2token score becomes a factor of the weight: "exp" (sigma_s is the identity), or
            "sigmoid" (the log of the sigmoid; Appendix A.1).
    """

    token2token: Token2Token = "sigmoid"
    score_from: Literal["key", "input"] = "key"
    output: Literal["linear", "activated"] = "linear"
    self_visible: bool = False
    impl: Impl = "auto"
    source2token: Source2Token = "exp"


class MtsaPaperEncoder(EncoderOf[MtsaPaperConfig]):
    """``s = [H_1 ; ... ; H_h] W_o`` over heads of tensorized attention.

    Neither a gate nor a residual carries the word itself: by the definition a word that no other word of its sentence
    accompanies has a state of exactly zero, unless ``self_visible`` is set. The paper leaves open how q, k and v of all
    heads start; here each is one Glorot-uniform matrix for all heads.

    The states have ``heads * head_width`` features.
    """

    settings = MtsaPaperConfig

    def build(self, width: int, config: MtsaPaperConfig) -> None:
        """See `EncoderOf.build`."""
        head, activation, dropout = config.head_width or width, config.activation, config.dropout
        all_heads = config.heads * head
        self.width_out = all_heads
        self.attention = TensorizedHeads(config)
        self.query = Dense(width, all_heads, bias=False)
        self.key = Dense(width, all_heads, bias=False)
        self.value = Dense(width, all_heads, bias=False)
        if config.score_from == "key":
            self.hidden = HeadDense(
                config.heads, lambda: Dense(head, head, activation=activation, dropout=dropout)
            )
            self.score: HeadDense | Dense = HeadDense(
                config.heads, lambda: Dense(head, head, dropout=dropout)
            )
        else:
            self.score = Dense(width, all_heads, dropout=dropout)
        activated = config.output == "activated"
        self.output = Dense(
            all_heads,
            all_heads,
            bias=activated,
            activation=activation if activated else "linear",
            dropout=dropout,
        )

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a head."""
        padding, heads = padding_of(x, sentences.valid), self.config.heads
        x = x.masked_fill(padding, 0)
        dropped = dropout(x, self.config.dropout, self.training)
        query, key, value = (
            split_heads(dense(dropped), heads) for dense in (self.query, self.key, self.value)
        )
        from_key = self.config.score_from == "key"
        score = self.score(self.hidden(key)) if from_key else split_heads(self.score(x), heads)
        score = scaled_source(score, self.config.source2token)
        attended = self.attention(query, key, value, score, sentences, need_weights=need_weights)
        states = self.output(join_heads(attended.output)).masked_fill(padding, 0)
        if not need_weights:
            return ContextStates(states)
        factors = self.attention.factors(query, key, score, sentences)
        return ContextStates(states, self.attention.apart(attended.weights), factors=factors)
