"""Compare folders that `heedful export` writes in float32, float16 and 8 bits; prints the table of docs/deployment.md.

    python scripts/small_files.py --data DIR --out runs/small-files --columns trec,cr,subj --seeds 1,2,3

Each model is trained with its packaged recipe as it stands, unless --set changes it. The runtime then predicts the test
split (of CR and SUBJ the held-out fold) from each of the three folders. Nothing is selected by what is measured. A run
or a folder that is in OUT is not made again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from training_options import options_of

from heedful.run.recipe_files import load_config
from heedful.run.sources import data_root, find_source
from heedful.runtime import Model, load

RECIPES = {
    "trec": ("disan-trec", []),
    "cr": ("disan-cr", []),
    "subj": ("disan-cr", ["data.set=subj"]),
}
"""Column to recipe and settings."""
KINDS = ("float32", "float16", "int8")


def heedful(*arguments: str) -> None:
    """Run a command of heedful."""
    subprocess.run([sys.executable, "-m", "heedful", *arguments], check=True, stdout=sys.stderr)


def folders(column: str, seed: int, settings: list[str], data: Path, out: Path) -> dict[str, Path]:
    """Train and export what is not there yet; return the folder of each kind of number."""
    run = out / f"{column}-{seed}"
    if not (run / "model").exists():
        options = [option for setting in settings for option in ("--set", setting)]
        where = ["--data", str(data), "--out", str(run), "--seed", str(seed)]
        resume = ["--resume"] if run.exists() else []
        heedful("train", RECIPES[column][0], *where, *options, "--no-baseline", *resume)
    made = {kind: out / f"{column}-{seed}-{kind}" for kind in KINDS}
    for kind, folder in made.items():
        if not folder.exists():
            heedful("export", str(run), f"--{kind}", str(folder))
    return made


def test_split(column: str, settings: list[str], data: Path) -> tuple[list[str], list[str]]:
    """Return the test texts and their gold labels."""
    config = load_config(RECIPES[column][0], settings)
    examples = find_source(config, data_root(config, data)).load()["test"].examples
    return [example.texts[0] for example in examples], [str(example.target) for example in examples]


def row(column: str, seed: int, settings: list[str], data: Path, out: Path) -> str:
    """Return the line of one model."""
    made = folders(column, seed, settings, data, out)
    texts, gold = test_split(column, [*settings, f"train.seed={seed}"], data)
    logits, accuracy = {}, {}
    for kind, folder in made.items():
        model = load(folder)
        assert isinstance(model, Model)  # one text, one class
        logits[kind] = model.logits(texts).astype(np.float64)
        labels = model.decision.names
        hits = [labels[best] == label for best, label in zip(logits[kind].argmax(1), gold, strict=True)]
        accuracy[kind] = 100 * float(np.mean(hits))
    cells = [f"{accuracy[kind]:.2f}" for kind in KINDS]
    for kind in KINDS[1:]:
        other = int((logits[kind].argmax(1) != logits["float32"].argmax(1)).sum())
        furthest = np.abs(logits[kind] - logits["float32"]).max()
        cells += [f"{other} of {len(texts):,}", f"{furthest:.2g}"]
    cells.append(f"{np.abs(logits['float32']).max():.3g}")
    sizes = [sum(file.stat().st_size for file in made[kind].iterdir()) / 1e6 for kind in KINDS]
    cells.append(", ".join(f"{size:.1f}" for size in sizes))
    return f"| {column} | {seed} | {' | '.join(cells)} |"


def main() -> None:
    """Train, export, compare, print."""
    parser = options_of(__doc__, out="the runs and of what is exported", columns=",".join(RECIPES))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="Change a setting.")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    labels = "accuracy in float32, %|float16|int8"
    changed = "|".join(f"other labels, {kind}|largest change of a logit" for kind in KINDS[1:])
    header = f"data|seed|{labels}|{changed}|largest logit|MB in float32, float16, int8".split("|")
    print(f"| {' | '.join(header)} |")
    print("| --- |" + " ---: |" * (len(header) - 1), flush=True)
    for seed in map(int, given.seeds.split(",")):
        for column in given.columns.split(","):
            settings = [*RECIPES[column][1], *given.set]
            print(row(column, seed, settings, given.data, given.out), flush=True)


if __name__ == "__main__":
    main()
