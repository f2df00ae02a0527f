"""One final class and one settings dataclass a paper."""

from heedful.encoders.base import ContextEncoder
from heedful.encoders.disan import DisaBlock, DisanConfig, DisanEncoder
from heedful.encoders.intra_sentence import IntraSentenceConfig, IntraSentenceEncoder
from heedful.encoders.mssan import MssanConfig, MssanEncoder
from heedful.encoders.mtsa import MtsaConfig, MtsaEncoder
from heedful.encoders.mtsa_paper import MtsaPaperConfig, MtsaPaperEncoder
from heedful.encoders.mtsa_stacked import MtsaStackedConfig, MtsaStackedEncoder

__all__ = [
    "ContextEncoder",
    "DisaBlock",
    "DisanConfig",
    "DisanEncoder",
    "IntraSentenceConfig",
    "IntraSentenceEncoder",
    "MssanConfig",
    "MssanEncoder",
    "MtsaConfig",
    "MtsaEncoder",
    "MtsaPaperConfig",
    "MtsaPaperEncoder",
    "MtsaStackedConfig",
    "MtsaStackedEncoder",
]
