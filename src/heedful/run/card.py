"""What training writes for a reader who has to decide whether to trust a model: its card, and warnings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from heedful.data.encoding import EncodedDataset
from heedful.errors import listed
from heedful.model.decisions import kind_of
from heedful.model.training_examples import KeptExamples
from heedful.model.training_sums import KeptSums
from heedful.models.config import NO_NETWORK
from heedful.run.column_notes import columns_left_out, columns_of_card, far_numbers
from heedful.run.learning_on import about_learning_on
from heedful.run.recipe_files import to_toml
from heedful.run.run_config import RunConfig
from heedful.runtime.tag_part import TagPart
from heedful.storage.fields import Fields
from heedful.tables import figure, markdown_table
from heedful.tasks import AnyPrepared, task_named
from heedful.tasks.sentences.limit_options import STRANGERS
from heedful.tasks.sentences.report_inputs import unknown_words
from heedful.text.wide_part import WidePart
from heedful.training.progress import number_of

if TYPE_CHECKING:
    from heedful.run.record import RunResult


def model_card(
    config: RunConfig,
    prepared: AnyPrepared,
    result: RunResult,
    wide: WidePart | None = None,
) -> str:
    """Write the card.

    Args:
        config: the settings of the run.
        prepared: the data it was trained on.
        result: what was trained, and its figures.
        wide: what is added to the network's logits; None where there is nothing.

    Returns:
        Markdown.
    """
    data = (
        config.data.set
        or PurePath(config.data.train).name
        or f"{len(prepared.datasets['train']):,} examples given in Python"
    )
    encoder = result.predictor.model.encoder
    name = f"Linear model on {data}" if encoder == NO_NETWORK else config.name or f"{encoder} on {data}"
    task = task_named(prepared.task)
    train, labels = prepared.datasets["train"], listed(prepared.labels) if prepared.labels else ""
    held = "dev" if "dev" in prepared.datasets else "cross-validation"
    held_to = getattr(result.predictor, "held_to", None)
    lines = [
        *_front_matter(config, name, task.hub_task, result, held),
        f"# {name}",
        "",
        f"A Heedful model ({made_of(result)}). "
        f"It predicts {task.question}" + (f": {labels}." if labels else "."),
        *_limits(result),
        "",
        "## Use",
        "",
        "```python",
        "import heedful",
        "",
        'model = heedful.from_pretrained("PATH OF THIS FOLDER")',
        task.usage,
        "```",
        "",
        "## Figures",
        "",
        f"Protocol: {prepared.protocol.sentence()}.",
        "",
        *markdown_table(
            ["part", "examples", *result.dev.metrics],
            (
                [part, f"{report.count:,}", *map(figure, report.metrics.values())]
                for part, report in ((held, result.dev), ("test", result.test))
                if report is not None
            ),
        ),
    ]
    lines += [
        "",
        _course(config, result),
        *(["", result.parts] if result.parts else []),
        *_about_wide(config, wide),
        *columns_of_card(config.data.features, result),
        *_about_tagging(result.predictor.about.tagging),
        *_about_training(result),
        "",
        "## Data",
        "",
        f"{len(train):,} training examples; {task.vocabulary_note(prepared.lexicon)}.",
        *about_learning_on(
            prepared.before,
            len(train),
            sums=result.predictor.about.sums is not None,
            settings_of=0 if held_to is None else held_to.rows,
        ),
        *_about_examples(result.predictor.about.examples),
        *_about_sums(result.predictor.about.sums),
        *[f"- {note}" for note in prepared.notes],
        *[f"- `{file}` SHA-256 `{digest}`" for file, digest in prepared.fingerprint.items()],
        "",
        "## Limits",
        "",
        task.limits(prepared.lexicon, result.predictor.network),
        "",
        "## Settings",
        "",
        "```toml",
        to_toml(config).rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def made_of(result: RunResult) -> str:
    """Return what the model of a run is made of."""
    encoder = result.predictor.model.encoder
    if encoder == NO_NETWORK:
        return "linear parts alone, without a network"
    return f"{encoder}, {result.parameters:,} parameters without word vectors"


def _course(config: RunConfig, result: RunResult) -> str:
    """Return how training went."""
    if result.predictor.model.encoder == NO_NETWORK:
        return f"Seed {config.train.seed}; training took {_time(result.seconds)}."
    return (
        f"Seed {config.train.seed}; best at step {result.fit.best_step:,} of {result.fit.steps:,}; training took "
        f"{_time(result.seconds)}."
    )


def _time(seconds: float) -> str:
    """Return a time of which something is left when it is short."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"


def _front_matter(config: RunConfig, name: str, hub_task: str, run: RunResult, held: str) -> list[str]:
    """Write what the Hugging Face Hub reads of a card; values are JSON, which YAML holds too."""
    measured = run.test or run.dev
    encoder = run.predictor.model.encoder
    data = config.data.set or "own"
    result = {
        "task": {"type": hub_task},
        "dataset": {"type": data, "name": data, "split": "test" if run.test else held},
        "metrics": [{"type": kind, "value": value} for kind, value in measured.metrics.items()],
    }
    values: dict[str, object] = {
        "library_name": "heedful",
        "pipeline_tag": hub_task,
        "tags": ["heedful", "linear" if encoder == NO_NETWORK else encoder],
        **({"datasets": [data]} if config.data.set else {}),
        "model-index": [{"name": name, "results": [result]}],
    }
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in values.items()), "---", ""]


def _about_training(result: RunResult) -> list[str]:
    """Write what looked broken while the network was trained, and how many units never fire."""
    dead = [
        f"{share:.0%} of the units of {name}" for name, share in result.fit.dead.items() if share >= NAMED
    ]
    never = (
        [f"When training ended, {', '.join(dead)} fired for no training text that was looked at."]
        if dead
        else []
    )
    signs = [f"- {sentence}." for sentence in result.fit.signs]
    heading = ["", "While it was trained, this was noticed:", ""] if signs else []
    return [*heading, *signs, *(["", *never] if never else [])]


def _about_tagging(part: TagPart | None) -> list[str]:
    if part is None:
        return []
    reads = "" if part.vectors is None else " and the vectors of words"
    return [
        "",
        f"A linear part over {len(part.numbers):,} features of words, their shapes and their neighbors{reads} is added "
        "to the logits, and a chain scores tags side by side.",
    ]


def _about_wide(config: RunConfig, wide: WidePart | None) -> list[str]:
    if wide is not None:
        return [
            "",
            f"A wide part, a linear model over {len(wide.numbers):,} words, phrases and runs of characters, is added "
            f"to the logits {wide.weight:.2f} times.",
        ]
    tried = config.model.wide != "none" and kind_of(config.model.task).joins_parts
    return ["", "A wide part was tried and left out: it did not help."] if tried else []


def _about_examples(kept: KeptExamples | None) -> list[str]:
    """Say that training examples lie in the folder: whoever has the model can read them."""
    if kept is None:
        return []
    what = "with their labels and vectors, for everybody to read who has the model"
    if kept.texts is None:
        what = "as their rows, labels and vectors, without the texts"
    return ["", f"**This folder holds {len(kept):,} of the training examples**, {what}.", ""]


def _about_sums(sums: KeptSums | None) -> list[str]:
    """Say that sums over the training rows lie in the folder."""
    if sums is None:
        return []
    return [
        "",
        f"The folder keeps sums over {sums.rows:,.0f} training rows, from which `heedful train --from` learns on "
        "without the rows: how features occur together and with each class, and how many rows of each class have a "
        "word. They hold no text; `data.keep_sums=false` leaves them out.",
        "",
    ]


NAMED = 0.1
"""Share of units that never fire from which on the card names a layer."""
MOSTLY = 0.5
"""Share from which on a matter is "most" of the texts or words."""


def _limits(result: RunResult) -> list[str]:
    """Say when it answers no class, and which rows can calibrate sets of labels or intervals."""
    reject, held = result.predictor.about.reject, result.predictor.held_scores
    found = []
    if reject is not None:
        found += [
            "",
            f"A text that is more unlike the training texts than {reject.keep:.4g} of known texts is answered with "
            f"{reject.label!r} (fitted on {reject.fitted}).",
        ]
    if held is not None:
        kind = (
            "rows that were set aside" if held.source == "held_out" else "out-of-fold scores of training rows"
        )
        found += [
            "",
            f"Sets of labels and intervals (`--coverage`) are calibrated on {len(held.gold):,} {kind}; what they "
            "promise assumes that new texts come from where these rows came from.",
        ]
    return found


def cautions(prepared: AnyPrepared, result: RunResult) -> list[str]:
    """Look for signs that a model learned little, or that its text was read wrongly.

    Args:
        prepared: the data.
        result: the run on it.

    Returns:
        One sentence a matter; none where nothing stands out.
    """
    where = "on the dev split" if "dev" in prepared.datasets else "in cross-validation"
    return [
        *_single_examples(prepared),
        *(() if result.predictor.model.task_options.get("loss") == "huber" else far_numbers(prepared)),
        *(_never_predicted(result, where) if result.predictor.measured else ()),
        *_worse_from_the_start(result),
        *_without_columns(result),
        *_text(prepared, result.predictor.reading.knows),
    ]


def _without_columns(result: RunResult) -> Iterator[str]:
    about = result.predictor.about
    settings = Fields(about.run, "the settings of the run").part("data", {})
    if said := columns_left_out(settings.texts("features", ()), about):
        yield said


def _single_examples(prepared: AnyPrepared) -> Iterator[str]:
    """Name classes with one example: it is either learned from or measured, and neither says much."""
    parts = [(name, prepared.datasets.get(name)) for name in ("train", "dev")]
    known = [
        (name, part)
        for name, part in parts
        if isinstance(part, EncodedDataset) and part.targets is not None and part.targets.dtype == np.int64
    ]
    file = next(iter(prepared.fingerprint), "training data")
    found = []
    for number, label in enumerate(prepared.labels):
        places = [
            (name, int(part.rows[k])) for name, part in known for k in np.flatnonzero(part.targets == number)
        ]
        if len(places) == 1:
            found.append((label, *places[0]))
    if len(found) > _FEW:
        yield (
            f"{file}: {len(found):,} classes have a single example, such as {_listed([each[0] for each in found])}, so "
            "the model can hardly learn them. Add examples of them, or drop the rows."
        )
        return
    for label, name, row in found:
        yield (
            f"{file}: row {row} is the only example of class {label!r}, and it is in the {name} split, so the "
            "model can hardly learn this class. Add examples of it, or drop the row."
        )


_FEW = 3
"""Classes that each have a line of their own; more of them share one."""


def _listed(names: list[str]) -> str:
    return ", ".join(f"{name!r:.60}" for name in names[:_FEW])


def _never_predicted(result: RunResult, where: str) -> Iterator[str]:
    confusion, total = result.dev.confusion, result.dev.count
    answered = Counter[str]()
    for row in confusion.values():
        answered.update(row)
    counts = {name: sum(row.values()) for name, row in confusion.items()}
    never = {name: gold for name, gold in counts.items() if gold and not answered[name]}
    if len(never) > _FEW:
        yield (
            f"The model never predicts {len(never):,} classes {where}, such as {_listed(list(never))}, which "
            f"{sum(never.values()):,} of {total:,} examples have. Add examples of these classes."
        )
        return
    for name, gold in never.items():
        yield (
            f"The model never predicts {name!r} {where}, where {gold:,} of {total:,} examples have it. "
            "Add examples of this class."
        )


def _worse_from_the_start(result: RunResult) -> Iterator[str]:
    fit, settings = result.fit, Fields(result.predictor.about.run, "the settings of the run").part("train")
    metric = settings.text("metric")
    if fit.epochs < 3 or not 0 <= fit.best_step <= fit.steps / fit.epochs:
        return
    best, sign = fit.best_metrics[metric], 1 if settings.text("direction") == "max" else -1
    later = [number_of(record, metric) for record in fit.history if number_of(record, "step") > fit.best_step]
    if all(sign * value < sign * best for value in later):  # as good again is no worse
        yield (
            f"The model was best after its first epoch of {fit.epochs}, and only got worse on the dev split. Lower "
            "train.optimizer.lr, or raise model.dropout."
        )


def _text(prepared: AnyPrepared, knows: Callable[[str], bool]) -> Iterator[str]:
    training = prepared.datasets["train"]
    if not isinstance(training, EncodedDataset):  # subwords, of which none is unknown
        return
    lengths = training.words()
    if lengths.size and (share := float((lengths == 1).mean())) > MOSTLY:
        yield (
            f"{share:.0%} of the training texts are a single token. Check that the column is the right one, and that "
            "the tokenizer separates the words of its language."
        )
    for name, dataset in prepared.datasets.items():
        if name in ("train", STRANGERS) or not isinstance(dataset, EncodedDataset):
            continue
        words = int(dataset.words().sum())
        if words and (share := unknown_words(dataset, knows) / words) > MOSTLY:
            yield (
                f"{share:.0%} of the words of the {name} split are unknown to the model. Check that it is written like "
                "the training split; word vectors (text.vectors) make more words known."
            )
