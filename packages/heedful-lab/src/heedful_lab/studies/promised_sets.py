"""How often sets with a promise hold the right class, and how large they are, over random splits of six sets.

    python -m heedful_lab.studies.promised_sets --data DIR --out FILE [--splits 20] [--rows 300] [--tests 1000]

For each split so many training rows and so many test rows are drawn by its number out of all rows of a set, its
training and its test part in one: a promise assumes that both come from one source, and the few rows of a fixed test
part would err alike in every split. The default model learns the training rows, and LAC, APS and RAPS make sets for the
test rows. The promise stands on its out-of-fold scores; ``--held-out 0.3`` stands it on rows that are set aside
instead. What the file has already is not measured again. The table says for each set the mean and the least coverage of
the splits, and the mean size of a set; ``--table`` prints it alone.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from heedful import TextClassifier
from heedful.model.decisions.conformal import METHODS
from heedful_lab.cells import kept_cells, measured
from heedful_lab.studies.few_labels import load as load_set
from heedful_lab.studies.learning_on import drawn

SETS = ("trec", "cr", "mpqa", "subj", "sst-2", "emotion")
"""Four of two classes, one of four and one of six."""


def measure(
    name: str, split: int, data: Path, rows: int, tests: int, coverage: float, held_out: float
) -> dict[str, float]:
    """Train on one split and look at the sets of its test rows.

    Args:
        name: of the data set.
        split: its number, which draws the rows.
        data: folder of data sets.
        rows: training rows.
        tests: test rows.
        coverage: how often a set is to hold the right class.
        held_out: share of the training rows that is set aside; 0 for out-of-fold scores.

    Returns:
        For each method the coverage, between 0 and 1, and the mean size of a set; and the accuracy.
    """
    generator = np.random.default_rng(split)
    every = load_set(name, data)
    whole = [*every[0][0], *every[1][0]], [*every[0][1], *every[1][1]]
    both = drawn(whole, rows + tests, generator)
    training, test = ((both[0][part], both[1][part]) for part in (slice(rows), slice(rows, None)))
    settings = TextClassifier(model__task_options={"held_out": held_out}) if held_out else TextClassifier()
    model = settings.fit(*training, baseline=False)
    found = dict[str, float]()
    for method in METHODS:
        answers = model.promised(test[0], coverage, method=method)
        sets = [answer.prediction_set for answer in answers]
        found[f"{method} coverage"] = float(
            np.mean([gold in own for gold, own in zip(test[1], sets, strict=True)])
        )
        found[f"{method} size"] = float(np.mean(list(map(len, sets))))
    right = [answer.label == gold for answer, gold in zip(answers, test[1], strict=True)]
    return {**found, "accuracy": float(np.mean(right))}


def table(cells: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of a table: means over the splits, coverage and accuracy in percent."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for name, cell in cells.items():
        groups[name.rpartition(", split ")[0]].append(cell)
    wide = " | ".join(f"{method.upper()} coverage (least) | size" for method in METHODS)
    lines = [f"| set | splits | accuracy | {wide} |", "| --- |" + " ---: |" * (2 + 2 * len(METHODS))]
    for name, splits in groups.items():
        row = [f"{100 * np.mean([cell['accuracy'] for cell in splits]):.1f}"]
        for method in METHODS:
            held = [100 * cell[f"{method} coverage"] for cell in splits]
            size = np.mean([cell[f"{method} size"] for cell in splits])
            row += [f"{np.mean(held):.1f} ({min(held):.1f})", f"{size:.2f}"]
        lines.append(f"| {name} | {len(splits)} | {' | '.join(row)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet, all sets of a split before the next, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the cells")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first split; those before it are left out"
    )
    parser.add_argument("--rows", type=int, default=300, help="training rows")
    parser.add_argument("--tests", type=int, default=1000, help="test rows")
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--held-out", type=float, default=0.0, help="share of the training rows to set aside")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    given = parser.parse_args(arguments)
    settings = (given.rows, given.tests, given.coverage, given.held_out)
    said = "{} rows, {} tests of all, coverage {:g}, held out {:g}".format(*settings)
    cells = {
        f"{name}, {said}, split {split}": partial(measure, name, split, given.data, *settings)
        for split in range(given.first, given.splits)
        for name in given.sets
    }
    if not given.table:
        for line in measured(given.out, cells):
            print(line, flush=True)
    print("\n".join(table(kept_cells(given.out))))


if __name__ == "__main__":
    main()
