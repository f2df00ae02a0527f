"""Run a search: find what is left to do, run the trials, and write the folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.machine.executors import Executor
from heedful.run import check_run_folder, prepare
from heedful.run.tuning.outcome import write_outcome
from heedful.run.tuning.store import begin, completed, finished, folder_of
from heedful.run.tuning.trials import Say, Search, work
from heedful.run.tuning.workers import on_executor, side_by_side
from heedful.storage import alone, remove_folder
from heedful.training.progress import Reporter, Silent

if TYPE_CHECKING:
    from optuna import Study


def run_search(
    search: Search,
    trials: int,
    *,
    jobs: int = 1,
    reporter: Reporter | None = None,
    say: Say = lambda _: None,
    executor: Executor | None = None,
) -> Study:
    """Run trials until the study holds as many as asked for, counting those of former calls; write what was found.

    The search is a pure function of the settings, the space and the seed with one job. Trials are kept as they end; one
    that was interrupted goes on where it was.

    Args:
        search: what is searched.
        trials: how many the study is to hold in the end.
        jobs: trials side by side, each in a process of its own; the cores are shared out among them.
        reporter: shows the progress of a trial; with one job only.
        say: told how each trial ended.
        executor: runs the ``jobs`` workers on machines that share the folder; None runs them here.

    Returns:
        The study.

    Raises:
        UsageError: if the settings cannot be searched, or the folder holds another search.
        Interrupted: when asked to stop; everything is kept.
    """
    if search.config.data.protocol == "paper":
        raise UsageError(
            "with data.protocol='paper' the dev split is the test split, on which no setting may be chosen; "
            "set data.protocol=honest"
        )
    check_run_folder(search.folder, resume=True)
    with alone(search.folder, "search"):
        study = search.open()
        left = trials - len(finished(study))
        jobs = max(1, min(jobs, left))
        if left > 0:
            # A mistake in the data shows before the first trial, and before the folder is bound to these settings.
            prepare(search.config, search.data)
        begin(study, search.config, search.space, search.folder)
        if executor is not None and left > 0:
            on_executor(search, left, jobs, executor, say)
        elif jobs == 1:
            work(search, left, 0, reporter or Silent(), say)
        else:
            side_by_side(search, left, jobs, say)
        study = search.open()
        _keep_only_best(study, search.folder)
        write_outcome(search, study)
    return study


def _keep_only_best(study: Study, folder: Path) -> None:
    """Remove the run folders that workers side by side each took for the best."""
    if not completed(study):
        return
    best = folder_of(study.best_trial)
    for run in (folder / "trials").iterdir():
        if run.name != best:
            remove_folder(run)
