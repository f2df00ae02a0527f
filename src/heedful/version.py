"""The version of Heedful, which its other packages have too."""

__version__ = "0.1.0"
