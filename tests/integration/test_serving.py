"""The server as a process: clients that are slow, half closed or rude, signals, and a model that is replaced."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tiny
from rude_requests import rude_request
from served import Server, save_model, server, status_of, status_of_raw
from waiting import PATIENCE, until

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httptools")
SECRET = "zanzibar-secret"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    save_model(root / "texts", max_tokens=200)
    save_model(root / "pairs", task="pair")
    return root


@pytest.fixture(scope="module")
def running(models: Path) -> Iterator[Server]:
    with server(
        f"one={models / 'texts'}", models / "pairs", "--timeout", "10", "--max-body", "100000"
    ) as found:
        yield found


def is_well(running: Server) -> bool:
    """Whether others are answered, within the time that a request has."""
    return running.ask("/v1/predict", {"model": "one", "texts": ["a film"]}).status == 200


def raw(running: Server, *parts: bytes, half: bool = False) -> socket.socket:
    """Send bytes on a connection that stays open."""
    client = socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE)
    for part in parts:
        client.sendall(part)
    if half:
        client.shutdown(socket.SHUT_WR)
    return client


def post(body: bytes, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {size}\r\n\r\n".encode() + body


BODY = json.dumps({"model": "one", "texts": ["a film"]}).encode()


def test_many_clients_get_the_bytes_of_predict(running: Server, models: Path) -> None:
    texts = [f"the film {'was ' * (number % 7)}dull ." for number in range(200)]
    lines = {"accept": "application/x-ndjson"}

    def ask(text: str) -> bytes:
        return running.ask("/v1/predict", {"model": "one", "texts": [text]}, lines).body

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(ask, texts))
    told = {
        text: tiny.run("predict", models / "texts", "--text", text, "--json").out.encode()
        for text in set(texts)
    }
    assert found == [told[text] for text in texts]


def test_a_client_that_closes_its_half_is_answered(running: Server) -> None:
    assert status_of(raw(running, post(BODY), half=True)) == 200


def test_a_client_that_closes_its_half_too_early_is_dropped(running: Server) -> None:
    assert status_of(raw(running, post(BODY, len(BODY) + 5), half=True)) == 0
    assert is_well(running)


def test_slow_clients_leave_the_others_alone(running: Server) -> None:
    heads = [raw(running, b"POST /v1/pred") for _ in range(40)]
    bodies = [raw(running, post(BODY[:5], len(BODY))) for _ in range(40)]
    assert is_well(running)
    assert {status_of(client) for client in bodies} == {408}
    for client in heads:
        client.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (post(b"{" + b" " * 200_000), 413),
        (post(b"", 100_001), 413),  # the body is not waited for
        (post(b"", 2**63), 413),
        (post(b"", 2**64), 400),
        (post(b"x" * 90_000), 422),
        (b"POST / HTTP/9.9\r\n\r\n", 400),
        (b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 400),
        (b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET http://other/ HTTP/1.1\r\nHost: other\r\n\r\n", 421),
        (b"GET /%zz%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET /health/live HTTP/1.0\r\n\r\n", 200),
    ],
    ids=[
        "too long",
        "said too long",
        "endless",
        "no number",
        "no json",
        "version",
        "tls",
        "connect",
        "absolute",
        "percent",
        "old",
    ],
)
def test_rude_requests(running: Server, sent: bytes, status: int) -> None:
    assert status_of(raw(running, sent)) == status
    assert is_well(running)


def test_malformed_requests(running: Server) -> None:
    draw = random.Random(17)
    statuses = [status_of_raw(running.port, rude_request(draw)) for _ in range(300)]
    assert {status for status in statuses if status >= 500 or status < 0} == set()
    assert {200, 400, 404, 405, 415, 422} <= set(statuses)
    assert is_well(running)


def test_the_log_holds_no_text(running: Server) -> None:
    long = " ".join([SECRET] * 300)
    for body in (
        {"model": "one", "texts": [SECRET]},
        {"model": "one", "texts": [long]},
        {SECRET: 1},
        [SECRET],
    ):
        running.ask("/v1/predict", body)
    running.ask("/v1/explain", {"model": "one", "text": SECRET})
    running.ask(f"/{SECRET}?text={SECRET}")
    assert not any(SECRET in line for line in running.log)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_torch_is_loaded(models: Path) -> None:
    with server(models / "texts") as running:
        assert running.ask("/v1/predict", {"texts": ["a film"]}).status == 200
        assert running.ask("/v1/encode", {"texts": ["a film"]}).status == 200
        assert running.ask("/v1/explain", {"text": "a film", "page": True}).status == 200
        mapped = Path(f"/proc/{running.pid}/maps").read_text()
    assert "numpy" in mapped
    assert "libtorch" not in mapped


def test_a_folder_is_replaced_under_load(models: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    save_model(place, seed=4)
    with server(place) as running:
        found: list[tuple[int, bytes]] = []
        ended = threading.Event()

        def ask() -> None:
            connection = running.connect()
            while not ended.is_set():
                reply = running.ask("/v1/predict", {"texts": ["a film"]}, connection=connection)
                found.append((reply.status, reply.body))
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        save_model(place, seed=5)
        assert running.waits_for("taken up")
        shutil.copy(models / "texts" / "config.json", place / "config.json")
        assert running.waits_for("not served")
        until(lambda: found[-1][1] != found[0][1])
        ended.set()
        for thread in threads:
            thread.join()
    assert {status for status, _ in found} == {200}
    answers = [body for _, body in found]
    assert len(set(answers)) == 2
    assert answers[-1] != answers[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_answers_what_is_in_flight(models: Path, number: int, tmp_path: Path) -> None:
    with server(models / "texts", environment={"TMPDIR": str(tmp_path)}) as running:
        body = json.dumps({"texts": ["the film was dull and not superb"] * 1_000}).encode()
        client = raw(running, post(body))
        idle = raw(running, b"")
        os.kill(running.pid, number)  # what was sent is answered, whether the server has read it or not
        answer = b""
        while part := client.recv(1 << 16):
            answer += part
        client.close()
        idle.close()
        assert running.stop(None) == 0
    assert answer.startswith(b"HTTP/1.1 200")
    assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["answers"]) == 1_000
    assert list(tmp_path.glob("heedful-serve-*")) == []


def test_a_server_that_was_killed_leaves_its_copy_until_the_next_one_starts(
    models: Path, tmp_path: Path
) -> None:
    place = {"TMPDIR": str(tmp_path)}
    with server(models / "texts", environment=place) as running:
        os.kill(running.pid, signal.SIGKILL)
    left = set(tmp_path.glob("heedful-serve-*"))
    assert left
    with server(models / "texts", environment=place):
        assert not left & set(tmp_path.glob("heedful-serve-*"))
    assert list(tmp_path.glob("heedful-serve-*")) == []


def test_a_bad_folder_is_not_served_at_all(models: Path, tmp_path: Path) -> None:
    bad = shutil.copytree(models / "texts", tmp_path / "bad")
    (bad / "labels.json").write_text("[]")
    assert tiny.run("serve", bad, "--port", "0").code == 5
    assert tiny.run("serve", tmp_path / "none", "--port", "0").code == 5


def test_wrong_usage(models: Path, tmp_path: Path) -> None:
    folder, short = models / "texts", tmp_path / "key"
    short.write_text("short")
    assert tiny.run("serve").code == 2
    assert tiny.run("serve", folder, folder).code == 2
    assert tiny.run("serve", f"a b={folder}").code == 2
    assert tiny.run("serve", folder, "--key-file", short).code == 2
    assert tiny.run("serve", folder, "--key-file", tmp_path / "none").code == 3
    (tmp_path / "binary").write_bytes(b"\xffsecret" * 4)
    refused = tiny.run("serve", folder, "--key-file", tmp_path / "binary")
    assert (refused.code, "0xff" in refused.err) == (3, False)
    assert "is no text in ASCII" in refused.err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert tiny.run("serve", folder, "--port", taken.getsockname()[1]).code == 2


def test_without_the_extra(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("heedful.serving.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.requests", None)
    result = tiny.run("serve", models / "texts", "--port", "0")
    assert result.code == 2
    assert "heedful[serve]" in result.err


def test_a_key_from_the_environment(models: Path) -> None:
    key = "0123456789abcdef0123"
    with server(models / "texts", environment={"HEEDFUL_SERVE_KEY": key}) as running:
        body: Any = {"texts": ["film"]}
        assert running.ask("/v1/predict", body).status == 401
        assert running.ask("/v1/predict", body, {"authorization": f"Bearer {key}"}).status == 200
    assert not any(key in line for line in running.log)
