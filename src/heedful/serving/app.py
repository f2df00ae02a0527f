"""The interface over HTTP: the endpoints of a server of models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from heedful.errors import UsageError
from heedful.serving.assets import PAGES
from heedful.serving.batcher import Job, error_for_client
from heedful.serving.bodies import (
    METHOD,
    WHY,
    ParsedRequest,
    model_name,
    read_input,
    read_texts,
)
from heedful.serving.counters import (
    OPENMETRICS,
    PROMETHEUS,
    Counters,
    Gauges,
    SummedCounts,
    asks_for_openmetrics,
    resident_bytes,
)
from heedful.serving.explaining import ExplainingQueue, with_further
from heedful.serving.guarded_app import Access, GuardedApp, Handler
from heedful.serving.model_store import ModelStore, Served
from heedful.serving.openapi import document
from heedful.serving.replies import as_base64, as_json, listed, plain_json
from heedful.serving.request_columns import with_columns
from heedful.serving.request_limits import Bounds, Refused
from heedful.serving.served_model import Vector
from heedful.serving.sets import (
    promise_for,
    read_explained,
    read_predicted,
    tree_for,
    tree_wish_of,
    wish_of,
)
from heedful.text.characters import json_line

_OPEN = ("/health/live", "/health/ready", *PAGES)
"""What needs no key: it tells nothing but that the server is there."""
Result = TypeVar("Result")


class App(GuardedApp):
    """The server as an ASGI application.

    Args:
        shelf: the models.
        bounds: the limits.
        access: who may ask.
        counters: what is counted.
        print_line: writes a line to the log.
        workers: what the other processes of this server count; None where there are no others.

    Attributes:
        trouble: why it cannot answer, such as a thread that has died; empty while all is well.
    """

    def __init__(
        self,
        shelf: ModelStore,
        bounds: Bounds,
        access: Access,
        counters: Counters,
        print_line: Callable[[str], None],
        workers: SummedCounts | None = None,
    ) -> None:
        self.trouble = ""
        self._shelf, self._workers = shelf, workers
        self._explaining, self._explanations = ExplainingQueue(), 0
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
        super().__init__(gets, posts, bounds, access, counters, print_line, _OPEN)

    def _chosen_model(self, fields: Mapping[str, object]) -> tuple[str, Served]:
        name = model_name(fields, self._shelf.names)
        return name, self._shelf.models[name]

    async def _predict(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._chosen_model(fields)
        model = served.model
        asked = with_columns(
            read_predicted(fields, self.bounds.texts, pair=model.is_pair), fields, model.columns
        )
        promise = await promise_for(model, wish_of(asked))
        tree = tree_for(model, tree_wish_of(asked))
        additions = [each.add for each in (promise, tree) if each is not None]
        job = Job("predict", model, asked.requests, asked.field, _future(), additions)
        lines = await self._results(served, job, str)
        return listed(request, name, "answers", lines, promise.sentence() if promise else "")

    async def _encode(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._chosen_model(fields)
        asked = read_texts(fields, self.bounds.texts)
        vectors = await self._vectors(served, asked)
        return listed(request, name, "vectors", [json_line(vector.numbers) for vector in vectors])

    async def _embeddings(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._chosen_model(fields)
        asked = read_input(fields, self.bounds.texts)
        vectors = await self._vectors(served, asked)
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

    async def _vectors(self, served: Served, asked: ParsedRequest) -> list[Vector]:
        job = Job("encode", served.model, asked.requests, asked.field, _future())
        return await self._results(served, job, Vector)

    async def _results(self, served: Served, job: Job, given: type[Result]) -> list[Result]:
        """Queue what is asked and wait for the results, which are of one type."""
        served.batcher.add(job)
        try:
            return [each for each in await job.future if isinstance(each, given)]
        finally:
            served.batcher.drop(job)

    async def _explain(self, request: Request) -> Response:
        fields = await self._fields(request)
        name, served = self._chosen_model(fields)
        model = served.model
        asked = with_columns(read_explained(fields, pair=model.is_pair), fields, model.columns)
        tree = tree_for(model, tree_wish_of(asked))
        if self._explanations >= self.bounds.explanations:
            message = f"{self._explanations:,} explanations wait. Try again in a few seconds."
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "server", message, again=3)

        from heedful.explain import render_html
        from heedful.explain.methods.method_names import MethodChoice

        def work() -> tuple[str, str]:
            method, why = str(asked.options[METHOD]) or None, str(asked.options[WHY]) or None
            try:
                explanation = model.explain(asked.requests[0], MethodChoice(method, why=why), tree)
            except Exception as error:
                field = METHOD if method else WHY
                if isinstance(error, UsageError) and (method or why):
                    message = f"{field}: {error}"
                    raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, field, message) from None
                raise error_for_client(error, asked.field) from None
            explanation = with_further(model, explanation, asked.options)
            page = render_html(explanation) if asked.options["page"] else ""
            return json_line(explanation.to_dict()), page

        future, cancel = self._explaining.submit(work)
        self._explanations += 1
        try:
            line, page = await _unless_left(request, asyncio.wrap_future(future))
        finally:
            self._explanations -= 1
            cancel.is_set = True
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
                "columns": served.model.columns_described,
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
                gauges["heedful_words_asked_total", name] = words.requested
                gauges["heedful_words_computed_total", name] = words.computed
                gauges["heedful_words_kept", name] = words.kept
        return gauges

    async def _openapi(self, request: Request) -> Response:
        return as_json(document(self._shelf.names, self.bounds, key=bool(self._access.key)))

    async def _page(self, request: Request) -> Response:
        content, kind = PAGES[request.url.path]()
        return Response(content, media_type=kind)


def _future() -> asyncio.Future[list[str | Vector]]:
    """Return what a request waits for in the loop that runs."""
    return asyncio.get_running_loop().create_future()


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


__all__ = ["Access", "App"]
