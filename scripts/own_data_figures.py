"""Train `my-texts` on a known data set as if it were a user's own file, beside two linear baselines; one JSON line.

    python scripts/own_data_figures.py trec --examples 1000 --seed 1

A set without splits is tested on the tenth that the seed names as its fold.

docs/own-data.md has what it printed. The texts are read as plain strings: ready-made words of a data set are not used.
The data sets are in the folder that HEEDFUL_DATA names. Typos: each word of four letters or more has one with
probability 0.1, a letter left out, put in, replaced or swapped with the next.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from heedful.baselines.linear import NB_SVM, TFIDF_LOGISTIC
from heedful.baselines.splits import Split, Splits
from heedful.data.examples import Example
from heedful.run import from_examples, prepare_examples, train
from heedful.run.recipe_files import load_config, override
from heedful.run.run_config import RunConfig
from heedful.run.sources import find_source

SETS = {"cr": "disan-cr", "trec": "disan-trec", "sst-2": "disan-sst2", "sst-5": "disan-sst5"}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def splits_of(name: str, examples: int, seed: int) -> list[list[Example]]:
    """Return the training, dev and test examples of a data set as plain texts."""
    config = load_config(SETS[name]) if name in SETS else override(RunConfig(), {"data.set": name})
    whole_sentences = (
        {"data.options": {**config.data.options, "phrases": False, "rebalance": False}}
        if "sst" in name
        else {}
    )
    config = override(config, {"train.seed": seed, "data.fold": seed, **whole_sentences})
    parts = find_source(config, Path(os.environ["HEEDFUL_DATA"])).load()
    found = [
        [replace(e, words=(), heads=()) for e in parts[part].examples if e.target is not None]
        for part in ("train", "dev", "test")
    ]
    if examples:
        found[0] = random.Random(seed).sample(found[0], examples)
    return found


def typo(word: str, draw: random.Random) -> str:
    """Return a word with one mistake inside it; a word of fewer than four letters as it is."""
    if len(word) < 4:
        return word
    place, kind = draw.randrange(1, len(word) - 1), draw.randrange(4)
    before, here, after = word[:place], word[place], word[place + 1 :]
    if kind == 0:
        return before + after
    if kind == 3:
        return before + after[0] + here + after[1:]
    return before + draw.choice(LETTERS) + (here if kind == 1 else "") + after


def with_typos(text: str, seed: int) -> str:
    """Return a text in which a tenth of the longer words have a typo."""
    draw = random.Random(seed)
    return " ".join(typo(word, draw) if draw.random() < 0.1 else word for word in text.split())


def main() -> None:
    """Train, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", choices=("cr", "trec", "mpqa", "subj", "sst-2", "sst-5"))
    parser.add_argument("--examples", type=int, default=0, help="Training examples; 0 for all.")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    training, dev, test = splits_of(asked.set, asked.examples, asked.seed)
    config = override(load_config("my-texts"), {"train.seed": asked.seed})
    source = from_examples(training, dev, "text", 0.1, asked.seed)
    started = time.process_time()
    model = train(config, prepare_examples(config, source)).predictor
    record = {"set": asked.set, "examples": len(training), "test": len(test), "seed": asked.seed}
    record["cpu_seconds"] = round(time.process_time() - started)
    texts = [example.texts[0] for example in test]
    wrong = [with_typos(text, number) for number, text in enumerate(texts)]
    gold = {
        id(part): np.array([model.labels.index(e.target) for e in part]) for part in (training, dev, test)
    }

    def accuracy(logits: np.ndarray) -> float:
        return round(float((logits.argmax(axis=1) == gold[id(test)]).mean()), 4)

    about = model.about
    record["wide_weight"] = None if about.wide is None else round(about.wide.weight, 2)
    record |= {"my-texts": accuracy(model.logits(texts)), "my-texts, typos": accuracy(model.logits(wrong))}
    model.about = replace(about, wide=None)
    record["network alone"] = accuracy(model.logits(texts))
    columns = [Split([e.texts for e in part], gold[id(part)]) for part in (training, dev, test)]
    splits = Splits("text", model.labels, *columns, source.protocol)
    for baseline in (TFIDF_LOGISTIC, NB_SVM):
        fitted = baseline.train(splits)
        record[baseline.name] = accuracy(fitted.outputs([(text,) for text in texts]))
        record[f"{baseline.name}, typos"] = accuracy(fitted.outputs([(text,) for text in wrong]))
    print(json.dumps(record))


if __name__ == "__main__":
    main()
