"""The data check of a recipe."""

from __future__ import annotations

from pathlib import Path

from heedful.config import RunConfig
from heedful.data.check import Report, check_corpora
from heedful.pipeline.sources import data_root, find_source
from heedful.text.tokenize import tokenizer


def check_parts(config: RunConfig, folder: Path | None) -> Report:
    """Check the parts that a run would train on.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.

    Returns:
        What was found.
    """
    corpora = find_source(config, data_root(config, folder)).load()
    if corpora.get("test") is corpora["dev"]:  # the papers' protocol selects on the test part
        del corpora["test"]
    return check_corpora(
        corpora, tokenize=tokenizer(config.text.tokenizer).words, limit=config.data.max_tokens
    )
