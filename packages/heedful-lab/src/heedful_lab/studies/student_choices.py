"""Choose how a student learns from a fine-tuned transformer, on dev parts alone.

    python -m heedful_lab.studies.student_choices --data DIR --teacher FOLDER --out FOLDER --sets trec,cr --seeds 1,2

The teacher of a set and a seed is fine-tuned once, and its answers stay in the cache. Then a student is trained in
every way of `WAYS`, each a run that goes on where it was interrupted; ``--ways`` names some of them, or several that
are taken together. The test part of a set is left out before anything is trained, so that it can choose nothing.
``--texts`` names a file of texts without labels, which every student of the call learns from as well; its cells are
kept under the file's name. ``--table`` prints what is there: accuracy on dev, mean over sets and seeds, how far it is
from the teacher's, the loss, and processor seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

WAYS: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "mostly the teacher": {"distil.weight": 0.2},
    "the teacher alone": {"distil.weight": 0.0},
    "temperature 1": {"distil.temperature": 1.0},
    "temperature 4": {"distil.temperature": 4.0},
    "its vectors": {"distil.vectors": 0.1},
    "5 copies": {"distil.augment": 5, "train.epochs": 6},
    "10 copies": {"distil.augment": 10, "train.epochs": 4},
    "exchanged phrases": {"distil.phrases": 0.5},
    "exchanged phrases alone": {"distil.phrases": 1.0},
    "3 epochs": {"train.epochs": 3},
    "longer": {"train.epochs": 24, "train.patience": 8},
    "averaged weights": {"train.weight_average": 0.999},
    "slower": {"train.optimizer.lr": 0.001},
    "word masks": {"train.word_mask": 0.1},
    "wider": {"model.hidden": 300},
    "from en-sentences": {"model.start": "en-sentences", "train.epochs": 6},
}
"""Name of a way to the settings in which it differs from ``heedful train SET --teacher FOLDER``."""
WITH = " + "
"""Joins the names of several ways, whose settings are taken together; a later one overrides."""
CELLS = "choices.jsonl"


def config_of(name: str, seed: int, teacher: str, way: Mapping[str, object]) -> Any:
    """Return the settings of a student."""
    from heedful.run.own_file import own_file
    from heedful.run.recipe_files import load_config, override

    found = own_file(name, (), None)
    config = load_config(found.recipe, found.overrides)
    return override(config, {"train.seed": seed, "distil.teacher": [teacher], **way})


def without_test(prepared: Any) -> Any:
    """Return data without its test part."""
    parts = {part: own for part, own in prepared.datasets.items() if part != "test"}
    return replace(prepared, datasets=parts)


def teacher_of(name: str, seed: int, teacher: Path, out: Path, data: Path) -> tuple[Path, float]:
    """Fine-tune the transformer, unless that was done before; return its run and its accuracy on dev."""
    from heedful.run.distilling.fine_tuning import fine_tuning
    from heedful.run.preparation import prepare
    from heedful.run.run import train

    folder = out / f"{Path(name).stem}-{seed}-teacher"
    config = fine_tuning(config_of(name, seed, str(teacher.absolute()), {}), str(teacher.absolute()))
    result = train(config, without_test(prepare(config, data)), folder=folder, resume=True)
    return folder.absolute(), result.dev.metrics["accuracy"]


def settings_of(way: str) -> dict[str, object]:
    """Return the settings of a way, or of several that are joined."""
    return {name: value for part in way.split(WITH) for name, value in WAYS[part].items()}


def named(way: str, texts: Path | None) -> str:
    """Return the name of a way with texts without labels."""
    return way if texts is None else f"{way}, with {texts.stem}"


def measure(
    name: str, seed: int, way: str, texts: Path | None, teacher: Path, out: Path, data: Path
) -> dict[str, object]:
    """Train a student in one way and return its cell."""
    from heedful.run.preparation import prepare
    from heedful.run.run import train

    run, accuracy = teacher_of(name, seed, teacher, out, data)
    further = {} if texts is None else {"distil.texts": str(texts.absolute())}
    config = config_of(name, seed, str(run), {**settings_of(way), **further})
    way = named(way, texts)
    started = time.process_time()
    folder = out / f"{Path(name).stem}-{seed}-{re.sub('[ ,+]+', '-', way)}"
    result = train(config, without_test(prepare(config, data)), folder=folder, resume=True)
    calibration = result.dev.calibration
    return {
        "set": name, "seed": seed, "way": way, "accuracy": result.dev.metrics["accuracy"], "teacher": accuracy,
        "log_loss": float("nan") if calibration is None else calibration.after.nll,
        "parameters": result.parameters, "seconds": time.process_time() - started,
    }  # fmt: skip


def table(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Print each way, the best first: means over sets and seeds that every way printed beside it has too."""
    for way in sorted(
        {cell["way"] for cell in cells},
        key=lambda way: -np.mean([cell["accuracy"] for cell in cells if cell["way"] == way]),
    ):
        own = [cell for cell in cells if cell["way"] == way]
        accuracy, teacher = (100 * np.mean([cell[kind] for cell in own]) for kind in ("accuracy", "teacher"))
        loss, seconds = (np.mean([cell[kind] for cell in own]) for kind in ("log_loss", "seconds"))
        yield (
            f"{way}: accuracy {accuracy:.2f} on dev, {accuracy - teacher:+.2f} to the teacher, log loss {loss:.4f}, "
            f"{seconds:.0f} CPU s, {own[0]['parameters']:,} parameters ({len(own)} runs)"
        )


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--teacher", type=Path, help="folder of the transformer; not needed for --table")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs and of the cells")
    parser.add_argument("--sets", default="trec,cr")
    parser.add_argument("--seeds", default="1")
    parser.add_argument(
        "--ways", default=",".join(WAYS), help="names of WAYS; several at once joined by ' + '"
    )
    parser.add_argument("--texts", type=Path, help="texts without labels, one a line")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    asked = parser.parse_args()
    file = asked.out / CELLS
    cells = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(cell["set"], cell["seed"], cell["way"]) for cell in cells}
    asked.out.mkdir(parents=True, exist_ok=True)
    for way in () if asked.table else asked.ways.split(","):
        for seed in map(int, asked.seeds.split(",")):
            for name in asked.sets.split(","):
                if (name, seed, named(way, asked.texts)) not in done:
                    cells.append(measure(name, seed, way, asked.texts, asked.teacher, asked.out, asked.data))
                    with file.open("a") as stream:
                        stream.write(json.dumps(cells[-1]) + "\n")
    print("\n".join(table(cells)))


if __name__ == "__main__":
    main()
