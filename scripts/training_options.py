"""The options of the scripts that train: where the data is, where the runs go, and which of them there are."""

from __future__ import annotations

import argparse
from pathlib import Path


def options_of(
    description: str | None, *, out: str, columns: str = "", seeds: str = "1,2,3"
) -> argparse.ArgumentParser:
    """Return a parser of ``--out`` and ``--seeds``, and for a script that reads data of ``--data`` and ``--columns``.

    Args:
        description: the docstring of the script, shown as it is.
        out: what is written into the folder ``--out``.
        columns: the data sets that are read without ``--columns``, separated by commas; empty for a script that makes
            its data itself.
        seeds: the seeds without ``--seeds``, separated by commas.

    Returns:
        The parser, which takes further options.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help=f"Folder of {out}.")
    parser.add_argument("--seeds", default=seeds, help="Seeds, separated by commas.")
    if columns:
        parser.add_argument("--data", type=Path, required=True, help="Folder of the data sets.")
        parser.add_argument("--columns", default=columns, help="Data sets, separated by commas.")
    return parser
