"""How many labels of six test sets change where a model is computed in 8 bits, and what that does to accuracy.

    python -m heedful_lab.studies.changed_labels --data DIR --out FOLDER --set train.epochs=2

On each set a DiSAN is trained by its recipe, or found in FOLDER from an earlier call, and exported in float32 and in 8
bits; the runtime answers the test split with both. CR, MPQA and SUBJ are tested on one fold. A line is printed for each
set as it comes, then a table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.run.recipe_files import load_config
from heedful.run.sources import find_source
from heedful.runtime import load
from heedful.tables import markdown_table

SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "TREC": ("disan-trec", ()),
    "CR": ("disan-cr", ()),
    "MPQA": ("disan-cr", ("data.set=mpqa",)),
    "SUBJ": ("disan-cr", ("data.set=subj",)),
    "SST-2": ("disan-sst2", ()),
    "SST-5": ("disan-sst5", ()),
}
"""The recipe of each set, and what is set otherwise."""
KINDS = ("float32", "int8")


@dataclass(frozen=True)
class Changed:
    """What became of a test set.

    Attributes:
        texts: how many there are.
        labels: how many of them got another label in 8 bits.
        before: right ones in float32.
        after: right ones in 8 bits.
    """

    texts: int
    labels: int
    before: int
    after: int


def counted(gold: Sequence[str], before: Sequence[str], after: Sequence[str]) -> Changed:
    """Count the labels that changed, and the right ones of both."""
    rows = list(zip(gold, before, after, strict=True))
    return Changed(
        len(rows),
        sum(one != other for _, one, other in rows),
        sum(right == one for right, one, _ in rows),
        sum(right == other for right, _, other in rows),
    )


def heedful(*words: str) -> None:
    """Run a command of heedful."""
    subprocess.run([sys.executable, "-m", "heedful", *words], check=True, stdout=sys.stderr)


def measured(name: str, data: Path, out: Path, settings: Sequence[str]) -> Changed:
    """Train on a set what is not there yet, export it in both kinds of numbers, and answer its test split."""
    recipe, own = SETS[name]
    run = out / name.lower()
    chosen = [part for each in (*own, *settings) for part in ("--set", each)]
    if not (run / "model").exists():
        heedful("train", recipe, "--data", str(data), "--out", str(run), "--no-baseline", *chosen)
    answers = dict[str, list[str]]()
    test = find_source(load_config(recipe, (*own, *settings)), data).load()["test"]
    for kind in KINDS:
        folder = run / kind
        if not folder.exists():
            heedful("export", str(run), f"--{kind}", str(folder))
        model = load(folder)
        answers[kind] = [model.labels[place] for place in np.argmax(model.logits(test), axis=1)]
    return counted([str(example.target) for example in test.examples], *(answers[kind] for kind in KINDS))


def table(found: Iterable[tuple[str, Changed]]) -> str:
    """Return a row for each set, and one for all together, whose accuracies are means."""
    sets = dict(found)
    rows = [(name, f"{each.texts:,}", *_percent([each]), str(each.labels)) for name, each in sets.items()]
    texts, labels = (sum(getattr(each, name) for each in sets.values()) for name in ("texts", "labels"))
    rows.append(
        (
            "together",
            f"{texts:,}",
            *_percent(sets.values()),
            f"{labels} ({1000 * labels / texts:.1f} in 1,000)",
        )
    )
    header = ("", "test texts", "accuracy in float32, %", "int8, %", "labels that changed")
    return "\n".join(markdown_table(header, rows, right=range(1, 5)))


def _percent(sets: Iterable[Changed]) -> tuple[str, str]:
    shares = np.array([(each.before / each.texts, each.after / each.texts) for each in sets])
    before, after = 100 * shares.mean(axis=0)
    return f"{before:.2f}", f"{after:.2f}"


def main() -> None:
    """Print each set as it comes, and the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="The folder of data sets.")
    parser.add_argument("--out", type=Path, required=True, help="Where the trained models are, or go.")
    parser.add_argument("--sets", default=",".join(SETS), help="some of them, separated by commas")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="A setting of the runs."
    )
    given = parser.parse_args()
    found = list[tuple[str, Changed]]()
    for name in given.sets.split(","):
        found.append((name, measured(name, given.data, given.out, given.set)))
        print(f"{name}: {found[-1][1]}", flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
