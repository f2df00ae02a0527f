"""Whether a run with few rows is chosen by cross-validation."""

from __future__ import annotations

import sys

from heedful.run.run_config import RunConfig
from heedful.tasks import task_named


def few_rows(config: RunConfig) -> int:
    """Return below how many training rows everything is chosen by cross-validation; 0 for never.

    Args:
        config: the settings. A teacher, a pretrained encoder and long texts in windows need a network.

    Returns:
        The number of rows.
    """
    if config.data.learn_from:  # linear parts alone learn on, of however many rows
        return sys.maxsize
    able = task_named(config.model.task).chooses_by_folds
    parts = config.model.wide != "none" or config.model.sentence != "none"
    network = bool(config.distil.teacher or config.model.pretrained.name)
    return config.data.few_rows if able and parts and not network and config.data.protocol == "honest" else 0
