"""Settings to the parts of networks: the only place where names become classes; a task puts the parts together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, cast

from torch import Tensor

from heedful.encoders import (
    BiBlosanConfig,
    BiBlosanEncoder,
    BiGruEncoder,
    BiLstmEncoder,
    CnnConfig,
    CnnEncoder,
    ContextEncoder,
    DeepAttConfig,
    DeepAttEncoder,
    DisanConfig,
    DisanEncoder,
    DistanceSanConfig,
    DistanceSanEncoder,
    EmbeddingConfig,
    EmbeddingEncoder,
    HierarchicalCnnConfig,
    HierarchicalCnnEncoder,
    IntraSentenceConfig,
    IntraSentenceEncoder,
    MdmanConfig,
    MdmanEncoder,
    MssanConfig,
    MssanEncoder,
    MtsaConfig,
    MtsaDeepAttConfig,
    MtsaDeepAttEncoder,
    MtsaEncoder,
    MtsaPaperConfig,
    MtsaPaperEncoder,
    MtsaStackedConfig,
    MtsaStackedEncoder,
    MtsaTransformerConfig,
    MtsaTransformerEncoder,
    MultiHeadConfig,
    MultiHeadEncoder,
    RecurrentConfig,
    ResanConfig,
    ResanEncoder,
    TransformerConfig,
    TransformerEncoder,
)
from heedful.errors import UsageError, check_known, nearest, shown
from heedful.models.config import NO_NETWORK, ModelConfig, PoolingName
from heedful.models.decomposable import AlignmentNetwork, DecomposableConfig
from heedful.models.networks import Network, SentenceEncoder
from heedful.nn import Embedding, PretrainedEmbedding, WordEmbedding
from heedful.nn import pooling as sentence_vectors
from heedful.nn.heads import ClassifierHead
from heedful.nn.pooling import Pooling
from heedful.settings import Settings, fit_field, take_name

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MakeAligned = Callable[[Embedding, DecomposableConfig, ModelConfig], Network]

ENCODERS: dict[str, tuple[type[Settings], type[ContextEncoder]]] = {
    "deep-att": (DeepAttConfig, DeepAttEncoder),
    "disan": (DisanConfig, DisanEncoder),
    "distance-san": (DistanceSanConfig, DistanceSanEncoder),
    "intra-sentence": (IntraSentenceConfig, IntraSentenceEncoder),
    "mdman": (MdmanConfig, MdmanEncoder),
    "mssan": (MssanConfig, MssanEncoder),
    "mtsa": (MtsaConfig, MtsaEncoder),
    "mtsa-deep-att": (MtsaDeepAttConfig, MtsaDeepAttEncoder),
    "mtsa-paper": (MtsaPaperConfig, MtsaPaperEncoder),
    "mtsa-stacked": (MtsaStackedConfig, MtsaStackedEncoder),
    "mtsa-transformer": (MtsaTransformerConfig, MtsaTransformerEncoder),
    "bi-blosan": (BiBlosanConfig, BiBlosanEncoder),
    "bi-gru": (RecurrentConfig, BiGruEncoder),
    "bi-lstm": (RecurrentConfig, BiLstmEncoder),
    "cnn": (CnnConfig, CnnEncoder),
    "embedding": (EmbeddingConfig, EmbeddingEncoder),
    "hierarchical-cnn": (HierarchicalCnnConfig, HierarchicalCnnEncoder),
    "multi-head": (MultiHeadConfig, MultiHeadEncoder),
    "resan": (ResanConfig, ResanEncoder),
    "transformer": (TransformerConfig, TransformerEncoder),
}
"""Encoder name to its settings class and to the class that is built from (width, settings)."""

NETWORKS: dict[str, tuple[type[DecomposableConfig], MakeAligned]] = {
    "decomposable": (
        DecomposableConfig,
        lambda embedding, settings, config: AlignmentNetwork(
            embedding, settings, hidden=config.hidden, outputs=config.outputs
        ),
    ),
}
"""Name of a network that reads both sides together, instead of an encoder's, to its settings class and to the function
that builds it from (embedding, settings, model settings)."""

POOLINGS: dict[str, Callable[[int, ModelConfig], Pooling]] = {
    "source2token": lambda width, config: sentence_vectors.SourceToToken(
        width, activation=config.activation, dropout=config.dropout
    ),
    "additive": lambda width, config: sentence_vectors.AdditiveAttention(
        width, activation=config.activation, dropout=config.dropout
    ),
    "dot-product": lambda width, config: sentence_vectors.DotProduct(width, dropout=config.dropout),
    "multi-dimensional": lambda width, config: sentence_vectors.MultiDimensional(
        width, activation=config.activation, dropout=config.dropout
    ),
    "attentive-max": lambda width, config: sentence_vectors.AttentiveMax(
        width, activation=config.activation, dropout=config.dropout
    ),
    "attentive-max-norm": lambda width, config: sentence_vectors.NormalizedAttentiveMax(
        width, activation=config.activation, dropout=config.dropout
    ),
    "mean": lambda width, _: sentence_vectors.MeanPooling(width),
    "max": lambda width, _: sentence_vectors.MaxPooling(width),
}
"""Pooling name to the function that builds it from (width of the states, model settings)."""


_OWN_POOLINGS: dict[str, Callable[[int], Pooling]] = {}
"""Those of other people's, by name."""


def register_encoder(name: str, settings: type[Settings], encoder: type[ContextEncoder]) -> None:
    """Give an encoder of your own a name for ``model.encoder``, in every process that trains with it or loads it.

    Args:
        name: as settings write it.
        settings: derives from `heedful.settings.Settings`, frozen; its fields are the encoder's options.
        encoder: is built from the width of the word vectors and its settings.

    Raises:
        UsageError: if the name is taken by another encoder or no settings can write it, or the classes do not fit.
    """
    _check_registered("register_encoder", name, encoder)
    if not (isinstance(settings, type) and issubclass(settings, Settings) and is_dataclass(settings)):
        raise UsageError(
            f"register_encoder({name!r}): expected a dataclass that derives from Settings; got {settings!r}"
        )
    taken = name in NETWORKS or ENCODERS.get(name, (settings, encoder)) != (settings, encoder)
    if taken or name == NO_NETWORK:
        raise UsageError(f"register_encoder: the name {name!r} is taken; choose another")
    ENCODERS[name] = (settings, encoder)


def register_pooling(name: str, pooling: Callable[[int], Pooling]) -> None:
    """Give a pooling of your own a name for ``model.pooling``, in every process that trains with it or loads it.

    Args:
        name: as settings write it.
        pooling: a class that derives from `heedful.nn.pooling.Pooling`, or a function; it is called with the width of
            the states.

    Raises:
        UsageError: if the name is taken by another pooling or no settings can write it, or nothing can be called.
    """
    _check_registered("register_pooling", name, pooling)
    if name in POOLINGS and _OWN_POOLINGS.get(name) is not pooling:
        raise UsageError(f"register_pooling: the name {name!r} is taken; choose another")
    _OWN_POOLINGS[name] = pooling
    POOLINGS[name] = lambda width, _: pooling(width)
    take_name(PoolingName, name)


def _check_registered(what: str, name: object, made: object) -> None:
    if not (isinstance(name, str) and name.strip()):
        raise UsageError(f"{what}: a name is a text that settings can write; got {name!r}")
    if not callable(made):
        raise UsageError(
            f"{what}({name!r}): expected a class, or a function that makes one of them; got {made!r}"
        )


def encoder_config(config: ModelConfig) -> object:
    """Return the encoder's settings with the model's activation and dropout filled in.

    Args:
        config: the model.

    Returns:
        The encoder's own settings dataclass.

    Raises:
        UsageError: listing every mistake: an unknown encoder or option, a wrong type, a value out of range.
    """
    settings, problems = _read_options(config)
    if settings is None or problems:
        raise UsageError("; ".join(problems))
    return settings


def encoder_problems(config: ModelConfig) -> list[str]:
    """Find every mistake in the name and the options of an encoder, before anything is built.

    Args:
        config: the model.

    Returns:
        One sentence a mistake. What depends on the width of the vectors, or on two options together, is found by the
        encoder itself. Options of an encoder say nothing where there is none, and are left out when data is prepared.
    """
    return [] if config.encoder == NO_NETWORK else _read_options(config)[1]


def _read_options(config: ModelConfig) -> tuple[object, list[str]]:
    """Return the settings of the encoder, and every mistake in its name and options."""
    choices: dict[str, type[Settings]] = {
        name: kind for table in (ENCODERS, NETWORKS) for name, (kind, _) in table.items()
    } | {NO_NETWORK: EmbeddingConfig}
    if config.encoder not in choices:
        return None, [
            f"model.encoder={config.encoder!r} is unknown: {nearest(config.encoder, list(choices))}"
        ]
    kind = choices[config.encoder]
    known = [f.name for f in fields(kind)]
    shared = {"activation": config.activation, "dropout": config.dropout}
    values: dict[str, object] = {name: value for name, value in shared.items() if name in known}
    problems = []
    for name, value in config.encoder_options.items():
        where = f"model.encoder_options.{name}"
        if name not in known:
            problems.append(
                f"{where} is unknown to {config.encoder}: {nearest(name, known)}; "
                "model.encoder_options={} leaves an encoder its defaults"
            )
            continue
        values[name], problem = fit_field(kind, name, value)
        if problem:
            problems.append(f"{where}: {problem}; got {shown(value)}")
    return (None if problems else kind(**values)), problems


def word_embedding(
    config: ModelConfig, trained: Tensor, frozen: Tensor | None = None, ngrams: Tensor | None = None
) -> WordEmbedding:
    """Make the word vectors that a network begins with.

    Args:
        config: the settings.
        trained: initial trained word vectors, [V, D].
        frozen: further, frozen word vectors, [F, D].
        ngrams: initial rows of character n-grams, [R, D]; None for none.

    Returns:
        The embedding.

    Raises:
        UsageError: if a setting is out of range, or the vectors' width is not ``config.width``.
    """
    if trained.shape[1] != config.width:
        raise UsageError(
            f"model.width is {config.width}, but the word vectors have {trained.shape[1]} features"
        )
    return WordEmbedding(
        trained, frozen, train=config.train_embedding, ngrams=ngrams, row_dropout=config.row_dropout
    )


def encoder_embedding(
    config: ModelConfig, encoder: PreTrainedModel, *, start: int, end: int
) -> PretrainedEmbedding:
    """Put a pretrained encoder in the place of word vectors.

    Args:
        config: the settings.
        encoder: see `heedful.nn.PretrainedEmbedding`.
        start: id of the token in front of a text ([CLS]).
        end: id of the token behind it ([SEP]).

    Returns:
        The embedding.
    """
    pretrained = config.pretrained
    return PretrainedEmbedding(
        encoder,
        start=start,
        end=end,
        summary=pretrained.cls,
        lr_factor=pretrained.lr_factor,
        layer_decay=pretrained.layer_decay,
    )


def build_sentence_encoder(config: ModelConfig, embedding: Embedding) -> SentenceEncoder:
    """Build what turns a sentence into one vector: the embedding, the encoder and the pooling.

    Weights are drawn from torch's global generator: seed it first.

    Args:
        config: the settings.
        embedding: word vectors, or a pretrained encoder.

    Returns:
        The encoder of sentences, in training mode.

    Raises:
        UsageError: if a setting is unknown or out of range.
    """
    encoder = build_encoder(config, embedding.width)
    pooling = _build_pooling(config, encoder.width_out)
    return SentenceEncoder(embedding, encoder, pooling, window=config.window)


def build_aligned(config: ModelConfig, embedding: Embedding) -> Network:
    """Build a network that reads both sides of a pair together, in the place of an encoder and a head.

    Args:
        config: the settings; the encoder is one of `NETWORKS`.
        embedding: word vectors, or a pretrained encoder.

    Returns:
        The network, in training mode.

    Raises:
        UsageError: if a setting is unknown or out of range, or one that such a network has no use for.
    """
    if config.highway or not config.final_bias:
        raise UsageError(
            f"model.encoder={config.encoder!r} has neither a highway layer nor a last layer without bias: leave "
            "model.highway and model.final_bias alone"
        )
    settings, (kind, make) = encoder_config(config), NETWORKS[config.encoder]
    assert isinstance(settings, kind)  # `encoder_config` looks into the same table
    return make(embedding, settings, config)


def build_encoder(config: ModelConfig, width: int) -> ContextEncoder:
    """Build the encoder that the settings name.

    Args:
        config: the settings.
        width: features of the vectors that it reads.

    Returns:
        The encoder, in training mode.

    Raises:
        UsageError: if a setting is unknown or out of range, or the name is that of a whole network.
    """
    settings = encoder_config(config)
    if config.encoder == NO_NETWORK:  # whose weights are zero: see `heedful.tasks.words.word_task`
        return EmbeddingEncoder(width, cast(EmbeddingConfig, settings))
    if config.encoder not in ENCODERS:
        raise UsageError(
            f"model.encoder={config.encoder!r} aligns pairs and encodes no single text; valid: {', '.join(ENCODERS)}"
        )
    return ENCODERS[config.encoder][1](width, settings)


def _build_pooling(config: ModelConfig, width: int) -> Pooling:
    check_known(config.pooling, POOLINGS, f"model.pooling={config.pooling!r} is unknown")
    return POOLINGS[config.pooling](width, config)


def classifier_head(config: ModelConfig, width: int) -> ClassifierHead:
    """Build the layers that turn features of a text or a pair into logits.

    Args:
        config: the settings.
        width: of the features.

    Returns:
        The head, in training mode.
    """
    return ClassifierHead(
        width,
        config.hidden,
        config.outputs,
        activation=config.activation,
        dropout=config.dropout,
        final_bias=config.final_bias,
        highway=config.highway,
    )
