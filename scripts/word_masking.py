"""Train with and without masked words, and measure accuracy and explanations; prints the table of docs/explanations.md.

    python scripts/word_masking.py --data DIR --out runs/word-masking --columns trec,cr,subj,mpqa --seeds 1,2,3

Each data set has the settings of one packaged recipe, made smaller: 100 features, no pretrained vectors, 8 epochs. The
explanations of 60 test texts, drawn with seed 0, are measured for each model. Nothing is selected by them. A run whose
figures are in OUT is not repeated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from training_options import options_of

from heedful.data.examples import Corpus
from heedful.run import prepare, train
from heedful.run.measuring import measure_explanations
from heedful.run.recipe_files import load_config
from heedful.run.sources import data_root, find_source
from heedful.storage import write_text

RECIPES = {
    "trec": ("disan-trec", []),
    "cr": ("disan-cr", []),
    "subj": ("disan-cr", ["data.set=subj"]),
    "mpqa": ("disan-cr", ["data.set=mpqa"]),
}
"""Column to recipe and settings."""
SMALL = (
    *("text.vectors=", "text.baseforms=", "text.vector_norm=0.0"),
    *("model.width=100", "model.hidden=100", "train.epochs=8", "train.patience=3"),
)
TEXTS = 60
FIGURES = {
    "accuracy": "accuracy, %",
    "occlusion": "comprehensiveness of leave-one-out",
    "attention": "of attention",
    "random": "of a random order",
    "agreement": "attention and leave-one-out, correlation",
}


def measured(column: str, share: float, seed: int, data: Path) -> dict[str, float]:
    """Train one model and return its figures."""
    recipe, settings = RECIPES[column]
    config = load_config(recipe, [*settings, *SMALL, f"train.word_mask={share}", f"train.seed={seed}"])
    result = train(config, prepare(config, data))
    assert result.test is not None  # every column has a test part
    root = data_root(config, data)
    corpus = Corpus(find_source(config, root).load()["test"].examples)
    found = measure_explanations(
        result.predictor, corpus, column, methods=("attention", "occlusion"), limit=TEXTS
    )
    return {
        "accuracy": 100 * result.test.metrics["accuracy"],
        "occlusion": found.mean("occlusion", "comprehensiveness").value,
        "attention": found.mean("attention", "comprehensiveness").value,
        "random": found.mean("random order", "comprehensiveness").value,
        "agreement": found.mean("attention", "correlation").value,
    }


def main() -> None:
    """Train, measure, print."""
    parser = options_of(__doc__, out="the figures", columns=",".join(RECIPES))
    parser.add_argument("--shares", default="0.0,0.1", help="Values of train.word_mask.")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print(f"| data | masked words | {' | '.join(FIGURES.values())} |")
    print("| --- | --- |" + " ---: |" * len(FIGURES))
    for column in given.columns.split(","):
        for share in map(float, given.shares.split(",")):
            runs: list[dict[str, Any]] = []
            for seed in map(int, given.seeds.split(",")):
                file = given.out / f"{column}-{share}-{seed}.json"
                if not file.exists():
                    write_text(file, json.dumps(measured(column, share, seed, given.data)) + "\n")
                runs.append(json.loads(file.read_text(encoding="utf-8")))
            cells = []
            for name in FIGURES:
                values = [run[name] for run in runs]
                digits = 1 if name == "accuracy" else 2
                spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
                cells.append(f"{np.mean(values):.{digits}f}{spread}")
            print(f"| {column} | {share:.0%} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
