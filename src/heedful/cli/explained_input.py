"""How ``heedful explain`` explains one input by any model: its options, and torch where it has to be.

Some options choose a method, others show single features of a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.answer_options import TreeOptions
from heedful.cli.opened_model import opened, refuse_long, with_torch
from heedful.cli.option_groups import NO_OPTION, TextLimits
from heedful.errors import DataError, UsageError
from heedful.opening import AnyModel, has_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heedful.data.examples import Corpus
    from heedful.explain import Explanation
    from heedful.explain.methods import MethodChoice
    from heedful.model.engine import Capability


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
        if self.word is None:
            return explanation
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


@dataclass(frozen=True)
class MethodOptions:
    """Values of the options; None where one was not given.

    Attributes:
        method: of ``--method``.
        samples: of ``--samples``.
        seed: of ``--seed``.
        word: of ``--word``.
        why: of ``--why``.
        neighbors: of ``--neighbors``.
        rough: whether fewer choices of words are computed, because many texts are added up.
    """

    method: str | None = None
    samples: int | None = None
    seed: int | None = None
    word: str | None = None
    why: str | None = None
    neighbors: int | None = None
    rough: bool = field(default=False, metadata=NO_OPTION)

    def __post_init__(self) -> None:
        if self.method is not None:
            from heedful.explain.methods.method_names import check_method

            check_method(self.method)
        name = "--samples" if self.samples is not None else "--seed" if self.seed is not None else ""
        sampled = {"--samples": (None, "shapley"), "--seed": (None, "contributions", "shapley")}
        if name and self.method not in sampled[name]:
            raise UsageError(
                f"{name} is for --method shapley, which has random orders; got --method {self.method}"
            )

    @property
    def needs_torch(self) -> bool:
        """Whether the runtime has no answer to them."""
        from heedful.explain.methods import WITH_TORCH

        return self.method in WITH_TORCH

    @property
    def choice(self) -> MethodChoice:
        """The method with its sampling."""
        from heedful.explain.methods import MethodChoice, Sampling

        method = "shapley" if self.method is None and self.samples is not None else self.method
        return MethodChoice(method, Sampling(**self._sampling(), rough=self.rough), self.why)

    def check(self, *, tags: bool) -> None:
        """Refuse ``--word`` for a model that has no tags."""
        if self.word is not None and not tags:
            raise UsageError("--word is for models of tags of words, which this model is not")

    def explain(self, model: AnyModel, corpus: Corpus, options: Mapping[str, object]) -> Explanation:
        """Explain one example.

        Args:
            model: any model that shows what it looked at.
            corpus: the example.
            options: options of the command that not every task takes.

        Returns:
            The explanation.

        Raises:
            DataError: naming the row and the file, if a text is too long.
            UsageError: if the model has no such explanation.
        """
        from heedful.data.examples import one_example
        from heedful.explain.explainer import explain
        from heedful.explain.neighbors import kept_of

        one_example(corpus)
        self.check(tags=model.kind.of_words)
        if self.neighbors:
            kept_of(model)
        if "methods" not in model.engine.can:
            if self != MethodOptions():
                model.require("methods")
            shown: Explanation = model.attention(corpus, options)
            return shown
        try:
            return explain(model, corpus, self.choice, self.word, alike=self.neighbors)
        except DataError:
            refuse_long(model, corpus)
            raise

    def _sampling(self) -> dict[str, int]:
        given = {"orders": self.samples, "seed": self.seed}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class ExplainingOptions:
    """The options of the command that say how a model explains.

    Attributes:
        method: the method.
        features: single features of a word.
        policy: whether the steps of a policy are shown.
        task_options: options that not every task takes.
        limits: of the texts.
        tree: whether classes are paths of a tree.
    """

    method: MethodOptions
    features: FeatureOptions
    policy: bool
    task_options: Mapping[str, object]
    limits: TextLimits
    tree: TreeOptions = field(default_factory=TreeOptions)

    def opened(self, folder: Path) -> AnyModel:
        """Open a model, without torch if its method needs none."""
        return self.tree.of(self._opened(folder))

    def _opened(self, folder: Path) -> AnyModel:
        needed: Capability = "gradients" if self.method.needs_torch else "look"
        model = opened(folder, self.limits, options=self.task_options, needs=[needed])
        if "gradients" in model.engine.can or self.method.method or not prefers_torch(model.metrics):
            return model
        return opened(folder, self.limits, options=self.task_options, needs=["gradients"])

    def explain(self, folder: Path, model: AnyModel, corpus: Corpus) -> Explanation:
        """Explain one example, and add single features if they were asked for.

        Args:
            folder: of the model.
            model: the model.
            corpus: the example.

        Returns:
            The explanation.

        Raises:
            UsageError: if the model has no such explanation.
        """
        explanation = self.method.explain(model, corpus, self.task_options)
        if self.features.word is None and not self.policy:
            return explanation
        if "features" not in model.engine.can:
            model = with_torch(folder, self.limits)
        explanation = self.features.added(explanation, model)
        if not self.policy:
            return explanation
        texts = {view.name: view.text for view in explanation.sides}
        return replace(explanation, policy=model.policy_of(texts))

    def compared(
        self, model: Path, other: Path, first_model: AnyModel, corpus: Corpus
    ) -> dict[str, Explanation]:
        """Explain one example by two models.

        Args:
            model: the first folder.
            other: the second folder.
            first_model: the first model.
            corpus: the example.

        Returns:
            Both explanations by the names of the folders.

        Raises:
            UsageError: if it is the same folder twice, or one model reads pairs and the other one texts.
        """
        if str(model) == str(other):
            raise UsageError(f"--compare: expected another model than {model}")
        second = self.opened(other)
        if second.is_pair != first_model.is_pair:
            kinds = {True: "pairs of texts", False: "single texts"}
            raise UsageError(
                f"--compare: {model} reads {kinds[first_model.is_pair]} and {other} reads {kinds[second.is_pair]}"
            )
        first = self.explain(model, first_model, corpus)
        return {str(model): first, str(other): self.explain(other, second, corpus)}


def prefers_torch(metrics: Mapping[str, object]) -> bool:
    """Return whether a model's own method of explanation takes torch, and torch is installed."""
    from heedful.explain.method_ranking import standing_of
    from heedful.explain.methods import WITH_TORCH

    standing = standing_of(metrics)
    best = "" if standing is None else standing.default
    return best in WITH_TORCH and has_torch()
