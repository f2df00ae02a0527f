"""What a model says about the semantic roles of a text, and the forms a reader may have it in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from heedful.data.bio import Span, spans_of
from heedful.data.readers.role_columns import NONE, brackets


@dataclass(frozen=True)
class RoleSpan:
    """Words that play a role around a predicate.

    Attributes:
        role: the role; V is the predicate, C-X continues X, R-X refers to it.
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


@dataclass(frozen=True)
class PredicateAnswer:
    """One predicate and its arguments.

    Attributes:
        place: of its word, from 0.
        word: the word.
        probability: that it is a predicate; 1 where it was given.
        tags: BIO, one a word of the text.
        spans: what the tags say, in order.
        sense: its roleset or lemma where a file names it; the model finds none.
    """

    place: int
    word: str
    probability: float
    tags: tuple[str, ...]
    spans: tuple[RoleSpan, ...]
    sense: str = ""


@dataclass(frozen=True)
class RoleAnswer:
    """What a model says about one text.

    Attributes:
        words: the words that were read.
        offsets: [start, end) of each in the text, in characters; in the words joined by single spaces where the text
            came as words.
        predicates: the predicates in order.
        unknown: how many words the model does not know.
        truncated: whether the text was cut (only when that was asked for).
    """

    words: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    predicates: tuple[PredicateAnswer, ...]
    unknown: int
    truncated: bool

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""
        notes = [] if self.words else ["text without words"]
        if self.words and not self.predicates:
            notes.append("no predicate found")
        if self.unknown:
            notes.append(f"{self.unknown} of {len(self.words)} words unknown")
        if self.truncated:
            notes.append(f"cut to {len(self.words)} words")
        return ", ".join(notes)

    def bracketed(self, predicate: PredicateAnswer) -> str:
        """Write a frame in a line, ``[ARG0 The cat] [V sat] [ARGM-LOC on the mat]``, words set apart by spaces."""
        opening = {span.start: f"[{span.role} " for span in predicate.spans}
        closing = {span.end - 1 for span in predicate.spans}
        return " ".join(
            f"{opening.get(place, '')}{word}{']' if place in closing else ''}"
            for place, word in enumerate(self.words)
        )

    def columns(self) -> str:
        """Write the frames in the columns of CoNLL-2005: the word, the predicate or "-", brackets a predicate.

        A predicate is its sense, else its word. White space in a word becomes "_", and so does a predicate "-": either
        would be read as something else.
        """
        places = {each.place: _predicate_cell(each.sense or each.word) for each in self.predicates}
        cells = [
            [_cell(word) for word in self.words],
            [places.get(place, NONE) for place in range(len(self.words))],
            *(brackets(spans_of(predicate.tags), len(self.words)) for predicate in self.predicates),
        ]
        widths = [max(map(len, column), default=0) for column in cells]
        lines = (
            " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in zip(*cells, strict=True)
        )
        return "\n".join(lines) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def _cell(text: str) -> str:
    return re.sub(
        r"\s+", "_", text, flags=re.ASCII
    )  # the readers take any other space for a part of the word


def _predicate_cell(text: str) -> str:
    return "_" if text == NONE else _cell(text)


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
