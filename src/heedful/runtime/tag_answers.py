"""What a model of tags answers: one tag a word, and spans as a person reads them; with or without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heedful.runtime.answers import Layout
from heedful.text.bio import OUTSIDE, Span, scheme_of, spans_of


@dataclass(frozen=True)
class RoleSpan:
    """Words that belong together.

    Attributes:
        role: what they are. Around a predicate, V is the predicate, C-X continues X, R-X refers to it.
        start: place of the first word, from 0.
        end: the place after the last word.
        text: the words as they stand in the text.
        probability: mean probability of the tags of its words, each by itself.
    """

    role: str
    start: int
    end: int
    text: str
    probability: float


def role_spans(
    tags: Sequence[str], probabilities: Sequence[float], offsets: Sequence[tuple[int, int]], text: str
) -> tuple[RoleSpan, ...]:
    """Turn the tags of a sentence into spans.

    Args:
        tags: one a word.
        probabilities: of each tag.
        offsets: of each word in the text.
        text: the text.

    Returns:
        The spans in order.
    """

    def told(span: Span) -> RoleSpan:
        own = probabilities[span.start : span.end]
        words = text[offsets[span.start][0] : offsets[span.end - 1][1]]
        return RoleSpan(span.role, span.start, span.end, words, sum(own) / len(own))

    return tuple(told(span) for span in spans_of(tags))


def bracketed(words: Sequence[str], spans: Sequence[RoleSpan]) -> str:
    """Write spans in a line, ``[ARG0 The cat] [V sat] [ARGM-LOC on the mat]``, words set apart by spaces."""
    opening = {span.start: f"[{span.role} " for span in spans}
    closing = {span.end - 1 for span in spans}
    return " ".join(
        f"{opening.get(place, '')}{word}{']' if place in closing else ''}" for place, word in enumerate(words)
    )


def remarks_on(words: Sequence[str], unknown: int, *, truncated: bool) -> list[str]:
    """Return what a reader of tagged words should know of how the text was read."""
    return [
        *([] if words else ["text without words"]),
        *([f"{unknown} of {len(words)} words unknown"] if unknown else []),
        *([f"cut to {len(words)} words"] if truncated else []),
    ]


@dataclass(frozen=True)
class TagsAnswer:
    """What a model says about one text.

    Attributes:
        words: the words that were read.
        offsets: [start, end) of each in the text, in characters; in the words joined by single spaces where the text
            came as words.
        tags: the tag of each word.
        probabilities: of each tag, each word by itself.
        spans: what BIO or BIOES mark; none where tags are plain.
        unknown: how many words the model does not know.
        truncated: whether the text was cut (only when that was asked for).
    """

    words: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    spans: tuple[RoleSpan, ...]
    unknown: int
    truncated: bool

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""
        return ", ".join(remarks_on(self.words, self.unknown, truncated=self.truncated))

    def in_a_line(self) -> str:
        """Write the words with their tags: ``[PER Ada Lovelace] wrote``, or ``Ada/PROPN wrote/VERB``."""
        if self.spans or scheme_of(self.tags) != "plain" or set(self.tags) == {OUTSIDE}:
            return bracketed(self.words, self.spans)
        return " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True))

    def columns(self) -> str:
        """Write a word and its tag a line, set apart by a tab, and an empty line behind them."""
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(self.words, self.tags, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def _cells(answer: TagsAnswer) -> list[str]:
    """The probability is the mean over the words."""
    mean = f"{np.mean(answer.probabilities):.3f}" if answer.words else ""
    return [answer.in_a_line(), mean, answer.remarks]


TAGS = Layout[TagsAnswer](("tags", "probability", "warnings"), _cells)
