"""Run several trials at the same time, each worker in a process of its own, here or on other machines."""

from __future__ import annotations

import multiprocessing
import sys
from dataclasses import replace
from queue import Empty
from typing import TYPE_CHECKING

from heedful.errors import HeedfulError, Interrupted
from heedful.machine import threads
from heedful.machine.child import Failed, end_with_parent
from heedful.machine.executors import Call, Executor, absolute, with_one_thread
from heedful.machine.signals import StopRequest
from heedful.run.tuning.trials import Say, Search, work
from heedful.training.progress import Silent

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

    Heard = Queue[str | Failed]
    """What workers say: a line to pass on, or what went wrong."""


def side_by_side(search: Search, trials: int, jobs: int, say: Say) -> None:
    """Run trials in processes of their own and pass on what they say.

    Args:
        search: what is searched.
        trials: how many in all.
        jobs: processes; they share the trials and the cores out among them.
        say: told how each trial ended.

    Raises:
        Interrupted: when asked to stop; everything is kept.
        HeedfulError: what went wrong in a process; the others are stopped then, with everything kept.
    """
    context = multiprocessing.get_context("spawn")
    heard: Heard = context.Queue()
    shares = [trials // jobs + (worker < trials % jobs) for worker in range(jobs)]
    each = threads.share(jobs)
    workers = [
        context.Process(target=_worker, args=(search, share, number, each, heard))
        for number, share in enumerate(shares)
    ]
    failures: list[HeedfulError] = []
    with StopRequest() as request:
        for worker in workers:
            worker.start()
        running, told = True, False
        while running:
            running = any(worker.is_alive() for worker in workers)
            if (request.asked or failures) and not told:
                told = True
                for worker in workers:
                    worker.terminate()  # each finishes its step and saves
            failures += _listen(heard, say)
    if request.asked:
        raise Interrupted(f"interrupted; {search.folder} has everything: run the command again")
    if failures:
        raise next((error for error in failures if not isinstance(error, Interrupted)), failures[0])
    if any(worker.exitcode for worker in workers):
        raise HeedfulError(f"a worker ended with exit status {max(abs(w.exitcode or 0) for w in workers)}")


def on_executor(search: Search, trials: int, jobs: int, executor: Executor, say: Say) -> None:
    """Run trials by an executor, whose machines share the folder of the search and the data under the same paths.

    Args:
        search: what is searched.
        trials: how many in all.
        jobs: workers; they share the trials out among them.
        executor: runs the workers.
        say: told how each trial ended, once its worker has ended.

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
                say(line)
    if failures:
        raise failures[0]


def _trials_of(search: Search, trials: int, number: int) -> list[str]:
    """Run trials as a task of an executor; return a line on how each ended."""
    with_one_thread()
    said: list[str] = []
    work(search, trials, number, Silent(), said.append)
    return said


def _listen(heard: Heard, say: Say) -> list[HeedfulError]:
    """Pass on what workers said; return what went wrong."""
    failures = []
    try:
        while True:
            message = heard.get(timeout=0.3)
            if isinstance(message, Failed):
                failures.append(message.kind(message.message))
            else:
                say(message)
    except Empty:
        return failures


def _worker(
    search: Search,
    trials: int,
    number: int,
    each: int | None,
    heard: Heard,
) -> None:
    """Run trials in a process of their own."""
    threads.begin(each)
    threads.settle()
    end_with_parent()
    try:
        work(search, trials, number, Silent(), heard.put)
    except Exception as error:
        heard.put(Failed.of(error, "a trial"))
        sys.exit(1)
