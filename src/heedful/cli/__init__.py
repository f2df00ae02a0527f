"""The command line: one short file a verb, each loaded only when it is called."""

from heedful.cli.main import main

__all__ = ["main"]
