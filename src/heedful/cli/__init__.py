"""The command line: one short file for each subcommand, which is loaded only when the subcommand is called."""

import sys

try:
    from heedful.cli.main import main
except KeyboardInterrupt:  # while click is being loaded; `main` tells of all later ones
    sys.stderr.write("heedful: interrupted\n")
    sys.exit(130)

__all__ = ["main"]
