"""Do the labels of the nearest training examples predict what a model answers, better than those by words alone?

    python -m heedful_lab.studies.neighbors --data DIR [--sets trec banking77 ...] [--rows 600] [--asked 400] --out FILE

For each data set a model is trained on so many rows, drawn by the seed, with the settings of the estimators. For texts
of the test part, which chose nothing, it is counted how often the label of the nearest example, and the majority of the
nearest three (of equals the nearest), is the one that the model answers: by the examples that the model keeps, and by
four controls. A set that the file has already is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from heedful import TextClassifier
from heedful.explain.neighbors import example_vectors
from heedful.runtime import load
from heedful.storage import write_text
from heedful_lab.studies.few_labels import load as load_set

SETS = ("trec", "banking77", "cr", "subj", "sst-2")
Cosines = NDArray[np.floating]


def by_words(analyzer: str, texts: Sequence[str], asked: Sequence[str]) -> Cosines:
    """Return cosines of TF-IDF, [Q, N]: over words, or over runs of 2 to 5 characters."""
    lengths = (2, 5) if analyzer == "char_wb" else (1, 1)
    vectorizer = TfidfVectorizer(sublinear_tf=True, analyzer=analyzer, ngram_range=lengths)
    rows = vectorizer.fit_transform(texts)
    found: Cosines = (vectorizer.transform(asked) @ rows.T).toarray()
    return found


def by_encoder(texts: Sequence[str], asked: Sequence[str]) -> Cosines:
    """Return cosines of the vectors of ``en-sentences``, [Q, N]."""
    encoder = load("en-sentences")
    one, other = (encoder.encode(list(each)) for each in (asked, texts))
    found: Cosines = one @ other.T
    return found


def agreement(cosines: Cosines, labels: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """Return how often the nearest label, and the majority of the nearest three, is the answer."""
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :3]
    nearest = [[labels[place] for place in row] for row in order.tolist()]
    majority = [Counter(row).most_common(1)[0][0] for row in nearest]
    pairs = list(zip(nearest, majority, answers, strict=True))
    return {
        "nearest": float(np.mean([row[0] == answer for row, _, answer in pairs])),
        "of_three": float(np.mean([most == answer for _, most, answer in pairs])),
    }


def measured(name: str, root: Path, rows: int, count: int, seed: int) -> dict[str, object]:
    """Train on a data set, and measure the neighbors of texts of its test part."""
    (every, gold), (test, _) = load_set(name, root)
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(every))[:rows].tolist()
    texts, labels = [every[place] for place in chosen], [gold[place] for place in chosen]
    asked = [test[place] for place in generator.permutation(len(test))[:count].tolist()]
    model = TextClassifier(keep_examples="texts", train__seed=seed).fit(texts, labels, baseline=False)
    answers = [str(each) for each in model.predict(asked)]
    kept = model.predictor.examples
    assert kept is not None
    assert kept.texts is not None
    vectors = example_vectors(model.predictor, [(text,) for text in asked], kept.network)
    started = time.perf_counter()
    for vector in vectors:
        kept.nearest(vector[None], 3)
    seconds = (time.perf_counter() - started) / len(vectors)
    own, of = [each[0] for each in kept.texts], [model.predictor.labels[int(gold)] for gold in kept.gold]
    drawn = generator.random((len(asked), len(own)))
    found = {
        "kept by the model": vectors @ kept.vectors.T,
        "TF-IDF of words": by_words("word", own, asked),
        "TF-IDF of characters": by_words("char_wb", own, asked),
        "en-sentences": by_encoder(own, asked),
        "drawn at random": drawn,
    }
    figures = {how: agreement(each, of, answers) for how, each in found.items()}
    return {
        "rows": len(own),
        "asked": len(asked),
        "search_milliseconds": 1000 * seconds,
        "agreement": figures,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet, and write it after each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--rows", type=int, default=600, help="training rows")
    parser.add_argument("--asked", type=int, default=400, help="texts that are asked about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    found = json.loads(given.out.read_text(encoding="utf-8")) if given.out.is_file() else {}
    for name in given.sets:
        key = f"{name}, {given.rows} rows, {given.asked} asked, seed {given.seed}"
        if key not in found:
            found[key] = measured(name, given.data, given.rows, given.asked, given.seed)
            write_text(given.out, json.dumps(found, indent=1) + "\n")
        print(key, json.dumps(found[key]), flush=True)


if __name__ == "__main__":
    main()
