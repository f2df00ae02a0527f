"""What a run that was kept says of itself: its settings beside those of a command, its protocol beside other runs'."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from heedful.config.settings import RunConfig


def plain_settings(config: RunConfig) -> dict[str, Any]:
    """Return settings as the plain values that JSON gives back."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return plain


def completed(saved: dict[str, Any]) -> dict[str, Any]:
    """Add the defaults of settings that did not exist yet when a run was kept.

    Args:
        saved: plain settings of the run.

    Returns:
        Plain settings with every key of today.
    """

    def fill(given: Any, default: Any) -> Any:
        if not (isinstance(given, dict) and isinstance(default, dict)):
            return given
        return {**default, **{key: fill(value, default.get(key)) for key, value in given.items()}}

    filled: dict[str, Any] = fill(saved, plain_settings(RunConfig()))
    return filled


def of_all_runs(protocol: str) -> str:
    """Word one run's protocol for all runs of a study: seeds and folds in general."""
    protocol = re.sub(r"\(seed \d+\)", "(with the run's seed)", protocol)
    return re.sub(r"fold \d+ of (\d+)", r"each of \1 folds in turn", protocol)
