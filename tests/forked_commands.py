"""The command line in a process forked from one that has done the slow imports: a start in milliseconds, not seconds.

What runs is `heedful.cli.main.run`, all of the command line but the import of Python's own and torch's modules. Tests
about the start or the end of Python itself start ``python -m heedful`` instead.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, NoReturn

from waiting import PATIENCE

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "lightning_fabric",
        "matplotlib.backends.backend_agg",
        "optuna",
        "pytest",  # what a process of a run without xdist has for its main module
        "rich.progress",
        "scipy.stats",
        "sklearn.metrics",
        "heedful.cli.main",
        "heedful.run",
        "heedful.tasks",
        "heedful.run.studies",
        "heedful.run.tuning",
        "heedful.training.loop",
    ]
)
"""The one that all tests of a process use: there is a single server, and what it imports is fixed at its start."""


def started() -> Any:
    """Return the context with its server running: one that a crew starts holds signals back, and so do its children."""
    forkserver.ensure_running()
    return CONTEXT


def _run(words: tuple[str, ...], files: tuple[str, str], environment: dict[str, str], before: str) -> None:
    """Be the command line, with output in files."""
    for number, file in zip((1, 2), files, strict=True):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    exec(before, {})
    from heedful.cli.main import run

    code = int(run(list(words)))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Forked:
    """``heedful`` in a forked process, used as `subprocess.Popen` is.

    Args:
        words: after ``heedful``.
        before: a program that runs in the process first, such as one that replaces a function.

    Attributes:
        pid: of the process.
    """

    def __init__(self, *words: object, before: str = "") -> None:
        self._place = tempfile.TemporaryDirectory()
        self._files = tuple(str(Path(self._place.name) / name) for name in ("out", "err"))
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        arguments = (tuple(map(str, words)), self._files, environment, before)
        self._child = CONTEXT.Process(target=_run, args=arguments)  # type: ignore[arg-type]
        self._child.start()
        assert self._child.pid is not None
        self.pid = self._child.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, the negative number of the signal that ended it; None while it runs."""
        return self._child.exitcode

    def poll(self) -> int | None:
        """See `returncode`."""
        return self._child.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal if it runs still."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self) -> tuple[str, str]:
        """Wait for its end, and return what it printed on standard output and error."""
        self._child.join(PATIENCE)
        assert self._child.exitcode is not None, "it runs still"
        printed, said = (Path(file).read_text("utf-8") if Path(file).exists() else "" for file in self._files)
        self._place.cleanup()
        return printed, said


def run_program(text: str, folder: Path) -> str:
    """Run a program in a forked process, which has the slow imports, and return what it printed.

    Args:
        text: the program; it ends with 0.
        folder: where it runs.
    """
    ending = "import os, sys\nsys.stdout.flush()\nos._exit(0)\n"
    done = Forked("--help", before=f"import os\nos.chdir({str(folder)!r})\n{text}\n{ending}")
    printed, said = done.communicate()
    assert done.returncode == 0, said
    return printed


def end_together() -> NoReturn:
    """End a process of a group of torch's beside the others, at once.

    Taking a DDP module down joins a thread of gloo while Python's lock is held, and that thread may wait for the lock.
    """
    from torch import distributed

    distributed.barrier()
    os._exit(0)
