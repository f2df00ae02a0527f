"""Whole networks and the builder that makes them from settings."""

from heedful.models.build import ENCODERS, POOLINGS, build_network, encoder_config
from heedful.models.config import ModelConfig, Task
from heedful.models.networks import Network, PairNetwork, RelatednessNetwork, SentenceEncoder, TextNetwork

__all__ = [
    "ENCODERS",
    "POOLINGS",
    "ModelConfig",
    "Network",
    "PairNetwork",
    "RelatednessNetwork",
    "SentenceEncoder",
    "Task",
    "TextNetwork",
    "build_network",
    "encoder_config",
]
