"""SIGTERM after a thousand requests were sent, on a connection each or many on one: each of them is answered."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections import deque
from pathlib import Path

import pytest

from served import save_model, server
from tally import Outcome, Tally

pytest.importorskip("starlette")
pytest.importorskip("httptools")
REQUESTS = 1_000
BODY = json.dumps({"texts": ["the film was superb"]}).encode()
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
REQUEST = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


def answered(client: socket.socket) -> int:
    """Count the answers that come before the server closes; a reset ends the count."""
    received = bytearray()
    with client:
        try:
            while part := client.recv(1 << 16):
                received += part
        except OSError:
            return received.count(b"HTTP/1.1 200 OK\r\n") - 1
    return received.count(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("each", [1, 10])
def test_an_end_loses_no_request_that_was_sent(workers: int, each: int, tmp_path: Path, tally: Tally) -> None:
    """All clients have sent before the signal is; most of their connections wait in the system by then."""
    folder = save_model(tmp_path / "model")
    for number in range(tally.count(10)):
        with server(f"one={folder}", "--workers", workers, "--timeout", 120) as running:
            clients = deque[socket.socket]()
            for _ in range(REQUESTS // each):
                client = socket.create_connection(("127.0.0.1", running.port), timeout=180)
                client.sendall(REQUEST * each)
                clients.append(client)
            os.kill(running.pid, signal.SIGTERM)
            found = sum(answered(clients.popleft()) for _ in range(len(clients)))
            code = running.stop(None)
        good = found == REQUESTS and code == 0
        note = f"end {number}: {found} of {REQUESTS} answered, exit {code}"
        tally.add(Outcome("right" if good else "failed", note))
