"""MTSA: multi-mask tensorized self-attention (Shen et al., NAACL 2019), as its published code has it.

The paper's own form is `heedful.encoders.mtsa_paper`; how the two differ is in `docs/maths/mtsa.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from heedful.encoders.base import ContextEncoder
from heedful.encoders.tensorized_heads import TensorizedHeads
from heedful.errors import UsageError
from heedful.modules import Activation, HeadDense, join_heads
from heedful.ops.tensorized import TensorizedImpl
from heedful.structures import ContextStates, Sentences


@dataclass(frozen=True)
class MtsaConfig:
    """Settings of `MtsaEncoder`.

    Attributes:
        masks: what the heads see; each mask has an equal share of the heads, the first mask's heads first.
        heads: H, a multiple of the number of masks.
        head_width: features C of one head; 0 for the width of the word vectors.
        activation: of the values and of the first score layer.
        dropout: on the input of every dense layer.
        attention_dropout: of the attention weights, in training; the normaliser is not dropped, as published.
        token2token: how q·k becomes a factor of the weight: "sigmoid" for one layer, "exp" where layers are stacked,
            "none" leaves q and k out.
        score_layers: dense layers of the source2token score: 2 as published, 1, or 0 to leave the score out.
        attend_from: what q, k and the score are computed from: the activated "value" as published, or the "input".
        gate: whether a fusion gate mixes each value with its context.
        self_visible: whether a token also sees itself.
        l2: how many times the L2 penalty covers the block's matrices: 2 reproduces the published SNLI runs.
        impl: implementation of the attention operation.
    """

    masks: tuple[str, ...] = ("forward", "backward")
    heads: int = 2
    head_width: int = 0
    activation: Activation = "elu"
    dropout: float = 0.35
    attention_dropout: float = 0.0
    token2token: Literal["sigmoid", "exp", "none"] = "sigmoid"
    score_layers: Literal[0, 1, 2] = 2
    attend_from: Literal["value", "input"] = "value"
    gate: bool = True
    self_visible: bool = False
    l2: float = 1.0
    impl: TensorizedImpl = "auto"


class MtsaEncoder(ContextEncoder):
    """Heads side by side: 631,200 parameters each at width 300.

    For every head: ``v = act(x W_v + b_v)``; ``q = v W_q``; ``k = v W_k``; ``z = act(v W_1 + b_1) W_2 + b_2``;
    ``s = tensorized_attention(q, k, v, z)``; ``g = sigmoid([v ; s] W_g + b_g)``; state ``g * v + (1 - g) * s``.

    Differs from the paper as its published code does: the values are activated, q, k and z come from them and not from
    the input, and a fusion gate stands where the paper has an output projection.

    Args:
        width: features of the word vectors; the states have ``heads * head_width``.
        config: the settings.

    Raises:
        UsageError: if a setting is out of range, or both parts of the attention score are left out.
    """

    def __init__(self, width: int, config: MtsaConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or MtsaConfig()
        if config.token2token == "none" and config.score_layers == 0:
            raise UsageError(
                "token2token='none' and score_layers=0 leave no attention score; for the ablation without both use "
                "encoder='embedding' with encoder_options.hidden"
            )
        heads, head = config.heads, config.head_width or width
        self.width_in, self.width_out = width, heads * head
        self.attention = TensorizedHeads(
            config.masks,
            heads,
            self_visible=config.self_visible,
            token2token="sigmoid" if config.token2token == "none" else config.token2token,
            dropout=config.attention_dropout,
            impl=config.impl,
        )

        def dense(width_in: int, *, bias: bool = True, activation: Activation = "linear") -> HeadDense:
            return HeadDense(
                heads, width_in, head, bias=bias, activation=activation, dropout=config.dropout, l2=config.l2
            )

        read = head if config.attend_from == "value" else width
        self.value = dense(width, activation=config.activation)
        self.query = None if config.token2token == "none" else dense(read, bias=False)
        self.key = None if config.token2token == "none" else dense(read, bias=False)
        self.hidden = dense(read, activation=config.activation) if config.score_layers == 2 else None
        self.score = dense(head if self.hidden else read) if config.score_layers else None
        self.gate = dense(2 * head) if config.gate else None

    def forward(self, x: Tensor, sentences: Sentences, *, need_weights: bool = False) -> ContextStates:
        """Encode; see `ContextEncoder.forward`. Maps are feature-wise, [B, Q, K, C], one a head."""
        padding = ~sentences.valid[..., None]
        x = x.masked_fill(padding, 0)
        value = self.value(x)
        read = value if self.config.attend_from == "value" else x
        hidden = read if self.hidden is None else self.hidden(read)
        attended = self.attention(
            None if self.query is None else self.query(read),
            None if self.key is None else self.key(read),
            value,
            None if self.score is None else self.score(hidden),
            sentences,
            need_weights=need_weights,
        )
        states, gate = attended.output, None
        if self.gate is not None:
            # Each head in one piece, as `HeadDense` reads it without a copy.
            both = torch.cat([value.transpose(0, 1), states.transpose(0, 1)], dim=-1)
            gate = torch.sigmoid(self.gate(both.transpose(0, 1)))
            states = torch.lerp(states, value, gate)
        states = join_heads(states).masked_fill(padding, 0)
        if not need_weights:
            return ContextStates(states)
        return ContextStates(states, self.attention.named(attended.weights), self.attention.named(gate))
