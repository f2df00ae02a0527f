"""What every application over HTTP does with a request: its guard, its time, its body, its headers, its mistakes."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from heedful.serving.assets import POLICY
from heedful.serving.bodies import read_object, refuse_other_media
from heedful.serving.counters import Counters
from heedful.serving.replies import PROMISE, mistake, refusal
from heedful.serving.request_limits import Bounds, Refused

_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", POLICY.encode()),
]
_ASKED, _KNOWN = ("Authorization", "Content-Type", "Accept"), 600
"""Headers that a page of another site may send, and seconds for which its browser need not ask again."""
_HOST = re.compile(rb"(\[[0-9a-z:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?")
_GONE = 499
"""What is counted for a client that went away before its request was whole."""
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Attributes:
        key: what a client must send as ``Authorization: Bearer KEY``; empty for no key.
        hosts: names of the server that a client may use; empty for any. Against pages elsewhere that make their own
            name point here.
        origins: sites whose pages may ask from a browser; "*" for any.
        own_pages: whether a page of any other site is refused by its header Origin, whatever it sends.
    """

    key: bytes = b""
    hosts: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()
    own_pages: bool = False


class GuardedApp(ABC):
    """An application as ASGI has it, which answers only what passes its guard.

    Args:
        gets: path to what answers GET and HEAD.
        posts: path to what answers POST.
        bounds: the limits.
        access: who may ask.
        counters: what is counted.
        print_line: writes a line to the log.
        open_paths: what needs no key: it tells nothing but that the server is there.

    Attributes:
        bounds: as given.
        draining: whether the server is about to end.
        ticks: grows several times a second as long as the loop of events runs; None while it is not to run.
        answered: whether a text was answered.
        connections: tells how many connections are open.
    """

    def __init__(
        self,
        gets: Mapping[str, Handler],
        posts: Mapping[str, Handler],
        bounds: Bounds,
        access: Access,
        counters: Counters,
        print_line: Callable[[str], None],
        open_paths: Collection[str],
    ) -> None:
        self.bounds, self.draining = bounds, False
        self.ticks: int | None = None
        self.answered = False
        self.connections: Callable[[], int] = lambda: 0
        self._access, self._counters, self._say, self._open = (
            access,
            counters,
            print_line,
            frozenset(open_paths),
        )
        self._own_names = {
            name.encode() for host in access.hosts for name in (host.lower(), f"[{host.lower()}]")
        }
        self._handlers = {**gets, **posts}
        self._ways_in = CORSMiddleware(
            self._answer, access.origins, ("GET", "POST"), _ASKED, expose_headers=(PROMISE,), max_age=_KNOWN
        )
        self._methods = {**dict.fromkeys(gets, ("GET", "HEAD")), **dict.fromkeys(posts, ("POST",))}

    @abstractmethod
    def leave_counts(self) -> None:
        """Leave what was counted for the other processes of this server, if there are others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens, with the headers that let pages of other sites read it if they may."""
        await (self._ways_in if self._access.origins else self._answer)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, sent = time.monotonic(), 0

        async def send_guarded(message: Message) -> None:
            nonlocal sent
            if message["type"] == "http.response.start":
                sent = message["status"]
                given = {name for name, _ in message["headers"]}
                message["headers"] += [header for header in _HEADERS if header[0] not in given]
            await send(message)

        try:
            self._check(scope)
            response = await self._in_time(Request(scope, receive))
            await response(scope, receive, send_guarded)
        except Refused as refused:
            if not sent:
                response = refusal(refused)
                if scope["method"] == "POST" and "whole" not in scope and _expects(scope):
                    response.headers["connection"] = "close"  # whether the body follows is not known
                await response(scope, receive, send_guarded)
        except ClientDisconnect:
            sent = _GONE
        except Exception as error:
            self._internal(error)
            if not sent:
                await refusal(mistake(error))(scope, receive, send_guarded)
        self.answered = self.answered or (sent == HTTPStatus.OK and scope["method"] == "POST")
        endpoint = scope["path"] if scope["path"] in self._handlers else "other"
        self._counters.request(endpoint, sent, time.monotonic() - started)

    def _check(self, scope: Scope) -> None:
        """Refuse a request by its head."""
        headers = dict(scope["headers"])
        if self.connections() > self.bounds.connections:
            message = f"{self.bounds.connections:,} connections are open. Try again in a second."
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "server", message, again=1)
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) > 1 or (not hosts and scope.get("http_version", "1.1") == "1.1"):
            message = f"HTTP/1.1 needs one header Host; {len(hosts)} came."
            raise Refused(HTTPStatus.BAD_REQUEST, "host", message)
        host = headers.get(b"host", b"").lower()
        if not _HOST.fullmatch(host):
            message = "Host must be a name or an address, and perhaps a port behind a colon."
            raise Refused(HTTPStatus.BAD_REQUEST, "host", message)
        bare = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if self._own_names and host and bare not in self._own_names:
            message = "this server has another name. Use one that it was started with (--host, --allow-host)."
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "host", message)
        origin = headers.get(b"origin", b"").lower()
        if self._access.own_pages and origin and origin.partition(b"://")[2] != host:
            message = "this server answers its own page alone, and this is another one."
            raise Refused(HTTPStatus.FORBIDDEN, "origin", message)
        methods = self._methods.get(scope["path"])
        if methods is None:
            raise Refused(
                HTTPStatus.NOT_FOUND, "path", "there is no such endpoint; /openapi.json lists them."
            )
        if scope["method"] not in methods:
            message = f"use {' or '.join(methods)} here."
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "method", message, allow=methods)
        if self._access.key and scope["path"] not in self._open:
            scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
            same = hmac.compare_digest(key.strip(), self._access.key)
            if scheme.lower() != b"bearer" or not same:
                message = "a key is needed: send the header Authorization: Bearer KEY."
                raise Refused(HTTPStatus.UNAUTHORIZED, "authorization", message)
        if scope["method"] == "POST":
            refuse_other_media(headers)

    async def _in_time(self, request: Request) -> Response:
        """Handle a request within the time of one."""
        limit = asyncio.timeout(self.bounds.seconds)
        try:
            async with limit:
                return await self._handlers[request.scope["path"]](request)
        except TimeoutError as error:
            if not limit.expired():
                raise
            seconds = f"{self.bounds.seconds:g} seconds"
            if request.method == "POST" and "whole" not in request.scope:
                message = f"the body did not arrive within {seconds}."
                raise Refused(HTTPStatus.REQUEST_TIMEOUT, "body", message) from error
            message = f"no answer within {seconds}. Send fewer texts, or try again later."
            raise Refused(HTTPStatus.GATEWAY_TIMEOUT, "server", message, again=5) from error

    async def _fields(self, request: Request) -> dict[str, object]:
        """Read the body, its size limited; one that its head says to be longer is not waited for."""
        most, found, size = self.bounds.body, list[bytes](), 0
        declared = request.headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > most:
            raise _too_long(most)
        self._counters.arriving += 1
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > 4 * most:  # a client that reads no answer while it sends
                    break
                if size <= most:
                    found.append(chunk)
        finally:
            self._counters.arriving -= 1
        request.scope["whole"] = True  # for `_in_time`
        if size > most:
            raise _too_long(most)
        return read_object(b"".join(found))

    def _internal(self, error: Exception) -> None:
        """Report that the server made a mistake, and where; what an error says could quote a text."""
        self._counters.internal_error()
        place = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f" at {frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in place)
        self._say(f"internal error: {type(error).__name__}{where}")


def _too_long(most: int) -> Refused:
    message = f"the body is longer than {most:,} bytes. Send several requests."
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body", message)


def _expects(scope: Scope) -> bool:
    """Whether the client waits for a word before it sends the body."""
    return any(name == b"expect" for name, _ in scope["headers"])
