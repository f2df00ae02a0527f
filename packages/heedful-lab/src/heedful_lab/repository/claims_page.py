"""The verdicts on the papers' claims in words: a section of the first page, a page of its own, and one picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from heedful.evaluation.significance import describe_p
from heedful.tables import markdown_table
from heedful_lab.repository.claims import Verdict, half_of
from heedful_lab.repository.verdicts import (
    AS_PUBLISHED,
    LARGER,
    OTHERWISE,
    REVERSED,
    SMALLER,
    UNSURE,
    WORDS,
    why_unsure,
)

COLORS = {
    AS_PUBLISHED: "#1a7f37", LARGER: "#1a7f37", SMALLER: "#9a6700", UNSURE: "#6e7781", REVERSED: "#b42318",
    OTHERWISE: "#8250df",
}  # fmt: skip
FIGURE, PAGE = "claims.svg", "claims.md"
EDGE, TICKS = 10, (-10, -5, 0, 5, 10)
"""Where the axis of the figure ends, in points, and what is written below it."""
MEANING = """\
| verdict | what it says |
| --- | --- |
| as published | there is a difference, and the published one lies within our interval |
| larger, smaller | the published difference lies below, above our interval |
| cannot tell | our interval has room for the published difference and for none at all |
| reversed | there is a difference, against the claim |
| for another reason | there is one with the claim, and an experiment showed that its reason is not the paper's |"""
HOW = """\
The difference is that of our runs, in points of accuracy (of F1 for roles, of BLEU for translation), with its 95 %
interval: the paired bootstrap over test examples, to whose variance the spread of the seeds is added. p is adjusted
for all claims (Holm), and below .05 there is a difference. Sizes are counted; times and the memory of a training
step's tensors are those of `heedful bench models` on one core (results/benchmarks/models-amd.md), and their
difference is how many times better. "Steps" are those of the first and of the second system; "own recipes" means that
each system was trained with the recipe of its own paper, "same effort" is described on [how the results were
made](how-made.md), and the other runs have one recipe, DiSAN's: rows that differ in one part take equal steps there.
A dagger marks runs whose dev figure no longer rose in their last fifth. Core hours are those of all runs of both
systems; SNLI with the same effort was trained on a GPU, and has the hours of the core beside it."""


def section(verdicts: Sequence[Verdict]) -> str:
    """Write the section of the first page: how many claims have which verdict, and the picture.

    Args:
        verdicts: on all claims.

    Returns:
        Markdown.
    """
    papers = dict.fromkeys(_paper(one) for one in verdicts)
    rows = [
        [paper, *(_count([one for one in verdicts if _paper(one) == paper], word) for word in WORDS)]
        for paper in papers
    ]
    rows.append(["all", *(_count(verdicts, word) for word in WORDS)])
    single = sum(min(len(runs.found) for runs in one.runs) == 1 for one in verdicts if one.runs)
    tested = sum(one.test is not None for one in verdicts)
    blocks = [
        "## Which claims of the five papers hold here",
        f"Of {len(verdicts)} claims {tested} were tested. [Each claim with its figures](results/{PAGE}) says what was "
        f"compared, with how many steps, and what is known of the reason. In {single} tests one of the systems was "
        "trained only once.",
        "\n".join(markdown_table(["paper", *WORDS], rows)),
        f"![Differences with their intervals, and the published differences](results/{FIGURE})",
    ]
    return "\n\n".join(blocks) + "\n"


def page(verdicts: Sequence[Verdict]) -> str:
    """Write the page of all claims.

    Args:
        verdicts: on all claims.

    Returns:
        Markdown.
    """
    head = ("paper", "claim", "published", "difference here", "runs", "steps", "core hours", "verdict")
    reasons = [
        f"- **{one.claim.claim}** ({one.word}). {reason}" for one in verdicts if (reason := _reason(one))
    ]
    blocks = [
        "# The claims of the five papers",
        MEANING,
        HOW,
        "\n".join(markdown_table(head, map(_cells, verdicts))),
        "## What was found out about the verdicts",
        "\n".join(reasons),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _reason(one: Verdict) -> str:
    """Return what was found out about a verdict; of one that cannot tell, what its interval is made of."""
    parts = [one.claim.reason]
    if one.word == UNSURE and one.test is not None:
        points = [100 * value for value in (one.examples, half_of(one.test), one.test.difference)]
        parts.append(why_unsure(points[0], points[1], one.test.n, points[2], one.claim.gap))
    if one.lacking:
        parts.append(
            f"The runs that are missing take about {one.lacking:.1f} hours of one core: `{one.command}`."
        )
    return " ".join(part for part in parts if part)


def _paper(one: Verdict) -> str:
    return one.claim.paper.partition(",")[0]


def _count(verdicts: Sequence[Verdict], word: str) -> str:
    return str(sum(one.word == word for one in verdicts) or "")


def _cells(one: Verdict) -> tuple[str, ...]:
    claim = one.claim
    measured = runs = hours = ""
    if one.test is not None and one.test.interval is not None:
        low, high = one.test.interval.low, one.test.interval.high
        values = [value if one.claim.is_cost else 100 * value for value in (one.test.difference, low, high)]
        shown = [f"{math.exp(value):.2f}" if claim.is_cost else f"{value:+.1f}" for value in values]
        unit = " times" if claim.is_cost else ""
        measured = f"{shown[0]}{unit} [{shown[1]}, {shown[2]}], {_p(one.p)}"
    if one.runs:
        runs = ", ".join(str(len(each.found)) for each in one.runs)
        hours = f"{one.core_hours:.1f}" + (" †" if one.converged else "")
    where = f"[{claim.paper}]({claim.table}.md)" if one.runs else claim.paper
    return where, claim.claim, claim.published, measured, runs, one.effort, hours, f"**{one.word}**"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else describe_p(p)


def picture(verdicts: Sequence[Verdict]) -> str:
    """Draw the differences with their intervals, a line a claim of points that was tested.

    Args:
        verdicts: on all claims.

    Returns:
        SVG; the color of a line is that of its verdict; a circle is the published difference; a difference of more than
        `EDGE` points is a number at the edge.
    """
    drawn = [(one, one.test) for one in verdicts if one.test is not None and not one.claim.is_cost]
    row, left, wide = 22, 480, 500
    scale, height = wide / 2 / EDGE, row * len(drawn) + 60

    def x(points: float) -> float:
        return round(left + wide / 2 + max(-EDGE, min(EDGE, points)) * scale, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide + 60} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(
            f'<line x1="{x(tick)}" x2="{x(tick)}" y1="10" y2="{height - 34}" '
            f'stroke="{"#d0d7de" if tick else "#57606a"}"/>'
            for tick in TICKS
        ),
    ]
    for number, (one, test) in enumerate(drawn):
        y, color, points = 24 + row * number, COLORS[one.word], 100 * test.difference
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(one.claim.claim)}</text>')
        if test.interval is not None:
            low, high = x(100 * test.interval.low), x(100 * test.interval.high)
            parts.append(
                f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{color}" stroke-width="3"/>'
            )
        if one.claim.gap is not None:
            parts.append(f'<circle cx="{x(one.claim.gap)}" cy="{y}" r="6.5" fill="none" stroke="#1f2328"/>')
        if abs(points) <= EDGE:
            parts.append(f'<circle cx="{x(points)}" cy="{y}" r="4" fill="{color}"/>')
        else:
            parts.append(f'<text x="{x(points)}" y="{y + 4}" fill="{color}">{points:+.1f}</text>')
    parts += [*_legend(height - 16, x), "</svg>"]
    return "\n".join(parts) + "\n"


def _legend(below: int, x: Callable[[float], float]) -> list[str]:
    """Write the axis, and the words in their colors."""
    words = (AS_PUBLISHED, SMALLER, UNSURE, REVERSED, OTHERWISE)
    places = (10, 100, 155, 235, 300)
    return [
        *(
            f'<text x="{x(tick)}" y="{below}" text-anchor="middle">{f"{tick:+d}" if tick else "0 points"}</text>'
            for tick in TICKS
        ),
        *(
            f'<text x="{place}" y="{below}" fill="{COLORS[word]}">{word}</text>'
            for place, word in zip(places, words, strict=True)
        ),
        f'<circle cx="426" cy="{below - 4}" r="6.5" fill="none" stroke="#1f2328"/>',
        f'<text x="437" y="{below}">paper</text>',
    ]
