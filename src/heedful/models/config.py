"""The settings of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from heedful.heads import Matching
from heedful.modules import Activation

Task = Literal["text", "pair", "relatedness"]
"""What a network answers: the class of a text, the class of a pair, or how related a pair is."""

PoolingName = Literal["source2token", "additive", "attentive-max", "attentive-max-norm", "mean", "max"]


@dataclass(frozen=True)
class ModelConfig:
    """Everything but words that defines a network.

    Attributes:
        task: what it answers.
        encoder: name of the encoder, or "decomposable" for the network that aligns a pair; that one reads pooling and
            matching not at all, and ``hidden`` is the size of all its layers.
        encoder_options: settings of the encoder that differ from its defaults; activation and dropout come from here
            unless named.
        pooling: name of the pooling.
        width: features of a word vector.
        train_embedding: whether the vectors of training words are trained; decomposable attention leaves all frozen.
        hidden: features of the head's hidden layer.
        activation: of every hidden layer.
        dropout: on the input of every dense layer.
        final_bias: whether the last layer of a classifier has a bias.
        matching: how two sentence vectors become features: "signed" ([u ; v ; u - v ; u * v], DiSAN and MTSA) or
            "absolute" ([u ; v ; u * v ; |u - v|], MS-SAN).
        highway: whether a highway layer follows the hidden layer of a classifier (MTSA on SNLI).
        outputs: classes Y, or grades of relatedness.
    """

    task: Task = "text"
    encoder: str = "disan"
    encoder_options: dict[str, Any] = field(default_factory=dict)
    pooling: PoolingName = "source2token"
    width: int = 300
    train_embedding: bool = True
    hidden: int = 300
    activation: Activation = "elu"
    dropout: float = 0.25
    final_bias: bool = True
    matching: Matching = "signed"
    highway: bool = False
    outputs: int = 2
