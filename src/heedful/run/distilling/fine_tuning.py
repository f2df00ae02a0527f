"""A transformer as a teacher: before the student, it is fine-tuned on the gold labels, as a model of Heedful."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.errors import UsageError
from heedful.model.decisions import kind_of
from heedful.run.distilling.distillation import Places
from heedful.run.distilling.teachers import names_its_kind
from heedful.run.preparation import prepare, prepare_examples
from heedful.run.recipe_files import load_config, override
from heedful.run.record import RunResult
from heedful.run.run import train
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.run.sources import data_root, find_source
from heedful.storage.hugging_face import find_encoder
from heedful.storage.manifest import MANIFEST
from heedful.tasks.prepared import Source
from heedful.training.progress import Reporter

FOLDER = "teacher"
"""Run folder of the fine-tuned transformer, inside that of the student; further ones are called teacher-2 and so on."""
RECIPE = "my-texts-transformer"
"""The packaged recipe whose settings of the network and of its training a transformer is fine-tuned with."""
TAG_RECIPE = "my-tags-transformer"
"""Likewise for tags of words."""
FEW_RECIPE = "my-texts-setfit"
"""Likewise where a transformer has few labels of classes of texts, fewer than `FEW`."""
FEW = 1_000
"""The published comparisons of SetFit's way and plain fine-tuning are even at about so many."""
COPIES, COPIED = 20, 25_000
"""Changed copies of each text that a student reads at most, and of all texts together, where none without labels are
named."""
_CONFIG = "config.json"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class FineTuned:
    """The settings of a student whose transformers have been fine-tuned.

    Attributes:
        config: the settings; the teachers are run folders of Heedful.
        results: the run of each transformer, by the name that the user gave.
    """

    config: RunConfig
    results: Mapping[str, RunResult]


def is_transformer(name: str, root: Path | None = None) -> bool:
    """Return whether a teacher is a transformer: a folder as transformers writes it, or an id of the Hugging Face Hub.

    Args:
        name: what the user typed.
        root: the folder of data sets, where a relative folder is looked for first.

    Returns:
        False for models of Heedful and files of soft labels.
    """
    for path in [Path(name)] if root is None else [root / name, Path(name)]:
        if path.is_dir():
            return not (path / MANIFEST).exists() and names_its_kind(path / _CONFIG)
        if path.exists():
            return False
    return _HUB_ID.fullmatch(name) is not None and not name.startswith((".", "runs/"))


def fine_tuning(config: RunConfig, name: str, rows: int = FEW, classes: int = 2) -> RunConfig:
    """Return the settings that fine-tune a transformer on the data of a student.

    Args:
        config: the settings of the student.
        name: of the transformer.
        rows: training examples with gold.
        classes: how many classes they have.

    Returns:
        Data, task, seed and metric are the student's; the network, its words and its training are those of `RECIPE`, of
        `FEW_RECIPE` or of `TAG_RECIPE`.
    """
    kind = kind_of(config.model.task)
    single = kind.outputs == "classes" and kind.texts == 1
    recipe = load_config(TAG_RECIPE if kind.of_words else FEW_RECIPE if single and rows < FEW else RECIPE)
    if recipe.train.contrast and classes > recipe.model.hidden:
        recipe = load_config(RECIPE)
    model = replace(recipe.model, task=config.model.task, outputs=config.model.outputs)
    training = replace(
        recipe.train,
        seed=config.train.seed,
        metric=config.train.metric,
        class_weight=config.train.class_weight,
        class_weights=config.train.class_weights,
    )
    own = replace(
        config,
        name=f"{name}, fine-tuned",
        model=model,
        train=training,
        text=recipe.text,
        batches=recipe.batches,
        distil=DistilConfig(),
    )
    return override(
        own, {"model.pretrained.name": name, "model.pretrained.download": not Path(name).exists()}
    )


def fine_tuned(
    config: RunConfig,
    places: Places,
    *,
    reporter: Reporter | None = None,
    print_line: Callable[[str], None] = lambda _: None,
    source_of: Callable[[RunConfig], Source] | None = None,
    further: bool = False,
) -> FineTuned:
    """Fine-tune the transformers among the teachers; a run that has ended is read again, one that was cut off goes on.

    Args:
        config: the settings of the student, which name its teachers.
        places: where to read and write.
        reporter: shows progress.
        print_line: told what happens next.
        source_of: returns the examples for settings; None for those that the settings name.
        further: whether there are texts without labels that the settings do not name.

    Returns:
        The settings with the trained teachers, and how good they are.

    Raises:
        UsageError: if the settings contradict each other, or a model is there that is neither resumed nor replaced.
        DataError: if a folder lacks its weights or its tokenizer, or there is no model of the name.
        MissingExtraError: without the extra "transformers".
        Interrupted: when asked to stop; ``resume`` goes on.
    """
    names, results = list(config.distil.teacher), {}
    wanted = [name for name in names if is_transformer(name, places.data)]
    if len(set(wanted)) < len(wanted):
        raise UsageError(f"distil.teacher: {', '.join(wanted)}: name each transformer once")
    for name in wanted:
        find_encoder(name, download=True, folder=places.data, setting="distil.teacher")
    found = source_of or (lambda own: find_source(own, data_root(own, places.data)))
    rows, classes = _counted(found(config)) if wanted else (FEW, 2)
    for number, name in enumerate(wanted, start=1):
        folder = places.out / (FOLDER if number == 1 else f"{FOLDER}-{number}")
        own = fine_tuning(config, name, rows, classes)
        how = ", in SetFit's way, because there are few labels" if own.train.contrast else ""
        print_line(f"fine-tuning the teacher {name}{how}")
        prepared = prepare(own, places.data) if source_of is None else prepare_examples(own, source_of(own))
        results[name] = train(
            own,
            prepared,
            folder=folder,
            resume=places.resume,
            overwrite=places.overwrite,
            reporter=reporter,
        )
        metric, value = next(iter(results[name].dev.metrics.items()))
        print_line(
            f"teacher {name}: {metric} {value:.4f} on {'dev' if 'dev' in prepared.datasets else 'cross-validation'}"
        )
        names[names.index(name)] = str(folder)
    distil = replace(config.distil, teacher=tuple(names))
    if (
        wanted
        and not (distil.texts or further)
        and distil.augment < 0
        and (copies := copies_of(config, rows))
    ):
        distil = replace(distil, augment=copies)
        print_line(
            f"{rows:,} labels and no texts without labels: the teacher also answers up to {copies} changed copies "
            "of each; texts of the same source (--texts FILE, in Python texts=) teach more"
        )
    return FineTuned(replace(config, distil=distil), results)


def copies_of(config: RunConfig, rows: int) -> int:
    """Return how many changed copies of each text a student reads where no texts without labels are named.

    Args:
        config: the settings of the student.
        rows: training examples with gold.

    Returns:
        As many as make `COPIED` texts, at most `COPIES`. With `FEW` rows and more, none but for classes of single
        texts, where they were measured (docs/lab/distillation.md).
    """
    kind = kind_of(config.model.task)
    measured = kind.outputs == "classes" and kind.texts == 1 and not kind.of_words
    return min(COPIES, COPIED // max(rows, 1)) if measured or rows < FEW else 0


def _counted(source: Source) -> tuple[int, int]:
    """Return how many training examples with gold a student has, and how many different golds."""
    examples = source.load()["train"].examples
    gold = [str(example.target) for example in examples if example.target is not None]
    return len(gold), len(set(gold))
