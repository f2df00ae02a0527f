"""One final class and one settings dataclass a paper."""

from heedful.encoders.baseline_encoders import (
    BiGruEncoder,
    BiLstmEncoder,
    CnnConfig,
    CnnEncoder,
    HierarchicalCnnConfig,
    HierarchicalCnnEncoder,
    MultiHeadConfig,
    MultiHeadEncoder,
    RecurrentConfig,
)
from heedful.encoders.block_attention import BiBlosanConfig, BiBlosanEncoder, published_block_length
from heedful.encoders.context_encoder import ContextEncoder, EmbeddingConfig, EmbeddingEncoder
from heedful.encoders.deep_att import DeepAttConfig, DeepAttEncoder, MtsaDeepAttConfig, MtsaDeepAttEncoder
from heedful.encoders.disan import DisaBlock, DisanConfig, DisanEncoder
from heedful.encoders.distance_san import DistanceSanConfig, DistanceSanEncoder
from heedful.encoders.intra_sentence import IntraSentenceConfig, IntraSentenceEncoder
from heedful.encoders.mdman import MdmanConfig, MdmanEncoder
from heedful.encoders.mssan import MssanConfig, MssanEncoder
from heedful.encoders.mtsa import MtsaConfig, MtsaEncoder, MtsaPaperConfig, MtsaPaperEncoder
from heedful.encoders.mtsa_stacked import MtsaStackedConfig, MtsaStackedEncoder
from heedful.encoders.resan import ResanConfig, ResanEncoder
from heedful.encoders.transformer import (
    MtsaTransformerConfig,
    MtsaTransformerEncoder,
    TransformerConfig,
    TransformerEncoder,
)

__all__ = [
    "BiBlosanConfig",
    "BiBlosanEncoder",
    "BiGruEncoder",
    "BiLstmEncoder",
    "CnnConfig",
    "CnnEncoder",
    "ContextEncoder",
    "DeepAttConfig",
    "DeepAttEncoder",
    "DisaBlock",
    "DisanConfig",
    "DisanEncoder",
    "DistanceSanConfig",
    "DistanceSanEncoder",
    "EmbeddingConfig",
    "EmbeddingEncoder",
    "HierarchicalCnnConfig",
    "HierarchicalCnnEncoder",
    "IntraSentenceConfig",
    "IntraSentenceEncoder",
    "MdmanConfig",
    "MdmanEncoder",
    "MssanConfig",
    "MssanEncoder",
    "MtsaConfig",
    "MtsaDeepAttConfig",
    "MtsaDeepAttEncoder",
    "MtsaEncoder",
    "MtsaPaperConfig",
    "MtsaPaperEncoder",
    "MtsaStackedConfig",
    "MtsaStackedEncoder",
    "MtsaTransformerConfig",
    "MtsaTransformerEncoder",
    "MultiHeadConfig",
    "MultiHeadEncoder",
    "RecurrentConfig",
    "ResanConfig",
    "ResanEncoder",
    "TransformerConfig",
    "TransformerEncoder",
    "published_block_length",
]
