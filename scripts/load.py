"""The server under load on the loopback, beside the same model behind FastAPI as a user would write it.

Run: ``python scripts/load.py [MODEL] [--requests N]``, on an idle Linux machine; while other work runs, only processor
time and memory are worth reading. MODEL is a text classifier; without one, a DiSAN of the default size with random
weights and 41,000 word vectors is made. The clients run in this process, the server in another. The FastAPI server is
left out, and that is said, where FastAPI is not installed.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.runtime import load
from heedful.workshop.bench.runtime_speed import random_model

CLIENTS, MANY, WORDS = 64, 1_000, 20
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
        processor: milliseconds of processor time a request, with 64 clients.
        megabytes: resident memory after the first tenth of the requests, and after the last.
        requests: sent in all.
        failed: of them without an answer of status 200.
    """

    throughput: float
    milliseconds: Sequence[float]
    processor: float
    megabytes: tuple[float, float]
    requests: int
    failed: int


class Client:
    """A connection that is used again; counts what was not answered."""

    failed = 0

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    async def ask(self, text: str, accept: str = "*/*") -> bytes:
        """Ask about one text and return the body of the answer."""
        body = json.dumps({"texts": [text]}).encode()
        self.writer.write(
            b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "
            + f"{accept}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert length is not None
        answer = await self.reader.readexactly(int(length[1]))
        Client.failed += not head.startswith(b"HTTP/1.1 200")
        return answer


async def in_turn(port: int, texts: Sequence[str], clients: int) -> float:
    """Let clients ask until every text is answered; return the seconds."""
    waiting = iter(texts)

    async def one() -> None:
        async with Client(port) as client:
            for text in waiting:
                await client.ask(text)

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    return time.perf_counter() - started


async def at_a_rate(port: int, texts: Sequence[str], rate: float) -> list[float]:
    """Send a request whenever one is due, whatever the earlier ones do; return the milliseconds of each."""
    found, idle = list[float](), asyncio.Queue[Client]()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(4 * CLIENTS):
            idle.put_nowait(await stack.enter_async_context(Client(port)))
        started = time.perf_counter()

        async def one(number: int, text: str) -> None:
            client = await idle.get()
            await client.ask(text)
            found.append(1e3 * (time.perf_counter() - started - number / rate))
            idle.put_nowait(client)

        async with asyncio.TaskGroup() as group:
            for number, text in enumerate(texts):
                await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
                group.create_task(one(number, text))
    return found


async def all_at_once(port: int, texts: Sequence[str]) -> list[bytes]:
    """Ask about every text on a connection of its own at the same time."""

    async def one(text: str) -> bytes:
        async with Client(port) as client:
            return await client.ask(text, "application/x-ndjson")

    return await asyncio.gather(*(one(text) for text in texts))


async def under_load(port: int, pid: int, texts: Sequence[str], requests: int) -> Load:
    """Measure a server."""
    Client.failed = 0
    await in_turn(port, texts[:200], CLIENTS)
    part = max(1_000, requests // 10)
    repeated = [texts[number % len(texts)] for number in range(part)]
    used = seconds(pid)
    throughput = part / await in_turn(port, repeated, CLIENTS)
    processor = 1e3 * (seconds(pid) - used) / part
    first, sent = megabytes(pid), 200 + part
    half = repeated[: min(part, 5_000)]
    milliseconds = await at_a_rate(port, half, throughput / 2)
    sent += len(half)
    while sent < requests:
        await in_turn(port, repeated, CLIENTS)
        sent += part
    return Load(throughput, milliseconds, processor, (first, megabytes(pid)), sent, Client.failed)


def megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def row(name: str, load: Load, base: tuple[float, float, float]) -> str:
    """Return a row of the table."""
    throughput, alone, _ = base
    p99 = statistics.quantiles(load.milliseconds, n=100)[98]
    cells = (
        f"{load.throughput:,.0f}",
        f"{load.throughput / throughput:.0%}",
        f"{statistics.median(load.milliseconds):.1f}",
        f"{p99:.1f}",
        f"{p99 - alone:.1f}",
        f"{load.processor:.2f}",
        f"{load.megabytes[0]:.0f}",
        f"{load.megabytes[1]:.0f}",
        f"{load.requests:,}",
        f"{load.failed}",
    )
    return f"| {name} | {' | '.join(cells)} |"


HEAD = (
    "| server | texts/s | of offline | median ms at half load | p99 ms | p99 above the model | processor ms | "
    "MB after a tenth | MB at the end | requests | failed |"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument(
        "--requests", type=int, default=10_000, help="requests to each server; 200,000 for the full run"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.model or random_model("text", Path(place) / "model")
        known, generator = load(folder).asking.vocabulary.trainable, np.random.default_rng(0)
        texts = [" ".join(generator.choice(known, WORDS)) for _ in range(MANY)]
        base = offline(folder, texts)
        print(
            f"runtime without a server: {base[0]:,.0f} texts/s of {WORDS} words, one alone {base[1]:.2f} ms,"
        )
        print(f"processor {base[2]:.2f} ms a text\n")
        port = free_port()
        command = ["heedful", "serve", f"model={folder}", "--port", str(port)]
        with served(command, port) as pid:
            wrong = same_bytes(folder, port, texts)
            found = asyncio.run(under_load(port, pid, texts, options.requests))
        rows = [row("heedful serve", found, base)]
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
            ]
            with served(command, port) as pid:
                peer = asyncio.run(under_load(port, pid, texts, min(options.requests, 10_000)))
            rows.append(row("FastAPI, twenty lines", peer, base))
        print(HEAD, "|---|" + "---:|" * (HEAD.count("|") - 2), *rows, sep="\n")
        print(f"\n{MANY:,} requests at once: {wrong} answers differ from heedful predict")
        if len(rows) == 1:
            print("FastAPI is not installed, so it was not measured: pip install fastapi")
        if wrong or found.failed:
            sys.exit(1)


if __name__ == "__main__":
    main()
