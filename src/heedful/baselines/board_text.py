"""A scoreboard as text, Markdown and plain values; defeats of Heedful's networks come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedful.baselines.board import Board, Row
from heedful.baselines.splits import Numbers
from heedful.evaluation.significance import describe_p
from heedful.tables import aligned_table, markdown_table

_SURE = 0.05
COLUMNS = (
    "system",
    "{metric}",
    "95 % interval",
    "ECE",
    "with typos",
    "CPU s",
    "texts/CPU s",
    "MB",
    "chosen on dev",
)
NOTES = (
    "ECE: calibration error at the temperature that was fitted on dev. With typos: one edit in 10 % of the words. "
    "CPU s: processor seconds of training, including the choice on dev. Texts/CPU s: test inputs predicted in one "
    "processor second. Other work may have run on the machine during these measurements.",
)


def render(board: Board) -> str:
    """Write a board as lines for a terminal.

    Args:
        board: what was measured.

    Returns:
        The lines: what beats Heedful's networks, the table, what was skipped, and how it was tested.
    """
    rows = [_header(board), *(_cells(board, row) for row in board.rows)]
    table = aligned_table(rows, right=range(1, len(rows[0]) - 1))
    return "\n".join([*verdicts(board), "", *table, "", *_foot(board)])


def markdown(board: Board) -> str:
    """Write a board as Markdown.

    Args:
        board: what was measured.

    Returns:
        The lines; tables of several boards can stand one below the other.
    """
    lines = markdown_table(_header(board), (_cells(board, row) for row in board.rows))
    return "\n".join(
        [*(f"- {line}" for line in verdicts(board)), "", *lines, "", *(f"- {line}" for line in _foot(board))]
    )


def verdicts(board: Board) -> list[str]:
    """Return in sentences which systems beat Heedful's networks, and which they beat.

    Args:
        board: what was measured.

    Returns:
        One sentence a matter; where no network of Heedful's is on the board, the best two systems.
    """
    own = [row.system for row in board.rows if row.own]
    if not own:
        best, *rest = board.rows
        return [
            f"Best: {best.system}."
            + (f" Next: {rest[0].system} ({_tested(board, best, rest[0])})." if rest else "")
        ]
    found = []
    best = next(row for row in board.rows if row.own)
    for row in board.rows:
        if not row.own and (row.system, best.system) in board.tests:
            found.append(
                f"{row.system} beats {best.system}, the best of Heedful's: {_tested(board, row, best)}."
            )
    for other in board.rows:
        if not other.own and (best.system, other.system) in board.tests:
            found.append(f"{best.system} beats {other.system}: {_tested(board, best, other)}.")
            break
    return found


def as_dict(board: Board) -> dict[str, object]:
    """Return a board as plain values for JSON, without gold labels.

    Args:
        board: what was measured.

    Returns:
        For classes a row says which of its answers are right, one bit a test example, packed and in hexadecimal; for
        scores nothing.
    """
    return {
        "data": board.data,
        "metric": board.metric,
        "protocol": board.protocol,
        "examples": board.examples,
        "tested": board.tested,
        "rows": [_plain(board, row) for row in board.rows],
        "skipped": board.skipped,
        "unweighted": list(board.unweighted),
        "tests": [
            {
                "better": pair[0],
                "worse": pair[1],
                "test": test.test,
                "difference": test.difference,
                "p": test.p,
                "p_holm": p,
            }
            for pair, (test, p) in board.tests.items()
        ],
    }


def _plain(board: Board, row: Row) -> dict[str, object]:
    interval = board.interval(row)
    figures = {
        name: row.mean(name)
        for name in ("metric", "ece", "typos", "train_cpu_seconds", "texts_per_cpu_second", "megabytes")
    }
    runs = {
        varied: {"metric": run.metric, "chosen": run.chosen, "right": _bits(run.predicted)}
        for varied, run in row.runs.items()
    }
    return {
        "system": row.system,
        "own": row.own,
        "kept": row.kept,
        **figures,
        "interval": None if interval is None else [interval.low, interval.high],
        "runs": runs,
    }


def _bits(right: Numbers) -> str:
    return np.packbits(right.astype(bool)).tobytes().hex() if right.dtype.kind == "i" else ""


def _header(board: Board) -> list[str]:
    return [column.format(metric=board.metric) for column in COLUMNS]


def _cells(board: Board, row: Row) -> list[str]:
    interval = board.interval(row)
    return [
        row.system,
        _number(row.mean("metric"), "{:.4f}"),
        "" if interval is None else str(interval),
        _number(row.mean("ece"), "{:.3f}"),
        _number(row.mean("typos"), "{:.4f}"),
        _number(row.mean("train_cpu_seconds"), "{:.1f}"),
        _number(row.mean("texts_per_cpu_second"), "{:,.0f}"),
        _number(row.mean("megabytes"), "{:.1f}"),
        "kept study" if row.kept else "; ".join(dict.fromkeys(run.chosen for run in row.runs.values())),
    ]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _tested(board: Board, better: Row, worse: Row) -> str:
    test, p = board.tests[better.system, worse.system]
    sure = "" if p < _SURE else "no significant difference, "
    return f"{test.second:.4f} against {test.first:.4f}, {sure}{describe_p(p)}"


def _foot(board: Board) -> Sequence[str]:
    runs = ", ".join(board.gold)
    pairs = len(board.tests)
    lines = [
        f"protocol: {board.protocol}; {board.examples:,} training and {board.tested:,} test examples; runs: {runs}"
    ]
    if pairs:
        kinds = ", ".join(dict.fromkeys(test.test for test, _ in board.tests.values()))
        lines.append(f"all {pairs} pairs tested ({kinds}), p adjusted by Holm's method")
    if board.unweighted:
        names = ", ".join(board.unweighted)
        lines.append(f"rows have weights, but each counts once in {names}")
    lines += NOTES
    return [*lines, *(f"skipped: {name}: {why}" for name, why in board.skipped.items())]
