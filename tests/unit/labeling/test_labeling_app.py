"""Who may label, and what comes back for a request that is wrong."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desks import Desk
from heedful.labeling import label_file
from heedful.labeling.labeling_app import LabelingApp
from heedful.serving.guarded_app import Access
from heedful.serving.request_limits import Bounds
from served import InProcess

KEY = b"a-key-of-some-length"


def asked(desk: Desk, **access: Any) -> InProcess:
    log: list[str] = []
    return InProcess(LabelingApp(desk.session, Bounds(), Access(own_pages=True, **access), log.append), log)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, [f"text number {number}" for number in range(9)])


def test_a_person_labels_over_http(desk: Desk) -> None:
    client = asked(desk)
    shown = client.ask("/v1/next", {"by": " Ann  B. "}).json()
    saved = client.ask("/v1/label", {"by": "Ann B.", "texts": shown["texts"], "label": "good", "seen": None})
    assert saved.status == 200
    assert desk.rows()[0]["by"] == "Ann B."
    assert client.ask("/v1/state", {"by": "Ann B."}).json()["labeled"] == 1
    assert client.ask("/v1/search", {"query": "NUMBER 3"}).json()["count"] == 1
    assert client.ask("/v1/skip", {"by": "Ann B.", "id": shown["id"]}).status == 200
    assert client.ask("/v1/undo", {"by": "Ann B."}).json()["texts"] == shown["texts"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/label", {"by": "Ann", "texts": ["text number 1"], "label": "other"}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["a", "b"], "label": "good"}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["\ud800"], "label": "good"}, 422),
        ("/v1/label", {"by": "", "texts": ["a"], "label": "good"}, 422),
        ("/v1/label", {"by": "x" * 81, "texts": ["a"], "label": "good"}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["a"], "label": "good", "more": 1}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["a"], "label": "good", "note": "x" * 10_001}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["a"], "label": "good", "why": "pool"}, 422),
        ("/v1/label", {"by": "Ann", "texts": ["a"], "label": "good", "why": 3}, 422),
        ("/v1/text", {"by": "Ann", "id": "0123456789abcdef"}, 422),
        ("/v1/together", {"by": "Ann", "ids": [], "label": "good"}, 422),
        ("/v1/together", {"by": "Ann", "ids": ["0123456789abcdef"], "label": "good"}, 422),
        ("/v1/nothing", {"by": "Ann"}, 404),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(desk: Desk, path: str, body: Any, status: int) -> None:
    reply = asked(desk).ask(path, body)
    assert reply.status == status
    assert reply.json()["error"]["message"].count("\n") == 0
    assert desk.rows() == []


def test_a_window_of_yesterday_is_told_what_the_file_holds(desk: Desk) -> None:
    client, body = asked(desk), {"by": "Ann", "texts": ["text number 1"], "seen": None}
    assert client.ask("/v1/label", {**body, "label": "good"}).status == 200
    reply = client.ask("/v1/label", {**body, "label": "bad"})
    assert reply.status == 409
    assert desk.rows()[0]["label"] == "good"


def test_a_window_from_before_a_restart_keeps_what_its_text_was_shown_for(desk: Desk, tmp_path: Path) -> None:
    client = asked(desk)
    shown = client.ask("/v1/next", {"by": "Ann"}).json()
    assert shown["why"] == "random"
    kept = {"by": "Ann", "texts": shown["texts"], "label": "good", "seen": None, "why": shown["why"]}
    again = Desk(tmp_path, desk.texts)
    client = asked(again)
    assert client.ask("/v1/label", kept).status == 200
    assert client.ask("/v1/label", {**kept, "texts": ["text number 3"], "why": "search"}).status == 200
    here = client.ask("/v1/next", {"by": "Ann"}).json()
    claimed = "search" if here["why"] == "typical" else "typical"
    assert client.ask("/v1/label", {**kept, "texts": here["texts"], "why": claimed}).status == 200
    assert [row["chosen"] for row in again.rows()] == ["random", "search", here["why"]]
    checked = {**kept, "texts": ["text number 3"], "seen": "good", "why": "doubtful"}
    assert client.ask("/v1/label", checked).status == 200  # it looked wrong before the restart, and is kept
    assert [row["checked"] for row in again.rows()] == ["", "yes", ""]


def test_a_full_disk_is_said_in_one_line(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    client = asked(desk)

    def fails(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(label_file.os, "write", fails)
    reply = client.ask("/v1/label", {"by": "Ann", "texts": ["text number 1"], "label": "good", "seen": None})
    monkeypatch.undo()
    assert reply.status == 507
    assert "No space left on device" in reply.json()["error"]["message"]
    assert len(client.log) == 1
    assert desk.rows() == []


@contextlib.contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let no file of this process grow above a size: the system itself refuses to write, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_up_while_a_person_labels_loses_nothing(desk: Desk, tmp_path: Path) -> None:
    client, label = asked(desk), "good"
    body = {"by": "Ann", "label": label, "seen": None, "note": "x" * 90}
    statuses = []
    with no_file_above(600):
        for number in range(8):
            reply = client.ask("/v1/label", {**body, "texts": [f"text number {number}"]})
            statuses.append(reply.status)
        refused = client.ask(
            "/v1/label", {**body, "texts": ["text number 0"], "note": "y" * 900, "seen": label}
        )
    saved = statuses.count(200)
    assert statuses == [200] * saved + [507] * (8 - saved)
    assert 1 < saved < 8
    assert refused.status == 507
    assert reply.json()["error"]["message"].count("\n") == 0
    assert [row["text"] for row in desk.rows()] == [f"text number {number}" for number in range(saved)]
    assert all(row["note"] == "x" * 90 for row in desk.rows())
    assert client.ask("/v1/label", {**body, "texts": [f"text number {saved}"]}).status == 200
    assert len(desk.rows()) == len(Desk(tmp_path, desk.texts).rows()) == saved + 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:9"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example", "origin": "http://evil.example"}, 421),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_pages_of_other_sites_are_refused(desk: Desk, headers: dict[str, str], status: int) -> None:
    client = asked(desk, hosts=frozenset({"localhost"}))
    assert client.ask("/v1/state", {"by": "Ann"}, headers).status == status


def test_with_a_key_only_the_page_itself_comes_without_it(desk: Desk) -> None:
    client = asked(desk, key=KEY)
    page = client.ask("/")
    assert page.status == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("label.js", "api.js", "answers.js", "drawing.js", "spans.js", "label.css", "icon.svg"):
        assert client.ask(f"/{name}").status == 200
    for path in ("state", "next", "undo"):
        assert client.ask(f"/v1/{path}", {"by": "Ann"}).status == 401
    sent = {"authorization": f"Bearer {KEY.decode()}"}
    assert client.ask("/v1/state", {"by": "Ann"}, sent).status == 200
