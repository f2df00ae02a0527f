"""Reusable blocks without paper names."""

from heedful.modules.activation import Activation, activate
from heedful.modules.attention_fusion import AttentionFusion
from heedful.modules.convolution import Convolution
from heedful.modules.dense import Dense, Regularised, l2_factors, regularised_parameters
from heedful.modules.embedding import Embedding, WordEmbedding
from heedful.modules.feed_forward import FeedForward
from heedful.modules.fusion_gate import FusionGate
from heedful.modules.heads import HeadDense, join_heads, split_heads
from heedful.modules.highway import Highway
from heedful.modules.initialise import glorot_uniform
from heedful.modules.mask_selector import Decision, MaskSelector, Selection, sampled_decisions
from heedful.modules.piece_tables import PieceTables, SeparateTables, SharedTables
from heedful.modules.positional import positional_signal
from heedful.modules.pretrained import PretrainedEmbedding
from heedful.modules.projected_gate import ProjectedGate
from heedful.modules.recurrent import BothWays, Gru, Lstm, reverse_words
from heedful.modules.residual import (
    Norm,
    PostNorm,
    PreNorm,
    Residual,
    build_residual,
    last_norm,
    position_wise,
)
from heedful.modules.running_mean import RunningMean, mean_gradient
from heedful.modules.stepped import LearningPhase, Stepped
from heedful.modules.two_layers import two_layers

__all__ = [
    "Activation",
    "AttentionFusion",
    "BothWays",
    "Convolution",
    "Decision",
    "Dense",
    "Embedding",
    "FeedForward",
    "FusionGate",
    "Gru",
    "HeadDense",
    "Highway",
    "LearningPhase",
    "Lstm",
    "MaskSelector",
    "Norm",
    "PieceTables",
    "PostNorm",
    "PreNorm",
    "PretrainedEmbedding",
    "ProjectedGate",
    "Regularised",
    "Residual",
    "RunningMean",
    "Selection",
    "SeparateTables",
    "SharedTables",
    "Stepped",
    "WordEmbedding",
    "activate",
    "build_residual",
    "glorot_uniform",
    "join_heads",
    "l2_factors",
    "last_norm",
    "mean_gradient",
    "position_wise",
    "positional_signal",
    "regularised_parameters",
    "reverse_words",
    "sampled_decisions",
    "split_heads",
    "two_layers",
]
