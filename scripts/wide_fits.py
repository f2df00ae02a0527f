"""Compare ways to fit the wide part of `my-texts`, and averaged weights, on training and dev examples; one JSON line.

    python scripts/wide_fits.py subj --fold 0 --average 0.99

docs/own-data.md has what it printed. The training and dev examples of a data set are shuffled and cut into ten parts:
one is judged, the next is dev, and the others train. No test split is read. The data sets are in the folder that
HEEDFUL_DATA names.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from own_data_figures import splits_of

from heedful.data.examples import Example
from heedful.run import from_examples, prepare_examples, train
from heedful.run.recipe_files import load_config, override
from heedful.tasks.sentences import fitting_wide
from heedful.text.wide_part import WIDE, PhraseRule

WAYS = {
    "plain": ((), ()),
    "scaled too": (fitting_wide.RATIO_STRENGTHS, ()),
    "interpolated too": (fitting_wide.RATIO_STRENGTHS, fitting_wide.SHARES),
}
"""How the wide part was fitted at first, later, and how it is fitted now: strengths of scaled features, and shares."""


def main() -> None:
    """Train once, fit the wide part in three ways, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", choices=("cr", "trec", "mpqa", "subj", "sst-2", "sst-5"))
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--examples", type=int, default=0, help="Training examples; 0 for all.")
    parser.add_argument("--average", type=float, default=0.0, help="train.weight_average")
    asked = parser.parse_args()
    training, dev, _ = splits_of(asked.set, 0, 1)
    examples = [*training, *dev]
    random.Random(0).shuffle(examples)
    tenth = (np.arange(len(examples)) - asked.fold) % 10
    parts = [[examples[row] for row in np.flatnonzero(own)] for own in (tenth > 1, tenth == 1, tenth == 0)]
    if asked.examples:
        parts[0] = random.Random(asked.fold).sample(parts[0], asked.examples)
    settings = {"train.seed": asked.fold + 1, "train.weight_average": asked.average, "model.wide": "none"}
    config = override(load_config("my-texts"), settings)
    started = time.process_time()
    source = from_examples(parts[0], parts[1], "text", 0.1, asked.fold + 1)
    model: Any = train(config, prepare_examples(config, source)).predictor
    seconds = time.process_time() - started
    gold = [np.array([model.labels.index(e.target) for e in own]) for own in parts]
    rule = PhraseRule(*WIDE)

    def features(own: list[Example]) -> list[NDArray[np.int32]]:
        cutter = model.text.cutter
        return [rule.numbers(cutter.words(example.texts[0])) for example in own]

    def right(logits: NDArray[np.floating[Any]]) -> float:
        return round(100 * float((logits.argmax(axis=1) == gold[2]).mean()), 2)

    read = [features(own) for own in parts]
    on_dev, judged = (model.logits([e.texts[0] for e in own]) for own in parts[1:])
    found: dict[str, Any] = {}
    for way, (strengths, shares) in WAYS.items():
        fitting_wide.RATIO_STRENGTHS, fitting_wide.SHARES = strengths, shares
        wide = fitting_wide.fit_wide(rule, read[0], gold[0], len(model.labels), read[1], gold[1])
        weight = fitting_wide.fit_weight(on_dev, wide.logits(read[1]), gold[1])
        beside = replace(wide, weight=weight).logits(read[2])
        found[way] = {
            "wide alone": right(wide.logits(read[2])),
            "both": right(judged + beside),
            "weight": round(weight, 2),
        }
    line = {
        "set": asked.set,
        "examples": len(parts[0]),
        "fold": asked.fold,
        "average": asked.average,
        "network": right(judged),
    }
    print(json.dumps({**line, **found, "cpu_seconds": round(seconds)}))


if __name__ == "__main__":
    main()
