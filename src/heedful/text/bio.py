"""Spans as one tag a word: B-X begins a span of X, I-X goes on with it, O is outside every span.

BIOES also marks ends: E-X is the last word of a span of two or more, S-X is a span of one word. BILOU is the same with
L-X for E-X and U-X for S-X. Tags that mark no spans, such as parts of speech, are plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Scheme = Literal["plain", "bio", "bioes", "bilou"]
"""What tags mean: each one something by itself, or spans in one of three forms."""
OUTSIDE = "O"
_BEGIN, _INSIDE = "B-", "I-"
_BIO = (_BEGIN, _INSIDE)
_ENDS, _SINGLES = ("E-", "L-"), ("S-", "U-")
_MARKS: dict[str, tuple[str, ...]] = {
    "bio": _BIO,
    "bioes": (*_BIO, "E-", "S-"),
    "bilou": (*_BIO, "L-", "U-"),
}
SPAN_MARKS = (*_BIO, *_ENDS, *_SINGLES)
"""Beginnings of tags that mark spans, in any scheme."""
_BARE = re.compile(r"[BIELSUMW]-?")
_OTHER_FORM = re.compile(
    r"(?P<before>[BIELSUMW])[_:/.](?P<role>.+)|(?P<kind>.+)[-_:/.](?P<behind>[BIELSUMW])"
)


class Span(NamedTuple):
    """Words of a sentence that belong together.

    Attributes:
        start: place of the first word, from 0.
        end: the place after the last word.
        role: what they are.
    """

    start: int
    end: int
    role: str


def bio_tags(roles: Iterable[str], scheme: Scheme = "bio") -> tuple[str, ...]:
    """Return the tags of some roles: O first, then B-X, I-X and so on of each role in alphabetical order."""
    marks = _MARKS[scheme]
    return (OUTSIDE, *(mark + role for role in sorted(set(roles)) for mark in marks))


def scheme_of(tags: Iterable[str]) -> Scheme:
    """Return by the tags themselves what they mean.

    Args:
        tags: those of a file, or those that a model knows.

    Returns:
        "plain" unless at least half of the distinct tags but O are marked as one of the schemes marks them, so that a
        misspelled tag does not hide that the others are marked; "bioes" where an E-X or S-X is among them, "bilou"
        where an L-X or U-X is.
    """
    inside = {tag for tag in tags if tag != OUTSIDE}
    marked = {tag for tag in inside if tag.startswith(SPAN_MARKS) and tag[2:]}
    if not marked or 2 * len(marked) < len(inside):
        return "plain"
    if any(tag.startswith(("E-", "S-")) for tag in marked):
        return "bioes"
    return "bilou" if any(tag.startswith(("L-", "U-")) for tag in marked) else "bio"


def unread_spans(tags: Iterable[str]) -> str:
    """Report that tags which look plain mark spans in a form that is not read: they are no plain ones.

    Args:
        tags: those of a file.

    Returns:
        One sentence: marks without a kind (B, I, O), or written in another way (B_PER, PER-B, b-per). Empty where the
        tags mark no spans, or in a scheme that is read.
    """
    tags = set(tags)
    inside = tags - {OUTSIDE}
    if scheme_of(inside) != "plain" or not inside:
        return ""
    outside = any(
        tag in tags for tag in (OUTSIDE, OUTSIDE.lower())
    )  # beside it a beginning alone is one of a span
    if {"B", "I"} <= {tag.rstrip("-") for tag in inside} and all(map(_BARE.fullmatch, inside)):
        return f"the tags {', '.join(sorted(inside))} mark spans without a kind; write one behind each mark: B-X, I-X"
    small = {tag for tag in inside if tag[1:2] == "-" and tag[:2].upper() in SPAN_MARKS and tag[2:]}
    marked = {tag[:2] for tag in small}
    only = outside and inside - small <= {OUTSIDE.lower()} and "b-" in marked
    if only or (2 * len(small) > len(inside) and {"b-", "i-"} <= marked):
        return f"tags such as {min(small)!r:.40} mark spans in small letters; write B-PER, I-PER and O"
    forms = {tag: match for tag in inside if (match := _OTHER_FORM.fullmatch(tag))}
    marks: dict[str, set[str]] = {}
    for match in forms.values():
        role, mark = (match["role"], match["before"]) if match["before"] else (match["kind"], match["behind"])
        marks.setdefault(role, set()).add(mark)
    only = outside and len(forms) == len(inside) and all("B" in found for found in marks.values())
    if only or (2 * len(forms) > len(inside) and any({"B", "I"} <= found for found in marks.values())):
        return f"tags such as {min(forms)!r:.40} mark spans in a form that is not read; write B-PER and I-PER"
    return ""


def role_of(tag: str) -> str:
    """Return the role of a tag; O has none, the empty string."""
    return "" if tag == OUTSIDE else tag[2:]


def tags_problem(tags: Sequence[str]) -> str:
    """Return what is wrong with the tags that a model knows: those of spans have one order; empty where nothing is."""
    scheme = scheme_of(tags)
    if scheme != "plain" and tuple(tags) != bio_tags({role_of(tag) for tag in tags} - {""}, scheme):
        return "tags of spans are O, and each mark of each kind in alphabetical order"
    return ""


def begin_numbers(tags: Sequence[str]) -> list[int]:
    """Return which tag each tag may follow beside itself.

    Returns for I-X the number of B-X; -1 for O and B-X, which may follow anything and begin a sentence.
    """
    number = {tag: n for n, tag in enumerate(tags)}
    return [number[_BEGIN + role_of(tag)] if tag.startswith(_INSIDE) else -1 for tag in tags]


def spans_of(tags: Sequence[str]) -> list[Span]:
    """Return the spans of a tagged sentence in order.

    Args:
        tags: one a word, in BIO, BIOES or BILOU. An I-X, E-X or L-X that goes on with nothing begins a span, as in the
            CoNLL scorers.

    Returns:
        The spans.
    """
    spans: list[Span] = []
    start, role, ended = 0, "", False
    for place, tag in enumerate((*tags, OUTSIDE)):
        if role and (ended or not tag.startswith((_INSIDE, *_ENDS)) or role_of(tag) != role):
            spans.append(Span(start, place, role))
            role = ""
        if not role and tag != OUTSIDE:
            start, role = place, role_of(tag)
        ended = tag.startswith((*_ENDS, *_SINGLES))
    return spans


def tags_of(spans: Iterable[Span], length: int, scheme: Scheme = "bio") -> tuple[str, ...]:
    """Return one tag a word.

    Raises ValueError if two spans overlap.
    """
    tags = [OUTSIDE] * length
    for span in spans:
        if any(tag != OUTSIDE for tag in tags[span.start : span.end]):
            raise ValueError(f"two spans hold word {span.start + 1}")
        tags[span.start] = _BEGIN + span.role
        for place in range(span.start + 1, span.end):
            tags[place] = _INSIDE + span.role
        if len(marks := _MARKS[scheme]) > 2:
            tags[span.end - 1] = marks[2 if span.end - span.start > 1 else 3] + span.role
    return tuple(tags)


def may_follow(tag: str, before: str, scheme: Scheme = "bio") -> bool:
    """Return whether a tag may stand behind another one.

    Args:
        tag: O or a marked tag; O stands for the end of a sentence too.
        before: likewise; O stands for its beginning.
        scheme: any but "plain".

    Returns:
        Whether both may stand side by side. In BIO an I-X needs a B-X or I-X before it; in BIOES and BILOU an I-X, E-X
        or L-X needs them too, and nothing else may follow those two.
    """
    goes_on = tag.startswith((_INSIDE, *_ENDS))
    if scheme != "bio" and before.startswith(_BIO) and not goes_on:
        return False
    return not goes_on or (before.startswith(_BIO) and role_of(before) == role_of(tag))


def mistake_at(tags: Sequence[object], scheme: Scheme = "bio") -> tuple[int, str] | None:
    """Return the first mistake in a sequence of tags: the place of its word, from 0, and what is wrong; or None."""
    marks = _MARKS[scheme]
    before = OUTSIDE
    for place, tag in enumerate(tags):
        if not isinstance(tag, str) or (tag != OUTSIDE and not (tag.startswith(marks) and tag[2:])):
            shown = ", ".join(f"{mark}ROLE" for mark in marks[:-1])
            return place, f"a tag is O, {shown} or {marks[-1]}ROLE; got {tag!r:.80}"
        if not may_follow(tag, before, scheme):
            if tag.startswith((_INSIDE, *_ENDS)):
                needed = f"must follow {_BEGIN}{role_of(tag)} or {_INSIDE}{role_of(tag)}"
                return place, f"{tag} {needed}; it follows {before}"
            return place, f"{tag} follows {before}, {_after(before, marks)}"
        before = tag
    if not may_follow(OUTSIDE, before, scheme):
        return len(tags) - 1, f"the sentence ends with {before}, {_after(before, marks)}"
    return None


def _after(tag: str, marks: Sequence[str]) -> str:
    return f"which needs {_INSIDE}{role_of(tag)} or {marks[2]}{role_of(tag)} behind it"


def mistake_in(tags: Sequence[object], scheme: Scheme = "bio") -> str | None:
    """Return what is wrong with a sequence of tags, or None.

    Returns the first mistake, with the place of the word from 1.
    """
    mistake = mistake_at(tags, scheme)
    return None if mistake is None else f"word {mistake[0] + 1}: {mistake[1]}"
