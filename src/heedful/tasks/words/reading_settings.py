"""How texts are read that the settings of a run describe: by a model, in training, and by which tokenizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.data.examples import Corpus
from heedful.data.tokens import TokenizedCorpus
from heedful.tasks.schema import TextSettings
from heedful.tasks.sentences.limit_options import rejects
from heedful.tasks.tables import is_symmetric
from heedful.text.boundaries import AUTO, choose_tokenizer
from heedful.text.wide_part import WIDE, PhraseRule

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig


def text_settings(config: RunConfig) -> TextSettings:
    """Return how a model of these settings reads text; examples that training drops are not read at all."""
    return TextSettings(
        config.text.tokenizer,
        config.data.max_tokens,
        "error" if config.data.truncate == "drop" else config.data.truncate,
        config.batches.eval_size,
        config.text.parser,
        config.text.markup,
        PhraseRule(*WIDE)
        if config.model.wide == "linear" and not is_symmetric(config.model)
        else PhraseRule(),
        keeps_words=config.model.wide != "none"
        or config.model.sentence != "none"
        or rejects(config.model.task_options)
        or bool(config.data.features),
        normalize=config.text.normalize,
    )


def refuse_leaving_out(config: RunConfig, task: str) -> list[str]:
    """Return what is wrong with the settings of a task whose long texts are cut or refused, never left out.

    Args:
        config: the settings.
        task: its name.

    Returns:
        The problem, or nothing.
    """
    how = config.data.truncate
    if how not in ("drop", "window"):
        return []
    return [f'data.truncate = "{how}" is for texts and pairs; model.task is {task!r}']


def training_settings(config: RunConfig, corpus: TokenizedCorpus) -> TextSettings:
    """Return how the training part is read: as a model reads text, but for long ones that are to be dropped."""
    text, data = text_settings(config), config.data
    if data.truncate != "drop":
        return text
    limit = corpus.length_quantile(data.length_share) if data.length_share < 1 else data.max_tokens
    return replace(text, max_tokens=limit, truncate="drop")


def with_tokenizer(config: RunConfig, training: Corpus) -> tuple[RunConfig, tuple[str, ...]]:
    """Return the settings with a tokenizer chosen where they leave that open, and a note that says so."""
    if config.text.tokenizer != AUTO:
        return config, ()
    choice = choose_tokenizer(text for example in training.examples for text in example.texts)
    note = f'train: text.tokenizer = "{choice.name}" was chosen: {choice.reason}'
    return replace(config, text=replace(config.text, tokenizer=choice.name)), (note,)
