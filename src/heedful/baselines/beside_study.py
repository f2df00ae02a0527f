"""The linear baselines beside the runs of a study, each on the splits of its seed or fold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heedful.baselines.beside import Beside, adjusted, baselines_of
from heedful.baselines.linear import LinearModel
from heedful.baselines.splits import CLASS_TASKS, Splits, read_splits
from heedful.config import RunConfig, load_config
from heedful.evaluation import classification_metrics, paired_seeds
from heedful.run.comparison import Run, compare
from heedful.run.sources import data_root, find_source
from heedful.run.studies import Study


def beside_study(study: Study, recipe: str, data: Path | None, overrides: Sequence[str]) -> Beside | None:
    """Train the baselines for every run of a study.

    Args:
        study: the figures of the runs.
        recipe: what was run.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        overrides: the settings that all runs share, the number of folds included.

    Returns:
        The comparison: the paired bootstrap over the test examples, and over the runs on dev. None where
        `heedful.baselines.beside.beside_source` gives none.
    """
    configs = [load_config(recipe, [*overrides, str(run.varied)]) for run in study.runs]
    own = [Run.of_record(run) for run in study.runs]
    beside: dict[str, list[Run]] = {}
    dev: dict[str, list[float]] = {}
    models: dict[str, LinearModel] = {}
    for config, run in zip(configs, own, strict=True):
        splits = _splits(config, data)
        if splits is None or splits.test is None or not np.array_equal(splits.test.gold, run.gold):
            return None
        models = baselines_of(splits)
        for name, model in models.items():
            predicted = model.outputs(splits.test.texts).argmax(axis=1)
            metrics = classification_metrics(splits.test.gold, predicted)
            beside.setdefault(name, []).append(Run(run.varied, metrics, run.gold, predicted, run.classes))
            on_dev = model.outputs(splits.dev.texts).argmax(axis=1)
            dev.setdefault(name, []).append(float(np.mean(on_dev == splits.dev.gold)))
    own_dev = [run.figures.dev.metrics["accuracy"] for run in study.runs]
    tests = {
        "dev": {name: paired_seeds(own_dev, values) for name, values in dev.items()},
        "test": {
            name: compare(("study", name), own, runs, ["accuracy"]).tests["accuracy"][-1]
            for name, runs in beside.items()
        },
    }
    return adjusted(tests, models)


def _splits(config: RunConfig, data: Path | None) -> Splits | None:
    source = find_source(config, data_root(config, data))
    by_cost = bool(config.model.task_options.get("costs"))
    return read_splits(source) if source.task in CLASS_TASKS and not by_cost else None
