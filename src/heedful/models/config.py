"""The settings of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from heedful.nn import Activation
from heedful.nn.heads import Matching
from heedful.settings import Settings, at_least, ranged, share

Wide = Literal["none", "linear"]
"""Whether a linear model over words and characters is added to what a network gives."""
SentenceFeatures = Literal["none", "auto", "overlap", "mean", "en-sentences"]
"""What a linear model over frozen features of a text reads, which is added to what a network gives."""
NO_NETWORK = "none"
"""The encoder of a model that has parts alone and no network."""

PoolingName = Literal[
    "source2token",
    "additive",
    "dot-product",
    "multi-dimensional",
    "attentive-max",
    "attentive-max-norm",
    "mean",
    "max",
]


def _part_or_all(value: float) -> str:
    return "" if 0 < value <= 1 else "must be above 0 and at most 1"


@dataclass(frozen=True)
class PretrainedConfig(Settings):
    """A pretrained encoder that replaces the word vectors (extra "transformers").

    Attributes:
        name: a folder, relative to ``--data`` or the working folder, or the id of a model on the Hugging Face Hub;
            empty for word vectors.
        layers: how many of its layers are used, from the bottom; 0 for all.
        lr_factor: its learning rate as a share of ``train.optimizer.lr``; 0 freezes it.
        layer_decay: the rate of each of its layers as a share of that of the layer above it, so that lower ones, which
            know the language, change less (Howard and Ruder, 2018); 1 for the same rate everywhere.
        cls: whether its state of [CLS] is added to the sentence vector as further features.
        download: whether a model that is not on this machine is downloaded from the Hub.
    """

    name: str = ""
    layers: int = ranged(0, at_least(0))
    lr_factor: float = ranged(1.0, at_least(0))
    layer_decay: float = ranged(1.0, _part_or_all)
    cls: bool = True
    download: bool = False


@dataclass(frozen=True)
class TaggerConfig(Settings):
    """The parts of a semantic role labeler besides the word vectors and the encoder.

    Attributes:
        flag_width: number of features of the vector that marks whether a word is the predicate.
        projected: number of features to which a linear layer maps the word vector and the flag vector before the
            encoder; 0 for no such layer: the two are concatenated, as published.
        finder_hidden: features of the hidden layer that finds predicates.
        label_smoothing: share of the target probability that is spread evenly over all tags.
    """

    flag_width: int = ranged(100, at_least(1))
    projected: int = ranged(0, at_least(0))
    finder_hidden: int = ranged(200, at_least(1))
    label_smoothing: float = ranged(0.1, share)


@dataclass(frozen=True)
class ModelConfig(Settings):
    """Everything that defines a network, except its words.

    Attributes:
        task: what the model predicts, a name of `heedful.tasks.TASKS`: "text", "pair", "relatedness", "roles" and so
            on.
        encoder: name of the encoder, "none" for a model of linear parts without a network, or "decomposable" for the
            network that aligns a pair. That network ignores
            ``pooling`` and ``matching``, and ``hidden`` is the size of all its layers.
        encoder_options: settings of the encoder that differ from its defaults. Without an entry for them, the encoder
            uses ``model.activation`` and ``model.dropout``.
        pooling: name of the pooling.
        width: features of a word vector; a pretrained encoder has a width of its own.
        train_embedding: whether the vectors of training words are trained; decomposable attention freezes all word
            vectors.
        row_dropout: for words with n-grams (``text.subwords``), the share of words whose own vector is dropped in
            training, so that the n-grams learn to represent a word alone.
        hidden: features of the head's hidden layer.
        activation: activation of every hidden layer.
        dropout: dropout rate on the input of every dense layer.
        final_bias: whether the last layer of a classifier has a bias.
        matching: how two sentence vectors become features: "signed" ([u ; v ; u - v ; u * v], DiSAN and MTSA) or
            "absolute" ([u ; v ; u * v ; |u - v|], MS-SAN), or "symmetric" ([u + v ; |u - v| ; u * v]), with which the
            whole model answers alike in both orders of the texts: for paraphrases, duplicates and similarity.
        highway: whether a highway layer follows the hidden layer of a classifier (MTSA on SNLI).
        outputs: number of classes Y, or of grades of relatedness.
        start: the model whose encoder, pooling and word vectors the network starts from, in place of random weights:
            the name of a model of an installed package (en-sentences), or a folder. The encoder is then as that model
            has it. Empty for random weights. "auto" takes en-sentences for a student (``distil.teacher``) of classes of
            single English texts whose encoder is left as it is, where heedful-en is installed, else random weights.
        pretrained: the ``[model.pretrained]`` table.
        window: number of words that the encoder reads at a time; 0 for whole texts. Training sets it to
            ``data.max_tokens`` if ``data.truncate`` is "window".
        wide: with "linear", a linear model over words, pairs of neighboring words and runs of characters is fitted
            before the network is trained. Its logits are added to those of the network with a weight that is fitted on
            the dev split; if it does not improve the dev split, it is dropped. For tags it reads each word, its
            beginning, ending and shape and its neighbors, and a chain of tags stands on top. "none" for no such model.
        sentence: likewise, a linear model over features of the whole text: with "mean" the mean of its word vectors
            (``text.vectors``), scaled to length 1, and for pairs how the two texts differ, their cosine and their
            overlap; with "en-sentences" also the states of that sentence encoder of heedful-en, for pairs in the place
            of the mean; with "overlap" only the overlap, which needs no vectors. For tags "mean" reads the vectors of
            each word and its neighbors beside its shape, if ``model.wide`` is "linear". "auto" takes what there is.
            "none" for no such model.
        tagger: the ``[model.tagger]`` table, for semantic roles.
        task_options: settings of the task itself that differ from its defaults, if it has any.
    """

    task: str = "text"
    encoder: str = "disan"
    encoder_options: dict[str, object] = field(default_factory=dict)
    pooling: PoolingName = "source2token"
    width: int = ranged(300, at_least(1))
    train_embedding: bool = True
    row_dropout: float = ranged(0.25, share)
    hidden: int = ranged(300, at_least(1))
    activation: Activation = "elu"
    dropout: float = ranged(0.25, share)
    final_bias: bool = True
    matching: Matching = "signed"
    highway: bool = False
    outputs: int = ranged(2, at_least(1))
    start: str = ""
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    window: int = ranged(0, at_least(0))
    wide: Wide = "none"
    sentence: SentenceFeatures = "none"
    task_options: dict[str, Any] = field(default_factory=dict)
