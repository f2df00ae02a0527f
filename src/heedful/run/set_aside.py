"""Rows that are set aside, and texts that belong to no class: they say afterwards how far a model can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from heedful.data.examples import Corpus, Example
from heedful.data.folds import copies, split_dev
from heedful.data.readers.class_folders import find_named
from heedful.data.readers.soft_labels import read_unlabeled
from heedful.errors import DataError, UsageError
from heedful.features.feature_kinds import wanted_columns
from heedful.run.run_config import RunConfig
from heedful.tasks import Corpora, Source, task_named
from heedful.tasks.class_costs import DEFAULT_KEEP
from heedful.tasks.sentences.limit_options import ASIDE, STRANGERS, refuse_too_few, rejects, wanted_share
from heedful.tasks.tables import published, sum_of

_OTHER_ROWS = 7919
"""Added to the seed, so that the rows are others than those that a dev split of this share would have."""


def with_aside(
    config: RunConfig, source: Source, root: Path | None, strangers: Sequence[Example] | None = None
) -> Source:
    """Cut the part off that is set aside, and read the texts of no class.

    Args:
        config: the settings; those of the task itself say how much is set aside.
        source: where the examples come from.
        root: the folder of data sets; None for none.
        strangers: texts of no class from Python; None for those of the file that the settings name.

    Returns:
        The source; a row of each class stays in training, and copies of a text stay together.

    Raises:
        DataError: if there are too few rows, or a text of no class is a training text too.
        UsageError: if there is no such file.
    """
    options = config.model.task_options
    named = str(options.get(STRANGERS, ""))
    fingerprint, load = source.fingerprint, source.load
    others = None if strangers is None else Corpus(list(strangers))
    if others is None and named:
        file = find_named(named, root)
        sides = task_named(source.task).sides
        data = config.data
        pair = (data.premise or "premise", data.hypothesis or "hypothesis")
        beside = [each.name for each in wanted_columns(data.features)]
        others = read_unlabeled(file, (data.text or "text",) if sides == 1 else pair, beside)
        fingerprint = {**fingerprint, published(STRANGERS, named): sum_of(file)}

    def arranged() -> Corpora:
        parts = load()
        share = wanted_share(options, chosen_by_folds="dev" not in parts)
        if share:
            parts = _cut(parts, share, config.train.seed)
        if rejects(options):
            held = parts.get(ASIDE, parts["train"]).examples
            keep = options.get("reject") or DEFAULT_KEEP
            refuse_too_few(cast(float, keep), sum(each.weight > 0 for each in held))
        return parts if others is None else {**parts, STRANGERS: _apart(others, parts)}

    return replace(source, load=arranged, fingerprint=fingerprint)


def _cut(parts: Corpora, share: float, seed: int) -> Corpora:
    train = parts["train"]
    try:
        rest, aside = split_dev(train.examples, share, seed + _OTHER_ROWS)
    except UsageError as error:
        raise DataError(
            f"{train.source or 'training data'}: {len(train.examples):,} usable rows are too few to set aside "
            f"{share:.0%} of them (model.task_options.held_out); add rows, or set more aside"
        ) from error
    return {**parts, "train": replace(train, examples=rest), ASIDE: Corpus(aside, source=train.source)}


def _apart(others: Corpus, parts: Corpora) -> Corpus:
    """Return texts of no class, with a gold that nobody reads; refuse one that is an example too."""
    where = others.source or "none_of_these"
    if not others.examples:
        raise DataError(f"{where}: holds no text; give texts that belong to no class, or leave it out")
    known = {key for name in ("train", "dev", ASIDE) if name in parts for key in copies(parts[name].examples)}
    for number, (example, key) in enumerate(zip(others.examples, copies(others.examples), strict=True), 1):
        if key in known and len(key) == len(example.texts) and any(key):
            raise DataError(
                f"{where}, row {example.row or number}: {example.texts[0]!r:.60} is a training text of a class too; "
                "remove it from one of the two"
            )
    gold = next(each.target for each in parts["train"].examples if each.target is not None)
    return Corpus([replace(each, target=gold) for each in others.examples], source=others.source)
