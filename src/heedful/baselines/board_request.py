"""From what a user names to a scoreboard: a known data set, a recipe, or a table of one's own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from heedful.baselines.board import Board, Row, make_board
from heedful.baselines.measure import Measured
from heedful.baselines.splits import Splits, read_splits
from heedful.baselines.system_choice import roster
from heedful.baselines.systems import HeedfulSystem
from heedful.data import catalog
from heedful.data.datasets import data_sets
from heedful.errors import UsageError
from heedful.model.decisions import kind_of
from heedful.run.comparison import read_study
from heedful.run.decided_by_data import remembered
from heedful.run.own_file import is_own_file, own_file
from heedful.run.recipe_files import load_config
from heedful.run.run_config import RunConfig
from heedful.run.sources import data_root, find_source
from heedful.storage.installed import recipe_names
from heedful.tasks import task_named

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class BoardRequest:
    """What a scoreboard is to hold, whatever the data.

    Attributes:
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        runs: seeds; or numbers of folds, where the data has no split of its own.
        examples: train on so many drawn examples; 0 for all.
        encoders: Heedful's networks to train, by the names of their encoders.
        without: parts of the names of systems to leave out.
        studies: networks that ``heedful study`` trained on the same splits, "NAME=FOLDER".
        overrides: ``key=value`` settings.
        frozen: folders of pretrained encoders, whose vectors a linear model reads.
    """

    folder: Path | None
    runs: Sequence[int]
    examples: int = 0
    encoders: Sequence[str] = ()
    without: Sequence[str] = ()
    studies: Sequence[str] = ()
    overrides: Sequence[str] = ()
    frozen: Sequence[Path] = ()


def board_of(
    name: str, request: BoardRequest, *, print_line: Callable[[str], None] = lambda _: None
) -> Board:
    """Make the scoreboard of one data set.

    Args:
        name: see `settings_of`.
        request: what it is to hold.
        print_line: told what happens next.

    Returns:
        The board.

    Raises:
        UsageError: if the data or a system is unknown, or the data has no test split.
    """
    config = settings_of(name, request.overrides, request.folder)
    if kind_of(config.model.task).of_words:
        return _board_of_tags(name, config, request, print_line)
    if config.data.features:
        beside = ", ".join(config.data.features)
        _LOG.warning("data.features: simple models read texts alone, without the columns %s", beside)
    splits = splits_of_runs(config, request.folder, request.runs, request.examples)
    task = next(iter(splits.values())).task
    root = data_root(config, request.folder)
    systems, skipped = roster(config, task, root, request.encoders, request.without, request.frozen)
    kept = []
    for study in request.studies:
        system, sign, folder = study.partition("=")
        if not sign:
            raise UsageError(f"--study {study!r}: write NAME=FOLDER")
        kept.append(kept_row(system, Path(folder), list(splits)))
    return make_board(
        name,
        splits,
        systems,
        own=lambda system: isinstance(system, HeedfulSystem),
        kept=kept,
        skipped=skipped,
        print_line=print_line,
    )


def _board_of_tags(
    name: str, config: RunConfig, asked: BoardRequest, print_line: Callable[[str], None]
) -> Board:
    if asked.examples or asked.studies:
        raise UsageError("--examples and --study: a board of tags takes neither")
    from heedful.baselines.tag_board import TagRun, tag_board

    runs = {}
    for number in asked.runs:
        own = replace(config, train=replace(config.train, seed=number))
        source = find_source(own, data_root(own, asked.folder))
        runs[f"train.seed={number}"] = TagRun(own, replace(source, load=remembered(source.load)), number)
    return tag_board(name, runs, asked.encoders, asked.without, print_line)


def settings_of(name: str, overrides: Sequence[str] = (), folder: Path | None = None) -> RunConfig:
    """Return the settings of what a user names, with a dev split that all systems share.

    Args:
        name: a known data set, whose packaged DiSAN recipe is taken; a recipe or TOML file; or data of one's own, whose
            columns `heedful.run.own_file` recognizes.
        overrides: ``key=value`` settings.
        folder: the folder of data sets; None for none.

    Returns:
        The settings.

    Raises:
        UsageError: if there is nothing of this name, or it is not data of texts or pairs.
    """
    config = _settings_of(name, overrides, folder)
    return replace(config, data=replace(config.data, few_rows=0))


def _settings_of(name: str, overrides: Sequence[str], folder: Path | None) -> RunConfig:
    if name in data_sets():
        task = catalog.data_set(name).task
        if kind_of(task).of_words:
            return load_config("disan-ewt-upos", [f"data.set={name}", *overrides])
        if not (usual := task_named(task).board_recipe):
            raise UsageError(
                f"{name}: is data of {task!r}; the baselines take classes or scores of texts and pairs, or tags"
            )
        own = (recipe for recipe in recipe_names() if recipe.startswith("disan-"))
        for recipe in own:
            if load_config(recipe).data.set == name:
                return load_config(recipe, overrides)
        return load_config(usual, [f"data.set={name}", "data.options={}", *overrides])
    if is_own_file(name, folder):
        found = own_file(name, overrides, folder)
        return load_config(found.recipe, [*found.overrides, *overrides])
    return load_config(name, overrides)


def splits_of_runs(
    config: RunConfig, folder: Path | None, runs: Sequence[int], examples: int = 0
) -> dict[str, Splits]:
    """Read the splits of every run.

    Args:
        config: the settings.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        runs: seeds; or numbers of folds, where the data has no split of its own.
        examples: train on so many drawn examples; 0 for all.

    Returns:
        The setting that is varied ("train.seed=1" or "data.fold=1") to the splits.

    Raises:
        UsageError: if the data is neither classes nor scores of texts or pairs.
    """
    found: dict[str, Splits] = {}
    folds = bool(config.data.set) and "train" not in _splits(config)
    for number in runs:
        varied = f"data.fold={number}" if folds else f"train.seed={number}"
        of_run = (
            replace(config, data=replace(config.data, fold=number))
            if folds
            else replace(config, train=replace(config.train, seed=number))
        )
        source = find_source(of_run, data_root(of_run, folder))
        if not task_named(source.task).board_recipe:
            raise UsageError(f"the baselines take classes or scores of texts and pairs, not {source.task!r}")
        found[varied] = replace(read_splits(source), seed=of_run.train.seed).limited(examples, seed=number)
    return found


def kept_row(name: str, folder: Path, runs: Sequence[str]) -> Row:
    """Read what ``heedful study`` kept of one of Heedful's networks.

    Args:
        name: for the table.
        folder: the folder of the study.
        runs: the settings that are varied on the board.

    Returns:
        The row; what a study does not keep is empty.

    Raises:
        UsageError: if the study lacks a run.
    """
    kept = {str(run.varied): run for run in read_study(folder)}
    missing = [varied for varied in runs if varied not in kept]
    if missing:
        raise UsageError(f"{folder}: holds no run {missing[0]}; it holds {', '.join(kept) or 'none'}")
    measured = {}
    for varied in runs:
        run = kept[varied]
        classes = "accuracy" in run.metrics
        predicted = (
            (run.gold == run.predicted).astype(np.int64) if classes else np.asarray(run.predicted, np.float64)
        )
        metric = run.metrics["accuracy" if classes else "pearson"]
        measured[varied] = Measured(metric, predicted, None, None, None, None, None, "")
    return Row(name, True, measured, kept=True)


def _splits(config: RunConfig) -> tuple[str, ...]:
    return catalog.splits(config.data.set) if config.data.set in data_sets() else ("train",)
