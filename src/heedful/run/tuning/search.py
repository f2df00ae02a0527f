"""Run a search: find what is left to do, run the trials, and write the folder.

Several trials may run at the same time, each worker in a process of its own, on this machine or on others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import MOST_AT_ONCE, HeedfulError, Interrupted, UsageError, checked_whole
from heedful.machine import threads
from heedful.machine.child import Failed
from heedful.machine.crew import Manner, each_done
from heedful.machine.executors import Call, Executor, absolute, with_one_thread
from heedful.machine.signals import stop_raises
from heedful.run import check_run_folder, prepare
from heedful.run.sources import data_root, find_source
from heedful.run.tuning.outcome import write_outcome
from heedful.run.tuning.store import FILE, begin, completed, finished, folder_of, refuse_other_data
from heedful.run.tuning.trials import PrintLine, Search, interrupted, work
from heedful.storage import alone, remove_folder
from heedful.storage.ownership import refuse_foreign_results
from heedful.training.progress import Reporter, Silent

if TYPE_CHECKING:
    from optuna import Study


def side_by_side(search: Search, trials: int, jobs: int, print_line: PrintLine) -> None:
    """Run trials in processes of their own and pass on how each ended.

    Args:
        search: what is searched.
        trials: how many in all.
        jobs: processes; they share the cores out among them.
        print_line: told how each trial ended.

    Raises:
        Interrupted: when asked to stop; everything is kept.
        HeedfulError: what went wrong in a process; the others are stopped then, with everything kept.
    """
    manner = Manner(threads.share(jobs), tries=1, watched=False, patience=None)
    done = each_done(_runs_trials, (search,), range(trials), jobs=jobs, name=_trial_name, manner=manner)
    try:
        with stop_raises("everything is kept"), contextlib.closing(done):
            for _, line in done:
                print_line(line)
    except Interrupted:
        raise Interrupted(interrupted(search)) from None


def _runs_trials(search: Search) -> Callable[[int], str]:
    def run(number: int) -> str:
        """Run a trial, which no other of this call has the number of; return a line on how it ended."""
        said: list[str] = []
        work(search, 1, number, Silent(), said.append)
        return said[0]

    return run


def _trial_name(number: int) -> str:
    return f"trial {number + 1} of this call"


def on_executor(search: Search, trials: int, jobs: int, executor: Executor, print_line: PrintLine) -> None:
    """Run trials by an executor, whose machines share the folder of the search and the data under the same paths.

    Args:
        search: what is searched.
        trials: how many in all.
        jobs: workers; they share the trials out among them.
        executor: runs the workers.
        print_line: told how each trial ended, once its worker has ended.

    Raises:
        HeedfulError: the first thing that went wrong in a worker; what the others found is kept.
    """
    there = replace(search, folder=absolute(search.folder) or search.folder, data=absolute(search.data))
    shares = [trials // jobs + (worker < trials % jobs) for worker in range(jobs)]
    calls = [
        Call(f"worker {number} of the search", _trials_of, (there, share, number))
        for number, share in enumerate(shares)
    ]
    failures = []
    # A worker that is begun again would run its whole share once more; the same command runs what is missing.
    for _, outcome in executor.each(calls, again=False):
        if isinstance(outcome, Failed):
            failures.append(outcome.kind(f"{outcome.message} (the same command goes on)"))
        else:
            for line in outcome:
                print_line(line)
    if failures:
        raise failures[0]


def _trials_of(search: Search, trials: int, number: int) -> list[str]:
    """Run trials as a task of an executor; return a line on how each ended."""
    with_one_thread()
    said: list[str] = []
    work(search, trials, number, Silent(), said.append)
    return said


def run_search(
    search: Search,
    trials: int,
    *,
    jobs: int = 1,
    reporter: Reporter | None = None,
    print_line: PrintLine = lambda _: None,
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
        print_line: told how each trial ended.
        executor: runs the ``jobs`` workers on machines that share the folder; None runs them here.

    Returns:
        The study.

    Raises:
        UsageError: if the settings cannot be searched, the folder holds another search, or a number is none that
            can be.
        Interrupted: when asked to stop; everything is kept.
    """
    checked_whole("trials", trials, 0)
    checked_whole("jobs", jobs, 1, MOST_AT_ONCE)
    if search.config.data.protocol == "paper":
        raise UsageError(
            "with data.protocol='paper' the dev split is the test split, on which no setting may be chosen; "
            "set data.protocol=honest"
        )
    check_run_folder(search.folder, resume=True)
    results = ("trials.csv", "best.toml", "space.toml")
    refuse_foreign_results(search.folder, results, own=(search.folder / FILE).exists())
    with alone(search.folder, "search"):
        study = search.open()
        left = trials - len(finished(study))
        jobs = max(1, min(jobs, left))
        if left > 0:
            # A mistake in the data shows before the first trial, and before the folder is bound to these settings.
            prepare(search.config, search.data)
        refuse_other_data(study, _data_of(search), search.folder)
        begin(study, search.config, search.space, search.folder)
        if executor is not None and left > 0:
            on_executor(search, left, jobs, executor, print_line)
        elif jobs == 1:
            work(search, left, 0, reporter or Silent(), print_line)
        else:
            side_by_side(search, left, jobs, print_line)
        study = search.open()
        _keep_only_best(study, search.folder)
        write_outcome(search, study)
    return study


def _data_of(search: Search) -> Mapping[str, str]:
    """Return file to SHA-256 of what is searched on; nothing where the files have gone, as after a search has ended."""
    try:
        return find_source(search.config, data_root(search.config, search.data)).fingerprint
    except HeedfulError:
        return {}


def _keep_only_best(study: Study, folder: Path) -> None:
    """Remove the run folders that workers side by side each took for the best."""
    if not completed(study):
        return
    names = {folder_of(trial) for trial in study.get_trials(deepcopy=False)}
    for name in sorted(names - {folder_of(study.best_trial)}):
        remove_folder(folder / "trials" / name)
