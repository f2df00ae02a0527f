"""Whole networks, and the builder that makes their parts from settings."""

from heedful.models.build import (
    ENCODERS,
    NETWORKS,
    POOLINGS,
    build_aligned,
    build_encoder,
    build_sentence_encoder,
    classifier_head,
    encoder_config,
    encoder_embedding,
    encoder_problems,
    register_encoder,
    register_pooling,
    word_embedding,
)
from heedful.models.config import ModelConfig, PretrainedConfig, TaggerConfig
from heedful.models.decomposable import AlignmentNetwork, DecomposableConfig
from heedful.models.networks import (
    MappedVectors,
    Network,
    PairNetwork,
    RelatednessNetwork,
    SentenceEncoder,
    SentenceReader,
    TextNetwork,
    VectorNetwork,
)
from heedful.models.tagger import TaggerNetwork, WordReader, WordTagger
from heedful.models.vector_network import JoinedEncoder, SentenceVectorNetwork

__all__ = [
    "ENCODERS",
    "NETWORKS",
    "POOLINGS",
    "AlignmentNetwork",
    "DecomposableConfig",
    "JoinedEncoder",
    "MappedVectors",
    "ModelConfig",
    "Network",
    "PairNetwork",
    "PretrainedConfig",
    "RelatednessNetwork",
    "SentenceEncoder",
    "SentenceReader",
    "SentenceVectorNetwork",
    "TaggerConfig",
    "TaggerNetwork",
    "TextNetwork",
    "VectorNetwork",
    "WordReader",
    "WordTagger",
    "build_aligned",
    "build_encoder",
    "build_sentence_encoder",
    "classifier_head",
    "encoder_config",
    "encoder_embedding",
    "encoder_problems",
    "register_encoder",
    "register_pooling",
    "word_embedding",
]
