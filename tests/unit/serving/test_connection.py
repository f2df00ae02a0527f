"""What a client may send on one connection: limits, requests in a row, and ends that lose no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from heedful.serving import Bounds
from waiting import PATIENCE

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("httptools")
from heedful.serving.connection import Connection  # noqa: E402

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Echo:
    """An application that answers with what it got: the target, the names of the fields, and the length of the body.

    Attributes:
        bounds: the limits.
        draining: whether the server is about to end.
        go: answers wait for it.
        begun: requests that were handed over.
    """

    def __init__(self, **bounds: Any) -> None:
        self.bounds, self.draining, self.begun, self.gone = Bounds(**bounds), False, 0, 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        self.begun += 1
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone += 1
                return
            size, more = size + len(message["body"]), message["more_body"]
        await self.go.wait()
        names = b",".join(name for name, _ in scope["headers"])
        body = b"%s %s %d" % (scope["raw_path"], names, size)
        head = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter, "Side"], Awaitable[None]]


class Side:
    """The server's side of a connection: the application, and the connections that are open."""

    def __init__(self, app: Echo) -> None:
        self.app = app
        self.config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            proxy_headers=False,
            date_header=False,
        )
        self.config.load()
        self.state = uvicorn.server.ServerState()

    def make(self) -> Connection:
        """Make what speaks on a connection."""
        return Connection(config=self.config, server_state=self.state, app_state={})

    def connection(self) -> Connection:
        """Return the only connection."""
        (found,) = self.state.connections
        return found


def talk(talked: Talk, **bounds: Any) -> None:
    """Let a client talk to the application on one connection."""

    async def both() -> None:
        side = Side(Echo(**bounds))
        server = await asyncio.get_running_loop().create_server(side.make, "127.0.0.1", 0)
        async with server, asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            try:
                await talked(reader, writer, side)
            finally:
                for transport in (writer.transport, *(each.transport for each in side.state.connections)):
                    transport.abort()
                await asyncio.sleep(0)
                while side.state.connections:
                    await asyncio.sleep(0)

    asyncio.run(both())


def talk_bytes(sent: bytes, *, ends: bool = True, **bounds: Any) -> bytes:
    """Send bytes, close the sending half, and return all that comes back until the server closes."""
    got = b""

    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        nonlocal got
        writer.write(sent)
        if ends:
            writer.write_eof()
        got = await reader.read()

    talk(talked, **bounds)
    return got


def bodies(got: bytes) -> list[bytes]:
    """Return the bodies of answers, whose lengths are in their heads."""
    found = []
    while got:
        head, _, rest = got.partition(b"\r\n\r\n")
        (length,) = (int(line[16:]) for line in head.split(b"\r\n") if line.startswith(b"content-length: "))
        found.append(rest[:length])
        got = rest[length:]
    return found


def test_a_request_and_its_body() -> None:
    got = talk_bytes(HEAD + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000)
    assert got.startswith(b"HTTP/1.1 200")
    assert bodies(got) == [b"/ host,content-length 200000"]


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"X: " + b"y" * 60_000 + b"\r\n\r\n",
        HEAD + b"Y" * 60_000 + b": z\r\n\r\n",
        HEAD + b"X: y\r\n" * 101 + b"\r\n",
        b"GET /" + b"x" * 60_000 + b" HTTP/1.1\r\n\r\n",
        b"\r\n" * 30_000,
        CHUNKED + b"1\r\nx\r\n0\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        CHUNKED + b"1\r\nx\r\n0\r\nX: " + b"y" * 60_000 + b"\r\n\r\n",
        CHUNKED + b"1;" + b"e" * 60_000 + b"\r\nx\r\n0\r\n\r\n",
    ],
    ids=["value", "name", "fields", "target", "empty lines", "trailers", "long trailer", "extension"],
)
@pytest.mark.parametrize("ends", [True, False], ids=["whole", "goes on"])
def test_what_is_too_large_is_refused_and_the_refusal_arrives(sent: bytes, ends: bool) -> None:
    got = talk_bytes(sent, ends=ends)
    assert got.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b'"field": "headers"' in got


def test_the_limits_are_those_that_were_set() -> None:
    fields = HEAD + b"X: y\r\n" * 9 + b"\r\n"
    assert talk_bytes(fields).startswith(b"HTTP/1.1 200")
    assert talk_bytes(fields, fields=9).startswith(b"HTTP/1.1 431")
    assert talk_bytes(fields, fields=10).startswith(b"HTTP/1.1 200")
    assert talk_bytes(fields, head=20).startswith(b"HTTP/1.1 200"), (
        "one part is fed before its size is looked at"
    )


def test_trailers_are_no_fields_of_the_head() -> None:
    got = talk_bytes(CHUNKED + b"3\r\nabc\r\n0\r\nAuthorization: x\r\nHost: b\r\n\r\n")
    assert bodies(got) == [b"/ host,transfer-encoding 3"]


def test_chunks_in_http_1_0_are_refused() -> None:
    got = talk_bytes(
        CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    assert got.startswith(b"HTTP/1.1 400")
    assert b"HTTP/1.0 has none" in got
    assert got.count(b"content-length") == 1  # nothing behind it is answered


@pytest.mark.parametrize(("version", "told"), [(b"HTTP/1.0", 0), (b"HTTP/1.1", 1)])
def test_old_clients_are_not_told_to_continue(version: bytes, told: int) -> None:
    request = HEAD.replace(b"HTTP/1.1", version) + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\nxy"
    got = talk_bytes(request)
    assert got.count(b"100 Continue") == told
    assert got.endswith(b" 2")


UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
"""What the HTTP client of Java sends by default."""


@pytest.mark.parametrize(
    ("framed", "body", "size"),
    [
        (b"Content-Length: 5\r\n", b"hello", 5),
        (b"Content-Length: 9000\r\n", b"x" * 9000, 9000),
        (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\nX: y\r\n\r\n", 3),
        (b"", b"", 0),
    ],
)
def test_a_body_is_read_where_another_protocol_is_asked_for(framed: bytes, body: bytes, size: int) -> None:
    """The server has one protocol, and goes on with it (RFC 9110, section 7.8)."""
    request = HEAD + UPGRADE + framed + b"\r\n" + body
    first, second = bodies(talk_bytes(request + HEAD + b"Content-Length: 2\r\n\r\nxy"))
    assert first.endswith(b" %d" % size)
    assert second == b"/ host,content-length 2"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"GET / HTTP/0.9\r\nHost: a\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_another_version_and_another_coding_are_refused(sent: bytes) -> None:
    assert talk_bytes(sent).startswith(b"HTTP/1.1 400 Bad Request")


def test_the_chunks_that_come_at_once_are_handed_over_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handed over one by one, they would hold up all other connections: each adds to a copy of the body."""
    handed: list[int] = []
    base = Connection.__mro__[1]
    take = base.on_body
    monkeypatch.setattr(base, "on_body", lambda self, body: (handed.append(len(body)), take(self, body)))
    count = 40_000
    (body,) = bodies(talk_bytes(CHUNKED + b"1\r\nx\r\n" * count + b"0\r\n\r\n"))
    assert body.endswith(b" %d" % count)
    assert sum(handed) == count
    assert len(handed) < count / 100


def test_small_chunks_leave_others_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    feed, turn, fed = Connection._feed, 0, list[int]()

    def noting(self: Connection) -> None:
        fed.append(turn)
        feed(self)

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        counting = asyncio.ensure_future(count())
        writer.write(CHUNKED + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")
        writer.write_eof()
        assert (await reader.read()).endswith(b" 20000")
        counting.cancel()

    monkeypatch.setattr(Connection, "_feed", noting)
    talk(talked)
    assert len(fed) > 25
    assert max(map(fed.count, fed)) <= 2


def test_small_chunks_are_no_trailers() -> None:
    got = talk_bytes(CHUNKED + b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
    assert bodies(got) == [b"/ host,transfer-encoding 50000"]


def test_requests_in_a_row_are_answered_in_order() -> None:
    sent = b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(3_000))
    assert bodies(talk_bytes(sent)) == [b"/%d host 0" % number for number in range(3_000)]


def test_what_waits_behind_a_request_is_limited() -> None:
    """A client sends without end while its first request is not answered; the system soon takes no more of it."""

    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        side.app.go.clear()
        request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        writer.transport.set_write_buffer_limits(high=0)
        while True:
            writer.write(request * 10_000)
            try:
                async with asyncio.timeout(1):
                    await writer.drain()
            except TimeoutError:
                break
        connection = side.connection()
        assert len(connection._unread) <= (1 << 15) + (1 << 16)
        assert len(connection.pipeline) <= 4_096 // len(request)
        assert side.app.begun == 1
        side.app.go.set()
        for number in range(1, 501):
            await reader.readuntil(b"/ host 0")
            assert side.app.begun >= number
        writer.transport.abort()

    talk(talked)


def test_a_refusal_comes_after_the_answers_to_what_was_sent_before() -> None:
    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        side.app.go.clear()
        writer.write(HEAD + b"Content-Length: 0\r\n\r\nno request at all\r\n\r\n")
        while not side.app.begun:
            await asyncio.sleep(0)
        side.app.go.set()
        got = await reader.read()
        assert got.count(b"HTTP/1.1 200") == got.count(b"HTTP/1.1 400") == 1
        assert got.index(b"HTTP/1.1 200") < got.index(b"HTTP/1.1 400")

    talk(talked)


def test_a_body_that_is_none_ends_its_request() -> None:
    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        writer.write(CHUNKED + b"zzz\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
        assert (side.app.begun, side.app.gone) == (1, 1)

    talk(talked)


def test_a_client_that_closed_its_half_is_not_kept() -> None:
    """The server closes after the last answer, long before it would close an idle connection."""
    assert bodies(talk_bytes((HEAD + b"Content-Length: 1\r\n\r\nx") * 3)) == [b"/ host,content-length 1"] * 3


def test_a_name_in_the_target_takes_the_place_of_the_field() -> None:
    got = talk_bytes(b"GET http://b:80/x HTTP/1.1\r\nHost: a\r\nAccept: y\r\n\r\n")
    assert bodies(got) == [b"/x accept,host 0"]


def test_an_idle_connection_leaves_and_one_that_has_sent_is_answered_first() -> None:
    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        side.app.go.clear()
        writer.write((HEAD + b"Content-Length: 0\r\n\r\n") * 3 + HEAD)
        while not side.app.begun:
            await asyncio.sleep(0)
        side.app.draining = True
        connection = side.connection()
        for _ in range(3):
            connection.leave()
            await asyncio.sleep(0)
        side.app.go.set()
        await reader.readuntil(b"/ host,content-length 0")
        connection.leave()
        writer.write(b"\r\n")  # the end of the last head
        got = await reader.read()
        assert got.count(b"HTTP/1.1 200") == 3
        assert b"connection: close" in got[got.rindex(b"HTTP/1.1") :]

    talk(talked)


def test_an_idle_connection_is_closed_when_it_is_asked_to_leave() -> None:
    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        writer.write(HEAD + b"Content-Length: 0\r\n\r\n")
        await reader.readuntil(b"/ host,content-length 0")
        side.connection().leave()
        assert await reader.read() == b""

    talk(talked)


def test_a_client_that_goes_on_sending_reads_its_refusal() -> None:
    """Without patience the system resets a connection that is closed while bytes arrive."""

    async def talked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        for _ in range(30):
            writer.write(HEAD + b"X: " + b"y" * 60_000)
            await asyncio.sleep(0)
        assert (await reader.read()).startswith(b"HTTP/1.1 431")

    talk(talked)
