"""A command of heedful in a process of its own, which ends with the one that started it."""

from __future__ import annotations

import multiprocessing
import runpy
import sys
from collections.abc import Sequence

from heedful.machine.child import end_all, end_with_parent

_SPAWN = multiprocessing.get_context("spawn")


def run_words(words: Sequence[str]) -> int:
    """Run the command ``heedful`` in a process of its own; it prints what it prints.

    Args:
        words: after ``heedful``.

    Returns:
        Its exit status; that of a signal is negative.
    """
    process = _SPAWN.Process(target=_be_command, args=(tuple(words),))
    process.start()
    try:
        process.join()
    except BaseException:
        end_all([process])
        raise
    return process.exitcode or 0


def _be_command(words: Sequence[str]) -> None:
    end_with_parent()
    sys.argv = ["heedful", *words]
    runpy.run_module("heedful", run_name="__main__", alter_sys=True)
