"""One worker thread a model: the texts of the requests that wait are answered together."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from heedful.errors import DataError, OutputError, UsageError
from heedful.serving.counters import Counters
from heedful.serving.request_limits import Refused
from heedful.serving.served_model import Request, ServedModel, Vector
from heedful.text.characters import json_line

if TYPE_CHECKING:
    from heedful.model.answers import AnyAnswer

BATCH = 64
"""Texts that are answered together."""
PATIENCE = 0.003
"""Seconds for which the first request that waits is kept for others that are arriving to join it."""
_TURN = 16
"""Texts that a request has answered before the others have their turn, so that a long one holds up no short one."""

_END = 5.0
"""Seconds that the thread has to end."""
_BREATH = 0.01
"""Seconds until the thread goes on after an error that no request has caused."""

Kind = Literal["predict", "encode"]
Result = str | Vector
"""An answer as a line of JSON, or a vector."""


@dataclass(eq=False)
class Job:
    """A request that waits, or is being answered.

    Attributes:
        kind: "predict", or "encode".
        model: what answers it, from its first text to its last, whatever replaces the model meanwhile.
        requests: its texts or pairs.
        source: name of the list that they came in, for messages.
        future: gets the results or what went wrong, in the event loop that it belongs to.
        additions: what gives its answers what they are asked for beside a class or a number, such as a set.
        arrived: when, on the monotonic clock.
        results: those that there are: answers as a line of JSON, or vectors.
        taken: texts that are answered, or being answered.
        ended: whether nobody waits for it any more.
    """

    kind: Kind
    model: ServedModel
    requests: Sequence[Request]
    source: str
    future: asyncio.Future[list[Result]]
    additions: Sequence[Callable[[Any], Any]] = ()
    arrived: float = field(default_factory=time.monotonic)
    results: list[Result] = field(default_factory=list)
    taken: int = 0
    ended: bool = False

    @property
    def left(self) -> int:
        """Texts that nobody has begun to answer."""
        return len(self.requests) - self.taken


Ended = tuple[Job, BaseException | None]
"""A job that has ended, and what went wrong."""
Part = tuple[Job, int, int]
"""Some texts of a job: the job, the first of them and the one after the last."""


class Batcher:
    """The queue of one model and the thread that answers it.

    Args:
        name: of the model, for the counters.
        most: texts that may wait.
        counters: what is counted.
    """

    def __init__(self, name: str, most: int, counters: Counters) -> None:
        self.name, self._most, self._counters = name, most, counters
        self._jobs: deque[Job] = deque()
        self._asked = set[Job]()  # those in the queue and those that are computed
        self._waiting, self._turns, self._busy = 0, 0, False
        self._changed = threading.Condition()
        self._open = True
        self._ended: list[Ended] = []  # of the batch that is computed
        self._thread = threading.Thread(target=self._work, name=f"answers {name}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Texts that wait."""
        return self._waiting

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs; if not, nobody answers any more."""
        return self._thread.is_alive()

    @property
    def turn(self) -> int | None:
        """Number of the batch that is computed; None while none is."""
        return self._turns if self._busy else None

    def add(self, job: Job) -> None:
        """Queue a request.

        Args:
            job: the request.

        Raises:
            Refused: with 429 if too many texts wait already.
        """
        with self._changed:
            if self._waiting and self._waiting + job.left > self._most:
                raise Refused(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    "server",
                    f"{self._waiting:,} texts wait for the model {self.name!r}, and {self._most:,} may. Try again in a "
                    "second.",
                    again=1,
                )
            self._jobs.append(job)
            self._asked.add(job)
            self._waiting += job.left
            if (
                self._waiting >= BATCH or self._waiting == job.left
            ):  # those between wait for the first one's patience
                self._changed.notify()

    def drop(self, job: Job) -> None:
        """Take a request out of the queue: nobody waits for it any more.

        Args:
            job: the request; nothing happens if it has ended.
        """
        self._asked.discard(job)
        if job.ended:
            return
        with self._changed:
            job.ended = True
            self._waiting -= job.left
            job.taken = len(job.requests)
            if job in self._jobs:
                self._jobs.remove(job)

    def close(self) -> None:
        """End the thread once nothing waits; `add` is not called any more."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join(_END)  # one that hangs does not hold up the end

    def _work(self) -> None:
        """Answer until the queue is closed. An error that no request has caused, such as of memory, ends no thread."""
        while True:
            try:
                if not self._turn():
                    return
            except Exception as error:
                self._give_up(error)

    def _turn(self) -> bool:
        """Answer a batch; False once the queue is closed and empty."""
        parts = self._next()
        if not parts:
            return parts is not None
        started = time.perf_counter()
        self._turns, self._busy = self._turns + 1, True
        self._answer(parts)
        self._hand_over()
        self._busy = False
        count = sum(end - start for _, start, end in parts)
        self._counters.batch(self.name, count, time.perf_counter() - started)
        return True

    def _give_up(self, error: Exception) -> None:
        """Let all requests fail: which of them were taken, or told, is not known any more."""
        self._busy = False
        with contextlib.suppress(Exception), self._changed:
            self._ended = [(job, error) for job in tuple(self._asked)]
            for job, _ in self._ended:
                job.ended, job.taken = True, len(job.requests)
            self._jobs, self._waiting = deque(), 0
            self._hand_over()
        time.sleep(_BREATH)

    def _hand_over(self) -> None:
        """Hand over what has ended: each loop is woken once, since it takes the interpreter from this thread."""
        by_loop = defaultdict[asyncio.AbstractEventLoop, list[Ended]](list)
        for each in self._ended:
            by_loop[each[0].future.get_loop()].append(each)
        self._ended = []
        for loop, ended in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
                loop.call_soon_threadsafe(_settle, ended)

    def _next(self) -> list[Part] | None:
        """Wait for texts and take a batch of them; None once the queue is closed and empty."""
        with self._changed:
            while self._open and not self._waiting:
                self._changed.wait()
            if not self._waiting:
                return None
            while self._open and self._waiting < BATCH and self._counters.arriving:
                patience = self._jobs[0].arrived + PATIENCE - time.monotonic()
                if patience <= 0:
                    break
                self._changed.wait(patience)
            return self._take()

    def _take(self) -> list[Part]:
        """Take texts of the jobs in turn; all are of one kind and for one model."""
        parts = list[Part]()
        room = min(BATCH, self._jobs[0].model.together) if self._jobs else 0
        later, again = deque[Job](), deque[Job]()
        lead: Job | None = None
        for job in self._jobs:
            lead = lead or job
            if not room or (job.kind, job.model) != (lead.kind, lead.model):
                later.append(job)
                continue
            count = min(job.left, _TURN, room)
            parts.append((job, job.taken, job.taken + count))
            job.taken += count
            self._waiting -= count
            room -= count
            if job.left:
                again.append(job)
        self._jobs = later + again
        return parts

    def _answer(self, parts: Sequence[Part]) -> None:
        requests = [request for job, start, end in parts for request in job.requests[start:end]]
        try:
            results = _results_of(parts[0][0], requests)
        except Exception:
            for part in parts:  # each by itself, so that one bad text spoils no other request
                self._answer_alone(part)
            return
        self._counters.read(self.name, results)
        place = 0
        for job, start, end in parts:
            self._add(job, start, results[place : place + end - start])
            place += end - start

    def _answer_alone(self, part: Part) -> None:
        job, start, end = part
        if job.ended:
            return
        found: list[AnyAnswer | Vector] = []
        for number in range(start, end):
            try:
                found += _results_of(job, job.requests[number : number + 1])
            except Exception as error:
                self._fail(job, error_for_client(error, f"{job.source}[{number}]"))
                return
        self._counters.read(self.name, found)
        self._add(job, start, found)

    def _add(self, job: Job, start: int, results: Sequence[AnyAnswer | Vector]) -> None:
        if job.ended:
            return
        try:
            given = results
            for add in job.additions:
                given = list(map(add, given))
            job.results += _written(given, start)
        except Exception as error:  # an answer that cannot be written
            self._fail(job, error)
            return
        if len(job.results) == len(job.requests):
            job.ended = True
            self._ended.append((job, None))

    def _fail(self, job: Job, error: BaseException) -> None:
        self.drop(job)
        self._ended.append((job, error))


def _settle(ended: Sequence[Ended]) -> None:
    for job, error in ended:
        if job.future.done():
            continue
        if error is None:
            job.future.set_result(job.results)
        else:
            job.future.set_exception(error)


def _written(results: Sequence[AnyAnswer | Vector], start: int) -> list[Result]:
    """Return vectors as they are, and answers as lines of JSON."""
    return [
        each if isinstance(each, Vector) else json_line({"row": row, **each.as_dict()})
        for row, each in enumerate(results, start=start + 1)
    ]


def _results_of(job: Job, requests: Sequence[Request]) -> Sequence[AnyAnswer | Vector]:
    if job.kind == "predict":
        return job.model.answers(requests)
    return job.model.vectors([text for text in requests if isinstance(text, str)])  # there are no others


def error_for_client(error: Exception, field: str) -> Exception:
    """Return the error that a client gets: a text that is refused, or a model that cannot do what is asked."""
    if isinstance(error, DataError):
        reason = (str(error).partition(": ")[2] or str(error)).partition(". ")[0]
        remedy = "Shorten the text, or start the server with --max-tokens or --truncate head."
        return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, field, f"{field}: {reason}. {remedy}")
    if isinstance(error, UsageError):
        return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "model", str(error))
    if isinstance(error, OutputError):
        return Refused(HTTPStatus.SERVICE_UNAVAILABLE, "server", f"{error}. Try again later.", again=5)
    return error
