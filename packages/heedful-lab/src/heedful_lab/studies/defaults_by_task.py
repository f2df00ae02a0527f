"""Measure the defaults of every task beside the simple models that a reader would name, on the same rows.

    python -m heedful_lab.studies.defaults_by_task --data DIR --out FILE [--cells "SNLI, 1,000 pairs" ...] [--seed 0]

A cell is a data set, a number of training rows that the seed draws, and a metric. The default recipe of its task learns
the rows as `heedful train FILE --set data.test=TEST` does, and so do its rivals; where all rows train and the set has
a dev part, that part chooses. The test part is read once a cell. The file has the metric of every system, an interval
of ours over the test examples, and the processor seconds of our training. What it has already is not measured again.
``--judge ROWS`` lets so many other training rows stand for the test part, so that one may choose by them, and
``--alone`` trains no other system.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heedful.baselines.measure import with_typos
from heedful.baselines.rivals import rivals
from heedful.baselines.splits import read_splits
from heedful.baselines.tag_rival import CRF, TagRival, tag_splits
from heedful.data import catalog
from heedful.data.examples import Corpus, Example
from heedful.data.sets.text_sets import FIVE_CLASSES
from heedful.evaluation import classification_metrics, relatedness_metrics
from heedful.model.decisions import kind_of
from heedful.run import RunConfig, prepare_examples, train
from heedful.run.protocol import few_rows
from heedful.run.recipe_files import load_config
from heedful.run.sources import from_examples
from heedful.tasks import Source
from heedful_lab.cells import measured


@dataclass(frozen=True)
class Cell:
    """What is measured.

    Attributes:
        set: the data set.
        recipe: the recipe for own data of its task.
        metric: of the reports of that task.
        rows: training rows that are drawn; 0 for all.
        train: the part that trains.
        change: what is done to each example of the test part; None for nothing.
        numbers: whether names of classes are read as numbers, in their order.
    """

    set: str
    recipe: str
    metric: str
    rows: int = 0
    train: str = "train"
    change: Callable[[str], str] | None = None
    numbers: bool = False


CELLS = {
    "SNLI, 1,000 pairs": Cell("snli", "my-pairs", "accuracy", 1_000, "train-part"),
    "SICK relatedness, 500 pairs": Cell("sick-r", "my-scores", "pearson", 500),
    "STS-B, 2,000 pairs": Cell("stsb", "my-pair-numbers", "spearman", 2_000),
    "STS-B, all pairs": Cell("stsb", "my-pair-numbers", "spearman"),
    "stars of SST": Cell("sst-5", "my-numbers", "pearson", numbers=True),
    "WNUT17": Cell("wnut17", "my-tags", "f1"),
    "SNIPS slots, 2,000 sentences": Cell("snips-slots", "my-tags", "f1", 2_000),
    "SNIPS slots, all sentences": Cell("snips-slots", "my-tags", "f1"),
    "XPOS of EWT, 4,000 sentences": Cell("ewt-xpos", "my-tags", "accuracy", 4_000),
    "TREC's 50 classes, one edit in 10 % of the words": Cell(
        "trec-fine", "my-texts", "accuracy", change=with_typos
    ),
    "Banking77": Cell("banking77", "my-texts", "accuracy"),
    "CLINC150 in scope": Cell("clinc150", "my-texts", "accuracy"),
}


def examples_of(cell: Cell, part: str, data: Path) -> list[Example]:
    """Return the examples of a part that have gold, without the trees and parses that users' files lack."""
    found = [example for example in catalog.load(cell.set, part, data).examples if example.target is not None]
    if cell.recipe == "my-tags":
        return [Example(each.texts, each.target, each.words) for each in found]
    place = {name: float(number) for number, name in enumerate(FIVE_CLASSES)}
    return [Example(_texts(each), place[str(each.target)] if cell.numbers else each.target) for each in found]


def _texts(example: Example) -> tuple[str, ...]:
    """Return the texts; ready-made words are joined by blanks."""
    words = example.words or (None,) * len(example.texts)
    return tuple(
        text if own is None else " ".join(own) for text, own in zip(example.texts, words, strict=True)
    )


def source_of(cell: Cell, config: RunConfig, data: Path, seed: int, judge: int = 0) -> Source:
    """Return the examples of a cell.

    Args:
        cell: the cell.
        config: the settings of its recipe.
        data: folder of data sets.
        seed: draws the rows.
        judge: how many other training rows stand for the test part; 0 for the test part.

    Returns:
        The source, with a test part.
    """
    training = examples_of(cell, cell.train, data)
    order = list(range(len(training)))
    random.Random(12345).shuffle(order)
    judges, rest = order[:judge], sorted(order[judge:])
    drawn = rest if not cell.rows else random.Random(seed).sample(rest, cell.rows)
    dev = None
    if not cell.rows and "dev" in catalog.splits(cell.set):
        dev = examples_of(cell, "dev", data)
    test = [training[row] for row in judges] or examples_of(cell, "test", data)
    if cell.change is not None:
        test = [replace(each, texts=tuple(map(cell.change, each.texts))) for each in test]
    own = [training[row] for row in drawn]
    source = from_examples(own, dev, config.model.task, 0.1, seed, few_rows=few_rows(config))
    read = source.load
    return replace(source, load=lambda: {**read(), "test": Corpus(test)})


def of_rivals(cell: Cell, source: Source, cutter: Any, encoders: Sequence[Path]) -> dict[str, float]:
    """Return the metric of each rival on the test part."""
    if cell.recipe == "my-tags":
        splits, labels = tag_splits(source, cutter)
        return {CRF: TagRival.train(splits, labels, seed=0).report(splits["test"]).metrics[cell.metric]}
    found = {}
    read = read_splits(source)
    assert read.test is not None
    for rival in rivals(read.task, read.train.texts, encoders, len(read.labels)):
        outputs = rival.train(read).outputs(read.test.texts)
        if kind_of(read.task).is_score:
            found[rival.name] = relatedness_metrics(read.test.scores, outputs)[cell.metric]
        else:
            answered = outputs.argmax(axis=1)
            found[rival.name] = classification_metrics(read.test.classes, answered)[cell.metric]
    return found


def measure(
    cell: Cell,
    data: Path,
    seed: int,
    encoders: Sequence[Path] = (),
    *,
    judge: int = 0,
    alone: bool = False,
    settings: Sequence[str] = (),
) -> dict[str, object]:
    """Train the default and its rivals, and measure them.

    Args:
        cell: the cell.
        data: folder of data sets.
        seed: draws the rows and seeds the model.
        encoders: folders of pretrained encoders, which are tried frozen.
        judge: see `source_of`.
        alone: whether the default alone is trained.
        settings: settings of the default that differ, as ``key=value``.

    Returns:
        The number of training rows, the metric of each system, the interval of ours, and its processor seconds.
    """
    config = load_config(cell.recipe, [f"train.seed={seed}", 'data.train="rows.csv"', *settings])
    source = source_of(cell, config, data, seed, judge)
    started = time.process_time()
    result = train(config, prepare_examples(config, source))
    seconds = time.process_time() - started
    assert result.test is not None
    interval = result.test.intervals.get(cell.metric)
    others = {} if alone else of_rivals(cell, source, result.predictor.reading.cutter, encoders)
    ours = result.test.metrics[cell.metric]
    best = max(others, key=others.__getitem__, default="")
    return {
        "rows": len(source.load()["train"].examples), "test rows": result.test.count, "metric": cell.metric,
        "Heedful": ours, "interval": None if interval is None else [interval.low, interval.high],
        "ahead of the best rival": ours - others[best] if best else None, "best rival": best, **others,
        "parts": result.parts, "CPU s": round(seconds, 1),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the figures")
    parser.add_argument("--cells", nargs="+", choices=list(CELLS), default=list(CELLS), metavar="CELL")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--encoder", type=Path, action="append", default=[], help="folder of an encoder, frozen"
    )
    parser.add_argument(
        "--judge", type=int, default=0, help="training rows that judge in place of the test part"
    )
    parser.add_argument("--alone", action="store_true", help="train no other system")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of ours")
    given = parser.parse_args(arguments)
    ways = {"judge": given.judge, "alone": given.alone, "settings": given.set}
    said = "".join(f", {each}" for each in given.set) + f", {given.judge} rows judge" * bool(given.judge)
    named = {
        f"{name}, seed {given.seed}{said}": partial(
            measure, CELLS[name], given.data, given.seed, given.encoder, **ways
        )
        for name in given.cells
    }
    for line in measured(given.out, named):
        print(line, flush=True)


if __name__ == "__main__":
    main()
