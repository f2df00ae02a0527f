"""The command line in a process forked from one that has done the slow imports: a start in milliseconds, not seconds.

What runs is `heedful.cli.main.run`, all of the command line but the import of Python's own and torch's modules.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attempts import WALL_SECONDS, Ended, Started, watch
from forked_commands import CONTEXT


def _run(
    arguments: tuple[str, ...],
    files: tuple[str, str, str],
    more: dict[str, str],
    before: Callable[[], None] | None,
) -> None:
    """Be the command line, in a session of its own, with output in files."""
    os.setsid()
    for number, file in zip((1, 2), files[:2], strict=True):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    os.environ.update(more)
    if before is not None:
        before()
    from heedful.cli.main import run

    code = int(run(list(arguments)))
    sys.stdout.flush()
    sys.stderr.flush()
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    Path(files[2]).write_text(f"{seconds} {max(own.ru_maxrss, others.ru_maxrss) / 1024}")
    os._exit(code)


class Forked(Started):
    """``heedful`` in a forked process, started and not waited for; used as `attempts.Process` is.

    Args:
        arguments: after ``heedful``.
        more: environment variables beside this process's.
        before: called in the child before it starts, to set limits; must be picklable.
    """

    def __init__(
        self,
        *arguments: object,
        more: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.arguments = tuple(str(argument) for argument in arguments)
        self._place = tempfile.TemporaryDirectory()
        self._files = tuple(str(Path(self._place.name) / name) for name in ("out", "err", "usage"))
        environment = {"OMP_NUM_THREADS": "1", "HEEDFUL_CACHE": os.environ["HEEDFUL_CACHE"], **(more or {})}
        self._started = time.monotonic()
        target: Any = _run
        self._child = CONTEXT.Process(target=target, args=(self.arguments, self._files, environment, before))
        self._child.start()
        assert self._child.pid is not None
        self.pid = self._child.pid
        self._ended: Ended | None = None

    def alive(self) -> bool:
        """Whether it runs still."""
        return self._ended is None and self._child.is_alive()

    def wait(self, limit: float | None = None) -> Ended:
        """See `Started.wait`."""
        if self._ended is not None:
            return self._ended
        late, over = threading.Event(), threading.Event()

        def kill() -> None:
            late.set()
            with contextlib.suppress(
                ProcessLookupError
            ):  # `send` would ask for the end that `join` waits for
                os.kill(self.pid, signal.SIGKILL)

        watched = (self.pid, WALL_SECONDS if limit is None else limit, over, kill)
        watching = threading.Thread(target=watch, args=watched)
        watching.start()
        self._child.join()
        over.set()
        watching.join()
        hung = late.is_set()
        seconds = time.monotonic() - self._started
        printed, said, usage = (
            Path(file).read_text("utf-8", "backslashreplace") if Path(file).exists() else ""
            for file in self._files
        )
        cpu_seconds, megabytes = (
            float(word) for word in usage.split() or (0, 0)
        )  # nothing of one that was killed
        code = self._child.exitcode
        assert code is not None
        self._child.close()
        self._place.cleanup()
        self._ended = Ended(self.arguments, code, printed, said, cpu_seconds, seconds, megabytes, hung)
        return self._ended
