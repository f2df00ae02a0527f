"""Run a recipe over seeds or folds, and report mean, spread and cost; an interrupted study continues."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.data import catalog
from heedful.data.datasets import data_sets
from heedful.errors import DataError, UsageError
from heedful.evaluation import Report
from heedful.machine.child import Failed
from heedful.machine.executors import Call, Executor, absolute, with_one_thread
from heedful.run import RunResult, check_run_folder, prepare, train
from heedful.run.environment import commit, describe, peak_gpu_megabytes, peak_megabytes, reset_peaks
from heedful.run.kept_answers import Answers, kind_of_answers
from heedful.run.kept_settings import changed_files, plain_settings, same_run
from heedful.run.protocol import GENERATED
from heedful.run.recipe_files import load_config, to_toml
from heedful.run.record import PartFigures, RunFigures, RunRecord, read_record, write_record
from heedful.run.run_config import RunConfig
from heedful.run.sources import data_root, find_source
from heedful.storage import alone, remove_folder, write_text
from heedful.storage.layout import FOLD, SEED, Varied, record_file, unfinished_folder
from heedful.tasks.prepared import Protocol
from heedful.training.progress import Reporter, Silent, number_of
from heedful.training.run_folder import RunFolder
from heedful.training.state import saved_step


@dataclass(frozen=True)
class Study:
    """The records of repeated runs.

    Attributes:
        runs: one record for each run.
    """

    runs: list[RunRecord]

    @property
    def protocol(self) -> Protocol:
        """How the parts of every run came about, seeds and folds in general."""
        return self.runs[-1].protocol.of_all_runs()

    def spread(self) -> dict[str, tuple[float, float]]:
        """Return metric name to (mean, standard deviation with n - 1) over the runs, on the test part."""
        found = [run.figures.test.metrics for run in self.runs]
        values = {name: [metrics[name] for metrics in found] for name in found[0]}
        return {
            name: (float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0)
            for name, v in values.items()
        }

    def mean_line(self) -> str:
        """Return the means over the runs as one line."""
        known = len(self.runs) > 1  # one run has no deviation
        mean = "  ".join(
            f"{name} {m:.4f}" + (f" ± {s:.4f}" if known else "") for name, (m, s) in self.spread().items()
        )
        seconds = sum(run.figures.seconds for run in self.runs)
        return f"mean of {len(self.runs):<6} {mean}  ({seconds / 60:.1f} minutes in all)"

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        lines = []
        for run in self.runs:
            figures = run.figures
            values = "  ".join(f"{name} {value:.4f}" for name, value in figures.test.metrics.items())
            lines.append(
                f"{run.varied!s:<14} {values}  "
                + (
                    f"dev best at step {figures.best_step:,}, " if figures.best_step >= 0 else ""
                )  # no network
                + f"{figures.seconds:.0f} s"
            )
        return "\n".join([*lines, self.mean_line(), f"protocol: {self.protocol.sentence()}"])


def run_study(
    recipe: str,
    folder: Path,
    data: Path | None,
    *,
    seeds: Sequence[int] = (),
    folds: int = 0,
    only: int = 0,
    overrides: Sequence[str] = (),
    elsewhere: Mapping[Varied, RunRecord] | None = None,
    reporter: Reporter | None = None,
    print_line: Callable[[str], None] = lambda _: None,
    executor: Executor | None = None,
) -> Study:
    """Run a recipe once a seed, or once a fold; a run that is already in the folder is not repeated.

    A run that was cut off goes on from its last checkpoint and ends with the figures of an unbroken one.

    Args:
        recipe: packaged recipe or TOML file.
        folder: where one JSON file a run and the summary are kept.
        data: the folder of data sets.
        seeds: seeds to run; empty for folds.
        folds: number of folds of cross-validation; 0 for seeds.
        only: run only the first so many folds; 0 for all.
        overrides: ``key=value`` settings.
        elsewhere: finished runs that are kept in another place; they are not repeated either.
        reporter: shows progress.
        print_line: told what happens next.
        executor: runs what is missing on machines that share ``folder`` and ``data`` under the same paths; None runs
            it here, one run after the other.

    Returns:
        All runs.

    Raises:
        UsageError: unless exactly one of seeds and folds is given, or if the data has no test part, or one of its own
            where folds are asked for, or if the folder holds a run with other settings or data, or one that another
            study is at work on.
        Interrupted: when asked to stop; the same call goes on.
    """
    if bool(seeds) == bool(folds):
        raise UsageError("give either --seeds or --folds, for example --seeds 1,2,3")
    if only > folds:
        raise UsageError(f"--only {only}: there are {folds} folds to choose from")
    varied = [Varied(SEED, seed) for seed in seeds] or [
        Varied(FOLD, k) for k in range(1, (only or folds) + 1)
    ]
    extra = fold_settings(recipe, overrides, folds)
    check_run_folder(folder, resume=True)
    configs = {each: load_config(recipe, [*overrides, *extra, str(each)]) for each in varied}
    if folds:
        for config in configs.values():
            _check_folds(config)
    kept = elsewhere or {}
    if executor is not None:
        missing = {each: configs[each] for each in varied if each not in kept}
        _run_elsewhere(missing, folder, data, executor, print_line)
    runs = []
    for setting, config in configs.items():
        if setting in kept and not (file := record_file(folder, setting)).exists():
            _refuse_another(kept[setting], config, data, file)
            runs.append(kept[setting])
        else:
            runs.append(run_one(config, setting, folder, data, reporter, print_line))
    return Study(runs)


def fold_settings(recipe: str, overrides: Sequence[str], folds: int) -> list[str]:
    """Return the settings that a study adds for its folds: of one's own file a fold is held out.

    Args:
        recipe: packaged recipe or TOML file.
        overrides: ``key=value`` settings.
        folds: number of folds; 0 for seeds.

    Returns:
        ``key=value`` settings.

    Raises:
        UsageError: if the runs begin with a model, which may have learned from the rows of every fold.
    """
    if not folds:
        return []
    data = load_config(recipe, overrides).data
    if data.learn_from:
        raise UsageError(
            f"data.learn_from = {data.learn_from}: this model may have learned from the rows that a fold holds out; "
            "leave it out, or measure the model that learned on with heedful evaluate on other rows"
        )
    own = bool(data.train) and not data.set and not data.test
    return [f"data.folds={folds}", *(["data.hold_out_fold=true"] if own else [])]


def run_one(
    config: RunConfig,
    varied: Varied,
    folder: Path,
    data: Path | None,
    reporter: Reporter | None = None,
    print_line: Callable[[str], None] = lambda _: None,
) -> RunRecord:
    """Run one seed or fold of a study, or read its record if it is finished.

    Args:
        config: its settings.
        varied: the seed or fold.
        folder: of the study.
        data: the folder of data sets.
        reporter: shows progress.
        print_line: told what happens.

    Returns:
        The record, which is kept in the folder.

    Raises:
        UsageError: if the folder holds this run with other settings or data, or another study is at work on it.
    """
    file, work = record_file(folder, varied), unfinished_folder(folder, varied)
    with alone(work, "study"):
        if file.exists():
            saved = read_record(file)
            _refuse_another(saved, config, data, file)
            print_line(f"{varied}: already done")
        else:
            step = _begun(work, config)
            print_line(f"{varied}: goes on from step {step:,}" if step else f"{varied} ...")
            saved = _run(config, varied, data, reporter, work)
            write_record(file, saved)
        remove_folder(work)
    with contextlib.suppress(OSError):  # other runs are still in it
        work.parent.rmdir()
    return saved


def _run_elsewhere(
    configs: Mapping[Varied, RunConfig],
    folder: Path,
    data: Path | None,
    executor: Executor,
    print_line: Callable[[str], None],
) -> None:
    """Run what has no record yet by an executor; raise the first error once all calls have ended."""
    missing = {each: config for each, config in configs.items() if not record_file(folder, each).exists()}
    places = (absolute(folder), absolute(data))
    calls = [Call(str(each), _task, (config, each, *places)) for each, config in missing.items()]
    failures = []
    for place, outcome in executor.each(calls):
        name = calls[place].name
        if isinstance(outcome, Failed):
            failures.append(outcome.kind(f"{name}: {outcome.message}"))
        elif not record_file(folder, [*missing][place]).exists():
            failures.append(
                UsageError(
                    f"{name}: ended, and its record is not in {folder}: --out must be a folder that all machines share"
                )
            )
        else:
            print_line(f"{name}: done")
    if failures:
        raise failures[0]


def _task(config: RunConfig, varied: Varied, folder: Path, data: Path | None) -> None:
    """Run one seed or fold as a task of an executor; the record is left in the folder."""
    with_one_thread()
    run_one(config, varied, folder, data, Silent())


def _check_folds(config: RunConfig) -> None:
    """Refuse folds of data that is not cut into any: every run would be the same."""
    name = config.data.set
    if config.data.hold_out_fold:
        return
    if name in ("", GENERATED) or "train" in catalog.splits(name):
        whole = [known for known in data_sets() if "train" not in catalog.splits(known)]
        raise UsageError(
            f"--folds: {name or 'data with data.test'} has a test split of its own; only {', '.join(whole)} and your "
            "own file without data.test are divided into folds. Use --seeds"
        )


def _refuse_another(saved: RunRecord, config: RunConfig, data: Path | None, file: Path) -> None:
    """Refuse a finished run of other settings, or of other data than is there now; where none is, nothing is asked."""
    if not same_run(saved.settings, plain_settings(config)):
        raise UsageError(f"{file}: made with other settings; use another --out or delete it")
    try:
        here = find_source(config, data_root(config, data)).fingerprint
    except (UsageError, DataError):
        return
    other = changed_files(saved.data, here)
    if other:
        raise UsageError(
            f"{file}: made from other data than there is now ({', '.join(other)}); name the folder it was made from, "
            "use another --out, or delete it"
        )


def _begun(work: Path, config: RunConfig) -> int:
    """Return the step that a run has come to, 0 for a new one, whose settings are written down."""
    kept = RunFolder(work).recipe
    with RunFolder(work).alone("study"):
        step = saved_step(RunFolder(work).checkpoint)
    if step and load_config(kept) != config:
        raise UsageError(f"{work}: begun with other settings; use another --out or delete it")
    write_text(kept, to_toml(config))
    return step


def _run(
    config: RunConfig, varied: Varied, data: Path | None, reporter: Reporter | None, work: Path
) -> RunRecord:
    prepared = prepare(config, data)
    if "test" not in prepared.datasets:
        raise UsageError(
            "a study needs a test split: name its file (--set data.test=FILE), or use a data set that has one"
        )
    commit()  # asked for before training: a checkout may change while a run goes on
    reset_peaks()  # preparing takes more from new data than from the cache, and former runs are no part of this one
    result = train(config, prepared, folder=work, resume=True, reporter=reporter)
    # Under the papers' protocol, the best of all evaluations on the test part.
    test = result.dev if prepared.protocol.selects == "test" else result.test
    assert test is not None  # checked above
    whole = not result.fit.resumed  # a peak is only known of the part of a run that this process saw
    return RunRecord(
        varied=varied,
        protocol=prepared.protocol,
        settings=plain_settings(config),
        figures=_figures(result, test, config.train.metric),
        answers=Answers(
            "classes" if test.confusion else kind_of_answers(config.model.task), test.gold, test.predicted
        ),
        data=prepared.fingerprint,
        machine=describe(),
        peak_megabytes=peak_megabytes() if whole else None,
        peak_gpu_megabytes=peak_gpu_megabytes() if whole else None,
    )


def _figures(result: RunResult, test: Report, metric: str) -> RunFigures:
    return RunFigures(
        dev=PartFigures.of_report(result.dev),
        test=PartFigures.of_report(test),
        train=None if result.train is None else PartFigures.of_report(result.train),
        parameters=result.parameters,
        best_step=result.fit.best_step,
        steps=result.fit.steps,
        epochs=result.fit.epochs,
        train_seconds=result.fit.seconds,
        epoch_seconds=result.epoch_seconds,
        epoch_cpu_seconds=result.epoch_cpu_seconds,
        seconds=result.seconds,
        stopped=result.fit.stopped,
        resumed=result.fit.resumed,
        kernels=dict(result.kernels),
        dev_by_epoch={f"{number_of(one, 'epoch'):g}": number_of(one, metric) for one in result.fit.history},
    )
