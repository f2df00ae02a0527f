"""MTSA in the encoder of a Transformer, as its authors' translation model has it (Shen et al., NAACL 2019, Table 6)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional, init

from heedful.encoders.base import ContextEncoder
from heedful.encoders.tensorized_heads import TensorizedHeads, Token2Token
from heedful.encoders.transformer import SelfAttention, TransformerConfig, TransformerStack
from heedful.modules import Dense, HeadDense, Norm, join_heads, split_heads
from heedful.ops.tensorized import TensorizedImpl
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MtsaTransformerConfig:
    """Settings of `MtsaTransformerEncoder`.

    Attributes:
        layers: how many layers.
        heads: H, a multiple of the number of masks that divides the width.
        hidden: features of the position-wise network's hidden layer; 0 takes four times the width.
        norm: where layer norms stand: "pre" (Tensor2Tensor 1.9, as published) or "post".
        masks: what the heads see, each mask an equal share of them; the published translation runs use no direction.
        self_visible: whether a token also sees itself under a mask that hides it.
        token2token: how q·k becomes a factor of the weight; "exp" is published here.
        score_start: where the bias of the source2token score starts: 5 in the first published setup, 0 in the second.
        dropout: of the input, of what every sublayer adds, and of the position-wise network's hidden layer.
        attention_dropout: of the attention weights, ``sqrt(1 - attention_dropout)`` kept in each of the two factors.
        impl: implementation of the attention operation.
    """

    layers: int = 6
    heads: int = 8
    hidden: int = 0
    norm: Norm = "pre"
    masks: tuple[str, ...] = ("everything",)
    self_visible: bool = False
    token2token: Token2Token = "exp"
    score_start: float = 0.0
    dropout: float = 0.1
    attention_dropout: float = 0.1
    impl: TensorizedImpl = "auto"


class TensorizedSelfAttention(SelfAttention):
    """``weight_ijl ∝ exp(q_i·k_j / sqrt(C)) sigmoid(z_jl / sqrt(C))``, ``z_j = v_j W_z + b_z`` for each head.

    The two scale functions are the other way round than in MTSA's sentence encoders, as in the published code. Beside
    the projections of multi-head attention there are ``H C (C + 1)`` parameters a layer: 199,680 in the base model.

    Args:
        width: features D.
        config: the settings.
    """

    def __init__(self, width: int, config: MtsaTransformerConfig) -> None:
        super().__init__()
        self.heads, head = config.heads, width // config.heads
        self.query, self.key, self.value, self.output = (Dense(width, width, bias=False) for _ in range(4))
        self.score = HeadDense(config.heads, head, head)
        for part in self.score.parts:
            init.constant_(part.bias, config.score_start)  # type: ignore[arg-type]
        self.attention = TensorizedHeads(
            config.masks,
            config.heads,
            self_visible=config.self_visible,
            token2token=config.token2token,
            dropout=config.attention_dropout,
            impl=config.impl,
        )

    def forward(
        self, x: Tensor, sentences: Sentences, *, need_weights: bool = False
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """See `SelfAttention.forward`; weights are feature-wise, [B, Q, K, C]."""
        query, key, value = (
            split_heads(dense(x), self.heads) for dense in (self.query, self.key, self.value)
        )
        source = functional.logsigmoid(self.score(value) / value.shape[-1] ** 0.5)
        attended = self.attention(query, key, value, source, sentences, need_weights=need_weights)
        return self.output(join_heads(attended.output)), self.attention.named(attended.weights)


class MtsaTransformerEncoder(ContextEncoder):
    """The Transformer's encoder with tensorized attention in place of multi-head attention.

    Sinusoidal positions stay, and nothing else differs from `TransformerEncoder`: with the same settings the two can be
    compared layer for layer.

    Args:
        width: features D of the word vectors and of the states.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range.
    """

    def __init__(self, width: int, config: MtsaTransformerConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or MtsaTransformerConfig()
        self.width_in = self.width_out = width
        stack = TransformerConfig(config.layers, config.heads, config.hidden, config.norm, config.dropout)
        self.stack = TransformerStack(width, stack, lambda: TensorizedSelfAttention(width, config))

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a layer and head."""
        return self.stack(x, sentences, need_weights=need_weights)
