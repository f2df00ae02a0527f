"""MTSA as the paper writes it: Equation 7 to 13 (Shen et al., NAACL 2019).

Equation to line: Eq. 7 `MtsaPaperEncoder.query`, `.key`, `.value`; Eq. 9 `.hidden` and `.score`; Eq. 8 and 10 to 12
`tensorized_attention`; Eq. 13 the masks and `.output`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from heedful.encoders.base import ContextEncoder
from heedful.encoders.tensorized_heads import TensorizedHeads, Token2Token
from heedful.modules import Activation, Dense, HeadDense, join_heads, split_heads
from heedful.ops import dropout
from heedful.ops.tensorized import TensorizedImpl
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MtsaPaperConfig:
    """Settings of `MtsaPaperEncoder`.

    Attributes:
        masks: what the heads see; each mask has an equal share of the heads, the first mask's heads first.
        heads: H, a multiple of the number of masks.
        head_width: features C of one head; 0 for the width of the word vectors.
        activation: of the first score layer, and of the output where it is activated.
        dropout: on the input of every dense layer; q, k and v share one draw.
        attention_dropout: of the attention weights, in training.
        token2token: how q·k becomes a factor of the weight.
        score_from: where the source2token score comes from: "key", two layers a head (Eq. 9), or "input", one linear
            layer on the word vectors, as in the published stacked form.
        output: "linear", without a bias (Eq. 13), or "activated", with one, as in the published stacked form.
        self_visible: whether a token also sees itself.
        impl: implementation of the attention operation.
    """

    masks: tuple[str, ...] = ("forward", "backward")
    heads: int = 2
    head_width: int = 0
    activation: Activation = "elu"
    dropout: float = 0.35
    attention_dropout: float = 0.0
    token2token: Token2Token = "sigmoid"
    score_from: Literal["key", "input"] = "key"
    output: Literal["linear", "activated"] = "linear"
    self_visible: bool = False
    impl: TensorizedImpl = "auto"


class MtsaPaperEncoder(ContextEncoder):
    """``s = [H_1 ; ... ; H_h] W_o`` over heads of tensorized attention.

    Neither a gate nor a residual carries the word itself: by the definition a word that no other word of its sentence
    accompanies has a state of exactly zero, unless ``self_visible`` is set. The paper leaves open how q, k and v of all
    heads start; here each is one Glorot-uniform matrix for all heads.

    Args:
        width: features of the word vectors; the states have ``heads * head_width``.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range.
    """

    def __init__(self, width: int, config: MtsaPaperConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or MtsaPaperConfig()
        head, activation, dropout = config.head_width or width, config.activation, config.dropout
        all_heads = config.heads * head
        self.width_in, self.width_out = width, all_heads
        self.attention = TensorizedHeads(
            config.masks,
            config.heads,
            self_visible=config.self_visible,
            token2token=config.token2token,
            dropout=config.attention_dropout,
            impl=config.impl,
        )
        self.query = Dense(width, all_heads, bias=False)
        self.key = Dense(width, all_heads, bias=False)
        self.value = Dense(width, all_heads, bias=False)
        if config.score_from == "key":
            self.hidden = HeadDense(config.heads, head, head, activation=activation, dropout=dropout)
            self.score: HeadDense | Dense = HeadDense(config.heads, head, head, dropout=dropout)
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
        padding, heads = ~sentences.valid[..., None], self.config.heads
        x = x.masked_fill(padding, 0)
        dropped = dropout(x, self.config.dropout, self.training)
        query, key, value = (
            split_heads(dense(dropped), heads) for dense in (self.query, self.key, self.value)
        )
        from_key = self.config.score_from == "key"
        score = self.score(self.hidden(key)) if from_key else split_heads(self.score(x), heads)
        attended = self.attention(query, key, value, score, sentences, need_weights=need_weights)
        states = self.output(join_heads(attended.output)).masked_fill(padding, 0)
        if not need_weights:
            return ContextStates(states)
        return ContextStates(states, self.attention.named(attended.weights))
