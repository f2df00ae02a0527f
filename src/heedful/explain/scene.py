"""What a picture of contributions shows, in which order: lines that add up, for a page and for a terminal alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from heedful.explain.attribution import Across, Joint

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation_record import SentenceView

SHOWN = 10
"""Words and phrases that have a line of their own."""
COLUMNS_SHOWN = 10
"""Columns beside the text that have one."""
_PHRASES, _SHARE, _LEAST = 5, 0.25, 0.1
"""Phrases at most; how strong one is at least beside the largest contribution; and as log-odds."""
_NOTHING = 5e-4
"""What rounds to less has no line of its own."""
_MISSED = 1e-6
"""The lines of a picture add up to its sum but for this; what the words do together has a line where it is more."""


@dataclass(frozen=True)
class Line:
    """One line of a picture of contributions.

    Attributes:
        kind: a word, words that stand together, a column beside the text, all other words or columns, what the words do
            together, the base, or the sum.
        name: what it is.
        value: what it contributes; of the sum the number itself.
        error: standard error, if there is one.
        joint: of words that stand together what they contribute only together.
    """

    kind: Literal["word", "phrase", "column", "others", "together", "base", "sum"]
    name: str
    value: float
    error: float | None = None
    joint: float | None = None


def phrases_of(attribution: Attribution) -> list[Joint]:
    """Return the words that are shown together, the strongest first; no word is in two of them.

    Args:
        attribution: what each word contributes.

    Returns:
        At most 5: what they do together is a quarter of the largest contribution or more, and of log-odds at least 0.1.
    """
    least = _least(attribution)
    taken: set[tuple[int, int]] = set()
    found: list[Joint] = []
    for joint in sorted(attribution.joint, key=lambda each: -abs(each.value)):
        places = {(joint.side, place) for place in range(joint.start, joint.end)}
        if abs(joint.value) >= least and not places & taken and len(found) < _PHRASES:
            found.append(joint)
            taken |= places
    return found


def across_of(attribution: Attribution) -> list[Across]:
    """Return the words of both texts of a pair whose link is shown, the strongest first; see `phrases_of`."""
    return [each for each in attribution.across if abs(each.value) >= _least(attribution)]


def _least(attribution: Attribution) -> float:
    """Return how strong what words do together is at least where it is shown."""
    return max(_SHARE * attribution.largest, _LEAST if attribution.is_log_odds else 1e-12)


def lines_of(attribution: Attribution, views: Sequence[SentenceView], count: int = SHOWN) -> list[Line]:
    """Return the lines of a picture; those before the sum add up to it.

    Args:
        attribution: what each word contributes.
        views: the sides.
        count: words and phrases with a line of their own.

    Returns:
        Words and phrases, the largest first; then the other words, what the words do together, the base and the sum.
    """
    phrases = phrases_of(attribution)
    within = {(joint.side, place) for joint in phrases for place in range(joint.start, joint.end)}
    found = [_phrase(attribution, views, joint) for joint in phrases]
    for side, (view, values) in enumerate(zip(views, attribution.values, strict=True)):
        errors = attribution.errors[side] if attribution.errors else None
        for place, (word, value) in enumerate(zip(view.words, values.tolist(), strict=True)):
            if (side, place) not in within:
                error = None if errors is None else float(errors[place]) or None
                found.append(Line("word", _named(word, view, views), value, error))
    found.sort(key=lambda line: -abs(line.value))
    shown, rest = found[:count], found[count:]
    shown, small = (
        [line for line in shown if abs(line.value) >= _NOTHING],
        [line for line in shown if abs(line.value) < _NOTHING],
    )
    rest = [*small, *rest]
    if rest:
        words = f"{len(rest)} other word{'s' * (len(rest) > 1)}"
        shown.append(Line("others", words, sum(line.value for line in rest)))
    shown += _column_lines(attribution)
    if abs(attribution.together) > _MISSED:
        shown.append(Line("together", "what the words do together", attribution.together))
    base = "zero vectors" if attribution.starts_at_zero else "without words"
    base = "no words, average columns" if attribution.columns else base
    shown.append(Line("base", f"base, {base}", attribution.start))
    return [*shown, Line("sum", attribution.of.removeprefix("the "), attribution.whole)]


def _column_lines(attribution: Attribution) -> list[Line]:
    """Return the lines of the columns beside the text, the largest first; they add up to all that these add."""
    ordered = sorted(attribution.columns, key=lambda column: -abs(column.value))
    told = [column for column in ordered[:COLUMNS_SHOWN] if abs(column.value) >= _NOTHING]
    found = [Line("column", f"{column.name} = {column.shown}", column.value) for column in told]
    if rest := ordered[len(told) :]:
        many = f"{len(rest)} other column{'s' * (len(rest) > 1)}"
        found.append(Line("others", many, sum(column.value for column in rest)))
    return found


COUNTED_KINDS = ("word", "phrase", "column")
"""Kinds of lines that a reader looks for first."""


def longest_bar(lines: Sequence[Line], reach: float) -> float:
    """Return the size of a contribution with the longest bar.

    Args:
        lines: of a picture.
        reach: the size of a contribution with the darkest color; no bar is longer for a picture of small numbers.

    Returns:
        ``reach``, or the largest of the lines where one is larger.
    """
    return max([reach, *(abs(line.value) for line in lines if line.kind != "sum")])


def note_on_bars(lines: Sequence[Line], reach: float) -> str:
    """Return a sentence about the length of bars; empty where they are as long as colors are dark."""
    longest = longest_bar(lines, reach)
    return f"The longest bar stands for {longest:.3g}." if longest > reach else ""


def brief(attribution: Attribution, views: Sequence[SentenceView], count: int = 3) -> str:
    """Return the strongest words and phrases in one line."""
    lines = [line for line in lines_of(attribution, views, count) if line.kind in COUNTED_KINDS]
    lines.sort(key=lambda line: -abs(line.value))
    return ", ".join(f"{line.name} {line.value:+.2f}" for line in lines[:count])


def _phrase(attribution: Attribution, views: Sequence[SentenceView], joint: Joint) -> Line:
    view = views[joint.side]
    value = float(attribution.values[joint.side][joint.start : joint.end].sum())
    return Line(
        "phrase", _named(" ".join(view.words[joint.start : joint.end]), view, views), value, None, joint.value
    )


def _named(word: str, view: SentenceView, views: Sequence[SentenceView]) -> str:
    return word if len(views) == 1 else f"{word} ({view.name})"
