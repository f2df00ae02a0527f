"""A whole model at a glance, whatever it answers: classes, several labels, numbers or tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from heedful.data.examples import Example
from heedful.errors import DataError, UsageError
from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
from heedful.run.glance.gathering import SECONDS, Glance, GlanceRequest, glance_at
from heedful.run.glance.glance_page import render_glance, render_report
from heedful.run.glance.glance_text import glance_lines, report_lines
from heedful.run.glance.of_labels import labels_at
from heedful.run.glance.of_numbers import numbers_at
from heedful.run.glance.of_tags import tags_at
from heedful.run.glance.sections import Overview

Own = TypeVar("Own")


def whole_report(
    request: GlanceRequest,
    examples: Sequence[Example],
    source: str,
    read: Sequence[str],
    *,
    seconds: float = SECONDS,
    print_line: Callable[[str], None] = lambda _: None,
) -> Glance | Overview:
    """Let a model answer rows with gold and say what is noticed.

    Args:
        request: the model.
        examples: the rows; those without gold are left out.
        source: what they are called.
        read: columns of the texts and the gold.
        seconds: after which no further text is explained.
        print_line: told what happens.

    Returns:
        What was noticed.

    Raises:
        UsageError: if the model answers something else.
        DataError: if no row has gold.
    """
    if request.labels:
        return glance_at(request, examples, source, read, seconds=seconds, print_line=print_line)
    kept = [example for example in examples if example.target is not None]
    if not kept:
        raise DataError(f"{source}: no row has a label")
    answers = request.answer(kept)
    print_line(f"{len(kept):,} rows are answered; explaining some of them takes up to {seconds:.0f} seconds")
    if (labels := _all(answers, LabelsAnswer)) is not None:
        return labels_at(request, kept, labels, source, read, seconds)
    if (tags := _all(answers, TagsAnswer)) is not None:
        return tags_at(request, kept, tags, source, read, seconds)
    if (numbers := _all(answers, Answer)) is not None:
        return numbers_at(request, kept, numbers, source, read, seconds)
    raise UsageError(
        f"{request.name}: a report of a whole model is for classes, labels, numbers, scores and tags"
    )


def render_whole(found: Glance | Overview) -> str:
    """Render a report as one self-contained page."""
    return render_glance(found) if isinstance(found, Glance) else render_report(found)


def whole_lines(found: Glance | Overview) -> list[str]:
    """Return the most important lines of a report for a terminal."""
    return glance_lines(found) if isinstance(found, Glance) else report_lines(found)


def _all(answers: Sequence[object], kind: type[Own]) -> list[Own] | None:
    own = [answer for answer in answers if isinstance(answer, kind)]
    return own if len(own) == len(answers) else None
