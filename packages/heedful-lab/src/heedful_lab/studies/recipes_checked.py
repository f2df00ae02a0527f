"""Run packaged recipes until a hundred steps are done and the rate has risen, and look whether the network breaks.

    python -m heedful_lab.studies.recipes_checked --data DIR --out results/studies/recipes-checked.json
    python -m heedful_lab.studies.recipes_checked --out results/studies/recipes-checked.json --table

Of each recipe: the share of hidden units that fire for no text, in the layer where it is largest, after 5, 10, 30 and
100 steps; how many matrices the loss does not reach; how flat the flattest attention is; how far the sizes of the
layers' values are apart; and what training says (`heedful.training.breakage`). SNLI and MultiNLI are read in part.
What is there already is not measured again. A recipe whose data or encoder is missing is passed over, and named. A
pretrained encoder is that of the folder "minilm" beside the data sets; recipes for own data have a known data set.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MARKS = (5, 10, 30, 100)
"""Steps after which every network is looked at."""
RISEN = 1.25
"""Where the rate rises for longer than that, it is looked at again after so many times the steps of its rise."""
PARTS = {"snli": "train-part", "multinli": "train-part"}
"""Data sets of which a part of the training split is read."""
FOR_OWN_DATA = {
    "my-texts": "trec", "my-texts-transformer": "trec", "my-texts-setfit": "trec", "my-pairs": "snli",
    "my-scores": "sick-r", "my-pair-numbers": "stsb", "my-tags": "ewt-upos", "my-tags-transformer": "ewt-upos",
}  # fmt: skip
"""Recipes for own data, and the known data set that stands for it here."""
MADE = {"my-labels": "trec-fine", "my-label-columns": "trec-fine", "my-numbers": "sst-5"}
"""Those whose rows are made of a known data set: of fine classes two labels or two columns, of stars numbers."""
MINILM = "minilm"
"""The folder below that of the data sets with the encoder of recipes that begin with a pretrained one."""
ROWS = 12_800
"""Training rows of them that are read: a hundred batches of 128."""


def made_rows(recipe: str, data: Path, folder: Path) -> list[str]:
    """Write a table for a recipe of own data that no known data set fits.

    Args:
        recipe: its name.
        data: the folder of data sets.
        folder: where to.

    Returns:
        The settings that name it; none for any other recipe.
    """
    if recipe not in MADE:
        return []
    from heedful.data import catalog

    known = catalog.data_set(MADE[recipe])
    file, rows = folder / "rows.csv", [("text", "score", "label", "topic", "mood")]
    for example in catalog.load(MADE[recipe], "train", data).examples[:ROWS]:
        label = str(example.target)
        topic = label.partition(":")[0]
        rows.append((example.texts[0], str(known.labels.index(label)), f"{topic},{label}", topic, label))
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)
    return [f"data.train={file}"]


def settings_of(recipe: str) -> list[str]:
    """Return the settings by which a recipe is run here."""
    from heedful.run.recipe_files import load_config

    changes = [f"data.set={FOR_OWN_DATA[recipe]}"] if recipe in FOR_OWN_DATA else []
    config = load_config(recipe, changes)
    if config.data.set in PARTS:
        changes += [f"data.train={PARTS[config.data.set]}"]
    if config.data.set == "multinli":
        changes += ["data.dev_fraction=0.1"]
    if config.batches.group:
        changes.append(
            "batches.group=false"
        )  # a premise that several pairs share has no weights of its own to look at
    limited = config.data.set in PARTS
    return [*changes, *([f"data.train_limit={ROWS}"] if limited else [])]


def marks_of(warmup: int) -> tuple[int, ...]:
    """Return the steps after which a recipe is looked at whose rate rises for so many steps."""
    last = round(RISEN * warmup)
    return MARKS if last <= MARKS[-1] else (*MARKS, last)


def check(recipe: str, data: Path, changes: Sequence[str] = (), seed: int = 1) -> dict[str, Any]:
    """Train a recipe for a hundred steps, or until a quarter of the steps after its rate has risen.

    Args:
        recipe: its name.
        data: the folder of data sets.
        changes: further ``key=value`` settings.
        seed: of the run.

    Returns:
        What was seen, as plain values.
    """
    from heedful.run import prepare
    from heedful.run.preparation import TrainingBatches
    from heedful.run.recipe_files import load_config, override
    from heedful.tasks import task_named
    from heedful.training.breakage import FEW_TEXTS, BreakageWatch, of_gradients, reaches_all, sample
    from heedful.training.distributed import settled, start_fabric
    from heedful.training.health import attention_peaks, examine
    from heedful.training.optim import build_optimizer, learning_rate_factor
    from heedful.training.step import GradientStep

    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        usual = [*settings_of(recipe), *made_rows(recipe, data, Path(folder)), "train.device=cpu"]
        config = load_config(recipe, [*usual, *changes, f"train.seed={seed}"])
        if config.model.pretrained.name:
            config = override(config, {"model.pretrained.name": str(data / MINILM)})
        prepared = prepare(config, data)
    config = override(config, prepared.decided)  # what the data decided where the recipe says "auto"
    task = task_named(prepared.task)
    model = task.untrained(config, prepared)
    network, settings = model.network, settled(config.train)[0]
    batches = TrainingBatches(prepared.datasets["train"], config, task)
    step = GradientStep(start_fabric(settings), network, batches, task.objective(config, model), settings)
    optimizers = build_optimizer(network, settings.optimizer)
    total = settings.total_steps(len(batches.batches(0)))
    chosen = sample(batches.batches(0), batches.collate, texts=256)
    few = sample(batches.batches(0), batches.collate, FEW_TEXTS)[0]
    watch, signs, dead = BreakageWatch(network, settings), [], {}
    marks = marks_of(settings.warmup_steps)
    rows = list(
        itertools.islice((row for epoch in itertools.count() for row in batches.batches(epoch)), marks[-1])
    )
    for number, batch in enumerate(rows):
        network.train()
        optimizers.zero_grad()
        step.compute(batch, number)
        optimizers.scale_lr(learning_rate_factor(number, settings, total))
        optimizers.step()
        if number + 1 in marks:
            network.eval()
            signs += [sign.sentence for sign in watch.look(number + 1, chosen, last=batches.collate(batch))]
            dead[number + 1] = max(watch.dead.values(), default=0.0)
    seen = examine(network, chosen)
    spreads = sorted(layer.spread for layer in seen.inputs.values())
    gates = [units.constant for units in seen.units.values() if units.kind == "sigmoid"]
    peaks = attention_peaks(network, few)
    unreached = 0
    if reaches_all(network, batches.collate(rows[-1])):
        unreached = len(list(of_gradients(network, settings)))
    return {
        "recipe": recipe, "dead": dead, "worst": max(watch.dead, key=watch.dead.__getitem__, default=""),
        "unreached": unreached, "flattest": min(peaks.values(), default=None),
        "constant": max(gates, default=None), "smallest": spreads[0], "largest": spreads[-1],
        "lengths": seen.lengths, "signs": signs, "seconds": round(time.process_time() - started),
    }  # fmt: skip


def table(cells: Sequence[dict[str, Any]]) -> str:
    """Write what was seen as a table in Markdown."""
    from heedful.tables import markdown_table

    head = [
        "recipe",
        *(f"dead after {mark}" for mark in MARKS),
        "once the rate has risen",
        "without gradient",
        "flattest attention",
        "constant gates",
    ]
    head += ["sizes of values", "signs"]
    lines = []
    for cell in cells:
        dead = {int(mark): share for mark, share in cell["dead"].items()}
        lines.append(
            [
                f"`{cell['recipe']}`",
                *(f"{dead[mark]:.0%}" for mark in MARKS),
                ", ".join(f"{share:.0%} ({mark:,})" for mark, share in dead.items() if mark not in MARKS),
                str(cell["unreached"]),
                "" if cell["flattest"] is None else f"{cell['flattest']:.2f}",
                "" if cell["constant"] is None else f"{cell['constant']:.0%}",
                f"{cell['smallest']:.2g} to {cell['largest']:.2g}",
                str(len(cell["signs"])),
            ]
        )
    return "\n".join(markdown_table(head, lines))


def main() -> None:
    """Check what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of what was seen")
    parser.add_argument(
        "--recipes", default="", help="names, separated by commas; default: all packaged ones"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a further setting")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    asked = parser.parse_args()
    from heedful.errors import HeedfulError
    from heedful.storage.installed import recipe_names

    cells = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.exists() else []
    done = {cell["recipe"] for cell in cells}
    names = [name for name in asked.recipes.split(",") if name] or recipe_names()
    for name in [] if asked.table else names:
        if name in done:
            continue
        try:
            cells.append(check(name, asked.data, asked.set))
        except HeedfulError as error:
            print(f"{name}: passed over: {error}", flush=True)
            continue
        print(name, cells[-1]["dead"], *cells[-1]["signs"], sep="\n  ", flush=True)
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    print(table(sorted(cells, key=lambda cell: cell["recipe"])))


if __name__ == "__main__":
    main()
