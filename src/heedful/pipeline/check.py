"""The data check of a recipe."""

from __future__ import annotations

from pathlib import Path

from heedful.config import RunConfig
from heedful.data import catalogue
from heedful.data.check import Report, check_corpora
from heedful.pipeline.sources import GENERATED, load_parts
from heedful.text.tokenize import tokenizer


def check_parts(config: RunConfig, folder: Path | None) -> Report:
    """Check the parts that a run would train on.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.

    Returns:
        What was found.
    """
    root = None if config.data.set == GENERATED else catalogue.data_folder(folder)
    parts = load_parts(config, root)
    corpora = {"train": parts.train, "dev": parts.dev}
    if parts.test is not None and parts.test is not parts.dev:
        corpora["test"] = parts.test
    return check_corpora(corpora, tokenize=tokenizer(config.text.tokenizer).words, limit=config.data.max_tokens)
