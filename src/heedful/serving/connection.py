"""One connection: requests are read one at a time, under limits, and it is closed so that the last answer arrives.

uvicorn's parser collects whatever a client sends before the application sees any of it. Here it is fed in small parts,
and not at all while a request waits for its answer, so that what it collects has a limit: heads, fields, trailers and
requests that follow each other without a pause. What was not fed stays in a buffer, and what does not fit there stays
with the client, because nothing more is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from heedful.serving.request_limits import Bounds, Refused

KEEP_ALIVE = 20
"""Seconds for which a connection is kept that sends no further request."""
_READ = 1 << 16
"""Bytes that are read at a time."""
_PART = 4_096
"""Bytes that the parser gets at a time, unless it knows that more of a body comes."""
_CHUNKS = 64
"""Chunks in one part of a body after which other connections have their turn: the parser takes long for small ones."""
_HELD = 1 << 15
"""Bytes that may wait for the parser before no more are read."""
_LINGER, _LINGER_BYTES = 2.0, 1 << 22
"""Seconds and bytes for which a client may go on to send after its last answer. If the connection were closed while
bytes arrive, the system would reset it, and the client might lose the answer."""


class _Stop(Exception):
    """Ends the parser in the middle of what it was given."""


class _Flow(FlowControl):
    """Whether a body may grow; what uvicorn does with the transport is left to the connection, which has a buffer."""

    def __init__(self, transport: asyncio.Transport, resumed: Callable[[], None]) -> None:
        super().__init__(transport)
        self._resumed = resumed

    def pause_reading(self) -> None:
        self.read_paused = True

    def resume_reading(self) -> None:
        self.read_paused = False
        self._resumed()


class _Answer:
    """The transport as an answer is written to it: it is closed with patience."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write, self.is_closing, self.close = transport.write, transport.is_closing, close


class Connection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """A connection that limits what its client may send, and knows until when it may keep the server waiting.

    Attributes:
        deadline: when the connection is cut, on the clock of the loop.
    """

    deadline = 0.0
    _scratch = memoryview(bytearray(_READ))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin with a client."""
        super().connection_made(transport)
        self._bounds: Bounds = self.app.bounds
        self.flow = _Flow(transport, self._read_on)
        self._answer_to = _Answer(transport, self._close)
        self._unread, self._ended, self._paused, self._turning = b"", False, False, False
        self._begun, self._in_body, self._since, self._fields, self._body_left = False, False, 0, 0, 0
        self._refused: Refused | None = None
        self._other_protocol = self._resuming = False
        self._chunks: list[bytes] = []
        self._later = False
        self._lingered = -1
        self._running: RequestResponseCycle | None = None
        self._allow(self._bounds.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report what answers that nobody reads any more."""
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Give the buffer that bytes are read into; all connections share it."""
        return self._scratch

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        self.data_received(bytes(self._scratch[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Keep what was read and let the parser go on."""
        self._unset_keepalive_if_required()
        if self._lingered >= 0:
            self._lingered += len(data)
            if self._lingered > _LINGER_BYTES:
                self.transport.abort()
            return
        self._unread = self._unread + data if self._unread else data
        self._read_on()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that has sent its whole request and closes its half of the connection."""
        self._ended = True
        return self._lingered < 0 and (self._is_answering() or bool(self._unread))

    def _is_answering(self) -> bool:
        """Whether a request that has arrived whole waits for its answer."""
        cycle = self.cycle
        return bool(self.pipeline) or (
            cycle is not None and not cycle.response_complete and not cycle.more_body
        )

    def _read_on(self) -> None:
        """Feed the parser while it may have more, then read from the client while there is room."""
        if self._turning:
            return
        while self._unread and not (self.flow.read_paused or self._later) and self._may_read():
            if self._is_answering():
                break
            self._feed()
        if self._ended and not self._unread and self._lingered < 0 and not self._is_answering():
            self.transport.close()
        elif self.app.draining:
            self.answer_last()
        pause = len(self._unread) > _HELD
        if pause != self._paused and not self.transport.is_closing() and not self._ended:
            self._paused = pause
            (self.transport.pause_reading if pause else self.transport.resume_reading)()

    def _read_later(self) -> None:
        self._later = False
        if not self.transport.is_closing():
            self._read_on()

    def _may_read(self) -> bool:
        return self.parser is not None and self._refused is None and not self.transport.is_closing()

    def _feed(self) -> None:
        size = max(_PART, self._body_left) if self._in_body else _PART
        part, self._unread = self._unread[:size], self._unread[size:]
        left = self._body_left
        self._since += len(part)  # the callbacks set it back
        try:
            self.parser.feed_data(part)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(part[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(self._refused or Refused(HTTPStatus.BAD_REQUEST, "request", "this is no HTTP/1.1."))
        else:
            self._hand_over()
            if self._in_body and self._body_left != left:
                self._since = 0
            elif self._since > self._bounds.head:
                self._refuse(_too_large(f"{self._bounds.head:,} bytes"))

    def _stay(self, rest: bytes) -> None:
        """Go on with HTTP/1.1 after a head that asks for another protocol, as Java's client does with HTTP/2.

        The parser leaves the body of such a request to that protocol, so another parser reads it.
        """
        self._other_protocol, self._unread = False, rest + self._unread
        framed = [field for field in self.headers if field[0] in (b"content-length", b"transfer-encoding")]
        self.parser, self._resuming = httptools.HttpRequestParser(self), True
        try:
            fields = b"".join(b"%s: %s\r\n" % field for field in framed)
            self.parser.feed_data(b"POST / HTTP/1.1\r\n" + fields + b"\r\n")
        finally:
            self._resuming = False

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        if not self._resuming:
            super().on_url(url)

    def on_message_begin(self) -> None:
        """Begin with the head of a request, which must come soon."""
        if self._resuming:
            return
        super().on_message_begin()
        self._begun = True
        self._allow(self._bounds.head_seconds)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; one of a trailer is left out, since nobody asks for it."""
        if self._resuming:
            return
        self._fields += 1
        if self._fields > self._bounds.fields:
            self._refused = _too_large(f"{self._bounds.fields:,} fields")
            raise _Stop
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request over; its body follows."""
        if self._resuming:
            return
        self._refused = self._unreadable()
        if self._refused is not None:
            raise _Stop
        self._other_protocol = self.parser.should_upgrade()
        self._in_body, self._since, self._fields = True, 0, 0
        self._body_left = _length(self.headers)
        self._allow(2 * self._bounds.seconds)
        if not self.url.startswith((b"/", b"*")):
            self._name_by_target()
        if self.parser.get_http_version() == "1.0":  # RFC 9110, section 10.1.1: it waits for no such answer
            self.expect_100_continue = False
        super().on_headers_complete()
        self.cycle.transport = self._answer_to  # type: ignore[assignment]

    def _unreadable(self) -> Refused | None:
        """Return why a request cannot be read: its version, or a body that is coded in another way than in chunks."""
        if self.parser.get_http_version() not in ("1.0", "1.1"):
            return Refused(HTTPStatus.BAD_REQUEST, "request", "this is no HTTP/1.1.")
        coded = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if coded and coded != [b"chunked"]:
            message = "transfer-encoding: chunked alone is read here. Send the body without another coding."
            return Refused(HTTPStatus.BAD_REQUEST, "transfer-encoding", message)
        if (
            coded and self.parser.get_http_version() == "1.0"
        ):  # RFC 9112, section 6.1: its framing may be wrong
            message = "transfer-encoding: HTTP/1.0 has none. Send Content-Length, or HTTP/1.1."
            return Refused(HTTPStatus.BAD_REQUEST, "transfer-encoding", message)
        return None

    def _name_by_target(self) -> None:
        """Let the name in an absolute target take the place of the field Host (RFC 9112, section 3.2.2)."""
        target = httptools.parse_url(self.url)
        if target.host:
            host = target.host + (b":%d" % target.port if target.port else b"")
            self.headers[:] = [field for field in self.headers if field[0] != b"host"] + [(b"host", host)]

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; those that the parser is given at once are handed over together."""
        self._body_left -= len(body)  # below 0 where no length was given
        self._chunks.append(body)

    def on_message_complete(self) -> None:
        """Note that the request has arrived whole."""
        if self._other_protocol:
            return  # its body follows
        self._hand_over()
        self._begun, self._in_body, self._since, self._fields = False, False, 0, 0
        super().on_message_complete()

    def _hand_over(self) -> None:
        """Add to the body what has come of it: a chunk of one byte must not cost a copy of all others."""
        if len(self._chunks) > _CHUNKS and not self._later:
            self._later = True
            self.loop.call_soon(self._read_later)
        if self._chunks:
            body = b"".join(self._chunks)
            self._chunks.clear()
            super().on_body(body)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on with what the client has sent after this request."""
        if self._lingered >= 0 or self.transport.is_closing():
            return
        self._allow(max(2 * self._bounds.seconds, 2 * KEEP_ALIVE))
        self._turning = True  # uvicorn would feed the parser, then wait for a next request that has come
        super().on_response_complete()
        self._turning = False
        if self._refused and not self._is_answering():
            self._send_refusal(self._refused)
            return
        self._read_on()
        if self._is_answering():
            self._unset_keepalive_if_required()

    def _allow(self, seconds: float) -> None:
        self.deadline = self.loop.time() + seconds

    def _refuse(self, refused: Refused) -> None:
        """Read no more requests; the refusal follows the answers to those that came before."""
        self._refused, self._unread = refused, b""
        if not self._is_answering():
            self._send_refusal(refused)

    def _send_refusal(self, refused: Refused) -> None:
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:  # its body is what is wrong
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self._close()
                return
        body = refused.body()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(
            body
        )
        self.transport.write(STATUS_LINE[refused.status] + head + body)
        self._close()

    def _close(self) -> None:
        """Close the connection once the client has had the time to read its last answer."""
        if self.transport.is_closing() or self._lingered >= 0:
            return
        whole = self.cycle is not None and not self.cycle.more_body and self._refused is None
        if self._ended or (whole and not self._unread and not self._is_readable()):
            self.transport.close()
            return
        self._unread, self._lingered = b"", 0
        self._allow(_LINGER)
        with contextlib.suppress(OSError):  # the client has gone
            self.transport.write_eof()
        if self._paused:
            self.transport.resume_reading()

    def _is_readable(self) -> bool:
        """Whether the system has bytes of the client, or its end, that were not read."""
        look = select.poll()
        look.register(self.transport.get_extra_info("socket"), select.POLLIN)
        return bool(look.poll(0))

    def _has_more(self) -> bool:
        """Whether the client has sent a part of a request that was not handed over."""
        in_head = self._begun and not self._in_body
        return in_head or bool(self._unread) or self._is_readable()

    def answer_last(self) -> None:
        """Let the answer that is under way be the last one, unless the client has sent a further request."""
        if self._is_answering() and not self._has_more():
            self.cycle.keep_alive = False

    def leave(self) -> None:
        """Close the connection if nothing that its client sent waits for an answer; else after the last answer."""
        if self.transport.is_closing() or self._lingered >= 0 or self._has_more():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        else:
            self.transport.close()


def _too_large(most: str) -> Refused:
    message = f"the head or the trailers are longer than {most}. Send less."
    return Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers", message)


def _length(fields: list[tuple[bytes, bytes]]) -> int:
    """Return how many bytes of a body follow, as its head says; 0 where it does not."""
    return next((int(value) for name, value in fields if name == b"content-length" and value.isdigit()), 0)
