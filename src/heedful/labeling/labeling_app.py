"""The labeling page over HTTP: its files, and each request is one thing that a person does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache, partial
from http import HTTPStatus
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from heedful.errors import DataError, OutputError
from heedful.explain.style import style_sheet
from heedful.labeling.next_text import REASONS
from heedful.labeling.session import Conflict, Session, Shown
from heedful.serving.assets import PAGES as PLAYGROUND
from heedful.serving.bodies import refuse_unknown, text_of, wrong
from heedful.serving.counters import Counters
from heedful.serving.guarded_app import Access, GuardedApp, Handler
from heedful.serving.replies import as_json
from heedful.serving.request_limits import Bounds, Refused

SCRIPTS = ("api.js", "drawing.js", "answers.js", "spans.js", "label.js")
"""Each a module of the page."""


@cache
def _file(name: str, kind: str) -> tuple[str, str]:
    content = files("heedful.labeling").joinpath("label_page", name).read_text(encoding="utf-8")
    return (style_sheet() + content if kind == "text/css" else content), kind


PAGES: Mapping[str, Callable[[], tuple[str, str]]] = {
    "/": partial(_file, "index.html", "text/html"),
    "/icon.svg": PLAYGROUND["/icon.svg"],
    "/label.css": partial(_file, "label.css", "text/css"),
    **{f"/{name}": partial(_file, name, "text/javascript") for name in SCRIPTS},
}
"""Path to what gives the content and its kind."""


_LONGEST_NAME, _LONGEST_NOTE, _MOST_TOGETHER = 80, 10_000, 100
_Fields = Mapping[str, object]


class LabelingApp(GuardedApp):
    """A session as an ASGI application.

    Args:
        session: what the requests do.
        bounds: the limits.
        access: who may ask.
        print_line: writes a line to the log.
    """

    def __init__(
        self, session: Session, bounds: Bounds, access: Access, print_line: Callable[[str], None]
    ) -> None:
        self._session = session
        gets: dict[str, Handler] = {"/health/live": self._live, **dict.fromkeys(PAGES, self._page)}
        posts: dict[str, Handler] = {
            "/v1/state": self._doing(("by",), lambda asked: session.state(_by(asked))),
            "/v1/next": self._doing(("by",), lambda asked: session.next(_by(asked))),
            "/v1/text": self._doing(("by", "id"), lambda asked: session.text(_by(asked), _text(asked, "id"))),
            "/v1/label": self._doing(("by", "texts", "label", "note", "seen", "why"), self._label),
            "/v1/together": self._doing(("by", "ids", "label"), self._together),
            "/v1/skip": self._doing(("by", "id"), self._skip),
            "/v1/undo": self._doing(("by",), lambda asked: session.undo(_by(asked))),
            "/v1/search": self._doing(("query",), lambda asked: session.search(_text(asked, "query"))),
        }
        super().__init__(gets, posts, bounds, access, Counters(), print_line, gets)

    def leave_counts(self) -> None:
        """Do nothing: there is one process."""

    def _doing(self, known: tuple[str, ...], work: Callable[[_Fields], Shown]) -> Handler:
        """Return what answers a request with certain fields by something that a session does, in another thread."""

        async def handle(request: Request) -> Response:
            fields = await self._fields(request)
            refuse_unknown(fields, known)
            try:
                return as_json(await asyncio.to_thread(work, fields))
            except Conflict as error:
                raise Refused(HTTPStatus.CONFLICT, "label", str(error)) from error
            except DataError as error:
                raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "label", str(error)) from error
            except OutputError as error:
                self._say(str(error))
                raise Refused(HTTPStatus.INSUFFICIENT_STORAGE, "server", str(error)) from error

        return handle

    def _label(self, asked: _Fields) -> Shown:
        texts = asked.get("texts")
        count = 2 if self._session.form.pair else 1
        if not isinstance(texts, list) or len(texts) != count:
            wrong("texts", f"expected a list of {count}.")
        given = tuple(text_of(each, "texts") for each in texts)
        note = _text(asked, "note", "")
        if len(note) > _LONGEST_NOTE:
            wrong("note", f"expected at most {_LONGEST_NOTE:,} characters, got {len(note):,}.")
        if (why := _text(asked, "why", "search")) not in REASONS:
            wrong("why", f"expected one of {', '.join(REASONS)}.")
        return self._session.label(_by(asked), given, asked.get("label"), note, asked.get("seen"), why)

    def _together(self, asked: _Fields) -> Shown:
        ids = asked.get("ids")
        if not isinstance(ids, list) or not 1 <= len(ids) <= _MOST_TOGETHER:
            wrong("ids", f"expected a list of 1 to {_MOST_TOGETHER}.")
        keys = [text_of(each, "ids") for each in ids]
        return self._session.label_together(_by(asked), keys, asked.get("label"))

    def _skip(self, asked: _Fields) -> Shown:
        self._session.skip(_by(asked), _text(asked, "id"))
        return {}

    async def _live(self, request: Request) -> Response:
        return as_json({"status": "live"})

    async def _page(self, request: Request) -> Response:
        content, kind = PAGES[request.url.path]()
        return Response(content, media_type=kind)


def _by(asked: _Fields) -> str:
    name = " ".join(_text(asked, "by").split())
    if not 1 <= len(name) <= _LONGEST_NAME:
        wrong("by", f"expected a name of 1 to {_LONGEST_NAME} characters.")
    return name


def _text(asked: _Fields, field: str, missing: str | None = None) -> str:
    if field not in asked and missing is not None:
        return missing
    if field not in asked:
        wrong(field, "missing.")
    return text_of(asked[field], field)
