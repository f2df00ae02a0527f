"""The options of ``heedful explain`` that show single features of a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING

import click

from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.tasks import AnyModel


@dataclass(frozen=True)
class FeatureOptions:
    """Values of the options.

    Attributes:
        word: of ``--features-of``; None if it was not given.
        beside: of ``--beside``.
        count: of ``--features``; None if it was not given.
    """

    word: str | None = None
    beside: tuple[str, ...] = ()
    count: int | None = None

    def __post_init__(self) -> None:
        name = "--beside" if self.beside else "--features" if self.count is not None else ""
        if name and self.word is None:
            raise UsageError(f"{name} needs --features-of WORD, the word whose features are shown")

    def added(self, explanation: Explanation, model: AnyModel) -> Explanation:
        """Add single features of the word to an explanation.

        Args:
            explanation: of a text or a pair.
            model: what explained it.

        Returns:
            The explanation with the features, or as it was if none were asked for.

        Raises:
            UsageError: if the model has no such features, or a text lacks the word.
        """
        from heedful.tasks import SentenceModel, task_of

        if self.word is None:
            return explanation
        if not isinstance(model, SentenceModel):
            raise UsageError(
                f"--features-of is for models of a text or a pair; this is a model of {task_of(model).noun}"
            )
        count = self.count or 8
        for text in self.beside:
            model.features_of(self.word, [text], 1)  # refuses a sentence without the word
        texts = [*(view.text for view in explanation.sides), *self.beside]
        return replace(explanation, features=model.features_of(self.word, texts, count))


def feature_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options to a command, which gets them as one argument ``features``."""

    @click.option(
        "--features-of",
        metavar="WORD",
        help="Also show single features of the attention of WORD: those that differ most from the mean over all "
        "features. Needs torch.",
    )
    @click.option(
        "--beside",
        metavar="TEXT",
        multiple=True,
        help="Another sentence with WORD; the same features are shown in both. May be repeated.",
    )
    @click.option(
        "--features",
        "count",
        type=click.IntRange(1, 64),
        metavar="NUMBER",
        help="How many features of each attention are shown.  [default: 8]",
    )
    @wraps(command)
    def with_features(
        *args: object, features_of: str | None, beside: tuple[str, ...], count: int | None, **rest: object
    ) -> object:
        return command(*args, features=FeatureOptions(features_of, beside, count), **rest)

    return with_features
