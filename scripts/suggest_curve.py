"""Draw the learning curve of `heedful suggest` against random choice: label few texts, train, ask which to label next.

    python scripts/suggest_curve.py --data DIR --columns trec,subj --seeds 1,2,3,4,5 --out runs/suggest

A curve starts from the same random texts for every way of choosing. At each size a new model is trained on the texts
that are labeled so far (a part of them selects the best epoch) and measured on the test split, and it chooses the
next texts from the rest of the training split. OUT/curves.jsonl gets one line a curve; a curve that stands there is
not drawn again. The figure is OUT/curve.svg, the table goes to standard output. Each recipe needs an OUT of its own.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import numpy as np
from training_options import options_of

from heedful.data.examples import Corpus, Example
from heedful.run import evaluate_corpus, from_examples, prepare_examples, train
from heedful.run.recipe_files import load_config, override
from heedful.run.run_config import RunConfig
from heedful.run.sources import find_source
from heedful.run.suggesting import suggest
from heedful.storage import write_text

SIZES = (50, 100, 150, 200, 300, 400)
WAYS = {
    "random": ("random", 1),
    "margin": ("margin", 1),
    "margin, unlike each other": ("margin", 5),
    "entropy, unlike each other": ("entropy", 5),
}
"""Name to measure and number of candidates, as the options of the command."""
RECIPES: dict[str, dict[str, object]] = {
    "my-english-texts": {},
    "my-texts": {
        "model.encoder": "embedding",
        "model.width": 50,
        "model.hidden": 50,
        "model.dropout": 0.3,
        "train.epochs": 15,
        "train.patience": 0,
        "train.optimizer.lr": 0.003,
        "data.dev_fraction": 0.2,
        "batches.size": 16,
    },
}
"""Recipe to what is changed in it: DiSAN on the word vectors of heedful-en, or the mean of words learned here."""


def parts_of(column: str, data: Path) -> tuple[list[Example], list[Example]]:
    """Return the examples that may be labeled, each text once, and the test examples."""
    config = override(RunConfig(), {"data.set": column, "model.task": "text"})
    parts = find_source(config, data).load()
    pool = {example.texts: example for part in ("train", "dev") for example in parts[part].examples}
    plain = [Example(example.texts, example.target, row=row) for row, example in enumerate(pool.values(), 1)]
    return plain, [Example(example.texts, example.target) for example in parts["test"].examples]


def curve(recipe: str, column: str, way: str, seed: int, data: Path) -> dict[str, object]:
    """Label, train and choose until the last size; return the accuracies."""
    pool, test = parts_of(column, data)
    labels = tuple(sorted({str(example.target) for example in pool}))
    settings = {**RECIPES[recipe], "data.train": "", "train.seed": seed}
    config = override(load_config(recipe), settings)
    by, candidates = WAYS[way]
    labeled = random.Random(seed).sample(pool, SIZES[0])
    accuracies, started = [], time.process_time()
    for number, size in enumerate(SIZES):
        source = from_examples(labeled, None, "text", config.data.dev_fraction, seed, labels=labels)
        model = train(config, prepare_examples(config, source)).predictor
        accuracies.append(evaluate_corpus(model, Corpus(test)).metrics["accuracy"])
        if size == SIZES[-1]:
            break
        known = {example.texts for example in labeled}
        rest = Corpus([example for example in pool if example.texts not in known])
        wanted = SIZES[number + 1] - size
        found = suggest(model, rest, wanted, by=by, candidates=candidates, seed=seed)  # type: ignore[arg-type]
        rows = {one.row for one in found}
        labeled = [*labeled, *(example for example in rest.examples if example.row in rows)]
    spent = round(time.process_time() - started, 1)
    return {"column": column, "way": way, "seed": seed, "accuracy": accuracies, "cpu_seconds": spent}


def table(curves: list[dict[str, object]]) -> str:
    """Return means and standard deviations over seeds as Markdown."""
    lines = [
        "| data | chosen by | seeds | " + " | ".join(map(str, SIZES)) + " |",
        "| --- | --- | ---: |" + " ---: |" * len(SIZES),
    ]
    for column in dict.fromkeys(one["column"] for one in curves):
        for way in WAYS:
            found = [one["accuracy"] for one in curves if (one["column"], one["way"]) == (column, way)]
            if found:
                means, spreads = np.mean(found, axis=0), np.std(found, axis=0, ddof=len(found) > 1)
                known = [f" ± {100 * spread:.1f}" if len(found) > 1 else "" for spread in spreads]
                cells = [f"{100 * mean:.1f}{spread}" for mean, spread in zip(means, known, strict=True)]
                lines.append(f"| {column} | {way} | {len(found)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(curves: list[dict[str, object]], file: Path) -> None:
    """Draw the mean of each way, one panel a data set."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    columns = list(dict.fromkeys(str(one["column"]) for one in curves))
    figure, axes = plt.subplots(1, len(columns), figsize=(4.5 * len(columns), 3.4), squeeze=False)
    for panel, column in zip(axes[0], columns, strict=True):
        for way in WAYS:
            found = [one["accuracy"] for one in curves if (one["column"], one["way"]) == (column, way)]
            if found:
                panel.plot(SIZES, 100 * np.mean(found, axis=0), marker="o", markersize=3, label=way)
        panel.set(title=column, xlabel="labeled texts", ylabel="test accuracy, %")
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    """Draw the curves that are missing, and show all."""
    parser = options_of(__doc__, out="the results", columns="trec,subj", seeds="1,2,3,4,5")
    parser.add_argument("--ways", default=";".join(WAYS), help="Ways of choosing, with ; between them.")
    parser.add_argument("--recipe", default="my-english-texts", choices=list(RECIPES))
    asked = parser.parse_args()
    kept = asked.out / "curves.jsonl"
    curves = (
        [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    )
    for column in asked.columns.split(","):
        for seed in map(int, asked.seeds.split(",")):
            for way in asked.ways.split(";"):
                if any((one["column"], one["way"], one["seed"]) == (column, way, seed) for one in curves):
                    continue
                curves.append(curve(asked.recipe, column, way, seed, asked.data))
                write_text(kept, "".join(json.dumps(one) + "\n" for one in curves))
    draw(curves, asked.out / "curve.svg")
    print(table(curves))


if __name__ == "__main__":
    main()
