"""What a predictor is asked, and how it reads; its answers are those of `heedful.runtime.answers`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from heedful.data.encoding import Truncate
from heedful.data.examples import Corpus
from heedful.errors import UsageError
from heedful.fields import Fields
from heedful.text.tokenize import Markup
from heedful.text.wide_part import PhraseRule, WidePart

Text = str | tuple[str, str]
"""One request: a text, or (premise, hypothesis)."""

Requests = Sequence[Text] | Corpus
"""Requests from Python, or examples that a reader made of a file; the latter keep their rows in messages."""


class AnyAnswer(Protocol):
    """What every answer has, whatever a model answers."""

    @property
    def truncated(self) -> bool:
        """Whether a text was cut (only when that was asked for)."""

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""


@dataclass(frozen=True)
class TextSettings:
    """How a predictor reads text.

    Attributes:
        tokenizer: name of the tokenizer.
        max_tokens: longest sentence, in tokens.
        truncate: what happens to a longer one: "error", or "head" to keep its beginning (counted and flagged). Training
            alone may also "drop" the example. "window" reads it whole, in windows of `max_tokens`.
        eval_size: examples a batch.
        parser: where dependency trees come from; see `heedful.data.parses.find_parser`. Empty for none.
        markup: what becomes of HTML tags and links; see `heedful.text.tokenize`.
        phrases: which features a wide part reads; by default none.
    """

    tokenizer: str = "treebank"
    max_tokens: int = 400
    truncate: Truncate = "error"
    eval_size: int = 128
    parser: str = ""
    markup: Markup = "keep"
    phrases: PhraseRule = field(default_factory=PhraseRule)

    def __post_init__(self) -> None:
        for name, most in (("max_tokens", 2**31 - 1), ("eval_size", 2**20)):
            if not 1 <= getattr(self, name) <= most:
                raise UsageError(f"{name} must be from 1 to {most:,}; got {getattr(self, name)}")


@dataclass(frozen=True)
class About:
    """What a model's folder keeps beside the network and its words.

    Attributes:
        run: the settings of the run that made it.
        metrics: the figures of that run.
        card: the model card, Markdown.
        temperature: what logits are divided by before the softmax that gives confidences (Guo et al., ICML 2017);
            1, and never another, where none was fitted.
        wide: what is added to the logits before; None where there is nothing.
        costs: of classes what it costs to answer class k where class j is right, at row j and column k; empty where the
            most probable class is answered.
    """

    run: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, object] = field(default_factory=dict)
    card: str = "A Heedful model; `heedful.from_pretrained` reads it.\n"
    temperature: float = 1.0
    wide: WidePart | None = None
    costs: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        known = isinstance(self.temperature, float) and 0 < self.temperature < math.inf
        if not (known and 1e-6 <= self.temperature <= 1e6):
            raise UsageError(
                f"temperature must be a number above 0, from 0.000001 to 1,000,000; got {self.temperature!r}"
            )
        square = all(len(row) == len(self.costs) for row in self.costs)
        if not (square and all(0 <= cost < math.inf for row in self.costs for cost in row)):
            raise UsageError("costs must be a square table of numbers of 0 or more")

    @property
    def data(self) -> Fields:
        """The settings by which the training data was read: the table ``[data]`` of the run; may be empty."""
        return Fields(self.run, "the settings of the run that made the model").part("data", {})
