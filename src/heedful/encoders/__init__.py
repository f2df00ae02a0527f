"""One final class and one settings dataclass a paper."""

from heedful.encoders.base import ContextEncoder
from heedful.encoders.disan import DisaBlock, DisanConfig, DisanEncoder

__all__ = ["ContextEncoder", "DisaBlock", "DisanConfig", "DisanEncoder"]
