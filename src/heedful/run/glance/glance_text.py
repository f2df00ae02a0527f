"""A whole model at a glance as lines for a terminal."""

from __future__ import annotations

from heedful.explain.scene import percent
from heedful.run.glance.gathering import Glance
from heedful.text.characters import shorten, visible

_CLASSES, _WORDS, _ROWS, _TEXT = 20, 6, 5, 70


def glance_lines(glance: Glance) -> list[str]:
    """Return the most important lines; the page has the rest.

    Args:
        glance: what was noticed.

    Returns:
        Accuracy, words, confusions, mistakes, weak slices, calibration and suspect labels.
    """
    low, high = 100 * glance.interval.low, 100 * glance.interval.high
    rows = f"{len(glance.examples):,} rows"
    lines = [f"{percent(glance.accuracy)} of {rows} are right (95 % interval {low:.1f} to {high:.1f} %)"]
    lines += ["", f"What is important (mean contributions in {glance.explained:,} explained texts):"]
    for each in glance.classes[:_CLASSES]:
        words = ", ".join(f"{visible(word.name)} {word.mean:+.2f}" for word in each.words[:_WORDS])
        lines.append(f"  {visible(each.name)} ({each.count:,} rows): {words or 'no word'}")
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
    lines += [f"  {visible(each.name)}: {percent(each.accuracy)} of {each.count:,}" for each in weak[:_ROWS]]
    lines += ["", f"Probabilities miss by {100 * glance.calibration.ece:.1f} points on average (ECE)"]
    return [*lines, f"Suspect labels: {glance.suspected:,}"]
