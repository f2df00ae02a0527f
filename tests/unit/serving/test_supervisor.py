"""Several workers behind one port: bytes, counts, workers that die, and signals to one process or to all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import heedful.runtime
import tiny
from heedful.text.characters import json_line
from served import Server, is_worker, save_model, server, status_of
from waiting import PATIENCE, until

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httptools")
place = pytest.importorskip("heedful.serving.worker_slot")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers in /proc")
LINES = {"accept": "application/x-ndjson"}
TWO = ("--workers", "2")
MANY = 200
"""Texts of a long request."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "texts", max_tokens=200)


@pytest.fixture
def running(folder: Path, tmp_path: Path) -> Iterator[Server]:
    with server(f"one={folder}", *TWO, environment={"TMPDIR": str(tmp_path)}) as found:
        yield found


def counted(running: Server, name: str) -> float:
    found = [line for line in running.ask("/metrics").body.decode().splitlines() if line.startswith(name)]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def texts_of_each(place: Path) -> list[int]:
    """How many texts each worker has answered, as it left them."""
    found = []
    for file in place.glob("heedful-serve-*/counts-*.json"):
        left = json.loads(file.read_text())["counts"]
        found.append(sum(count for name, _, count in left if name == "heedful_texts_total"))
    return sorted(found)


BODY = json.dumps({"texts": ["the film was dull and not superb"] * MANY}).encode()
HEAD = (
    "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
)
REQUEST = f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY


def connect(running: Server, sent: bytes) -> socket.socket:
    """Send bytes on a connection of its own."""
    client = socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE)
    client.sendall(sent)
    return client


def half_asked(running: Server) -> list[socket.socket]:
    """Give connections that are taken, with requests that lack their end."""
    clients = [connect(running, REQUEST[:-5]) for _ in range(8)]
    assert until(lambda: counted(running, "heedful_connections") >= 9)
    return clients


def answered(clients: list[socket.socket]) -> list[int]:
    """Send the end of the requests and return how many texts were answered to each."""
    for client in clients:
        client.sendall(REQUEST[-5:])
    return [answers_of(client) for client in clients]


def answers_of(client: socket.socket) -> int:
    received = b""
    with client:
        while part := client.recv(1 << 16):
            received += part
    return len(json.loads(received.partition(b"\r\n\r\n")[2])["answers"])


def test_both_give_the_bytes_of_one_and_their_counts_are_summed(
    running: Server, folder: Path, tmp_path: Path
) -> None:
    texts = [f"the film {'was ' * (number % 7)}dull ." for number in range(60)]
    connections = [running.connect() for _ in range(12)]
    for connection in connections:
        connection.connect()
    found = [
        running.ask("/v1/predict", {"texts": [text]}, LINES, connection=connections[number % 12]).body
        for number, text in enumerate(texts)
    ]
    model = heedful.runtime.load(folder)
    assert found == [
        f"{json_line({'row': 1, **answer.as_dict()})}\n".encode()
        for text in texts
        for answer in model.predict([text])
    ]
    until(lambda: sum(texts_of_each(tmp_path)) == 60)  # both have left what they counted
    assert [counted(running, "heedful_texts_total") for _ in range(8)] == [60] * 8
    assert counted(running, "heedful_workers") == 2
    assert counted(running, "heedful_connections") >= 12
    assert len(texts_of_each(tmp_path)) == 2
    assert sum(texts_of_each(tmp_path)) == 60
    for connection in connections:
        connection.close()


def test_connections_that_come_at_once_are_shared(running: Server, tmp_path: Path) -> None:
    """Each worker answers an eighth or more, at once or over up to eight rounds if other work holds one back."""
    for sent in range(32, 8 * 32 + 1, 32):
        clients = [connect(running, REQUEST) for _ in range(32)]
        assert [answers_of(client) for client in clients] == [MANY] * 32
        assert until(lambda sent=sent: sum(texts_of_each(tmp_path)) == sent * MANY)
        found = texts_of_each(tmp_path)
        if len(found) == 2 and found[0] >= sent * MANY // 8:
            return
    raise AssertionError(f"one worker answered nearly all of the texts: {found}")


def test_a_killed_worker_is_replaced_and_no_later_request_is_lost(running: Server, tmp_path: Path) -> None:
    def ask() -> Any:
        return running.ask("/v1/predict", {"texts": ["a film"]}, LINES)

    expected = [ask().body for _ in range(8)]
    assert set(expected) == {expected[0]}
    until(lambda: sum(texts_of_each(tmp_path)) == 8)
    first, second = running.workers()
    os.kill(first, signal.SIGKILL)
    assert until(lambda: not is_worker(first))
    while len(running.workers()) < 2 or counted(running, "heedful_workers") < 2:
        assert (ask().status, ask().body) == (200, expected[0])
    assert second in running.workers()
    assert running.waits_for(
        "was killed by SIGKILL"
    )  # whether it had answered, the parent may not have heard yet
    assert counted(running, 'heedful_requests_total{endpoint="/v1/predict"') >= 8
    for worker in running.workers():  # both at once: connections wait for the next ones
        os.kill(worker, signal.SIGKILL)
    assert until(lambda: not is_worker(second))
    assert [ask().body for _ in range(8)] == expected
    assert running.stop() == 0
    assert list(tmp_path.glob("heedful-serve-*")) == []


@pytest.mark.parametrize(
    ("number", "all_of_them"),
    [
        *((number, every) for every in (False, True) for number in (signal.SIGTERM, signal.SIGINT)),
        (signal.SIGHUP, True),  # the terminal has been closed
    ],
)
def test_a_signal_lets_all_answer(
    running: Server, tmp_path: Path, number: signal.Signals, all_of_them: bool
) -> None:
    clients = half_asked(running)
    if all_of_them:
        os.killpg(running.pid, number)  # as a terminal, systemd and Docker do
    else:
        os.kill(running.pid, number)
    assert running.waits_for("answering the requests in flight")
    assert answered(clients) == [MANY] * 8
    assert running.stop(None) == 0
    assert list(tmp_path.glob("heedful-serve-*")) == []
    assert not any("takes its place" in line for line in running.log)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_does_not_wait(running: Server, tmp_path: Path, number: int, code: int) -> None:
    clients = half_asked(running)
    os.kill(running.pid, number)
    assert running.waits_for("worker 1: answering the requests in flight")
    assert running.waits_for("worker 2: answering the requests in flight")
    assert running.stop(number) == code
    assert all(status_of(client) != 200 for client in clients)
    assert list(tmp_path.glob("heedful-serve-*")) == []


def test_a_worker_that_is_asked_to_end_answers_first(running: Server) -> None:
    clients, workers = half_asked(running), running.workers()
    for worker in workers:
        os.kill(worker, signal.SIGTERM)
    assert running.waits_for("answering the requests in flight")
    assert answered(clients) == [MANY] * 8
    assert until(lambda: len(set(running.workers()) - set(workers)) == 2)
    assert running.ask("/health/ready").status == 200


def test_a_killed_parent_leaves_no_worker(running: Server) -> None:
    workers = running.workers()
    assert len(workers) == 2
    os.kill(running.pid, signal.SIGKILL)
    assert until(lambda: not any(map(is_worker, workers)))


def test_a_bad_folder_is_refused_once_and_as_by_one_process(folder: Path, tmp_path: Path) -> None:
    bad = shutil.copytree(folder, tmp_path / "bad")
    (bad / "labels.json").write_text("[]")
    one, two = (tiny.run("serve", bad, "--port", "0", "--workers", count) for count in ("1", "2"))
    assert one.code == two.code == 5
    assert one.err == two.err
    assert len(two.err.splitlines()) == 1


def test_a_worker_that_dies_before_it_can_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "be_worker", print)  # ends without a report
    done = tiny.run("serve", folder, "--port", "0", *TWO)
    assert done.code == 70
    assert "a worker ended with exit status 0 before it could answer" in done.err


def test_a_signal_while_the_workers_start(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heedful", "serve", str(folder), "--port", "0", *TWO]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert until(lambda: list(tmp_path.glob("heedful-serve-*/worker-1")))
    child.terminate()
    _, said = child.communicate(timeout=PATIENCE)
    assert (child.returncode, said) == (143, "heedful: terminated\n")
    assert list(tmp_path.glob("heedful-serve-*")) == []


def test_a_folder_that_is_spoilt_later_ends_only_a_server_without_workers(tmp_path: Path) -> None:
    place, other = save_model(tmp_path / "model"), save_model(tmp_path / "other", task="pair")
    with server(f"one={place}", *TWO) as running:
        body, expected = {"texts": ["a film"]}, running.ask("/v1/predict", {"texts": ["a film"]}).body
        good = (place / "labels.json").read_bytes()
        (place / "labels.json").write_text("[]")
        first, second = running.workers()
        os.kill(first, signal.SIGKILL)
        assert running.waits_for("cannot start, next try in 2 seconds: ")
        assert running.ask("/v1/predict", body).body == expected
        (place / "labels.json").write_bytes(good)
        assert until(lambda: counted(running, "heedful_workers") == 2)
        shutil.rmtree(place)
        shutil.copytree(other, place)
        (newest,) = set(running.workers()) - {second}
        os.kill(newest, signal.SIGKILL)
        assert running.waits_for(
            "holds a model of the task 'pair', the one that is served has the task 'text'"
        )
        assert running.ask("/v1/predict", body).body == expected
        os.kill(second, signal.SIGKILL)
        assert running.stop(None) == 2
    assert sum(line.startswith("heedful: ") for line in running.log) == 1
