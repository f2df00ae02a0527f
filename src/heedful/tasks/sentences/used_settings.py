"""The settings that the tasks use whose network gives one row of numbers, and which of them exclude each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.models import NETWORKS
from heedful.text.english import ENGLISH, package_of

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig

WORDS: frozenset[str] = frozenset(
    {"text", "model.pretrained", "model.start", "model.row_dropout", "train.word_mask"}
)
"""Settings of texts that are read as words."""
SENTENCES: frozenset[str] = WORDS | {
    "model.pooling",
    "model.hidden",
    "model.wide",
    "model.sentence",
    "data.few_rows",
    "data.keep_examples",
    "data.features",
    "data.keep_share",
    "data.keep_sums",
    "data.choose_again",
    "data.learn_from",
}
"""Settings of networks that give one row of numbers for a text or a pair."""
PAIRS: frozenset[str] = SENTENCES | {"batches.group"}
"""Settings of those that read pairs."""

_WITHOUT_WINDOWS = (*NETWORKS, "mdman", "resan")
"""Encoders that read both texts of a pair together, or that choose their masks by a policy."""


def vectors_problem(config: RunConfig) -> list[str]:
    """Return that the mean of word vectors is asked for where there are no vectors; nothing where there are some."""
    if config.model.sentence != "mean" or config.text.vectors not in ("", "auto") or package_of(ENGLISH):
        return []
    return [
        "model.sentence = \"mean\" reads word vectors, and there are none: pip install 'heedful[en]', name a file as "
        'text.vectors, or set model.sentence = "auto", which reads what there is'
    ]


def sentence_problems(config: RunConfig, sides: int) -> list[str]:
    """Return what cannot be read in windows, in no order, or beside other settings, one sentence each.

    Args:
        config: the settings.
        sides: number of texts in an example, 1 or 2.

    Returns:
        The mistakes.
    """
    if problem := vectors_problem(config):
        return problem
    if config.model.sentence == "overlap" and sides == 1:
        return [
            'model.sentence = "overlap" reads what the two texts of a pair have in common, and model.task = '
            f'{config.model.task!r} has single texts: choose "mean", "en-sentences" or "auto"'
        ]
    together = config.model.encoder in (*NETWORKS, "mdman")
    if config.model.matching == "symmetric" and together and sides == 2:
        return [
            f'model.matching = "symmetric" cannot be used with model.encoder = {config.model.encoder!r}, which '
            "reads both texts together in their order; choose another encoder, such as disan"
        ]
    alone = together and config.model.wide == config.model.sentence == "none"
    if config.data.keep_examples != "none" and alone:
        return [
            f"data.keep_examples cannot be used with model.encoder = {config.model.encoder!r} alone, which has no "
            'vector of an example; set model.wide = "linear" too'
        ]
    if config.data.features and config.distil.teacher:
        return [
            "data.features cannot be used with distil.teacher, which reads texts alone: leave one of them out"
        ]
    if config.data.learn_from and config.distil.teacher:
        return [
            "data.learn_from cannot be used with distil.teacher: a model that learns on is taught by what it answered "
            "before; leave one of them out, or distil the model that has learned on"
        ]
    if config.data.truncate != "window":
        return []
    reads = {
        "model.encoder": config.model.encoder if config.model.encoder in _WITHOUT_WINDOWS else "",
        "model.pretrained.name": config.model.pretrained.name,
        "text.parser": config.text.parser,
    }
    return [
        f'data.truncate = "window" cannot be used with {name} = {value!r}; choose "head" or another setting'
        for name, value in reads.items()
        if value
    ]
