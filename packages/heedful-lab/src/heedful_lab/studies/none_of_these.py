"""How well "none of these" recognizes the texts out of scope of CLINC150, and what known texts lose by it.

    python -m heedful_lab.studies.none_of_these --data DIR --out FILE [--each 100] [--keep 0.95] [--seed 0] [--save DIR]

The default model learns so many training rows of each of the 150 intents, drawn by the seed, and keeps the class of a
share of known texts. "Without" sees no text out of scope; "with" has the 100 of ``oos_train``. The test part, 4,500
texts in scope and 1,000 out of it, is answered once and chooses nothing. The accuracy in scope counts a rejected text
as wrong, as Larson et al. (2019) do; "accuracy_if_always_answered" is that of the same model without rejecting. What
the file has already is not measured again; ``--table`` prints it.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from heedful import TextClassifier
from heedful.data.examples import Example
from heedful.evaluation.rejection import reject_figures
from heedful_lab.cells import kept_cells, measured
from heedful_lab.studies.few_labels import known

Rows = tuple[list[str], list[str]]
WAYS = ("without", "with")


def of_each(rows: Rows, each: int, seed: int) -> Rows:
    """Return so many rows of each class, drawn, in the order of the file; a class of fewer gives all."""
    left: dict[str, int] = defaultdict(lambda: each)
    taken = list[int]()
    for place in np.random.default_rng(seed).permutation(len(rows[0])).tolist():
        if left[rows[1][place]] > 0:
            left[rows[1][place]] -= 1
            taken.append(place)
    taken.sort()
    return [rows[0][place] for place in taken], [rows[1][place] for place in taken]


def measure(
    way: str, data: Path, each: int, keep: float, seed: int, save: Path | None = None
) -> dict[str, float]:
    """Train one model and answer the test part.

    Args:
        way: "without" texts out of scope, or "with" those of training.
        data: folder of data sets.
        each: training rows of each intent.
        keep: share of known texts that keep their class.
        seed: of the draw and of the model.
        save: folder in which the model is kept, by the name of the way; None for not at all.

    Returns:
        Shares between 0 and 1, and the number of training rows.
    """
    texts, labels = of_each(known("clinc150", "train", data), each, seed)
    others = known("clinc150", "none-train", data)[0] if way == "with" else None
    # a text that is in both parts can teach only one of them
    others = None if others is None else [text for text in others if text not in set(texts)]
    model = TextClassifier(model__task_options={"reject": keep}, train__seed=seed)
    model.fit(texts, labels, baseline=False, none_of_these=others)
    if save is not None:
        model.save_pretrained(save / way)
    asked, gold = known("clinc150", "test", data)
    strange, _ = known("clinc150", "none-test", data)
    return {"rows": len(texts), **figures(model, (asked, gold), strange)}


def figures(model: TextClassifier, test: Rows, strange: Sequence[str]) -> dict[str, float]:
    """Return what the answers of a model that rejects are worth, on texts of its classes and on others."""
    reject = model.predictor.about.reject
    assert reject is not None  # it was asked for
    texts, gold = [*test[0], *strange], [*test[1], *[reject.label] * len(strange)]
    examples = [Example((text,), name) for text, name in zip(texts, gold, strict=True)]
    found = reject_figures(reject.label, model.predictor.labels, model.answer(texts), examples)
    return {
        "in_scope_accuracy": found.accuracy_with_rejecting,
        "accuracy_if_always_answered": found.accuracy,
        "kept": found.kept,
        "out_of_scope_recall": float(found.recall or 0.0),
        "auroc": float(found.auroc or 0.0),
    }


def table(cells: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of a table, in percent."""
    head = "| rows | in scope | if always answered | recall out of scope | AUROC |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: |"]
    names = ("in_scope_accuracy", "accuracy_if_always_answered", "out_of_scope_recall", "auroc")
    for name, cell in cells.items():
        lines.append(f"| {name} | " + " | ".join(f"{100 * cell[each]:.1f}" for each in names) + " |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the cells")
    parser.add_argument("--each", type=int, default=100, help="training rows of each intent, of 100")
    parser.add_argument("--keep", type=float, default=0.95, help="share of known texts that keep their class")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, help="folder in which the models are kept")
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=list(WAYS), help="with texts out of scope or without"
    )
    parser.add_argument("--table", action="store_true", help="only print what is there")
    given = parser.parse_args(arguments)
    if not given.table:
        said = f"{given.each} rows an intent, keep {given.keep:g}, seed {given.seed}"
        ways = {
            f"{way} oos_train, {said}": partial(
                measure, way, given.data, given.each, given.keep, given.seed, given.save
            )
            for way in given.ways
        }
        for line in measured(given.out, ways):
            print(line, flush=True)
    print("\n".join(table(kept_cells(given.out))))


if __name__ == "__main__":
    main()
