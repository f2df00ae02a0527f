"""The data check of a recipe."""

from __future__ import annotations

from pathlib import Path

from heedful.config import RunConfig
from heedful.data.check import Finding, Report, check_corpora
from heedful.data.examples import Corpus
from heedful.errors import DataError
from heedful.pipeline.sources import data_root, find_source
from heedful.pipeline.tasks import WORD_TASKS
from heedful.text.tokenize import tokenizer


def check_parts(config: RunConfig, folder: Path | None) -> Report:
    """Check the parts that a run would train on.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.

    Returns:
        What was found.
    """
    source = find_source(config, data_root(config, folder))
    corpora = source.load()
    if corpora.get("test") is corpora["dev"]:  # the papers' protocol selects on the test part
        del corpora["test"]
    report = check_corpora(
        corpora, tokenize=tokenizer(config.text.tokenizer).words, limit=config.data.max_tokens
    )
    report.findings[:0] = [
        Finding("error", name, problem)
        for name, corpus in corpora.items()
        if source.kind == "score" and (problem := _off_the_scale(config, corpus))
    ]
    return report


def _off_the_scale(config: RunConfig, corpus: Corpus) -> str:
    """Say which score of a part training would refuse; nothing if none."""
    try:
        WORD_TASKS["score"].read_labels({"": corpus}, (), config.model)
    except DataError as error:
        return str(error)
    return ""
