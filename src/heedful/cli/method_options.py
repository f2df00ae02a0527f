"""The options of ``heedful explain`` that choose a method, and what they ask of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heedful.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heedful.data.examples import Corpus
    from heedful.explain import Explanation
    from heedful.explain.methods import MethodChoice
    from heedful.tasks import AnyModel


@dataclass(frozen=True)
class MethodOptions:
    """Values of the options; None where one was not given."""

    method: str | None = None
    samples: int | None = None
    seed: int | None = None
    word: str | None = None

    def __post_init__(self) -> None:
        if self.method is not None:
            from heedful.explain.methods.method_names import check_method

            check_method(self.method)
        name = "--samples" if self.samples is not None else "--seed" if self.seed is not None else ""
        if name and self.method not in (None, "shapley"):
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

        return MethodChoice(self.method, Sampling(**self._sampling()))

    def check(self, *, tags: bool) -> None:
        """Refuse ``--word`` for a model that has no tags."""
        if self.word is not None and not tags:
            raise UsageError("--word is for models of tags of words, which this model is not")

    def explain(self, model: AnyModel, corpus: Corpus, given: Mapping[str, object]) -> Explanation:
        """Explain one example with torch.

        Args:
            model: any model.
            corpus: the example.
            given: options of the command that not every task takes.

        Returns:
            The explanation.

        Raises:
            UsageError: if the model has no such explanation.
        """
        from heedful.tasks import SentenceModel, TagsModel, task_of

        task = task_of(model)
        own = self.choice.sampling
        if isinstance(model, TagsModel):
            if self == MethodOptions():
                return task.explain(model, corpus, given)
            return model.explain(
                corpus, method=self.method, samples=own.orders, seed=own.seed, word=self.word
            )
        self.check(tags=False)
        if self == MethodOptions():
            return task.explain(model, corpus, given)
        if isinstance(model, SentenceModel):
            return model.explain(corpus, method=self.method, samples=own.orders, seed=own.seed)
        raise UsageError(
            f"--method is for classes, labels, numbers and tags; this is a model of {task.noun}, which "
            "has attention alone"
        )

    def _sampling(self) -> dict[str, int]:
        given = {"orders": self.samples, "seed": self.seed}
        return {name: value for name, value in given.items() if value is not None}
