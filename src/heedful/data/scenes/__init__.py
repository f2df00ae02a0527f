"""The corpus that Heedful generates itself: pairs of sentences about small scenes, labeled by a model of meaning."""

from heedful.data.scenes.generate import generate, phenomena, write_tsv
from heedful.data.scenes.meaning import LABELS

__all__ = ["LABELS", "generate", "phenomena", "write_tsv"]
