"""A whole model at a glance as lines for a terminal, in sections or as a classifier of texts."""

from __future__ import annotations

from collections.abc import Iterator

from heedful.run.glance.gathering import Glance
from heedful.run.glance.sections import Overview, Table, Texts, Words
from heedful.run.glance.shared_tables import MOST_IN_ORDER
from heedful.tables import counted, percent
from heedful.text.characters import cells, pad, shorten, visible

_CLASSES, _WORDS, _ROWS, _TEXT = MOST_IN_ORDER, 6, 5, 70
"""Classes that are printed, words of a class, rows of a table and of texts; cells of a text."""


def glance_lines(glance: Glance) -> list[str]:
    """Return the most important lines; the page has the rest.

    Args:
        glance: what was noticed.

    Returns:
        Accuracy, words, confusions, mistakes, weak slices, calibration and suspect labels.
    """
    low, high = 100 * glance.interval.low, 100 * glance.interval.high
    rows = f"{len(glance.examples):,} rows"
    lines = [f"{counted(glance.accuracy)} of {rows} are right (95 % interval {low:.1f} to {high:.1f} %)"]
    lines += [
        "",
        f"What is important (mean contributions in {glance.explained:,} explained texts, by strength and frequency):",
    ]
    for each in glance.classes[:_CLASSES]:
        words = ", ".join(f"{visible(word.name)} {word.mean:+.2f}" for word in each.words[:_WORDS])
        lines.append(f"  {visible(each.name)} ({each.count:,} rows): {words or 'no word'}")
    more = len(glance.classes) - _CLASSES
    lines += [f"  and {more:,} more classes, which --html FILE shows"] if more > 0 else []
    if glance.confusions:
        lines += ["", "What is confused:"]
    for pair in glance.confusions[:_ROWS]:
        lines.append(f"  {visible(pair.label)} taken for {visible(pair.answer)}: {pair.count:,}")
    if glance.mistakes:
        lines += ["", "The surest mistakes:"]
    for place, _ in glance.mistakes[:_ROWS]:
        example, answer = glance.examples[place], glance.answers[place]
        sure = percent(answer.confidence)
        text = shorten(visible(" => ".join(example.texts)), _TEXT)
        lines.append(
            f"  row {example.row}: {visible(str(example.target))}, answered {answer.label} {sure}: {text}"
        )
    weak = [each for each in glance.slices if each.weak]
    lines += ["", f"Weak slices: {len(weak)} of {len(glance.slices)}"]
    lines += [f"  {visible(each.name)}: {counted(each.accuracy)} of {each.count:,}" for each in weak[:_ROWS]]
    lines += ["", f"Probabilities miss by {100 * glance.calibration.ece:.1f} points on average (ECE)"]
    return [*lines, f"Suspect labels: {glance.suspected:,}"]


def report_lines(report: Overview) -> list[str]:
    """Return the most important lines; the page has the rest.

    Args:
        report: what is said.

    Returns:
        The headline, and the beginning of every section.
    """
    lines = [f"{visible(report.headline)}, {visible(report.beside)}"]
    for section in report.sections:
        lines += ["", f"{section.title}:"]
        for block in section.blocks[:_ROWS]:
            lines += _lines(block, report)
    return lines


def _lines(block: Table | Words | Texts, report: Overview) -> Iterator[str]:
    if isinstance(block, Words):
        for name, words in list(block.found.items())[:_CLASSES]:
            said = ", ".join(f"{visible(word.name)} {word.signed:+.2f}" for word in words[:_WORDS])
            yield f"  {visible(name)}: {said or 'no word'}"
    elif isinstance(block, Table):
        rows = [tuple(map(visible, row)) for row in (block.header, *block.rows[:_CLASSES])]
        widths = [max(cells(row[k]) for row in rows) for k in range(len(block.header))]
        for row in rows:
            yield "  " + "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
    else:
        if block.title:
            yield f"  {visible(block.title)}"
        for shown in block.shown[: 0 if block.title else _ROWS]:
            text = shorten(visible(" => ".join(report.examples[shown.place].texts)), _TEXT)
            yield f"  {visible(shown.facts)}: {text}"
