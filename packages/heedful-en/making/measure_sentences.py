"""Measure a model of the task `vector` in the runtime: similarity, frozen features for classification, and speed.

    python packages/heedful-en/making/measure_sentences.py DATA MODEL FIGURES [--teacher FOLDER] [--speed]

DATA is the folder of data sets. FIGURES is a JSON file. Spearman's correlation of the cosine with the
scores of STS-B (the training scores are not read); accuracy of logistic regression on the states before the last layer,
with C chosen by three folds of the training rows, on 100 training rows (five draws) and on all. CR, MPQA and SUBJ have
no test part: a fifth of them, drawn with seed 0, is held out. With --teacher, the same rows are also given to that
encoder. With --features, the classifier reads what a linear part of a model of your own reads: the states and the
vector side by side. With --speed, both read sentences of STS-B's training part in turns on one thread, the teacher in
float32 and in bfloat16; every turn has another thousand sentences, and the figure is the median of five turns. Where
FIGURES exists, it is added to.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from heedful.data.catalog import load as load_set
from heedful.runtime import SentenceVectors, load
from heedful.text.text_files import find_file, open_bytes

Features = NDArray[np.float32]
SETS = ("trec", "cr", "mpqa", "subj", "sst-2")
STRENGTHS = (0.25, 1.0, 4.0, 16.0, 64.0)
DRAWS, FEW, TURNS, TOGETHER = 5, 100, 5, 1_000


def similarity_rows(data: Path, part: str) -> tuple[list[str], list[str], list[float]]:
    """Read a part of STS-B: first texts, second texts, scores."""
    with open_bytes(find_file(data / "stsb" / f"stsb-en-{part}.csv")) as stream:
        rows = list(csv.reader(stream.read().decode("utf-8").splitlines()))
    return [row[0] for row in rows], [row[1] for row in rows], [float(row[2]) for row in rows]


def spearman(encode: Callable[[Sequence[str]], Features], data: Path, part: str) -> float:
    """Return Spearman's correlation of the cosine with the scores of STS-B."""
    first, second, scores = similarity_rows(data, part)
    cosines = (encode(first) * encode(second)).sum(axis=1)
    return float(spearmanr(cosines, scores).statistic)


def examples(data: Path, name: str) -> tuple[list[str], list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the texts and labels of a set, and which rows are for training and for the test."""
    if name in ("trec", "sst-2"):
        parts = [load_set(name, part, data).examples for part in ("train", "test")]
        rows = [*parts[0], *parts[1]]
        training, test = np.arange(len(parts[0])), np.arange(len(parts[0]), len(rows))
    else:
        rows = list(load_set(name, "all", data).examples)
        order = np.random.default_rng(0).permutation(len(rows))
        test, training = order[: len(rows) // 5], order[len(rows) // 5 :]
    return [row.texts[0] for row in rows], [str(row.target) for row in rows], training, test


def accuracy(
    features: Features, labels: Sequence[str], training: NDArray[np.int64], test: NDArray[np.int64]
) -> float:
    """Fit logistic regression on training rows and return its accuracy on the test rows, in percent."""
    gold = np.array(labels)
    few = min(np.unique(gold[training], return_counts=True)[1])
    folds = StratifiedKFold(max(2, min(3, int(few))), shuffle=True, random_state=0)
    search = GridSearchCV(LogisticRegression(max_iter=300), {"C": STRENGTHS}, cv=folds)
    search.fit(features[training], gold[training])
    return 100 * float(search.score(features[test], gold[test]))


def classification(
    embed: Callable[[Sequence[str]], Features], data: Path, *, few_alone: bool
) -> dict[str, dict[str, float]]:
    """Return the accuracies of each set with few labels and with all."""
    found: dict[str, dict[str, float]] = {}
    for name in SETS:
        texts, labels, training, test = examples(data, name)
        draws = [np.random.default_rng(draw).choice(training, FEW, replace=False) for draw in range(DRAWS)]
        needed = np.unique(np.concatenate([test, *draws])) if few_alone else np.arange(len(texts))
        read = embed([texts[row] for row in needed])
        features = np.zeros((len(texts), read.shape[1]), np.float32)
        features[needed] = read
        few = [accuracy(features, labels, rows, test) for rows in draws]
        found[name] = {"100": float(np.mean(few)), "deviation of 100": float(np.std(few))}
        if not few_alone:
            found[name]["all"] = accuracy(features, labels, training, test)
        print(name, json.dumps(found[name]), flush=True)
    kinds = ("100",) if few_alone else ("100", "all")
    found["mean"] = {kind: float(np.mean([row[kind] for row in found.values()])) for kind in kinds}
    return found


def speeds(
    encoders: Mapping[str, Callable[[Sequence[str]], Features]], texts: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return sentences a second of each encoder, by the clock and by the processor's time: medians of turns.

    No turn reads a sentence of another, so that an encoder that remembers words has to read new ones too.
    """
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in encoders}
    for turn in range(TURNS + 1):
        read = texts[turn - 1 :: TURNS][:TOGETHER] if turn else texts[-64:]
        for name, encode in encoders.items():
            clock, processor = time.perf_counter(), time.process_time()
            encode(read)
            if turn:
                seconds[name].append((time.perf_counter() - clock, time.process_time() - processor))
    medians = {name: np.median(found, axis=0) for name, found in seconds.items()}
    return {
        name: {"clock": TOGETHER / float(clock), "processor": TOGETHER / float(processor)}
        for name, (clock, processor) in medians.items()
    }


def processor_name() -> str:
    """Return the name of the processor, and whether it has products in bfloat16."""
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {name.strip(): value.strip() for name, value in fields.items()}
    fast = "with" if "avx512_bf16" in named.get("flags", "").split() else "without"
    return f"{named.get('model name', 'unknown')}, {fast} AVX-512 BF16"


def states_of(model: SentenceVectors) -> Callable[[Sequence[str]], Features]:
    """Return a function that gives the states of texts."""
    return lambda texts: model.states([model.reading.cutter.words(text) for text in texts])


def features_of(model: SentenceVectors) -> Callable[[Sequence[str]], Features]:
    """Return a function that gives the states and the vectors of texts side by side."""
    return lambda texts: model.features([model.reading.cutter.words(text) for text in texts])


def main() -> None:
    """Read the command line, measure, and write the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("data", type=Path)
    options.add_argument("model")
    options.add_argument("figures", type=Path)
    options.add_argument("--teacher", type=Path)
    options.add_argument("--teacher-alone", action="store_true", help="measure the teacher, not the model")
    options.add_argument("--few-alone", action="store_true", help="leave out the accuracies with all labels")
    options.add_argument("--features", action="store_true", help="classify by states and vectors")
    options.add_argument("--speed", action="store_true", help="measure speed, nothing else")
    given = options.parse_args()
    model = load(given.model)
    assert isinstance(model, SentenceVectors)
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures.exists() else {}
    measured: dict[str, tuple[Callable[[Sequence[str]], Features], Callable[[Sequence[str]], Features]]] = {}
    read = features_of if given.features else states_of
    measured["en-sentences, features" if given.features else "en-sentences"] = (model.encode, read(model))
    if given.teacher:
        import torch

        from embed_sentences import Teacher

        torch.set_num_threads(1)
        teacher = Teacher(given.teacher)
        encode = lambda texts: teacher.encode(list(texts)).astype(np.float32)  # noqa: E731
        measured["teacher"] = (encode, encode)
    for name, (encode, states) in measured.items():
        if given.speed or (given.teacher_alone and name != "teacher"):
            continue
        parts = {part: spearman(encode, given.data, part) for part in ("dev", "test")}
        print(name, json.dumps(parts), flush=True)
        figures[name] = {
            "stsb": parts,
            "classification": classification(states, given.data, few_alone=given.few_alone),
        }
        given.figures.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if given.speed:
        texts = similarity_rows(given.data, "train")[0]
        encoders = {name: encode for name, (encode, _) in measured.items()}
        if given.teacher:
            faster = Teacher(given.teacher, bfloat16=True)
            encoders["teacher in bfloat16"] = lambda texts: faster.encode(list(texts)).astype(np.float32)
        figures["sentences a second, one thread"] = speeds(encoders, texts)
        figures["processor"] = processor_name()
        given.figures.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
