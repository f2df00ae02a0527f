"""Settings to the three parts of a data set: training examples, the part that selects, the part read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.config import DataConfig, RunConfig
from heedful.data import catalogue, scenes
from heedful.data.examples import Corpus, Example
from heedful.data.folds import folds, split_dev
from heedful.data.readers.table import read_table
from heedful.errors import UsageError

GENERATED = "scenes"


@dataclass(frozen=True)
class Parts:
    """The examples of a run.

    Attributes:
        train: training examples.
        dev: what selects the best weights and stops early.
        test: what is read once, at the end; None where there is none.
        kind: "text", "pair" or "score".
        labels: class names in their fixed order; empty where they are collected from the training examples.
        fingerprint: file to SHA-256 of what was read.
        protocol: one sentence that says how the parts came about.
    """

    train: Corpus
    dev: Corpus
    test: Corpus | None
    kind: str
    labels: tuple[str, ...] = ()
    fingerprint: dict[str, str] = field(default_factory=dict)
    protocol: str = ""


def load_parts(config: RunConfig, folder: Path | None) -> Parts:
    """Read what the settings name.

    Args:
        config: the settings.
        folder: the folder of data sets; None where only generated data is asked for.

    Returns:
        The parts.

    Raises:
        UsageError: if the settings name nothing, or the folder is needed and not given.
        DataError: if a file is missing or wrong.
    """
    data = config.data
    if data.set == GENERATED:
        parts = scenes.generate(seed=config.train.seed, **data.options)
        return Parts(
            parts["train"],
            parts["dev"],
            parts["test"],
            "pair",
            scenes.LABELS,
            protocol="generated corpus; its dev part selects, its test part is read once",
        )
    if data.set:
        return _known_set(config, catalogue.data_folder(folder))
    if data.train:
        return _named_files(config, folder)
    raise UsageError("data.set or data.train must say what to train on; see 'heedful data list'")


def _known_set(config: RunConfig, folder: Path) -> Parts:
    data, seed = config.data, config.train.seed
    known = catalogue.data_set(data.set)
    names = catalogue.splits(data.set)
    fingerprint = catalogue.fingerprint(data.set, folder)

    def load(split: str) -> Corpus:
        return catalogue.load(data.set, split, folder, **data.options)

    if "train" not in names:
        train, test, how = _one_fold(load("all"), data, seed)
    else:
        train, test = load("train"), load("test")
        how = "official split"
    if data.protocol == "paper":
        how += "; the papers' own protocol: the best of all evaluations on the test part itself"
        return Parts(train, test, test, known.kind, known.labels, fingerprint, how)
    if "dev" in names:
        return Parts(train, load("dev"), test, known.kind, known.labels, fingerprint, how + "; dev selects")
    train, dev = _cut_dev(train, data.dev_fraction, seed)
    how += f"; a dev part of {data.dev_fraction:.0%} cut from training (seed {seed}) selects, test is read once"
    return Parts(train, dev, test, known.kind, known.labels, fingerprint, how)


def _one_fold(whole: Corpus, data: DataConfig, seed: int) -> tuple[Corpus, Corpus, str]:
    if not 1 <= data.fold <= data.folds:
        raise UsageError(f"data.fold must be 1 to data.folds = {data.folds}; got {data.fold}")
    fold = folds(len(whole.examples), seed=0, n=data.folds)[data.fold - 1]
    train = [whole.examples[i] for i in fold.train]
    test = [whole.examples[i] for i in fold.test]
    how = f"fold {data.fold} of {data.folds} (shuffle seed 0) held out"
    return Corpus(train, whole.skipped, whole.source), Corpus(test, source=whole.source), how


def _cut_dev(train: Corpus, fraction: float, seed: int) -> tuple[Corpus, Corpus]:
    rest, dev = split_dev(train.examples, fraction, seed)
    return Corpus(rest, train.skipped, train.source), Corpus(dev, source=train.source)


def _named_files(config: RunConfig, folder: Path | None) -> Parts:
    data = config.data
    kind = "score" if data.score else "pair" if data.premise else "text"
    columns: dict[str, Any] = {
        name: getattr(data, name) or None for name in ("text", "premise", "hypothesis", "label", "score")
    }

    def load(name: str) -> Corpus:
        path = Path(name)
        return read_table(path if folder is None else folder / path, **columns, **data.options)

    train = load(data.train)
    test = load(data.test) if data.test else None
    if data.dev:
        return Parts(train, load(data.dev), test, kind, protocol="named files; dev selects, test is read once")
    if data.protocol == "paper" and test is not None:
        how = "named files; the best of all evaluations on the test part itself"
        return Parts(train, test, test, kind, protocol=how)
    train, dev = _cut_dev(train, data.dev_fraction, config.train.seed)
    how = f"named files; a dev part of {data.dev_fraction:.0%} cut from training selects, test is read once"
    return Parts(train, dev, test, kind, protocol=how)


def from_lists(
    texts: list[tuple[str, ...]], targets: list[str | float], dev_fraction: float, seed: int
) -> tuple[Corpus, Corpus]:
    """Make training and dev parts from what Python hands over.

    Args:
        texts: one tuple of strings an example.
        targets: class names or scores.
        dev_fraction: share that becomes the dev part.
        seed: of the cut.

    Returns:
        Training part and dev part.
    """
    examples = [Example(text, target, row=i) for i, (text, target) in enumerate(zip(texts, targets, strict=True), 1)]
    return _cut_dev(Corpus(examples), dev_fraction, seed)
