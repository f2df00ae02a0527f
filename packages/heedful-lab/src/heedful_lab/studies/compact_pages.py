"""Measure what the small numbers of exported pages cost: the same texts answered by both files for JavaScript.

    python -m heedful_lab.studies.compact_pages MODEL TEXTS.csv [--rows 500]

MODEL is a model folder of classes; TEXTS.csv has the column ``label``, and ``text`` or for pairs ``premise`` and
``hypothesis``. The command writes the file of ``heedful export --javascript`` with and without ``--whole-tables``,
answers in Node, and prints for both the size, the size of a page, the accuracy and the mean negative log-probability of
the labels, the share of equal answers, and how far probabilities moved at most and on the mean. ``--changed 10`` lists
the texts whose probabilities moved most.
"""

from __future__ import annotations

import csv
import math
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.export import described
from heedful.page import model_bytes, render_page
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import load_model
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import in_node

LEAST = 1e-9
"""Smaller probabilities count as this one."""


def told(
    kind: str, answers: Sequence[dict[str, Any]], whole: Sequence[dict[str, Any]], labels: Sequence[str]
) -> str:
    """Return what answers are worth.

    Args:
        kind: of the file.
        answers: of the file.
        whole: of the file with whole tables.
        labels: the right answers.

    Returns:
        One line.
    """
    count = len(labels)
    right = sum(answer["label"] == label for answer, label in zip(answers, labels, strict=True))
    same = sum(answer["label"] == other["label"] for answer, other in zip(answers, whole, strict=True))
    shares = [answer["probabilities"].get(label, 0) for answer, label in zip(answers, labels, strict=True)]
    loss = -sum(math.log(max(share, LEAST)) for share in shares) / count
    moves = [moved(answer, other) for answer, other in zip(answers, whole, strict=True)]
    measured = f"accuracy {100 * right / count:.2f} %, loss {loss:.4f}"
    moving = f"probabilities moved by {max(moves):.3f} at most, {sum(moves) / count:.4f} on the mean"
    return f"{kind}: {measured}, {100 * same / count:.1f} % of the answers equal, {moving}"


def moved(answer: dict[str, Any], whole: dict[str, Any]) -> float:
    """Return how far the probability that moved most is from that of the file with whole tables.

    Args:
        answer: of one file.
        whole: of the other one, to the same text.

    Returns:
        The distance, from 0 to 1.
    """
    own, other = answer["probabilities"], whole["probabilities"]
    return max(abs(own.get(label, 0) - other.get(label, 0)) for label in own.keys() | other.keys())


def main() -> None:
    """Export both, answer, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("texts", type=Path, help="table with the columns text and label")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows to answer at most")
    parser.add_argument("--changed", type=int, default=0, help="texts to list whose probabilities moved most")
    asked = parser.parse_args()
    with asked.texts.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[: asked.rows]
    folder, description = load_model_folder(asked.model), described(load_model(asked.model).network)
    columns = ("text",) if rows and "text" in rows[0] else ("premise", "hypothesis")
    requests = [[row[name] for name in columns] for row in rows]
    answers: list[dict[str, Any]] = []
    whole: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        package, file, page = (Path(made, name) for name in ("package", "model.heedful", "page.html"))
        javascript_package.write(package)
        for kind, compact in (("whole tables", False), ("small numbers", True)):
            file.write_bytes(model_bytes(folder, description, compact=compact))
            page.write_text(render_page(folder, description, compact=compact), encoding="utf-8")
            answers = in_node(package, file, requests)
            whole = whole or answers
            line = told(kind, answers, whole, [row["label"] for row in rows])
            sizes = [f"{path.stat().st_size / 1e6:.2f} MB" for path in (file, page)]
            print(f"{line}; file {sizes[0]}, page {sizes[1]}", flush=True)
    far = sorted(range(len(rows)), key=lambda place: -moved(answers[place], whole[place]))
    for place in far[: asked.changed]:
        change = f"{whole[place]['label']} -> {answers[place]['label']}"
        print(f"{moved(answers[place], whole[place]):.3f} {change}: {' | '.join(requests[place])}")


if __name__ == "__main__":
    main()
