"""How ``heedful explain`` explains one input by any model, with torch where it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.cli.feature_options import FeatureOptions
from heedful.cli.method_options import MethodOptions
from heedful.cli.opened_model import Opened, open_model, with_torch, without_torch
from heedful.cli.option_groups import TextLimits
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.data.examples import Corpus
    from heedful.explain import Explanation
    from heedful.tasks import AnyModel


@dataclass(frozen=True)
class Explaining:
    """The options of the command that say how a model explains.

    Attributes:
        asked: the method.
        features: single features of a word.
        policy: whether the steps of a policy are shown.
        given: options that not every task takes.
        limits: of the texts.
    """

    asked: MethodOptions
    features: FeatureOptions
    policy: bool
    given: Mapping[str, object]
    limits: TextLimits

    def opened(self, folder: Path) -> Opened:
        """Open a model, without torch if its method needs none."""
        needs_torch = any(self.given.values()) or self.asked.needs_torch
        opened = None if needs_torch else without_torch(folder, self.limits)
        if opened is None or opened.explain is None or (not self.asked.method and opened.prefers_torch()):
            return with_torch(open_model(folder, self.limits), self.given)
        return opened

    def explain(self, folder: Path, opened: Opened, corpus: Corpus) -> Explanation:
        """Explain one example, and add single features if they were asked for.

        Args:
            folder: of the model.
            opened: the model.
            corpus: the example.

        Returns:
            The explanation.

        Raises:
            UsageError: if the model has no such explanation.
        """
        assert opened.explain is not None  # `opened` sees to it
        explanation = opened.explain(corpus, self.asked)
        if self.features.word is None and not self.policy:
            return explanation
        model = open_model(folder, self.limits)
        explanation = self.features.added(explanation, model)
        return _with_policy(explanation, model) if self.policy else explanation

    def compared(self, model: Path, other: Path, opened: Opened, corpus: Corpus) -> dict[str, Explanation]:
        """Explain one example by two models.

        Args:
            model: the first folder.
            other: the second folder.
            opened: the first model.
            corpus: the example.

        Returns:
            Both explanations by the names of the folders.

        Raises:
            UsageError: if it is the same folder twice, or one model reads pairs and the other one texts.
        """
        if str(model) == str(other):
            raise UsageError(f"--compare: expected another model than {model}")
        second = self.opened(other)
        if second.is_pair != opened.is_pair:
            kinds = {True: "pairs of texts", False: "single texts"}
            raise UsageError(
                f"--compare: {model} reads {kinds[opened.is_pair]} and {other} reads {kinds[second.is_pair]}"
            )
        first = self.explain(model, opened, corpus)
        return {str(model): first, str(other): self.explain(other, second, corpus)}


def _with_policy(explanation: Explanation, model: AnyModel) -> Explanation:
    from heedful.tasks import SentenceModel, task_of

    if not isinstance(model, SentenceModel):
        raise UsageError(
            f"--policy is for models of a text or a pair; this is a model of {task_of(model).noun}"
        )
    return replace(explanation, policy=model.policy_of({view.name: view.text for view in explanation.sides}))
