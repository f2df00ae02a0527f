"""The claims of the five papers, tested on the kept runs: a table and a picture of it."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from heedful.errors import UsageError
from heedful.evaluation.significance import Comparison, describe_p
from heedful.evaluation.statistics import holm
from heedful.tables import markdown_table
from heedful_lab.reproduce.cell_runs import Result, Runs, comparable, compare
from heedful_lab.reproduce.resampled import Resampled

LEVEL = 0.05
HOLDS, REVERSE, OPEN, NOT_RUN = "holds", "the reverse", "not shown", "not run"
COLORS = {HOLDS: "#1a7f37", REVERSE: "#b42318", OPEN: "#6e7781"}
FIGURE = "claims.svg"
EDGE, TICKS = 10, (-10, -5, 0, 5, 10)
"""Where the axis of the figure ends, in points, and what is written below it."""
INTRODUCTION = """\
Each claim says that one system is more accurate than another. The difference is that of our runs, in points of
accuracy (of F1 for roles, of BLEU for translation), with its 95 % interval by the paired bootstrap over test examples.
p is adjusted for all claims (Holm), and a verdict other than "not shown" needs p < .05. The interval covers the choice
of test examples, but not that of the few seeds. "Epochs" is their mean number for the first and for the second system;
"own" means that each system was trained with the recipe of its own paper, the others with one recipe. Core hours are
those of all runs of both systems. In the figure a circle is the published difference."""
Find = Callable[[str, str], Result | None]
"""From the name of a table and of a budget to its figures, None if there are none."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: one system is more accurate than another.

    Attributes:
        paper: the paper and its table.
        claim: in a sentence.
        published: the figures of the two systems there.
        table: of `heedful reproduce` that holds both.
        budget: of the kept runs.
        experiment: of the table.
        better: the system that is said to be more accurate.
        worse: the other one.
        reason: what was found out about a verdict that is not the paper's; may be empty.
    """

    paper: str
    claim: str
    published: str
    table: str
    budget: str
    experiment: str
    better: str
    worse: str
    reason: str = ""

    @property
    def gap(self) -> float | None:
        """Return the published difference in points; None where the figures are not legible."""
        try:
            first, second = map(float, self.published.split(","))
        except ValueError:
            return None
        return first - second


@dataclass(frozen=True)
class Verdict:
    """What the kept runs say about a claim.

    Attributes:
        claim: the claim.
        test: the better system minus the worse one; None where one of them was not run.
        p: adjusted for all claims that were tested (Holm).
        runs: of the two systems.
    """

    claim: Claim
    test: Comparison | None = None
    p: float = 1.0
    runs: tuple[Runs, Runs] | tuple[()] = ()

    @property
    def word(self) -> str:
        """Return the verdict in a word or two."""
        if self.test is None:
            return NOT_RUN
        if self.p >= LEVEL:
            return OPEN
        return HOLDS if self.test.difference > 0 else REVERSE

    @property
    def core_hours(self) -> float:
        """Return the hours of one core that the runs of both systems took."""
        figures = [record.figures for runs in self.runs for record in runs.found]
        return sum((one.epoch_cpu_seconds or one.epoch_seconds) * one.epochs for one in figures) / 3600

    @property
    def epochs(self) -> str:
        """Return the mean number of epochs of each system, and whose recipe it was."""
        means = [statistics.fmean(record.figures.epochs for record in runs.found) for runs in self.runs]
        whose = ", own" if self.claim.experiment.endswith("-own") else ""
        return " and ".join(f"{mean:.0f}" for mean in means) + whose


def read_claims(file: Path) -> list[Claim]:
    """Read the claims that people wrote down.

    Args:
        file: TOML with a list "claims".

    Returns:
        The claims, in their order.

    Raises:
        UsageError: if an entry is not one.
    """
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["claims"]
    try:
        return [Claim(**entry) for entry in entries]
    except TypeError as error:
        raise UsageError(f"{file}: {error}") from error


def judge(claims: Sequence[Claim], find: Find, resampled: Resampled) -> list[Verdict]:
    """Test every claim by the paired bootstrap over test examples, with Holm's adjustment for all of them.

    Args:
        claims: to test.
        find: gives the figures of a table.
        resampled: keeps the tests.

    Returns:
        One verdict a claim, in their order.
    """
    found = [_runs(claim, find) for claim in claims]
    tests = [compare(*pair, resampled=resampled) if pair else None for pair in found]
    adjusted = iter(holm([1.0 if test.p is None else test.p for test in tests if test is not None]))
    return [
        Verdict(claim) if test is None else Verdict(claim, test, next(adjusted), pair)
        for claim, pair, test in zip(claims, found, tests, strict=True)
    ]


def _runs(claim: Claim, find: Find) -> tuple[Runs, Runs] | tuple[()]:
    """Return the runs of the two systems; none unless both have some that can be compared."""
    result = find(claim.table, claim.budget)
    pair = (
        tuple(
            result.runs[claim.experiment, system]
            for system in (claim.better, claim.worse)
            if (claim.experiment, system) in result.runs
        )
        if result is not None
        else ()
    )
    return pair if len(pair) == 2 and comparable(*pair) else ()


def section(verdicts: Sequence[Verdict]) -> str:
    """Write the section on the claims: what holds and how sure that is, the picture, the table, what was found out.

    Args:
        verdicts: on all claims.

    Returns:
        Markdown for the first page of the results.
    """
    head = ("paper", "claim", "published", "difference here", "runs", "epochs", "core hours", "verdict")
    rows = "\n".join(markdown_table(head, map(_cells, verdicts)))
    reasons = [
        f"- **{one.claim.claim}** ({one.word}). {one.claim.reason}" for one in verdicts if one.claim.reason
    ]
    blocks = [
        "## Which claims of the five papers hold here",
        " ".join([*_counted(verdicts), *_surety([one for one in verdicts if one.test is not None])]),
        f"![Differences with their intervals, and the published differences](results/{FIGURE})",
        rows,
        INTRODUCTION,
        "What was found out about the verdicts. For those that are not listed no reason was tested.",
        "\n".join(reasons),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _counted(verdicts: Sequence[Verdict]) -> list[str]:
    """Return how many claims hold, of all papers and of each."""
    untested = sum(one.word == NOT_RUN for one in verdicts)
    papers = dict.fromkeys(one.claim.paper.partition(",")[0] for one in verdicts)
    return [
        f"Of {len(verdicts)} claims {_counts(verdicts)} on the data at hand.",
        f"Not tested, because a system was not run: {untested}." if untested else "Every claim was tested.",
        *(
            f"{name}: {_counts([one for one in verdicts if one.claim.paper.partition(',')[0] == name])}."
            for name in papers
        ),
    ]


def _counts(verdicts: Sequence[Verdict]) -> str:
    """Count the verdicts, for example "2 hold, 1 is reversed and 3 are not shown"."""
    words = {
        HOLDS: ("holds", "hold"),
        REVERSE: ("is reversed", "are reversed"),
        OPEN: ("is not shown", "are not shown"),
        NOT_RUN: ("was not run", "were not run"),
    }
    counts = {word: sum(one.word == word for one in verdicts) for word in words}
    parts = [f"{count} {words[word][count != 1]}" for word, count in counts.items() if count]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _surety(tested: Sequence[Verdict]) -> list[str]:
    """Return how sure the verdicts are: the largest p, how many rest on one seed, how many on converged runs."""
    sure = [one.p for one in tested if one.word in (HOLDS, REVERSE)]
    single = sum(min(len(runs.found) for runs in one.runs) == 1 for one in tested)
    converged = sum(one.claim.budget == "converged" for one in tested)
    return [
        f"A claim that holds or is reversed has an adjusted p of at most {max(sure):.3f}." if sure else "",
        f"In {single} of {len(tested)} tests one of the systems was trained only once, so that another seed might "
        "turn a small difference around.",
        f"In {converged} tests both systems were trained until the dev split had not improved for three epochs, or "
        "for 15 epochs (decomposable attention 50). The other runs are shorter, and may show which system learns "
        "faster, rather than which one is better in the end.",
    ]


def _cells(one: Verdict) -> tuple[str, ...]:
    claim = one.claim
    measured = runs = epochs = hours = ""
    if one.test is not None and one.test.interval is not None:
        low, high = one.test.interval.low, one.test.interval.high
        measured = (
            f"{100 * one.test.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}], {describe_p(one.p)}"
        )
        runs = ", ".join(str(len(each.found)) for each in one.runs)
        epochs, hours = one.epochs, f"{one.core_hours:.1f}"
    where = f"[{claim.paper}](results/{claim.table}.md)" if one.test is not None else claim.paper
    return where, claim.claim, claim.published, measured, runs, epochs, hours, f"**{one.word}**"


def picture(verdicts: Sequence[Verdict]) -> str:
    """Draw the differences with their intervals, a line a claim that was tested.

    Args:
        verdicts: on all claims.

    Returns:
        SVG; lines are green where a claim holds, red where the reverse does, gray where nothing is shown; a circle is
        the published difference; a difference of more than `EDGE` points is a number at the edge.
    """
    drawn = [(one, one.test) for one in verdicts if one.test is not None]
    row, left, wide = 24, 480, 500
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
    below = height - 16
    parts += [
        *(
            f'<text x="{x(tick)}" y="{below}" text-anchor="middle">{f"{tick:+d}" if tick else "0 points"}</text>'
            for tick in TICKS
        ),
        *(
            f'<text x="{10 + 90 * place}" y="{below}" fill="{COLORS[word]}">{word}</text>'
            for place, word in enumerate((HOLDS, OPEN, REVERSE))
        ),
        f'<circle cx="296" cy="{below - 4}" r="6.5" fill="none" stroke="#1f2328"/>',
        f'<text x="308" y="{below}">published</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
