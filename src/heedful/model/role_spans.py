"""Words that belong together: spans of a tagged text, or the arguments of a predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.text.bio import Span, spans_of


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

    def role_span(span: Span) -> RoleSpan:
        own = probabilities[span.start : span.end]
        words = text[offsets[span.start][0] : offsets[span.end - 1][1]]
        return RoleSpan(span.role, span.start, span.end, words, sum(own) / len(own))

    return tuple(role_span(span) for span in spans_of(tags))


def bracketed(words: Sequence[str], spans: Sequence[RoleSpan]) -> str:
    """Write spans in a line, ``[ARG0 The cat] [V sat] [ARGM-LOC on the mat]``, words set apart by spaces."""
    opening = {span.start: f"[{span.role} " for span in spans}
    closing = {span.end - 1 for span in spans}
    return " ".join(
        f"{opening.get(place, '')}{word}{']' if place in closing else ''}" for place, word in enumerate(words)
    )
