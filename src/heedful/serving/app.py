"""The interface over HTTP: endpoints, and the guard that every request passes."""

from __future__ import annotations

import asyncio
import hmac
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from heedful.errors import UsageError
from heedful.serving.assets import PAGES, POLICY
from heedful.serving.batcher import Job, Kind, told
from heedful.serving.bodies import (
    METHOD,
    WHY,
    Asked,
    model_name,
    read_input,
    read_list,
    read_object,
    read_one,
    read_texts,
    refuse_other_media,
)
from heedful.serving.bounds import Bounds, Refused
from heedful.serving.counters import (
    OPENMETRICS,
    PROMETHEUS,
    Counters,
    Gauges,
    SummedCounts,
    asks_for_openmetrics,
    resident_bytes,
)
from heedful.serving.explaining import Explaining, with_further
from heedful.serving.openapi import document
from heedful.serving.replies import as_base64, as_json, listed, mistake, plain_json, refusal
from heedful.serving.served_model import Vector
from heedful.serving.shelf import Served, Shelf
from heedful.text.characters import json_line

_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", POLICY.encode()),
]
_OPEN = ("/health/live", "/health/ready", *PAGES)
"""What needs no key: it tells nothing but that the server is there."""
_ASKED, _KNOWN = ("Authorization", "Content-Type", "Accept"), 600
"""Headers that a page of another site may send, and seconds for which its browser need not ask again."""
_GONE = 499
"""What is counted for a client that went away before its request was whole."""
Handler = Callable[[Request], Awaitable[Response]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Attributes:
        key: what a client must send as ``Authorization: Bearer KEY``; empty for no key.
        hosts: names of the server that a client may use; empty for any. Against pages elsewhere that make their own
            name point here.
        origins: sites whose pages may ask from a browser; "*" for any.
    """

    key: bytes = b""
    hosts: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()


class App:
    """The server as an ASGI application.

    Args:
        shelf: the models.
        bounds: the limits.
        access: who may ask.
        counters: what is counted.
        say: writes a line to the log.
        workers: what the other processes of this server count; None where there are no others.

    Attributes:
        bounds: as given.
        draining: whether the server is about to end.
        trouble: why it cannot answer, such as a thread that has died; empty while all is well.
        ticks: grows several times a second as long as the loop of events runs; None while it is not to run.
        answered: whether a text was answered.
        connections: tells how many connections are open.
    """

    def __init__(
        self,
        shelf: Shelf,
        bounds: Bounds,
        access: Access,
        counters: Counters,
        say: Callable[[str], None],
        workers: SummedCounts | None = None,
    ) -> None:
        self.bounds, self.draining, self.trouble = bounds, False, ""
        self.ticks: int | None = None
        self.answered = False
        self.connections: Callable[[], int] = lambda: 0
        self._shelf, self._access, self._counters, self._say = shelf, access, counters, say
        self._workers = workers
        self._explaining, self._explanations = Explaining(), 0
        self._own_names = {
            name.encode() for host in access.hosts for name in (host.lower(), f"[{host.lower()}]")
        }
        gets: dict[str, Handler] = {
            "/health/live": self._live,
            "/health/ready": self._ready,
            "/metrics": self._metrics,
            "/openapi.json": self._openapi,
            "/v1/models": self._models,
            **dict.fromkeys(PAGES, self._page),
        }
        posts: dict[str, Handler] = {
            "/v1/predict": self._predict,
            "/v1/encode": self._encode,
            "/v1/explain": self._explain,
            "/v1/embeddings": self._embeddings,
        }
        self._handlers = {**gets, **posts}
        origins = access.origins
        self._ways_in = CORSMiddleware(self._answer, origins, ("GET", "POST"), _ASKED, max_age=_KNOWN)
        self._methods = {**dict.fromkeys(gets, ("GET", "HEAD")), **dict.fromkeys(posts, ("POST",))}

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
        bare = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if self._own_names and host and bare not in self._own_names:
            message = "this server has another name. Use one that it was started with (--host, --allow-host)."
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "host", message)
        methods = self._methods.get(scope["path"])
        if methods is None:
            raise Refused(
                HTTPStatus.NOT_FOUND, "path", "there is no such endpoint; /openapi.json lists them."
            )
        if scope["method"] not in methods:
            message = f"use {' or '.join(methods)} here."
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "method", message, allow=methods)
        if self._access.key and scope["path"] not in _OPEN:
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
        """Read the body, its size limited."""
        most, found, size = self.bounds.body, list[bytes](), 0
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
            message = f"the body is longer than {most:,} bytes. Send several requests."
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body", message)
        return read_object(b"".join(found))

    def _asked(self, fields: Mapping[str, object]) -> tuple[str, Served]:
        name = model_name(fields, self._shelf.names)
        return name, self._shelf.models[name]

    async def _predict(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._asked(fields)
        asked = read_list(fields, self.bounds.texts, pair=served.model.is_pair)
        lines = await self._results("predict", served, asked, str)
        return listed(request, name, "answers", lines)

    async def _encode(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._asked(fields)
        asked = read_texts(fields, self.bounds.texts)
        vectors = await self._results("encode", served, asked, Vector)
        return listed(request, name, "vectors", [json_line(vector.numbers) for vector in vectors])

    async def _embeddings(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._asked(fields)
        asked = read_input(fields, self.bounds.texts)
        vectors = await self._results("encode", served, asked, Vector)
        tokens = sum(sum(vector.tokens) for vector in vectors)
        data = [
            {
                "object": "embedding",
                "index": number,
                "embedding": as_base64(vector.numbers) if asked.options["base64"] else vector.numbers,
            }
            for number, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return as_json({"object": "list", "data": data, "model": name, "usage": usage})

    async def _results(self, kind: Kind, served: Served, asked: Asked, given: type[Result]) -> list[Result]:
        """Queue what is asked and wait for the results, which are of one type."""
        future: asyncio.Future[list[str | Vector]] = asyncio.get_running_loop().create_future()
        job = Job(kind, served.model, asked.requests, asked.field, future)
        served.batcher.add(job)
        try:
            return [each for each in await future if isinstance(each, given)]
        finally:
            served.batcher.drop(job)

    async def _explain(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._asked(fields)
        model = served.model
        asked = read_one(fields, pair=model.is_pair)
        if self._explanations >= self.bounds.explanations:
            message = f"{self._explanations:,} explanations wait. Try again in a few seconds."
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "server", message, again=3)

        from heedful.explain import render_html
        from heedful.explain.methods.method_names import MethodChoice

        def work() -> tuple[str, str]:
            method, why = str(asked.options[METHOD]) or None, str(asked.options[WHY]) or None
            try:
                explanation = model.explain(asked.requests[0], MethodChoice(method, why=why))
            except Exception as error:
                field = METHOD if method else WHY
                if isinstance(error, UsageError) and (method or why):
                    message = f"{field}: {error}"
                    raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, field, message) from None
                raise told(error, asked.field) from None
            explanation = with_further(model, explanation, asked.options)
            page = render_html(explanation) if asked.options["page"] else ""
            return json_line(explanation.to_dict()), page

        future, cancel = self._explaining.ask(work)
        self._explanations += 1
        try:
            line, page = await _unless_left(request, asyncio.wrap_future(future))
        finally:
            self._explanations -= 1
            cancel.asked = True
            future.cancel()
        more = f', "page": {json_line(page)}' if page else ""
        return plain_json(f'{{"model": {json_line(name)}, "explanation": {line}{more}}}')

    async def _live(self, request: Request) -> Response:
        return as_json({"status": "live"})

    async def _ready(self, request: Request) -> Response:
        if self.draining:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "server", "the server is about to end.")
        if self.trouble:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "server", f"{self.trouble}. Start the server again."
            )
        return as_json({"status": "ready", "models": list(self._shelf.names)})

    async def _models(self, request: Request) -> Response:
        data = [
            {
                "id": name,
                "object": "model",
                "task": served.model.task,
                "pair": served.model.is_pair,
                "max_tokens": served.model.max_tokens,
                "computed_by": served.model.kind,
            }
            for name, served in self._shelf.models.items()
        ]
        return as_json({"object": "list", "data": data})

    async def _metrics(self, request: Request) -> Response:
        counters, gauges = self._counters, self._gauges()
        if self._workers:
            counters, gauges = self._workers.sums(counters, gauges)
        new = asks_for_openmetrics(request.headers.get("accept", ""))
        return Response(counters.text(gauges, openmetrics=new), media_type=OPENMETRICS if new else PROMETHEUS)

    @property
    def is_explaining(self) -> bool:
        """Whether an explanation is computed, waited for or not."""
        return self._explaining.is_busy

    def leave_counts(self) -> None:
        """Leave what was counted for the other processes of this server, if there are others."""
        if self._workers:
            self._workers.leave(self._counters, self._gauges())

    def _gauges(self) -> Gauges:
        gauges: dict[tuple[str, str], float] = {
            ("heedful_connections", ""): self.connections(),
            ("heedful_workers", ""): 1,
            ("heedful_resident_bytes", ""): resident_bytes(),
        }
        for name, served in self._shelf.models.items():
            gauges["heedful_waiting_texts", name] = served.batcher.waiting
            if (words := served.model.word_counts) is not None:
                gauges["heedful_words_asked_total", name] = words.asked
                gauges["heedful_words_computed_total", name] = words.computed
                gauges["heedful_words_kept", name] = words.kept
        return gauges

    async def _openapi(self, request: Request) -> Response:
        return as_json(document(self._shelf.names, self.bounds, key=bool(self._access.key)))

    async def _page(self, request: Request) -> Response:
        content, kind = PAGES[request.url.path]()
        return Response(content, media_type=kind)

    def _internal(self, error: Exception) -> None:
        """Report that the server made a mistake, and where; what an error says could quote a text."""
        self._counters.internal_error()
        place = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f" at {frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in place)
        self._say(f"internal error: {type(error).__name__}{where}")


def _expects(scope: Scope) -> bool:
    """Whether the client waits for a word before it sends the body."""
    return any(name == b"expect" for name, _ in scope["headers"])


async def _unless_left(request: Request, future: asyncio.Future[Result]) -> Result:
    """Wait for a result while the client does: one who types asks again and leaves the former question."""
    left = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((future, left), return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise ClientDisconnect
        return future.result()
    finally:
        left.cancel()
        future.cancel()
