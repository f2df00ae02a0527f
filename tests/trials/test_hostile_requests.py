"""Ten thousand malformed requests to a server in a process of its own: none makes it fail, and others are answered."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rude_requests import rude_request
from served import save_model, server, status_of_raw
from tally import Outcome, Tally

pytest.importorskip("starlette")
pytest.importorskip("httptools")
EACH = 250
"""Requests between two looks at whether a good one is still answered with the same bytes."""


def test_malformed_requests(tally: Tally, tmp_path: Path) -> None:
    save_model(tmp_path / "model", max_tokens=200)
    good = {"texts": ["the film was superb", ""]}
    with server(f"one={tmp_path / 'model'}", "--timeout", "5") as running:
        before = running.ask("/v1/predict", good).body
        for number in range(tally.count(10_000)):
            request = rude_request(tally.draw)
            status = status_of_raw(running.port, request)
            kind = "failed" if status >= 500 or status < 0 else "right" if status == 200 else "refused"
            tally.add(Outcome(kind, f"{status}: {request[:300]!r}"))
            if number % EACH == 0 and running.ask("/v1/predict", good).body != before:
                tally.add(Outcome("failed", f"a good request after {number} others"))
        with socket.create_connection(("127.0.0.1", running.port)):
            assert running.ask("/v1/predict", good).body == before
        assert not any("internal error" in line for line in running.log), running.log
