"""Where a command writes if nobody says so: a folder in ``runs`` that is named after the data or the recipe."""

from __future__ import annotations

import os
import re
from pathlib import Path

from heedful.errors import UsageError

RUNS = Path("runs")


def new_folder(named_after: str, *, taken_by: str = "") -> Path:
    """Return a folder that nothing is in.

    Args:
        named_after: the data or the recipe, as the user typed it.
        taken_by: the option that takes an earlier run up and therefore needs its folder; empty for none.

    Returns:
        ``runs/reviews`` for ``reviews.csv``, or ``runs/reviews-2`` and so on where that is taken.

    Raises:
        UsageError: if an earlier run is asked for, or several processes would each look for a folder.
    """
    if taken_by:
        raise UsageError(f"{taken_by} needs --out FOLDER, the folder of the earlier run")
    if "TORCHELASTIC_RUN_ID" in os.environ:
        raise UsageError("with several processes name the folder of the run: --out FOLDER")
    first = RUNS / _stem(named_after)
    folder, number = first, 1
    while os.path.lexists(folder):
        number += 1
        folder = first.with_name(f"{first.name}-{number}")
    return folder


def kept_folder(named_after: str, kind: str) -> Path:
    """Return the folder of what goes on when it is called again: ``runs/reviews-study`` for ``reviews.csv``."""
    return RUNS / f"{_stem(named_after)}-{kind}"


def _stem(named_after: str) -> str:
    name = Path(named_after).name or Path(named_after).absolute().name
    bare = re.sub(r"(\.[A-Za-z]\w{0,8})+$", "", name) or name
    return re.sub(r"[^\w.-]+", "-", bare).strip("-.") or "run"
