"""Look for a task on which MDMAN's policy has something to find: python scripts/mdman_both_sides.py --out OUT.

Three made tasks, in each of which a word has to weigh words on both sides of it. A marker names a group; every other
word has a group, a class and a level. The class of a text is

* loudest: that of the word with the highest level among the words of the marker's group;
* majority: the one that most words of the marker's group have;
* partner: that of the one word of the marker's group, on either side of the marker.

Four variants of the same network differ in what a query may see against its direction: nothing (directional),
everything (open), what a policy that never learns opens at random (random), and what the policy learns to open from
the first step on (learned). If open is no better than directional, there is nothing for a policy to find. A run that is
done is not repeated. Writes results.json and table.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook
from training_options import options_of

from heedful.encoders.resan import MaskPolicy
from heedful.nn import Selection
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config
from heedful.storage import write_text

CLASSES, GROUPS, LEVELS = 6, 4, 8
PARTS = {"train": 6_000, "dev": 1_000, "test": 2_000}
OPTION = "model.encoder_options"
VARIANTS = {
    "directional": (f"{OPTION}.dynamic=false",),
    "open": (f"{OPTION}.policy_learns=false",),
    "random": (f"{OPTION}.policy_learns=false",),
    "learned": (),
}
RECIPE = """
[data]
train = "{folder}/train.tsv"
dev = "{folder}/dev.tsv"
test = "{folder}/test.tsv"
text = "text"
label = "label"

[text]
tokenizer = "whitespace"
random = "normal"

[batches]
size = 64

[model]
task = "text"
encoder = "mdman"
activation = "elu"
dropout = 0.0
width = 32
hidden = 32

[train]
epochs = 0
max_steps = {steps}
evaluate_every = 250
patience = 0
log_every = 50
device = "cpu"

[train.optimizer]
name = "adam"
lr = 0.003
"""


def example(task: str, draw: Random) -> tuple[str, str]:
    """Return a text and its class; the marker stands anywhere."""
    while True:
        count = draw.randint(8, 12)
        if task == "partner":
            words = [(group, draw.randrange(CLASSES), 0) for group in range(GROUPS)]
        else:
            words = [
                (draw.randrange(GROUPS), draw.randrange(CLASSES), draw.randrange(LEVELS))
                for _ in range(count)
            ]
        draw.shuffle(words)
        asked = draw.randrange(GROUPS)
        mine = [(level, kind) for group, kind, level in words if group == asked]
        label = answer(task, mine)
        if label is None:
            continue
        text = [f"g{group}c{kind}l{level}" for group, kind, level in words]
        text.insert(draw.randint(0, len(text)), f"marker{asked}")
        return " ".join(text), f"class{label}"


def answer(task: str, words: list[tuple[int, int]]) -> int | None:
    """Return the class of the marker's words; None where two are equally right."""
    if task == "majority":
        often = Counter(kind for _, kind in words).most_common(2)
        return None if not often or (len(often) == 2 and often[0][1] == often[1][1]) else often[0][0]
    ranked = sorted(words, reverse=True)
    return None if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]) else ranked[0][1]


def write_data(task: str, folder: Path) -> None:
    """Write the three parts of a task; no text stands in two of them."""
    draw, seen = Random(f"{task} 20"), set[str]()
    for part, size in PARTS.items():
        rows = ["text\tlabel"]
        while len(rows) <= size:
            text, label = example(task, draw)
            if text not in seen:
                seen.add(text)
                rows.append(f"{text}\t{label}")
        write_text(folder / f"{part}.tsv", "\n".join(rows) + "\n")


@contextmanager
def everything_open() -> Iterator[None]:
    """Let every query of every MDMAN see every other word."""

    def opened(module: nn.Module, given: tuple[Tensor, ...], made: Any) -> Any:
        return Selection(given[1], given[1], made.log_prob) if isinstance(module, MaskPolicy) else None

    hook = register_module_forward_hook(opened)
    try:
        yield
    finally:
        hook.remove()


def run(task: str, variant: str, seed: int, steps: int, out: Path) -> dict[str, Any]:
    """Train one network and measure it, unless that was done before."""
    file = out / f"{task}-{variant}-{seed}.json"
    if file.exists():
        return dict(json.loads(file.read_text(encoding="utf-8")))
    config = load_config(out / task / "recipe.toml", [*VARIANTS[variant], f"train.seed={seed}"])
    prepared = prepare(config, None)
    with everything_open() if variant == "open" else nullcontext():
        result = train(config, prepared)
    assert result.test is not None
    record = {
        "task": task,
        "variant": variant,
        "seed": seed,
        "dev": result.dev.metrics["accuracy"],
        "test": result.test.metrics["accuracy"],
        "best_step": result.fit.best_step,
        "parameters": result.parameters,
    }
    write_text(file, json.dumps(record) + "\n")
    return record


def table(runs: list[dict[str, Any]]) -> str:
    """Return mean and standard deviation over the seeds as Markdown."""
    tasks = list(dict.fromkeys(one["task"] for one in runs))
    lines = [f"| masks | {' | '.join(tasks)} |", f"| --- |{' --- |' * len(tasks)}"]
    for variant in dict.fromkeys(one["variant"] for one in runs):
        cells = []
        for task in tasks:
            found = [100 * one["test"] for one in runs if (one["task"], one["variant"]) == (task, variant)]
            cells.append(f"{np.mean(found):.1f} ± {np.std(found, ddof=1) if len(found) > 1 else 0:.1f}")
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, then write the table and all figures as JSON."""
    parser = options_of(__doc__, out="the runs")
    parser.add_argument("--tasks", default="loudest,majority,partner")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--steps", type=int, default=3_000)
    given = parser.parse_args()
    for task in given.tasks.split(","):
        folder = given.out.absolute() / task
        folder.mkdir(parents=True, exist_ok=True)
        write_data(task, folder)
        write_text(folder / "recipe.toml", RECIPE.format(folder=folder, steps=given.steps))
    runs = [
        run(task, variant, int(seed), given.steps, given.out)
        for seed in given.seeds.split(",")
        for task in given.tasks.split(",")
        for variant in given.variants.split(",")
    ]
    write_text(given.out / "results.json", json.dumps(runs) + "\n")
    write_text(given.out / "table.md", table(runs))
    print(table(runs))


if __name__ == "__main__":
    main()
