"""Train, evaluate and save one run from its settings."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import nn

from heedful.attention.implementation import collect_choices, joined_choices
from heedful.data.encoding import EncodedDataset
from heedful.errors import ArtifactError, DivergedError, OutputError, UsageError, check_known
from heedful.evaluation import METRICS, Report
from heedful.machine import threads
from heedful.machine.torch_state import own_torch_state
from heedful.models import MappedVectors, Network
from heedful.models.config import NO_NETWORK
from heedful.nn import VectorTables
from heedful.run.card import model_card
from heedful.run.kept_settings import check_same_run
from heedful.run.learning_on import ROWS
from heedful.run.preparation import TrainingBatches
from heedful.run.recipe_files import as_table, override, to_toml
from heedful.run.record import RunResult
from heedful.run.run_config import RunConfig
from heedful.storage import write_text
from heedful.tasks import AnyModel, AnyPrepared, task_named, task_of
from heedful.tasks.prepared import TRANSFER, Examples
from heedful.tasks.sentences.previous_choice import CHOSEN
from heedful.training.distributed import is_first_process
from heedful.training.loop import FitResult, fit, without_network
from heedful.training.progress import Reporter
from heedful.training.run_folder import RunFolder, RunStorage
from heedful.training.run_state import MEAN_COST
from heedful.training.state import saved_threads
from heedful.training.train_settings import TrainSettings


def train(
    config: RunConfig,
    prepared: AnyPrepared,
    *,
    folder: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    reporter: Reporter | None = None,
) -> RunResult:
    """Train a model, evaluate it on its dev and test splits and save it.

    Args:
        config: the settings.
        prepared: the data, from `prepare`.
        folder: run folder to write; None keeps everything in memory.
        resume: continue an interrupted run in ``folder``.
        overwrite: replace a run in ``folder``; it stays until the settings and the data are accepted.
        reporter: shows progress; None for none.

    Returns:
        The model and its figures.

    Raises:
        UsageError: if settings contradict the data, or are other ones than those of the run to be continued.
        InUseError: if another process is at work in the folder.
    """
    with own_torch_state(), contextlib.nullcontext() if folder is None else RunFolder(folder).alone():
        if folder is None:
            return _train(config, prepared, None, reporter)
        keeping = RunStorage(folder, resume, overwrite, as_table(config), prepared.fingerprint)
        return _train(config, prepared, keeping, reporter)


def _train(
    config: RunConfig,
    prepared: AnyPrepared,
    keeping: RunStorage | None,
    reporter: Reporter | None,
) -> RunResult:
    threads.settle()
    known = None
    if keeping is not None and keeping.resume:
        check_same_run(keeping.folder, config, prepared.fingerprint)
        known = saved_threads(RunFolder(keeping.folder).checkpoint)
    with threads.kept(known):
        return _train_and_measure(config, prepared, keeping, reporter)


def _train_and_measure(
    config: RunConfig,
    prepared: AnyPrepared,
    keeping: RunStorage | None,
    reporter: Reporter | None,
) -> RunResult:
    started = time.perf_counter()
    task = task_named(prepared.task)
    options = config.model.task_options
    costly = (MEAN_COST,) if options.get("costs") or options.get("thresholds") == "cost" else ()
    _check_metric(config.train, (*task.metrics, *costly))
    own = override(config, prepared.decided) if prepared.decided else config
    predictor: AnyModel = task.untrained(own, prepared)
    batches = TrainingBatches(prepared.transfer or prepared.datasets["train"], own, task)
    chooses = config.data.protocol != "paper"  # whose dev part is the test part
    with collect_choices() as choices:
        if chooses:
            task.begin(own, predictor, _with_transfer(prepared))
        result = _fit(own, batches, predictor, prepared, keeping, reporter)
        task.end(own, predictor, prepared.datasets)
        passes = max(result.steps / len(batches.batches(0)), 1e-9)
        if chooses:
            task.calibrate(predictor, prepared.datasets)
        dev = task.held_out(predictor, prepared.datasets)
        task.keep(own, predictor, prepared.datasets)
        test = report(predictor, prepared.datasets["test"]) if "test" in prepared.datasets else None
        fitted = report(predictor, prepared.datasets["train"]) if config.train.evaluate_train else None
    seconds = result.seconds_before + time.perf_counter() - started
    run = RunResult(
        predictor,
        result,
        dev,
        test,
        count_parameters(predictor.network),
        seconds,
        epoch_seconds=result.stepping.seconds / passes,
        epoch_cpu_seconds=result.stepping.cpu_seconds / passes,
        kernels=joined_choices(choices),
        train=fitted,
        parts=getattr(predictor, "joined_note", ""),
    )
    card = model_card(config, prepared, run, predictor.about.wide)
    metrics = run.summary()
    if "data.learn_from" in task.uses:
        before = prepared.before
        again = 0 if before is None else len(before.examples)
        metrics[ROWS] = len(prepared.datasets["train"]) - again + (0 if before is None else before.seen)
    if (chosen := getattr(predictor, "chosen_settings", None)) is not None:
        metrics[CHOSEN] = chosen.as_dict()
    if predictor.held_scores is not None:
        metrics[predictor.held_scores.source] = predictor.held_scores.as_dict()
    predictor.about = replace(predictor.about, run=as_table(config), metrics=metrics, card=card)
    if keeping is not None and is_first_process():
        recipe, text = RunFolder(keeping.folder).recipe, to_toml(config)
        if (
            not recipe.is_file() or recipe.read_text(encoding="utf-8") != text
        ):  # a resumed run may have read it
            write_text(recipe, text)
        predictor.save(RunFolder(keeping.folder).model)
    return run


def _with_transfer(prepared: AnyPrepared) -> Mapping[str, Examples]:
    """Return the data sets, with what a teacher answered where there is one."""
    transfer = prepared.transfer
    return prepared.datasets if transfer is None else {**prepared.datasets, TRANSFER: transfer}


def _fit(
    config: RunConfig,
    batches: TrainingBatches[Examples],
    predictor: AnyModel,
    prepared: AnyPrepared,
    keeping: RunStorage | None,
    reporter: Reporter | None,
) -> FitResult:
    if predictor.model.encoder == NO_NETWORK:
        return without_network(keeping)
    try:
        return fit(
            _trained(config, predictor, batches.dataset),
            task_of(predictor).drawn(config, predictor, batches.dataset, batches),
            task_of(predictor).objective(config, predictor),
            config.train,
            evaluate=None
            if config.train.contrast or _recalls(prepared)
            else lambda _: _judge(predictor, prepared),
            keeping=keeping,
            reporter=reporter,
        )
    except DivergedError as error:
        where = config.data.set or config.data.train or "training data"
        raise DivergedError(f"{where}: {error}") from None


def _recalls(prepared: AnyPrepared) -> bool:
    """Return whether a network learns on: few new rows are no judge of the steps, so the last one stays."""
    return prepared.before is not None and prepared.before.recalls


def _judge(predictor: AnyModel, prepared: AnyPrepared) -> Mapping[str, float]:
    """Measure on the dev split while the network is trained; weights that give no numbers end the training."""
    try:
        return task_of(predictor).judge(predictor, prepared.datasets["dev"])
    except ArtifactError:
        raise DivergedError("the predictions for the dev split are not finite numbers") from None


def _trained(config: RunConfig, predictor: AnyModel, dataset: Examples) -> nn.Module:
    """Return what is trained: the network, with a map of its sentence vectors where it learns those of a teacher."""
    if not config.distil.vectors:
        return predictor.network
    # The other tasks refuse the setting.
    assert isinstance(predictor.network, Network)
    assert isinstance(dataset, EncodedDataset)
    assert dataset.targets is not None
    wanted = dataset.targets.shape[1] - 1 - len(predictor.labels)
    width = predictor.network.sides * predictor.network.sentence_encoder.width_out
    return MappedVectors(predictor.network, width, wanted, seed=config.train.seed)


def check_run_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a run folder before any work is done, rather than after the data was read.

    Args:
        folder: where the run is to be kept.
        resume: whether a run in it may go on.

    Raises:
        UsageError: if it holds a run and ``resume`` is False.
        OutputError: if it cannot be written.
    """
    if not resume and RunFolder(folder).holds_run():
        raise UsageError(
            f"{folder} already holds a run: --resume continues it, --overwrite replaces it; or choose another --out"
        )
    check_place(folder)


def check_place(folder: Path) -> None:
    """Refuse a folder that cannot be made or written; nothing is made.

    Args:
        folder: where something is to be written.

    Raises:
        OutputError: if it is no folder, or there is no permission.
    """
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not place.is_dir():
        raise OutputError(f"{folder}: cannot write: {place} is a file, not a folder. Choose another folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: cannot write: no permission in {place}. Choose another folder.")


def report(predictor: AnyModel, dataset: object) -> Report:
    """Evaluate a model on an encoded data set with gold.

    Args:
        predictor: the model.
        dataset: the examples.

    Returns:
        The report.

    Raises:
        UsageError: if the data set has no gold.
    """
    return task_of(predictor).measure(predictor, dataset)


def count_parameters(network: nn.Module) -> int:
    """Count trained numbers, also those of a pretrained encoder; vectors of words and of subwords are excluded."""
    parts = (part for part in network.modules() if isinstance(part, VectorTables))
    tables = {id(p) for part in parts for p in part.parameters()}
    return sum(p.numel() for p in network.parameters() if p.requires_grad and id(p) not in tables)


def _check_metric(train: TrainSettings, measured: tuple[str, ...]) -> None:
    check_known(train.metric, measured, f"train.metric={train.metric!r} is not measured here")
    wanted = "max" if METRICS[train.metric].better == "higher" else "min"
    if train.direction != wanted:
        raise UsageError(f"train.direction must be {wanted!r} for train.metric={train.metric!r}")
