"""One attempt each: the real command line in a process of its own, or a call in this one, and what it came to."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import ExitCode, HeedfulError
from tally import Outcome

CPU_SECONDS = 10.0
"""More processor time than this is a failure."""

WALL_SECONDS = float(os.environ.get("HEEDFUL_TRIAL_WALL", "60"))
"""A process that then does nothing, or has computed as long, hangs: it is killed, and has failed. On a quiet machine 10
seconds do. One that gets few turns beside other work is waited for up to `TURNS` times as long."""
TURNS = 10
_IDLE = 0.05
"""Seconds of processor time in half of the time that is allowed; what does less does nothing."""

REFUSALS = frozenset(ExitCode) - {ExitCode.OK, ExitCode.INTERNAL}
# Control characters but newline and tab, and the characters that turn the direction of writing.
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Ended:
    """How a process of the command line ended.

    Attributes:
        arguments: after ``heedful``.
        code: exit status; the negative number of the signal that ended it.
        out: standard output.
        err: standard error.
        cpu_seconds: processor time, its children's included.
        wall_seconds: wall time.
        megabytes: largest resident memory.
        hung: whether it was killed after its time.
    """

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    cpu_seconds: float
    wall_seconds: float
    megabytes: float
    hung: bool

    def outcome(
        self,
        right: Callable[[Ended], bool] = lambda _: True,
        *,
        refusals: bool = True,
        seconds: float = CPU_SECONDS,
    ) -> Outcome:
        """Judge it.

        Args:
            right: whether the result of a process that ended with 0 is the right one.
            refusals: whether a refusal in one line is allowed here.
            seconds: of processor time that are allowed.
        """
        trouble = self._trouble(right, refusals, seconds)
        kind = "failed" if trouble else "refused" if self.code else "right"
        note = f"heedful {' '.join(self.arguments)}: {trouble}" if trouble else ""
        return Outcome(kind, note, self.cpu_seconds, self.megabytes)

    def _trouble(self, right: Callable[[Ended], bool], refusals: bool, seconds: float) -> str:
        said = self.err[-2000:]
        if self.hung:
            return f"killed after {self.wall_seconds:.0f} s; it said {said!r}"
        if self.cpu_seconds > seconds:
            return f"took {self.cpu_seconds:.1f} s of processor time"
        if "Traceback (most recent call last)" in self.err:
            return f"traceback: {said!r}"
        if raw := _RAW.search(self.err) or _RAW.search(self.out):
            return f"raw control character {raw.group()!r} in what it printed: {said!r}"
        if self.code == 0:
            return "" if right(self) else f"wrong result; it printed {self.out[-500:]!r} and {said!r}"
        if self.code not in REFUSALS:
            return f"exit {self.code}: {said!r}"
        lines = self.err.splitlines()
        if sum(line.startswith("heedful: ") for line in lines) != 1 or not lines[-1].startswith("heedful: "):
            return f"exit {self.code} without exactly one line of its own at the end: {said!r}"
        return "" if refusals else f"exit {self.code}: {said!r}"


def watch(pid: int, limit: float, ended: threading.Event, kill: Callable[[], None]) -> None:
    """Kill a process that hangs; return once it has ended.

    Args:
        pid: of the leader of a session.
        limit: see `WALL_SECONDS`.
        ended: set when the process has ended.
        kill: ends it.
    """
    begun, before = time.monotonic(), 0.0
    while not ended.wait(limit / 2):
        used, late = computed(pid), time.monotonic() - begun
        idle = used - before < _IDLE
        if late >= limit and (idle or used > limit or late > TURNS * limit):
            kill()
            return
        before = used


def computed(session: int) -> float:
    """Return the processor time of a session's processes, those that have ended and were waited for included."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # which has ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found += sum(map(int, fields[11:15]))
    return found / os.sysconf("SC_CLK_TCK")


class Started(ABC):
    """A command that was started and not waited for, the leader of a session of its own.

    Attributes:
        pid: of its process.
    """

    pid: int

    @abstractmethod
    def alive(self) -> bool:
        """Whether it runs still."""

    @abstractmethod
    def wait(self, limit: float | None = None) -> Ended:
        """Wait for its end; kill it if it hangs, see `WALL_SECONDS`, which is the default of ``limit``."""

    def send(self, number: int) -> None:
        """Send it a signal if it runs still."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def send_all(self, number: int) -> None:
        """Send it and all that it started a signal."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class Process(Started):
    """``python -m heedful`` in a process of its own, started and not waited for.

    Args:
        arguments: after ``heedful``.
        folder: working folder; None for this one's.
        more: environment variables beside this process's.
        before: called in the child before it starts, to set limits.
        typed: standard input.
    """

    def __init__(
        self,
        *arguments: object,
        folder: Path | None = None,
        more: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        typed: str | bytes = "",
    ) -> None:
        self.arguments = tuple(str(argument) for argument in arguments)
        self._out, self._err, self._in = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
        self._in.write(typed if isinstance(typed, bytes) else typed.encode())
        self._in.seek(0)
        self._started = time.monotonic()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        self._child = subprocess.Popen(
            [sys.executable, "-m", "heedful", *self.arguments],
            cwd=folder,
            env={**environment, **(more or {})},
            stdin=self._in,
            stdout=self._out,
            stderr=self._err,
            preexec_fn=before,
            start_new_session=True,
        )
        self.pid = self._child.pid
        self._ended: Ended | None = None

    def alive(self) -> bool:
        """Whether it runs still; a process that has ended is kept for `wait`."""
        if self._ended is not None:
            return False
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait(self, limit: float | None = None) -> Ended:
        """See `Started.wait`."""
        if self._ended is not None:
            return self._ended
        late, over = threading.Event(), threading.Event()

        def kill() -> None:
            late.set()
            self.send(signal.SIGKILL)

        watched = (self.pid, WALL_SECONDS if limit is None else limit, over, kill)
        watching = threading.Thread(target=watch, args=watched)
        watching.start()
        _, status, usage = os.wait4(self.pid, 0)
        over.set()
        watching.join()
        self._child.returncode = os.waitstatus_to_exitcode(status)
        printed, said = (self._read(stream) for stream in (self._out, self._err))
        self._in.close()
        self._ended = Ended(
            self.arguments,
            self._child.returncode,
            printed,
            said,
            usage.ru_utime + usage.ru_stime,
            time.monotonic() - self._started,
            usage.ru_maxrss / 1024,
            late.is_set() and self._child.returncode == -signal.SIGKILL,
        )
        return self._ended

    @staticmethod
    def _read(stream: Any) -> str:
        with stream:
            stream.seek(0)
            return stream.read().decode("utf-8", "backslashreplace")


def command(*arguments: object, limit: float | None = None, **options: Any) -> Ended:
    """Run ``python -m heedful`` to its end; the options are those of `Process`."""
    return Process(*arguments, **options).wait(limit)


def call(
    what: str,
    function: Callable[[], Any],
    right: Callable[[Any], bool] = lambda _: True,
    *,
    refusals: bool = True,
    seconds: float = CPU_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> Outcome:
    """Call a function of the library here and judge it.

    Args:
        what: is tried, with all that is needed to do it again.
        function: the call.
        right: whether what it returns is right; a wrong result is a silent misreading.
        refusals: whether a `HeedfulError` is allowed here.
        seconds: that are allowed.
        clock: of wall time; of processor time for what never waits, so that a busy machine is no failure.
    """
    started = clock()
    trouble, refused = "", False
    try:
        value = function()
        trouble = "" if right(value) else f"wrong result: {value!r:.500}"
    except HeedfulError as error:
        refused = True
        if type(error).exit_code is ExitCode.INTERNAL or not refusals:
            trouble = f"{type(error).__name__}: {error}"
        elif "\n" in str(error) or _RAW.search(str(error)):
            trouble = f"more than a line, or a raw control character: {str(error)!r:.500}"
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"[:500]
    took = clock() - started
    if not trouble and took > seconds:
        trouble = f"took {took:.1f} s"
    kind = "failed" if trouble else "refused" if refused else "right"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Outcome(kind, f"{what}: {trouble}" if trouble else "", took, peak)
