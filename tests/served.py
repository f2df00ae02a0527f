"""Small models to serve, a client of the application in this process, and the server in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from heedful.models import ModelConfig
from heedful.serving import Bounds
from heedful.serving.counters import Counters
from heedful.serving.model_store import ModelStore, opener
from heedful.tasks import TextSettings, build_network, task_named
from heedful.text.vocabulary import Vocabulary
from waiting import PATIENCE

WORDS = ("the", "a", "film", "story", "was", "is", "dull", "superb", ".", ",", "and", "not")
JSON = {"content-type": "application/json"}


def save_model(
    folder: Path,
    *,
    seed: int = 0,
    task: str = "text",
    encoder: str = "disan",
    options: Any = None,
    **text: Any,
) -> Path:
    """Save a small network with random weights."""
    more = {"encoder_options": options or {}}
    model = ModelConfig(task=task, encoder=encoder, width=24, hidden=16, outputs=3, **more)
    torch.manual_seed(seed)
    network = build_network(model, torch.randn(len(WORDS) + 2, 24))
    labels = () if task == "relatedness" else ("no", "some", "yes")
    made = task_named(task).model_type(network, model, Vocabulary(WORDS), labels, TextSettings(**text))
    made.save(folder)
    return folder


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Read the body as JSON."""
        return json.loads(self.body)

    @property
    def field(self) -> str:
        """The field that an error names."""
        return self.json()["error"]["field"]


@dataclass
class InProcess:
    """An application in this process, asked without a socket.

    Attributes:
        app: the application.
        log: what it said.
        leaves: whether the client goes away once it has asked.
    """

    app: Any
    log: list[str]
    leaves: bool = False

    def ask(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, method: str = ""
    ) -> Reply:
        """Ask once."""
        return self.ask_all([(path, body, headers, method)])[0]

    def ask_all(self, asked: list[tuple[str, Any, Mapping[str, str] | None, str]]) -> list[Reply]:
        """Ask several times at once."""

        async def all_of_them() -> list[Reply]:
            return await asyncio.gather(*(self._one(*each) for each in asked))

        return asyncio.run(all_of_them())

    def ask_bare(self, headers: list[tuple[bytes, bytes]], version: str = "1.1") -> Reply:
        """Ask whether the server lives, with these headers alone."""
        scope = {"path": "/health/live", "headers": headers, "http_version": version}
        return asyncio.run(self._one("/health/live", None, None, "GET", scope))

    async def _one(
        self,
        path: str,
        body: Any,
        headers: Mapping[str, str] | None,
        method: str,
        more: Mapping[str, Any] | None = None,
    ) -> Reply:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent: list[dict[str, Any]] = []
        waiting = [{"type": "http.request", "body": data, "more_body": False}]
        leaves = self.leaves  # as it is now: what is set for later requests must not end this one

        async def receive() -> dict[str, Any]:
            if not waiting and not leaves:
                await asyncio.Event().wait()
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        given = {"host": "localhost", **({} if body is None else JSON), **(headers or {})}
        scope = {
            "type": "http",
            "method": method or ("GET" if body is None else "POST"),
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
            **(more or {}),
        }
        await self.app(scope, receive, send)
        if not sent:
            return Reply(0, {}, b"")
        head, *rest = sent
        found = {name.decode(): value.decode() for name, value in head["headers"]}
        return Reply(head["status"], found, b"".join(message.get("body", b"") for message in rest))


@contextlib.contextmanager
def in_process(
    folders: Mapping[str, Path],
    *,
    bounds: Bounds | None = None,
    access: Any = None,
    open_folder: Callable[[Path], Any] | None = None,
) -> Iterator[InProcess]:
    """Give an application with models."""
    from heedful.serving.app import Access, App

    log, counters, bounds = list[str](), Counters(), bounds or Bounds()
    shelf = ModelStore(folders, bounds, counters, open_folder or opener(None, None), log.append)
    yield InProcess(App(shelf, bounds, access or Access(), counters, log.append), log)
    shelf.close()


class Server:
    """``heedful serve``, or another command that serves, in a process of its own, on a free port of the loopback.

    Attributes:
        port: its port.
        log: lines of its standard error so far.
    """

    def __init__(
        self, *arguments: object, environment: Mapping[str, str] | None = None, command: str = "serve"
    ) -> None:
        words = [sys.executable, "-m", "heedful", command, *map(str, arguments), "--port", "0"]
        more = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})}
        self._child = subprocess.Popen(
            words,
            env={**os.environ, **more},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # a signal to its group reaches no other process
        )
        self.pid, self.port, self.log, self._ended = self._child.pid, 0, list[str](), False
        self._said = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.waits_for(" at http://")
        assert self.port, self.log

    def _read(self) -> None:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            if " at http://" in line:
                self.port = int(line.partition(" at http://")[2].split("/")[0].rpartition(":")[2])
            with self._said:
                self.log.append(line)
                self._said.notify_all()
        with self._said:
            self._ended = True
            self._said.notify_all()

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that stays open."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(
        self,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        connection: http.client.HTTPConnection | None = None,
    ) -> Reply:
        """Ask once, on a connection of its own or a given one."""
        own = connection or self.connect()
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            own.request("GET" if data is None else "POST", path, data, {**JSON, **(headers or {})})
            with own.getresponse() as response:
                return Reply(response.status, dict(response.getheaders()), response.read())
        finally:
            if connection is None:
                own.close()

    def stop(self, number: int | None = signal.SIGTERM) -> int:
        """Send a signal, by default SIGTERM, None for none, and return the exit code."""
        if number is not None and self._child.poll() is None:
            self._child.send_signal(number)
        try:
            return self._child.wait(PATIENCE)
        finally:
            self._child.kill()
            self._reader.join()
            assert self._child.stderr is not None
            self._child.stderr.close()

    def workers(self) -> list[int]:
        """Return the processes of its workers that run."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(number) for number in children if is_worker(int(number))]

    def waits_for(self, said: str) -> bool:
        """Wait until the log holds something; False if the server ends without it."""
        with self._said:
            self._said.wait_for(lambda: self._ended or any(said in line for line in self.log), PATIENCE)
            return any(said in line for line in self.log)


def is_worker(pid: int) -> bool:
    """Whether a process runs and is a worker of a server."""
    with contextlib.suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()  # empty once it has ended
    return False


def status_of(client: socket.socket) -> int:
    """Read the status of the answer; 0 if the connection was closed without one, -1 if it was reset."""
    with client, contextlib.suppress(ConnectionResetError):
        answer = client.recv(65_536)
        return int(answer.split()[1]) if answer else 0
    return -1


def status_of_raw(port: int, request: bytes) -> int:
    """Send bytes, close the sending half and read the status of the first answer."""
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    with contextlib.suppress(OSError):  # the server may answer and close before it has read everything
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
    return status_of(client)


@contextlib.contextmanager
def server(*arguments: object, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Give a server that is stopped at the end."""
    started = Server(*arguments, environment=environment)
    try:
        yield started
    finally:
        started.stop()
