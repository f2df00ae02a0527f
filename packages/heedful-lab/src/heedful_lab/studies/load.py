"""The server under load on the loopback, beside the same model behind FastAPI as a user would write it.

    python -m heedful_lab.studies.load [MODEL] [--requests N] [--workers N]

Run it on an idle Linux machine; while other work runs,
only processor time and memory are worth reading. MODEL is a text classifier; without one, a DiSAN of the default size
with random weights and 41,000 word vectors is made. The clients run in this process, the server in others. The FastAPI
server is left out, and that is said, where FastAPI is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from heedful.runtime import load
from heedful.tables import markdown_table
from heedful_lab.bench.runtime_speed import random_model

CLIENTS, MANY, WORDS = 64, 1_000, 20
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
FASTAPI = """from fastapi import FastAPI
from pydantic import BaseModel
import heedful.runtime

app = FastAPI()
model = heedful.runtime.load({folder!r})


class Texts(BaseModel):
    texts: list[str]


@app.post("/v1/predict")
def predict(asked: Texts):
    answers = [answer.as_dict() for answer in model.predict(asked.texts)]
    return {{"answers": answers}}


@app.get("/health/ready")
def ready():
    return {{"status": "ready"}}
"""


@dataclass(frozen=True)
class Load:
    """What a server did under load.

    Attributes:
        throughput: texts a second with 64 clients that each wait for an answer.
        milliseconds: of each request at half of that rate, from the moment at which it was due.
        processor: milliseconds of the server's processor time a request, with 64 clients; the sum over its workers.
        clients: milliseconds of theirs.
        megabytes: resident memory after the first tenth of the requests, and after the last; the sum over workers.
        requests: sent in all.
        failed: of them without an answer of status 200.
    """

    throughput: float
    milliseconds: Sequence[float]
    processor: float
    clients: float
    megabytes: tuple[float, float]
    requests: int
    failed: int


class Client(asyncio.Protocol):
    """A connection that is used again; counts what was not answered.

    It calls back with each answer and makes no task for it: the clients share the cores with the server, and what they
    take is missing there.

    Args:
        answered: what is called with the client and the body of each answer.
    """

    failed = 0

    def __init__(self, answered: Callable[[Client, bytes], None]) -> None:
        self._answered, self._received, self._end = answered, bytearray(), 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Collect an answer, and call back once it is whole."""
        received = self._received
        received += data
        if not self._end:
            head = received.find(b"\r\n\r\n")
            if head < 0:
                return
            length = LENGTH.search(received, 0, head)
            assert length is not None
            self._head, self._end = head + 4, head + 4 + int(length[1])
        if len(received) >= self._end:
            Client.failed += not received.startswith(b"HTTP/1.1 200")
            body = bytes(received[self._head : self._end])
            self._received, self._end = bytearray(), 0
            self._answered(self, body)


def request_of(text: str, accept: str = "*/*") -> bytes:
    """Return a request about one text, as it is sent."""
    body = json.dumps({"texts": [text]}).encode()
    head = (
        "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@contextlib.asynccontextmanager
async def connected(
    port: int, count: int, answered: Callable[[Client, bytes], None]
) -> AsyncIterator[list[Client]]:
    """Open so many connections."""
    loop, clients = asyncio.get_running_loop(), list[Client]()
    try:
        for _ in range(count):
            _, client = await loop.create_connection(lambda: Client(answered), "127.0.0.1", port)
            clients.append(client)
        yield clients
    finally:
        for client in clients:
            client.transport.close()


async def in_turn(port: int, requests: Sequence[bytes], clients: int) -> float:
    """Let clients ask until every request is answered; return the seconds."""
    waiting, left = iter(requests), len(requests)
    done = asyncio.get_running_loop().create_future()

    def ask_again(client: Client, _: bytes) -> None:
        nonlocal left
        left -= 1
        if request := next(waiting, None):
            client.transport.write(request)
        elif not left:
            done.set_result(None)

    async with connected(port, clients, ask_again) as asking:
        started = time.perf_counter()
        for client, request in zip(asking, waiting, strict=False):
            client.transport.write(request)
        await done
        return time.perf_counter() - started


async def at_a_rate(port: int, requests: Sequence[bytes], rate: float) -> list[float]:
    """Send a request whenever one is due, whatever the earlier ones do; return the milliseconds of each."""
    found, asked_at = list[float](), dict[Client, float]()
    late, done = deque[tuple[float, bytes]](), asyncio.get_running_loop().create_future()

    def note(client: Client, _: bytes) -> None:
        found.append(1e3 * (time.perf_counter() - asked_at.pop(client)))
        if late:
            send(client, *late.popleft())
        else:
            idle.append(client)
            if len(found) == len(requests):
                done.set_result(None)

    def send(client: Client, due: float, request: bytes) -> None:
        asked_at[client] = due
        client.transport.write(request)

    async with connected(port, 4 * CLIENTS, note) as asking:
        idle, started = deque(asking), time.perf_counter()
        for number, request in enumerate(requests):
            due = started + number / rate
            if due > time.perf_counter():
                await asyncio.sleep(due - time.perf_counter())
            if idle:
                send(idle.popleft(), due, request)
            else:
                late.append((due, request))
        await done
    return found


async def all_at_once(port: int, texts: Sequence[str]) -> list[bytes]:
    """Ask about every text on a connection of its own at the same time."""
    answers = dict[Client, bytes]()
    done = asyncio.get_running_loop().create_future()

    def keep(client: Client, body: bytes) -> None:
        answers[client] = body
        if len(answers) == len(texts):
            done.set_result(None)

    async with connected(port, len(texts), keep) as asking:
        for client, text in zip(asking, texts, strict=True):
            client.transport.write(request_of(text, "application/x-ndjson"))
        await done
        return [answers[client] for client in asking]


async def under_load(port: int, pid: int, texts: Sequence[str], requests: int) -> Load:
    """Measure a server."""
    Client.failed = 0
    asked = [request_of(text) for text in texts]
    await in_turn(port, asked[:200], CLIENTS)
    part = max(1_000, requests // 10)
    repeated = [asked[number % len(asked)] for number in range(part)]
    used, own = seconds(pid), time.process_time()
    throughput = part / await in_turn(port, repeated, CLIENTS)
    processor, clients = 1e3 * (seconds(pid) - used) / part, 1e3 * (time.process_time() - own) / part
    first, sent = megabytes(pid), 200 + part
    half = repeated[: min(part, 5_000)]
    milliseconds = await at_a_rate(port, half, throughput / 2)
    sent += len(half)
    while sent < requests:
        await in_turn(port, repeated, CLIENTS)
        sent += part
    memory = (first, megabytes(pid))
    return Load(throughput, milliseconds, processor, clients, memory, sent, Client.failed)


def processes(pid: int) -> list[Path]:
    """Return the folders in /proc of a server and of its workers, if it has any."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path("/proc") / number for number in (str(pid), *children)]


def megabytes(pid: int) -> float:
    """Return the resident memory of a server and its workers; what they share is counted once for each."""
    pages = sum(int((folder / "statm").read_text().split()[1]) for folder in processes(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def seconds(pid: int) -> float:
    """Return the processor time of a server and its workers."""
    stats = [(folder / "stat").read_text().rpartition(")")[2].split() for folder in processes(pid)]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(command: Sequence[str], port: int) -> Iterator[int]:
    """Run a server until the body ends; give the number of its process."""
    child = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5).close()
                break
            time.sleep(0.1)
        yield child.pid
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(60)


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def offline(folder: Path, texts: Sequence[str]) -> tuple[float, float, float]:
    """Return texts a second of the runtime without a server, milliseconds of one, and of processor time a text."""
    model = load(folder)
    list(model.predict(texts[:200]))
    started, used = time.perf_counter(), time.process_time()
    list(model.predict(texts))
    throughput = len(texts) / (time.perf_counter() - started)
    processor = 1e3 * (time.process_time() - used) / len(texts)
    alone = []
    for text in texts[:300]:
        started = time.perf_counter()
        list(model.predict([text]))
        alone.append(1e3 * (time.perf_counter() - started))
    return throughput, statistics.median(alone), processor


def same_bytes(folder: Path, port: int, texts: Sequence[str]) -> int:
    """Return how many of 1,000 answers that are asked for at once are not those of ``heedful predict``."""
    found = asyncio.run(all_at_once(port, texts))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "texts.txt"
        file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        command = [sys.executable, "-m", "heedful", "predict", str(folder), "--input", str(file), "--json"]
        lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines(keepends=True)
    told = [re.sub(rb'^\{"row": \d+', b'{"row": 1', line) for line in lines]
    return sum(one != other for one, other in zip(found, told, strict=True))


def row(name: str, load: Load, base: tuple[float, float, float]) -> tuple[str, ...]:
    """Return the cells of a row of the table."""
    throughput, alone, _ = base
    p99 = statistics.quantiles(load.milliseconds, n=100)[98]
    return (
        name,
        f"{load.throughput:,.0f}",
        f"{load.throughput / throughput:.0%}",
        f"{statistics.median(load.milliseconds):.1f}",
        f"{p99:.1f}",
        f"{p99 - alone:.1f}",
        f"{load.processor:.2f}",
        f"{load.clients:.2f}",
        f"{load.megabytes[0]:.0f}",
        f"{load.megabytes[1]:.0f}",
        f"{load.requests:,}",
        f"{load.failed}",
    )


HEAD = [
    "server",
    "texts/s",
    "of offline",
    "median ms at half load",
    "p99 ms",
    "p99 above the model",
    "processor ms",
    "of the clients",
    "MB after a tenth",
    "MB at the end",
    "requests",
    "failed",
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument(
        "--requests", type=int, default=10_000, help="requests to each server; 200,000 for the full run"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes that answer, of each server")
    options = parser.parse_args()
    workers = ["--workers", str(options.workers)]
    of_them = f", {options.workers} workers" if options.workers > 1 else ""
    with tempfile.TemporaryDirectory() as place:
        folder = options.model or random_model("text", Path(place) / "model")
        known, generator = load(folder).reading.vocabulary.trainable, np.random.default_rng(0)
        texts = [" ".join(generator.choice(known, WORDS)) for _ in range(MANY)]
        base = offline(folder, texts)
        print(
            f"runtime without a server: {base[0]:,.0f} texts/s of {WORDS} words, one alone {base[1]:.2f} ms,"
        )
        print(f"processor {base[2]:.2f} ms a text\n")
        port = free_port()
        command = ["heedful", "serve", f"model={folder}", "--port", str(port), *workers]
        with served(command, port) as pid:
            wrong = same_bytes(folder, port, texts)
            found = asyncio.run(under_load(port, pid, texts, options.requests))
        rows = [row(f"heedful serve{of_them}", found, base)]
        if importlib.util.find_spec("fastapi"):
            (Path(place) / "peer.py").write_text(FASTAPI.format(folder=str(folder)), encoding="utf-8")
            port = free_port()
            command = [
                "uvicorn",
                "peer:app",
                "--app-dir",
                place,
                "--port",
                str(port),
                "--log-level",
                "critical",
                *workers,
            ]
            with served(command, port) as pid:
                peer = asyncio.run(under_load(port, pid, texts, min(options.requests, 10_000)))
            rows.append(row(f"FastAPI, twenty lines{of_them}", peer, base))
        print(*markdown_table(HEAD, rows, right=range(1, len(HEAD))), sep="\n")
        print(f"\n{MANY:,} requests at once: {wrong} answers differ from heedful predict")
        if len(rows) == 1:
            print("FastAPI is not installed, so it was not measured: pip install fastapi")
        if wrong or found.failed:
            sys.exit(1)


if __name__ == "__main__":
    main()
