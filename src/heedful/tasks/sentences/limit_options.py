"""Settings of the tasks that know how far their answers can be trusted: rows that are set aside for that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from heedful.errors import UsageError
from heedful.settings import Settings, ranged

ASIDE = "aside"
"""The name of the part that nothing is fitted to and nothing chosen by."""
STRANGERS = "none_of_these"
"""The name of the part of texts that belong to no class."""
_WANTED = 0.1
"""The share that is set aside where a rule needs rows and the settings name no share."""


def _share(value: object) -> str:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1
    return "" if good else "must be a share of the training rows, 0 or more and below 1"


@dataclass(frozen=True)
class LimitOptions(Settings):
    """Settings of a task itself, ``[model.task_options]``, that every task of texts and pairs has.

    Attributes:
        held_out: share of the training rows that is set aside: nothing is fitted to them and nothing chosen by them, so
            that they say how often a set of labels or an interval holds what is right (docs/limits.md). 0 sets none
            aside; a model that cross-validation chose has its out-of-fold scores instead.
    """

    held_out: float = ranged(0.0, _share)


def held_out_share(options: Mapping[str, object]) -> float:
    """Return the share of the training rows that the settings of a task set aside; 0 where they say nothing."""
    share = options.get("held_out", 0.0)
    return float(share) if isinstance(share, int | float) else 0.0


def refuse_too_few(keep: float, rows: int) -> None:
    """Refuse a share of known texts to keep that so few rows cannot say the threshold of.

    Args:
        keep: the share.
        rows: that chose nothing.

    Raises:
        UsageError: naming how many it takes.
    """
    needed = math.ceil(keep / (1 - keep) - 1e-6)
    if rows < needed:
        raise UsageError(
            f"model.task_options.reject: keeping {keep:g} of known texts takes at least {needed:,} rows that chose "
            f"nothing, and there are {rows:,}; add rows, ask for less, or set more aside (model.task_options.held_out)"
        )


def rejects(options: Mapping[str, object]) -> bool:
    """Say whether the settings of a task ask for an answer that no class fits."""
    return bool(options.get("reject") or options.get(STRANGERS))


def wanted_share(options: Mapping[str, object], *, chosen_by_folds: bool) -> float:
    """Return the share to set aside: what is set, or a tenth where a rule needs rows and no out-of-fold scores come."""
    own = held_out_share(options)
    return own or (_WANTED if rejects(options) and not chosen_by_folds else 0.0)
