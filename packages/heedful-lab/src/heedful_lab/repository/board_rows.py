"""Put rows of single systems, measured anew, into a kept board of accuracy, and order and test it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from heedful.baselines.board import Row, tested_pairs
from heedful.baselines.measure import Measured
from heedful.baselines.splits import Numbers

Board = dict[str, Any]


def with_rows(board: Board, rows: list[dict[str, Any]]) -> Board:
    """Put rows in the place of those of the same systems.

    Args:
        board: as it is kept, with the answers of every row.
        rows: measured anew on the same splits by the same runs.

    Returns:
        The board with all pairs of rows tested. A row keeps its old speed, as it predicts as it did.
    """
    new = {row["system"]: row for row in rows}
    if board["metric"] != "accuracy":
        raise ValueError(f"{board['data']}: answers are kept of accuracy alone; collect the whole board")
    unknown = new.keys() - {row["system"] for row in board["rows"]}
    if unknown:
        raise ValueError(f"{board['data']}: the board has no row of {', '.join(sorted(unknown))}")
    found = sorted(
        (_renewed(row, new.get(row["system"])) for row in board["rows"]), key=lambda row: -row["metric"]
    )
    return {**board, "rows": found, "tests": _tests(found)}


def _renewed(old: dict[str, Any], new: dict[str, Any] | None) -> dict[str, Any]:
    if new is None:
        return old
    if [*old["runs"]] != [*new["runs"]]:
        raise ValueError(f"{old['system']}: was measured by other runs")
    return {**new, "texts_per_cpu_second": old["texts_per_cpu_second"]}


def _tests(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    measured = [
        Row(row["system"], row["own"], {varied: _measured(run) for varied, run in row["runs"].items()})
        for row in rows
    ]
    gold = {varied: np.ones_like(run.predicted) for varied, run in measured[0].runs.items()}
    return [
        {
            "better": better,
            "worse": worse,
            "test": test.test,
            "difference": test.difference,
            "p": test.p,
            "p_holm": p,
        }
        for (better, worse), (test, p) in tested_pairs(measured, "accuracy", gold).items()
    ]


def _measured(run: dict[str, Any]) -> Measured:
    return Measured(run["metric"], _answers(run), None, None, None, None, None, run["chosen"])


def _answers(run: dict[str, Any]) -> Numbers:
    """Return 1 for each right answer and 0 for each other, without the bits that fill the last byte."""
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(run["right"]), np.uint8)).astype(np.int64)
    return bits[: round(bits.sum() / run["metric"])]
