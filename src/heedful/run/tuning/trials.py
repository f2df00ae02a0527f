"""Trials: settings that Optuna proposes, trained and scored on the dev split."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heedful.errors import DivergedError, Interrupted, InUseError, UsageError
from heedful.machine.signals import StopRequest
from heedful.run import Prepared, prepare, train
from heedful.run.recipe_files import override
from heedful.run.run_config import RunConfig
from heedful.run.tuning.space import Space
from heedful.run.tuning.store import (
    completed,
    finished,
    folder_of,
    import_optuna,
    open_study,
    passes,
    taking_turns,
)
from heedful.storage import remove_folder
from heedful.training.progress import MetricsLog, Reporter, number_of
from heedful.training.run_folder import RunFolder
from heedful.training.run_state import MEAN_COST
from heedful.training.state import saved_step

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

PrintLine = Callable[[str], None]
BY_FOLDS = "by_folds"
"""Name under which a trial says whether its score is that of cross-validation, in place of a dev split."""


@dataclass(frozen=True)
class Search:
    """The settings of a search.

    Attributes:
        config: the settings that are varied; its ``train.metric`` on the dev split is the score. Where wrong answers
            have costs, the mean cost takes the place of the accuracy.
        space: what is varied.
        folder: folder of the search.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        prune: whether a trial that is worse than the median of the others is stopped early.
    """

    config: RunConfig
    space: Space
    folder: Path
    data: Path | None = None
    prune: bool = True

    def __post_init__(self) -> None:
        if self.config.model.task_options.get("costs") and self.config.train.metric == "accuracy":
            by_cost = {"train.metric": MEAN_COST, "train.direction": "min"}
            object.__setattr__(self, "config", override(self.config, by_cost))

    def open(self) -> Study:
        """Open the study."""
        return open_study(self.folder, self.config.train.direction, prune=self.prune)


def interrupted(search: Search) -> str:
    """Return what a search says that was asked to stop."""
    return f"interrupted; {search.folder} has everything: run the command again"


def work(search: Search, trials: int, worker: int, reporter: Reporter, print_line: PrintLine) -> None:
    """Run some trials one after the other.

    Args:
        search: what is searched.
        trials: how many.
        worker: number of the process, so that two propose different settings.
        reporter: shows the progress of each.
        print_line: told how each ended.

    Raises:
        Interrupted: when asked to stop; everything is kept.
    """
    study = search.open()
    with StopRequest() as request:
        for _ in range(trials):
            if request.is_set:
                raise Interrupted(interrupted(search))
            print_line(_run_trial(search, study, worker, reporter))


def _run_trial(search: Search, study: Study, worker: int, reporter: Reporter) -> str:
    """Run the next trial; return a line on how it ended."""
    optuna = import_optuna()
    # A sampler of its own for each trial: a search that was interrupted proposes what an uninterrupted one does.
    seeds = np.random.SeedSequence([search.config.train.seed, worker, len(finished(study))])
    with warnings.catch_warnings():  # Optuna 4 called it experimental; it is none of a user's choices
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.sampler = optuna.samplers.TPESampler(seed=int(seeds.generate_state(1)[0]), multivariate=True)
    with taking_turns(search.folder):
        trial = study.ask()
    values = {name: domain.suggest(name, trial) for name, domain in search.space.items()}
    folder, started = search.folder / "trials" / folder_of(trial), time.perf_counter()
    watch = _Watch(trial, search.config.train.metric, reporter)
    state, value, said = optuna.trial.TrialState.COMPLETE, None, ""
    try:
        watch.take_up(folder)
        value, by_folds = _score(search, values, folder, watch)
        trial.set_user_attr(BY_FOLDS, by_folds)
    except optuna.TrialPruned:
        state, said = optuna.trial.TrialState.PRUNED, "given up"
    except (DivergedError, UsageError) as error:
        wrong_for_all = isinstance(error, UsageError) and not completed(study)  # most likely
        if wrong_for_all or isinstance(error, InUseError):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            raise
        state, said = optuna.trial.TrialState.PRUNED, " ".join(str(error).split())
        trial.set_user_attr("why", said)
    trial.set_user_attr("seconds", time.perf_counter() - started)
    ended = study.tell(trial, value, state)
    best = bool(completed(study)) and study.best_trial.number == trial.number
    if not best:
        remove_folder(folder)
    return _line(search, ended, said, best)


def _line(search: Search, trial: FrozenTrial, said: str, best: bool) -> str:
    score = "" if trial.value is None else f"{held(trial)} {search.config.train.metric} {trial.value:.4f}"
    values = (f"{name}={show(value)}" for name, value in trial.params.items())
    seconds = f"{trial.user_attrs['seconds']:.0f} s"
    parts = [f"trial {trial.number}", score, *values, seconds, said, "best" if best else ""]
    return "  ".join(part for part in parts if part)


def held(trial: FrozenTrial) -> str:
    """Return what the score of a trial is of, as a word before the name of the metric."""
    return "cross-validated" if trial.user_attrs.get(BY_FOLDS) else "dev"


def show(value: object) -> str:
    """Return a setting's value for people, numbers to three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _score(
    search: Search, values: Mapping[str, object], folder: Path, reporter: Reporter
) -> tuple[float, bool]:
    """Train and return the best score, and whether cross-validation gave it; the test part is not even read."""
    config = override(search.config, values)
    prepared = without_test(prepare(config, search.data))
    run = train(config, prepared, folder=folder, resume=True, reporter=reporter)
    judged = {**run.dev.metrics, **run.fit.best_metrics}  # linear parts alone have no steps to choose among
    return judged[config.train.metric], "dev" not in prepared.datasets


def without_test(prepared: Prepared) -> Prepared:
    """Return the data without its test part."""
    parts = {name: part for name, part in prepared.datasets.items() if name != "test"}
    return replace(prepared, datasets=parts)


class _Watch:
    """Tells Optuna of each evaluation, and gives a trial up when Optuna says so; all else goes to another reporter.

    Args:
        trial: the trial.
        metric: its score.
        reporter: hears everything.
    """

    def __init__(self, trial: Trial, metric: str, reporter: Reporter) -> None:
        self.trial, self.metric, self.reporter = trial, metric, reporter
        self.start, self.step, self.close = reporter.start, reporter.step, reporter.close
        self.sign = reporter.sign

    def take_up(self, folder: Path) -> None:
        """Report to Optuna what the run in a folder scored before it was cut off: it judges by the best so far."""
        run = RunFolder(folder)
        log = MetricsLog(run.metrics)
        log.restore(saved_step(run.checkpoint))
        for record in log.records:
            if record["kind"] == "evaluation" and record[self.metric] is not None:
                self._report(record)

    def _report(self, record: Mapping[str, object]) -> None:
        self.trial.report(number_of(record, self.metric), passes(number_of(record, "epoch")))

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Pass the score on."""
        self.reporter.evaluation(record)
        self._report(record)
        if self.trial.should_prune():
            raise import_optuna().TrialPruned
