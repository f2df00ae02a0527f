"""The scoreboard of data whose words have tags: chains without a network, and Heedful's networks that are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from heedful.baselines.board import Board, Row, tested_pairs
from heedful.baselines.measure import Measured
from heedful.baselines.splits import Numbers
from heedful.baselines.tag_rival import CRF, TagRival, TagSplit, tag_splits
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.run import prepare_examples, train
from heedful.run.run_config import RunConfig
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.tag_part import NeighborVectors
from heedful.tasks import Source
from heedful.text.bio import scheme_of
from heedful.text.boundaries import AUTO, choose_tokenizer
from heedful.text.english import ENGLISH, is_english, package_of
from heedful.text.tokenize import tokenizer


@dataclass(frozen=True)
class TagRun:
    """One run of a board of tags.

    Attributes:
        config: its settings.
        source: its examples.
        seed: of what draws.
    """

    config: RunConfig
    source: Source
    seed: int


def tag_board(
    name: str,
    runs: Mapping[str, TagRun],
    encoders: Sequence[str] = (),
    without: Sequence[str] = (),
    print_line: Callable[[str], None] = lambda _: None,
) -> Board:
    """Train and measure every system on every run, and test all pairs.

    Args:
        name: of the data.
        runs: the setting that is varied to the run.
        encoders: Heedful's networks to train with the settings of the run, by the names of their encoders.
        without: parts of the names of systems to leave out.
        print_line: told what happens next.

    Returns:
        The board.

    Raises:
        UsageError: if the data has no test split.
    """
    measured: dict[str, dict[str, Measured]] = {}
    gold: dict[str, Numbers] = {}
    counts, metric, protocol = (0, 0), "f1", ""
    for varied, run in runs.items():
        cutter = _cutter(run)
        splits, labels = tag_splits(run.source, tokenizer(cutter))
        if "test" not in splits:
            raise UsageError(f"{name}: has no test split; name a file: --set data.test=FILE")
        metric = "accuracy" if scheme_of(labels) == "plain" else "f1"
        counts, protocol = (
            (len(splits["train"].texts), len(splits["test"].texts)),
            run.source.protocol.sentence(),
        )
        systems = _systems(run, splits, labels, encoders)
        for system, made in systems.items():
            if any(part in system for part in without):
                continue
            print_line(f"{system} ...")
            started = time.process_time()
            report, rate, chosen = made()
            spent = time.process_time() - started
            right, gold[varied] = cast(Numbers, report.predicted), cast(Numbers, report.gold)
            if metric == "accuracy":
                right = (report.gold == report.predicted).astype(np.int64)
                gold[varied] = np.ones(len(right), np.int64)
            figures = Measured(report.metrics[metric], right, None, None, spent, rate, None, chosen)
            measured.setdefault(system, {})[varied] = figures
    rows = [Row(system, system.startswith("Heedful"), each) for system, each in measured.items()]
    rows.sort(key=lambda row: -(row.mean("metric") or 0.0))
    return Board(name, metric, protocol, *counts, gold, tuple(rows), {}, tested_pairs(rows, metric, gold))


def _systems(
    run: TagRun, splits: dict[str, TagSplit], labels: tuple[str, ...], encoders: Sequence[str]
) -> dict[str, Callable[[], tuple[Report, float, str]]]:
    """Return what trains and measures each system, by its name."""
    found = {CRF: partial(_chain, splits, labels, run.seed, None)}
    if (vectors := _vectors(splits["train"])) is not None:
        found[f"{CRF}, with word vectors ({ENGLISH})"] = partial(_chain, splits, labels, run.seed, vectors)
    return {**found, **{f"Heedful, {encoder}": partial(_network, run, encoder) for encoder in encoders}}


def _cutter(run: TagRun) -> str:
    name = run.config.text.tokenizer
    if name != AUTO:
        return name
    return choose_tokenizer(text for each in run.source.load()["train"].examples for text in each.texts).name


def _vectors(split: TagSplit) -> NeighborVectors | None:
    step = max(1, len(split.texts) // 500)
    english = package_of(ENGLISH) and is_english(" ".join(words) for words in split.texts[::step])
    return NeighborVectors(MeanOfVectors.packaged(ENGLISH)) if english else None


def _chain(
    splits: dict[str, TagSplit], labels: tuple[str, ...], seed: int, vectors: NeighborVectors | None
) -> tuple[Report, float, str]:
    rival = TagRival.train(splits, labels, seed, vectors)
    return _timed(
        lambda: rival.report(splits["test"]), len(splits["test"].texts), f"strength {rival.strength:g}"
    )


def _network(run: TagRun, encoder: str) -> tuple[Report, float, str]:
    model = replace(run.config.model, encoder=encoder, encoder_options={})
    settings = replace(run.config.train, seed=run.seed)
    result = train(
        replace(run.config, model=model, train=settings),
        prepare_examples(replace(run.config, model=model, train=settings), run.source),
    )
    assert result.test is not None  # the board refuses data without a test split
    return result.test, result.test.count / max(result.test.seconds, 1e-9), f"step {result.fit.best_step:,}"


def _timed(measure: Callable[[], Report], texts: int, chosen: str) -> tuple[Report, float, str]:
    started = time.process_time()
    report = measure()
    return report, texts / max(time.process_time() - started, 1e-9), chosen
