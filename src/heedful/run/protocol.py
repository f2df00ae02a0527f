"""The protocol by the settings: how the splits of a data set come about, and which of them selects."""

from __future__ import annotations

import sys
from dataclasses import replace

from heedful.data import catalog
from heedful.run.run_config import DataConfig, RunConfig
from heedful.tasks import task_named
from heedful.tasks.prepared import Protocol

GENERATED = "scenes"
"""What ``data.set`` names for the corpus that Heedful generates."""


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
