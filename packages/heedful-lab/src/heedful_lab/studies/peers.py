"""Time predictions of Heedful beside fastText, scikit-learn and spaCy, all trained on TREC; one table, one run.

    python -m heedful_lab.studies.peers --data DIR --out FOLDER [--model RUN] [--turns 7]

Each system is trained on the 5,452 questions, or found in FOLDER from an earlier run, and predicts the 500 questions of
the test split. In every turn each system has a process of its own, one after the other, so that other work on the
machine falls on all of them: it loads the model, predicts single questions, then 64 at a time, and says how much memory
it took at most. A second process measures the cold start: from nothing to the first prediction. The table has medians
over the turns. One thread. docs/benchmarks.md has what it printed.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heedful.tables import markdown_table

BATCH = 64
Predict = Callable[[Sequence[str]], list[str]]


def runtime(folder: Path) -> Predict:
    """Return how the runtime predicts."""
    from heedful.runtime import load

    model = load(folder)
    return lambda texts: [str(answer.label) for answer in model.predict(texts)]  # type: ignore[union-attr]


def with_torch(folder: Path) -> Predict:
    """Return how heedful predicts with torch."""
    import torch

    from heedful.tasks import load_model

    torch.set_num_threads(1)
    model: Any = load_model(folder)
    return lambda texts: [answer.label for answer in model.answer(list(texts))]


def scikit_learn(folder: Path) -> Predict:
    """Return how a pipeline of scikit-learn predicts."""
    pipeline = pickle.loads((folder / "pipeline.pickle").read_bytes())  # written below, by this script
    return lambda texts: pipeline.predict(list(texts)).tolist()


def fast_text(folder: Path) -> Predict:
    """Return how fastText predicts; its method for Python fails with NumPy 2, the one below it does not."""
    import fasttext

    model = fasttext.load_model(str(folder / "model.bin")).f
    return lambda texts: [
        model.predict(f"{text.lower()}\n", 1, 0.0, "strict")[0][1].removeprefix("__label__") for text in texts
    ]


def spacy_pipeline(folder: Path) -> Predict:
    """Return how a pipeline of spaCy predicts."""
    import spacy

    nlp = spacy.load(folder)
    return lambda texts: [
        max(doc.cats, key=doc.cats.__getitem__) for doc in nlp.pipe(texts, batch_size=BATCH)
    ]


SYSTEMS: dict[str, tuple[str, Callable[[Path], Predict]]] = {
    "Heedful DiSAN, with torch": ("heedful/model", with_torch),
    "Heedful DiSAN, runtime": ("heedful/model", runtime),
    "Heedful DiSAN, runtime, int8": ("heedful-int8", runtime),
    "scikit-learn, TF-IDF and logistic regression": ("scikit-learn", scikit_learn),
    "fastText": ("fasttext", fast_text),
    "spaCy, text classifier": ("spacy", spacy_pipeline),
}
"""What is measured: the folder of the model, and how it is loaded."""


def train_all(data: Path, out: Path, model: Path | None, epochs: int) -> list[tuple[str, str]]:
    """Train what is not there yet; return the test questions with their labels."""
    from heedful.run.recipe_files import load_config
    from heedful.run.sources import find_source

    parts = find_source(load_config("disan-trec"), data).load()
    train, test = (
        [(example.texts[0], str(example.target)) for example in parts[part].examples]
        for part in ("train", "test")
    )
    if not (out / "heedful").exists():
        if model is None:
            options = ["--data", str(data), "--out", str(out / "heedful"), "--seed", "1"]
            heedful("train", "disan-trec", *options, "--set", f"train.epochs={epochs}")
        else:
            (out / "heedful").symlink_to(model.resolve(), target_is_directory=True)
    if not (out / "heedful-int8").exists():
        heedful("export", str(out / "heedful"), "--int8", str(out / "heedful-int8"))
    texts, labels = zip(*train, strict=True)
    for name, fit in (("scikit-learn", fit_linear), ("fasttext", fit_fast_text), ("spacy", fit_spacy)):
        if not (out / name).exists():
            fit(texts, labels, out / name)
    return test


def heedful(*arguments: str) -> None:
    """Run a command of heedful."""
    subprocess.run([sys.executable, "-m", "heedful", *arguments], check=True, stdout=sys.stderr)


def fit_linear(texts: Sequence[str], labels: Sequence[str], folder: Path) -> None:
    """Train TF-IDF of words and pairs of words with logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10, max_iter=1000)
    )
    pipeline.fit(texts, labels)
    folder.mkdir(parents=True)
    (folder / "pipeline.pickle").write_bytes(pickle.dumps(pipeline))


def fit_fast_text(texts: Sequence[str], labels: Sequence[str], folder: Path) -> None:
    """Train fastText with pairs of words."""
    try:
        import fasttext
    except ImportError:
        return
    folder.mkdir(parents=True)
    lines = (f"__label__{label} {text.lower()}\n" for text, label in zip(texts, labels, strict=True))
    (folder / "train.txt").write_text("".join(lines), encoding="utf-8")
    options = {"lr": 1.0, "epoch": 25, "wordNgrams": 2, "dim": 100, "thread": 1, "seed": 1, "verbose": 0}
    fasttext.train_supervised(str(folder / "train.txt"), **options).save_model(str(folder / "model.bin"))
    (folder / "train.txt").unlink()


def fit_spacy(texts: Sequence[str], labels: Sequence[str], folder: Path, epochs: int = 10) -> None:
    """Train spaCy's default classifier, a bag of words beside a convolutional network."""
    import random

    import spacy
    from spacy.training import Example
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat")
    names = sorted(set(labels))
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {name: float(name == label) for name in names}})
        for text, label in zip(texts, labels, strict=True)
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(epochs):
        random.Random(1).shuffle(examples)
        for batch in minibatch(examples, 32):
            nlp.update(batch, sgd=optimizer, drop=0.2)
    nlp.to_disk(folder)


def peak_megabytes() -> float:
    """Return the largest memory that this process has had; not ru_maxrss, which a process has from its parent."""
    status = Path("/proc/self/status").read_text(encoding="utf-8").split()
    return int(status[status.index("VmHWM:") + 1]) / 1024


def ask(system: str, folder: Path, questions: Path, singles: int) -> dict[str, Any]:
    """Measure one system in this process."""
    texts: list[str] = json.loads(questions.read_text(encoding="utf-8"))
    predict = SYSTEMS[system][1](folder)
    if not singles:
        return {"labels": predict(texts[:1])}
    labels = predict(texts)  # also warms up
    times = []
    for number in range(singles):
        started = time.perf_counter()
        predict(texts[number % len(texts) :][:1])
        times.append(1e3 * (time.perf_counter() - started))
    started, batches = time.perf_counter(), range(0, len(texts) - BATCH + 1, BATCH)
    for first in batches:
        predict(texts[first : first + BATCH])
    speed = BATCH * len(batches) / (time.perf_counter() - started)
    return {"labels": labels, "one": statistics.median(times), "speed": speed, "memory": peak_megabytes()}


def child(system: str, folder: Path, questions: Path, singles: int) -> tuple[dict[str, Any], float]:
    """Measure one system in a process of its own; return what it printed, and its seconds."""
    command = [sys.executable, __file__, "--ask", system, "--out", str(folder), "--questions", str(questions)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--singles", str(singles)], check=True, capture_output=True, text=True, env=one_thread
    )
    return json.loads(done.stdout.splitlines()[-1]), time.perf_counter() - started


def megabytes(folder: Path) -> float:
    """Return what the files of a model take on disk."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


HEAD = (
    "system",
    "test accuracy",
    "cold start, s",
    "one question, ms",
    "questions a second, 64 at a time",
    "peak memory, MB",
    "model on disk, MB",
)


def main() -> None:
    """Train, measure in turns, print a table and one JSON line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="The folder of data sets, which has trec/.")
    parser.add_argument("--out", type=Path, required=True, help="Where the trained models are, or go.")
    parser.add_argument("--model", type=Path, help="A run of disan-trec; without it one is trained.")
    parser.add_argument("--epochs", type=int, default=5, help="Epochs of that training.")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--singles", type=int, default=300, help="Single questions in a turn.")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(ask(options.ask, options.out, options.questions, options.singles)))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    test = train_all(options.data, options.out, options.model, options.epochs)
    questions = options.out / "questions.json"
    questions.write_text(json.dumps([text for text, _ in test]), encoding="utf-8")
    found: dict[str, list[dict[str, Any]]] = {}
    for turn in range(options.turns):
        for system, (name, _) in SYSTEMS.items():
            folder = options.out / name
            if folder.exists():
                print(f"turn {turn + 1}: {system}", file=sys.stderr)
                measured, _ = child(system, folder, questions, options.singles)
                _, measured["cold"] = child(system, folder, questions, 0)
                found.setdefault(system, []).append(measured)
    rows, cells = [], []
    for system, turns in found.items():
        right = sum(a == b for a, (_, b) in zip(turns[0]["labels"], test, strict=True)) / len(test)
        median = {
            name: statistics.median(turn[name] for turn in turns)
            for name in ("cold", "one", "speed", "memory")
        }
        size = megabytes((options.out / SYSTEMS[system][0]).resolve())
        rows.append({"system": system, "accuracy": right, **median, "size": size})
        speeds = (f"{median['cold']:.2f}", f"{median['one']:.3g}", f"{median['speed']:,.0f}")
        cells.append([system, f"{100 * right:.1f} %", *speeds, f"{median['memory']:.0f}", f"{size:.1f}"])
    print(*markdown_table(HEAD, cells, right=range(1, len(HEAD))), sep="\n")
    print(json.dumps({"turns": options.turns, "rows": rows}))


if __name__ == "__main__":
    main()
