"""Runs the cells of a table, each as its own process, side by side; what is already there is not run again."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import HeedfulError, UsageError, of_exit_code
from heedful.files import told_plainly
from heedful.reproduce.runner import Cell
from heedful.training.signals import stop_raises


@dataclass(frozen=True)
class Failure:
    """A cell whose process failed.

    Attributes:
        cell: what it is called.
        why: what its process said; may have several lines.
        code: its exit status.
    """

    cell: str
    why: str
    code: int

    def __str__(self) -> str:
        return f"{self.cell}: {self.why}"


def failed(failures: Sequence[Failure], heading: str) -> HeedfulError:
    """Return the error that tells of failures: of their own kind where all are of one kind, else of wrong usage."""
    codes = {failure.code for failure in failures}
    kind = of_exit_code(codes.pop()) if len(codes) == 1 else UsageError
    return kind("".join([heading, *(f"\n  {failure}" for failure in failures)]))


def run_cells(
    cells: Sequence[Cell], data: Path | None, runs: Path, *, jobs: int, say: Callable[[str], None]
) -> list[Failure]:
    """Run cells side by side; one that fails does not stop the others.

    Args:
        cells: what to run.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        runs: the folder of all runs.
        jobs: how many at a time; the cores are shared out among them.
        say: told what happens.

    Returns:
        The cells that failed, and why.

    Raises:
        Interrupted: when asked to stop; the processes are asked too, and each saves where it stands.
    """
    threads = max(1, (os.cpu_count() or 1) // jobs)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    children: list[subprocess.Popen[str]] = []

    def run(cell: Cell) -> Failure | None:
        words = [*cell.arguments(), "--out", str(runs / cell.folder), "--quiet"]
        words += ["--data", str(data)] if data is not None else []
        say(f"{cell.name} ...")
        child = subprocess.Popen(
            [sys.executable, "-m", "heedful", *words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        output, errors = child.communicate()
        if child.returncode:
            failure = Failure(
                cell.name, _reason(errors) or f"exit status {child.returncode}", child.returncode
            )
            say(f"{cell.name}: failed: {failure.why}")
            return failure
        lines = output.strip().splitlines()
        say(f"{cell.name}: {lines[-2] if len(lines) > 1 else 'done'}")
        return None

    with stop_raises("the same command goes on"), ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(run, cell) for cell in cells]
        try:
            return [failure for future in futures if (failure := future.result())]
        except BaseException:
            for future in futures:
                future.cancel()
            for child in children:
                child.terminate()
            raise


def _reason(errors: str) -> str:
    """Return all lines of the message of a process, not the warnings above it; without a message, its last line."""
    *before, message = re.split(r"^heedful: ", errors.strip(), flags=re.MULTILINE)
    return message if before else message.rpartition("\n")[2]


def run_command(command: str, out: Path) -> None:
    """Run the command that makes a table which has no runs of its own; it prints what it prints.

    Args:
        command: as the table names it; OUT stands for the folder of results.
        out: the folder of results.

    Raises:
        HeedfulError: of the kind of its exit status, if it fails.
        OutputError: if the folder cannot be made.
        Interrupted: when asked to stop.
    """
    with told_plainly(out):
        out.mkdir(parents=True, exist_ok=True)
    words = [word.replace("OUT", str(out)) for word in shlex.split(command)[1:]]
    with stop_raises("the same command begins again"):
        code = subprocess.run([sys.executable, "-m", "heedful", *words], check=False).returncode
    if code:
        raise of_exit_code(code)(f"{command!r} failed; see above")
