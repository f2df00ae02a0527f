"""The settings of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from heedful.errors import UsageError
from heedful.heads import Matching
from heedful.modules import Activation

Task = Literal["text", "pair", "relatedness", "roles", "translation"]
"""What a network answers: the class of a text, the class of a pair, how related a pair is, who does what to whom around
each predicate of a text, or a text in another language."""

PoolingName = Literal["source2token", "additive", "attentive-max", "attentive-max-norm", "mean", "max"]


@dataclass(frozen=True)
class PretrainedConfig:
    """A pretrained encoder in the place of the word vectors (extra "transformers").

    Attributes:
        name: a folder, relative to ``--data`` or the working folder, or the id of a model on the Hugging Face Hub;
            empty for word vectors.
        layers: how many of its layers are used, from the bottom; 0 for all.
        lr_factor: its learning rate as a share of ``train.optimizer.lr``; 0 leaves it as it is.
        cls: whether its state of [CLS] joins the sentence vector.
        download: whether a model that this machine does not have is fetched from the Hub.
    """

    name: str = ""
    layers: int = 0
    lr_factor: float = 1.0
    cls: bool = True
    download: bool = False

    def __post_init__(self) -> None:
        for name in ("layers", "lr_factor"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must be 0 or more; got {getattr(self, name)}")


@dataclass(frozen=True)
class TaggerConfig:
    """What semantic roles are labelled with, beside the word vectors and the encoder.

    Attributes:
        flag_width: features of the vector that says whether a word is the predicate.
        projected: features that word and flag vectors together are brought to by a linear layer before the encoder; 0
            leaves them side by side, as published.
        finder_hidden: features of the hidden layer that finds predicates.
        label_smoothing: share of the target probability that is spread evenly over all tags.
    """

    flag_width: int = 100
    projected: int = 0
    finder_hidden: int = 200
    label_smoothing: float = 0.1

    def __post_init__(self) -> None:
        for name, least in (("flag_width", 1), ("projected", 0), ("finder_hidden", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be {least} or more; got {getattr(self, name)}")
        if not 0 <= self.label_smoothing < 1:
            raise UsageError(f"label_smoothing must be at least 0 and below 1; got {self.label_smoothing}")


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
        width: features of a word vector; a pretrained encoder brings its own.
        train_embedding: whether the vectors of training words are trained; decomposable attention leaves all frozen.
        hidden: features of the head's hidden layer.
        activation: of every hidden layer.
        dropout: on the input of every dense layer.
        final_bias: whether the last layer of a classifier has a bias.
        matching: how two sentence vectors become features: "signed" ([u ; v ; u - v ; u * v], DiSAN and MTSA) or
            "absolute" ([u ; v ; u * v ; |u - v|], MS-SAN).
        highway: whether a highway layer follows the hidden layer of a classifier (MTSA on SNLI).
        outputs: classes Y, or grades of relatedness.
        pretrained: the ``[model.pretrained]`` table.
        tagger: the ``[model.tagger]`` table, for semantic roles.
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
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    tagger: TaggerConfig = field(default_factory=TaggerConfig)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild what ``dataclasses.asdict`` wrote, also before there were pretrained encoders or taggers."""
        tables = {"pretrained": PretrainedConfig, "tagger": TaggerConfig}
        return cls(**{**values, **{name: table(**values.get(name, {})) for name, table in tables.items()}})
