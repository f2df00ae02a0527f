"""Heedful: small, fast, explainable text models built on structure-guided self-attention."""

__version__ = "0.1.0"
