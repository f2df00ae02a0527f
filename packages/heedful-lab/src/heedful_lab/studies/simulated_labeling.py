"""Measure how many labels the orders of `heedful label` need, with a labeler that gives the labels of a data set.

    python -m heedful_lab.studies.simulated_labeling --data DIR --out FILE --sets trec,subj --runs 10

The labeler labels the training texts in one of three orders: "mixed" as the page does (random, typical and uncertain
ones), "random", and "at once": typical texts, all chosen before there is a model. At each number of labels a
model is trained as on the page, and its accuracy on the test texts is one line of the output. Lines that are there are
not measured again, so that the same command goes on where it was interrupted. ``--first 5 --runs 10`` measures runs
5 to 9 alone, for another processor; files of lines can be joined by ``cat``. ``--table`` prints, for each set and
order, the mean accuracy at each number of labels, and how many labels reach 95 % of the accuracy with all labels
(``all``, measured once for each set). ``--pool`` and ``--test`` draw so many texts of each part, so that a machine has
less to do; what the sentence encoder gives of a text is kept from one training to the next. Nothing is chosen by these
figures.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from heedful.data.examples import Corpus, Example
from heedful.labeling.next_text import NextText
from heedful.labeling.pool import Pool
from heedful.labeling.training_process import Lesson, taught
from heedful.runtime.loading import keep_rows
from heedful.runtime.row_cache import KeptRows
from heedful_lab.studies.few_labels import Rows, load

SIZES = (20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640)
ORDERS = ("mixed", "random", "at once")
SHARE = 0.95
_SAMPLED = 1_500
Cell = tuple[str, int, str, int]
"""Set, run, order, number of labels; 0 for all labels."""


def accuracy(
    texts: Sequence[str], labels: Sequence[str], pool: Sequence[str], test: Rows
) -> tuple[float, list[int]]:
    """Train as the page does.

    Returns the accuracy on the test texts, and the places of the texts of the pool that the model is uncertain of.
    """
    from heedful.opening import open_model

    with tempfile.TemporaryDirectory() as folder:
        lesson = Lesson(
            "classes",
            [(t,) for t in texts],
            labels,
            [(t,) for t in pool],
            Path(folder) / "model",
            doubting=False,
        )
        found = taught(lesson)
        answers = list(open_model(lesson.folder, truncate="head").predict(test[0]))
    right = [answer.label == gold for answer, gold in zip(answers, test[1], strict=True)]
    return float(np.mean(right)), list(found.uncertain)


def drawn(rows: Rows, most: int) -> Rows:
    """Return so many rows, drawn by ``random.Random(0)``, or all of fewer."""
    kept = sorted(random.Random(0).sample(range(len(rows[0])), min(most, len(rows[0]))))
    return [rows[0][k] for k in kept], [rows[1][k] for k in kept]


def one_run(
    rows: Rows, test: Rows, run: int, order: str, sizes: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """Label in an order.

    Yields the number of labels and the accuracy with them.
    """
    gold = dict(zip(rows[0], rows[1], strict=True))
    pool = Pool(Corpus([Example((text,), row=k) for k, text in enumerate(gold, 1)]))
    pool.order = np.random.default_rng(run).permutation(len(pool)).tolist()
    chooser = NextText(pool)
    chooser.typical.wait(600)
    labeled: dict[str, int] = {}
    turn = 0
    for size in sizes:
        while len(labeled) < size:
            turns = 1 if order == "at once" and labeled else turn
            found = chooser.choose(turns, lambda key: key not in labeled, mixed=order != "random")
            turn += 1
            if found is None:
                return
            labeled[pool.keys[found[0]]] = found[0]
            chooser.saw(pool.keys[found[0]])
        texts = [pool.texts[place][0] for place in labeled.values()]
        labels = [gold[text] for text in texts]
        if len(set(labels)) < 2:
            continue
        free = [k for k in pool.order if pool.keys[k] not in labeled][:_SAMPLED] if order == "mixed" else []
        reached, uncertain = accuracy(texts, labels, [pool.texts[k][0] for k in free], test)
        chooser.uncertain = [pool.keys[free[k]] for k in uncertain]
        yield size, reached


def measured(out: Path) -> dict[Cell, float]:
    """Return the cells that a file holds."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    found = map(json.loads, lines)
    return {(e["set"], e["run"], e["order"], e["labels"]): e["accuracy"] for e in found}


def table(cells: dict[Cell, float]) -> str:
    """Write the means as a table in Markdown."""
    means: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, _, order, labels), value in cells.items():
        means[name, order][labels].append(value)
    sizes = sorted({labels for *_, labels in cells} - {0})
    lines = [f"| data | order | runs | {' | '.join(map(str, sizes))} | all | labels for 95 % |"]
    lines.append("| --- | --- " + "| ---: " * (len(sizes) + 3) + "|")
    for (name, order), by_size in sorted(means.items()):
        if order == "all":
            continue
        whole = np.mean(means[name, "all"][0]) if means[name, "all"][0] else np.nan
        at = {size: float(np.mean(by_size[size])) for size in sizes if by_size[size]}
        enough = next((str(size) for size in at if at[size] >= SHARE * whole), "more")
        shown = " | ".join(f"{100 * at[size]:.1f}" if size in at else "" for size in sizes)
        runs = max(map(len, by_size.values()))
        lines.append(f"| {name} | {order} | {runs} | {shown} | {100 * whole:.1f} | {enough} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the cells")
    parser.add_argument("--sets", default="trec,subj,cr,sst-2,banking77", help="names with commas between")
    parser.add_argument("--runs", type=int, default=10, help="runs of each set and order")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first run; the runs before it are left out"
    )
    parser.add_argument("--labels", default=",".join(map(str, SIZES)), help="numbers of labels")
    parser.add_argument("--pool", type=int, default=1_000_000, help="texts to label at most")
    parser.add_argument("--test", type=int, default=1_000_000, help="texts to test with at most")
    parser.add_argument("--table", action="store_true", help="print the table of what is there")
    asked = parser.parse_args()
    if asked.table:
        print(table(measured(asked.out)))
        return
    sizes = [int(each) for each in asked.labels.split(",")]
    keep_rows(KeptRows(40_000))
    for run in range(asked.first, asked.runs):
        for name in asked.sets.split(","):
            rows, test = (
                drawn(*each) for each in zip(load(name, asked.data), (asked.pool, asked.test), strict=True)
            )
            for order in ("all", *ORDERS):
                wanted = [0] if order == "all" else sizes
                done = measured(asked.out)
                if (order == "all" and run) or all((name, run, order, size) in done for size in wanted):
                    continue
                found = (
                    [(0, accuracy(rows[0], rows[1], [], test)[0])]
                    if order == "all"
                    else one_run(rows, test, run, order, sizes)
                )
                for labels, reached in found:
                    if (name, run, order, labels) not in done:
                        line = {
                            "set": name,
                            "run": run,
                            "order": order,
                            "labels": labels,
                            "accuracy": reached,
                        }
                        with asked.out.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
