"""Who is better than whom: every row of a table tested against every other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from heedful.evaluation.multiple import holm
from heedful.reproduce.gather import Result, comparable, compare

LEVEL = 0.05
Pairs = Mapping[tuple[str, str], tuple[float, float]]
"""(row, other row) to row minus other row in points, and its p-value adjusted for all pairs."""


def pairwise(result: Result, experiment: str) -> Pairs:
    """Test all pairs of rows in one experiment, by the paired bootstrap with Holm's adjustment.

    Args:
        result: the figures.
        experiment: its key.

    Returns:
        Both orders of every pair of rows whose answers were kept.
    """
    systems = {row.name: row.system for row in result.table.rows if (experiment, row.system) in result.runs}
    runs = {name: result.runs[experiment, system] for name, system in systems.items()}
    pairs = [pair for pair in combinations(runs, 2) if comparable(*(runs[name] for name in pair))]
    tests = [compare(runs[first], runs[second]) for first, second in pairs]
    adjusted = holm([1.0 if test.p is None else test.p for test in tests])
    both = {}
    for (first, second), test, p in zip(pairs, tests, adjusted, strict=True):
        both[first, second] = (100 * test.difference, p)
        both[second, first] = (-100 * test.difference, p)
    return both


def matrices(result: Result) -> list[str]:
    """Write one matrix for each experiment: row minus column, in bold where the adjusted p is below 0.05.

    Args:
        result: the figures.

    Returns:
        Markdown tables, the experiment in the first head; none for experiments with fewer than two rows to compare.
    """
    return [text for name in result.table.experiments() if (text := _matrix(result, name))]


def _matrix(result: Result, experiment: str) -> str:
    found = pairwise(result, experiment)
    names = list(dict.fromkeys(first for first, _ in found))
    ordered = [row.name for row in result.table.rows if row.name in names]
    if not ordered:
        return ""
    lines = [f"| {experiment} | {' | '.join(ordered)} |", "| --- |" + " --- |" * len(ordered)]
    for first in ordered:
        cells = [_cell(*found[first, second]) if (first, second) in found else "" for second in ordered]
        lines.append(f"| {first} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(points: float, p: float) -> str:
    text = f"{round(points, 1) + 0.0:+.1f}"  # the sum turns -0.0 into 0.0
    return f"**{text}**" if p < LEVEL else text
