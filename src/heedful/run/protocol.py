"""The protocol: how the splits of a data set were made, and which of them selects, as fields and as a sentence."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Literal

from heedful.data import catalog
from heedful.run.run_config import DataConfig, RunConfig
from heedful.tasks import task_named

GENERATED = "scenes"
"""What ``data.set`` names for the corpus that Heedful generates."""
FOLD_SEED = 0
"""Folds are the same for every training seed, so that seeds and folds vary apart."""


@dataclass(frozen=True)
class Protocol:
    """Which examples train, which split selects the best checkpoint, and which split is tested.

    Attributes:
        origin: "splits" of a known data set, "folds" of one or of a named file, the "generated" corpus, named "files",
            or examples from "python".
        selects: "dev" for a split of its own, "cut" for one that is held out from the training examples, "folds" for
            cross-validation on few training examples, "taught" for texts without labels as a teacher answers them,
            "test" for the best of all evaluations on the test split itself, as the papers report it.
        train: the split that trains; only if the origin is splits.
        dev: the split or file that selects; empty unless ``selects`` is "dev".
        test: the split or file that is tested; empty if there is none.
        train_limit: how many of the first training examples are used; 0 for all.
        dev_fraction: share that is held out from the training examples, or from the texts without labels; 0 unless
            ``selects`` is "cut" or "taught".
        cut_seed: random seed of that choice; None if each of several runs uses its own seed.
        folds: number of folds; 0 unless the origin is folds.
        fold: the fold that is held out, from 1; 0 if each is held out in turn.
        fold_seed: random seed of the shuffle before the examples are divided into folds.
    """

    origin: Literal["splits", "folds", "generated", "files", "python"]
    selects: Literal["dev", "cut", "test", "folds", "taught"]
    train: str = ""
    dev: str = ""
    test: str = "test"
    train_limit: int = 0
    dev_fraction: float = 0.0
    cut_seed: int | None = None
    folds: int = 0
    fold: int = 0
    fold_seed: int = FOLD_SEED

    def of_all_runs(self) -> Protocol:
        """Return what the runs of a study share: neither one seed nor one fold."""
        return replace(self, cut_seed=None, fold=0)

    def sentence(self) -> str:
        """Return it in words, without a final stop."""
        return f"{self._examples()}; {self._selection()}"

    def _examples(self) -> str:
        if self.origin == "folds":
            which = (
                f"fold {self.fold} of {self.folds}" if self.fold else f"each of {self.folds} folds in turn"
            )
            return f"{which} (shuffle seed {self.fold_seed}) is the test split"
        if self.origin == "splits":
            official = (self.train, self.test) == ("train", "test")
            how = (
                "official splits" if official else f"training split {self.train!r}, test split {self.test!r}"
            )
            return how + (f"; the first {self.train_limit:,} training examples" if self.train_limit else "")
        return {"generated": "generated corpus", "files": "named files", "python": "examples from Python"}[
            self.origin
        ]

    def _selection(self) -> str:
        if self.selects == "test":
            return "the papers' own protocol: the best of all evaluations on the test split itself"
        once = "; the test split is read once" if self.test else ""
        if self.selects == "folds":
            return f"everything is chosen by cross-validation on the training examples, and fitted on all of them{once}"
        if self.selects == "taught":
            return (
                f"{self.dev_fraction:.0%} of the texts without labels, with the teacher's answers as labels, are the "
                f"dev split, which selects the best checkpoint: figures on it are agreement with the teacher{once}"
            )
        if self.selects == "dev":
            return f"{self._dev()} selects the best checkpoint{once}"
        seed = "with the run's seed" if self.cut_seed is None else f"seed {self.cut_seed}"
        held = f"{self.dev_fraction:.0%} of the training split ({seed})"
        return f"{held} is held out as the dev split, which selects the best checkpoint{once}"

    def _dev(self) -> str:
        if self.origin == "generated":
            return "its dev split"
        if self.origin == "splits":
            return "the official dev split" if self.dev == "dev" else f"the split {self.dev!r}"
        return "the dev file"


def protocol_of(data: DataConfig, seed: int) -> Protocol:
    """Return by the settings how the parts of a run come about; nothing is read.

    Args:
        data: the settings of the data; they name a known data set, the generated corpus, or files.
        seed: of the run, which cuts a dev part.

    Returns:
        The protocol.

    Raises:
        UsageError: if the data set is unknown.
    """
    if data.set == GENERATED:
        return _selected(Protocol("generated", "dev"), data, seed, "dev")
    if not data.set:
        if data.hold_out_fold:
            whole = Protocol("folds", "dev", folds=data.folds, fold=data.fold)
            return _selected(whole, data, seed, data.dev)
        return _selected(Protocol("files", "dev", test=data.test), data, seed, data.dev)
    names = catalog.splits(data.set)
    if "train" not in names:
        whole = Protocol("folds", "dev", folds=data.folds, fold=data.fold)
        return _selected(whole, data, seed, "")
    test = data.test or "test"
    dev = data.dev or ("dev" if "dev" in names and test != "dev" else "")
    parts = Protocol("splits", "dev", data.train or "train", test=test, train_limit=data.train_limit)
    return _selected(parts, data, seed, dev)


def _selected(protocol: Protocol, data: DataConfig, seed: int, dev: str) -> Protocol:
    """Fill in which part selects, where ``dev`` is the part that may."""
    if data.protocol == "paper":
        return replace(protocol, selects="test")
    if dev:
        return replace(protocol, selects="dev", dev=dev)
    return replace(protocol, selects="cut", dev_fraction=data.dev_fraction, cut_seed=seed)


def few_rows(config: RunConfig) -> int:
    """Return below how many training rows everything is chosen by cross-validation; 0 for never.

    Args:
        config: the settings. A pretrained encoder, vectors of a teacher and long texts in windows need a network.

    Returns:
        The number of rows.
    """
    if config.data.learn_from:  # linear parts alone learn on, of however many rows
        return sys.maxsize
    able = task_named(config.model.task).chooses_by_folds
    parts = config.model.wide != "none" or config.model.sentence != "none"
    vectors = config.distil.teacher and config.distil.vectors
    network = bool(vectors or config.model.pretrained.name)
    return config.data.few_rows if able and parts and not network and config.data.protocol == "honest" else 0
