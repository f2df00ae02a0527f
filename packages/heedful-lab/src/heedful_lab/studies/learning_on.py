"""What learning on in installments costs in accuracy and time, beside training on all rows at once.

    python -m heedful_lab.studies.learning_on --data DIR [--sets trec ...] [--rows 600] [--parts 10] --out FILE
        [--networks] [--held-back] [--seeds 0 1 2] [--ways "at once" "all kept"] [--table]

Rows drawn by the seed come in equal parts, one after the other. Each way is one `TextClassifier`: "at once" learns all
rows together; "without the old rows" learns on with `partial_fit` and keeps none; "a tenth kept" keeps a tenth of the
rows of each part, which are learned again with every later one, "a quarter kept" and "all kept" more. For "a new class"
the rows of the most frequent class are left out at first and come last, together; the accuracy is that of the other
classes, before and after, and beside it what a training on all rows at once gives both. Sets of two classes have no
such figure. ``--networks`` trains networks in place of linear parts alone, and ``--held-back`` asks rows for training
that no training has, in place of the test part. What the file has already is not measured again. ``--table``
prints of each way how far its accuracy and its time are from those of training at once, over all sets and seeds that
the file has.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from heedful import TextClassifier
from heedful_lab.cells import kept_cells, measured
from heedful_lab.studies.few_labels import held_back
from heedful_lab.studies.few_labels import load as load_set

SETS = ("trec", "banking77", "cr", "subj", "sst-2")
AT_ONCE, WITHOUT, TENTH, QUARTER, ALL, NEW = (
    "at once",
    "without the old rows",
    "a tenth kept",
    "a quarter kept",
    "all kept",
    "a new class, a tenth kept",
)
WAYS = (AT_ONCE, WITHOUT, TENTH, QUARTER, ALL, NEW)
Rows = tuple[list[str], list[str]]


def drawn(rows: Rows, count: int, generator: np.random.Generator) -> Rows:
    """Return so many rows, drawn."""
    places = generator.permutation(len(rows[0]))[:count].tolist()
    return [rows[0][place] for place in places], [rows[1][place] for place in places]


def accuracy(model: TextClassifier, rows: Rows) -> float:
    """Return the percentage of rows that a model answers rightly."""
    found = np.asarray(model.predict(rows[0])).astype(str)
    return 100 * float(np.mean(found == np.array(rows[1])))


def kept(share: float, networks: bool) -> TextClassifier:
    """Return an estimator that keeps a share of its rows; 0 for none."""
    model = TextClassifier(data__few_rows=0) if networks else TextClassifier()
    return model.set_params(keep_examples="texts", data__keep_share=share) if share else model


def in_parts(training: Rows, test: Rows, parts: int, share: float, networks: bool) -> dict[str, float]:
    """Learn rows in installments."""
    model, started = kept(share, networks), time.process_time()
    for places in np.array_split(np.arange(len(training[0])), parts):
        model.partial_fit(*([column[place] for place in places] for column in training))
    seconds = time.process_time() - started
    return {"accuracy": accuracy(model, test), "processor_seconds": seconds}


def at_once(training: Rows, test: Rows, networks: bool) -> dict[str, float]:
    """Learn all rows together, by the same parts."""
    started = time.process_time()
    model = kept(0.0, networks).partial_fit(*training)
    seconds = time.process_time() - started
    return {"accuracy": accuracy(model, test), "processor_seconds": seconds}


def new_class(training: Rows, test: Rows, share: float, networks: bool) -> dict[str, float]:
    """Learn the most frequent class last, and measure the other ones before and after."""
    last = Counter(training[1]).most_common(1)[0][0]

    def of(rows: Rows, *, new: bool) -> Rows:
        pairs = [pair for pair in zip(*rows, strict=True) if (pair[1] == last) == new]
        return [text for text, _ in pairs], [label for _, label in pairs]

    model = kept(share, networks).partial_fit(*of(training, new=False))
    before = accuracy(model, of(test, new=False))
    model.partial_fit(*of(training, new=True))
    after, own = accuracy(model, of(test, new=False)), accuracy(model, of(test, new=True))
    whole = kept(0.0, networks).partial_fit(*training)
    others, new = (accuracy(whole, of(test, new=wanted)) for wanted in (False, True))
    return {
        "others_before": before,
        "others_after": after,
        "new_class": own,
        "others_at_once": others,
        "new_class_at_once": new,
    }


def table(cells: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield a line for each way of installments: the mean difference from training at once, and its 95 % interval.

    Args:
        cells: what was measured, by names that end with the way.

    Yields:
        Lines of Markdown; accuracy in points, time as a multiple of that of training at once.
    """
    yield "| way | runs | accuracy less that at once | 95 % interval | time |"
    yield "| --- | ---: | ---: | --- | ---: |"
    found = defaultdict[str, list[tuple[float, float, float]]](list)
    for name, cell in cells.items():
        said, _, way = name.rpartition(": ")
        once = cells.get(f"{said}: {AT_ONCE}")
        if once is not None and way != AT_ONCE and "accuracy" in cell:
            own = cell["accuracy"] - once["accuracy"]
            found[way].append((own, cell["processor_seconds"], once["processor_seconds"]))
    for way, rows in found.items():
        differences, own, once_seconds = np.array(rows).T
        error = float(differences.std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else float("nan")
        reach = float(student.ppf(0.975, max(len(rows) - 1, 1))) * error
        mean = float(differences.mean())
        interval = f"{mean - reach:.2f} to {mean + reach:.2f}"
        yield f"| {way} | {len(rows)} | {mean:.2f} | {interval} | {own.sum() / once_seconds.sum():.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet, and write it after each figure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--rows", type=int, default=600, help="training rows")
    parser.add_argument("--parts", type=int, default=10, help="installments")
    parser.add_argument("--tests", type=int, default=500, help="rows of the test part")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--networks", action="store_true", help="train networks")
    parser.add_argument("--held-back", action="store_true", help="ask rows of the training part")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    for seed in () if given.table else given.seeds:
        for name in given.sets:
            _measure(given, name, seed)
    print("\n".join(table(kept_cells(given.out))))


def _measure(given: argparse.Namespace, name: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    training, test = load_set(name, given.data)
    if given.held_back:
        training, test = held_back(training)
    training, test = drawn(training, given.rows, generator), drawn(test, given.tests, generator)
    parts = partial(in_parts, training, test, given.parts)
    ways = {
        AT_ONCE: partial(at_once, training, test, given.networks),
        WITHOUT: partial(parts, 0.0, given.networks),
        TENTH: partial(parts, 0.1, given.networks),
        QUARTER: partial(parts, 0.25, given.networks),
        ALL: partial(parts, 1.0, given.networks),
        NEW: partial(new_class, training, test, 0.1, given.networks),
    }
    if len(set(training[1])) < 3:  # of two classes one alone would be left at first
        del ways[NEW]
    said = f"{name}, {given.rows} rows in {given.parts}, {given.tests} tests, seed {seed}"
    said += (", networks" if given.networks else "") + (", held back" if given.held_back else "")
    wanted = {f"{said}: {way}": measure for way, measure in ways.items() if way in given.ways}
    for line in measured(given.out, wanted):
        print(line, flush=True)


if __name__ == "__main__":
    main()
