"""The files of the playground and the policy under which a browser shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from heedful.explain.style import style_sheet

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Of every answer: scripts and styles are files of this server, none stands in a page, and nothing else loads."""
_FOLDER = Path(__file__).parent / "playground"


@cache
def _index() -> tuple[str, str]:
    return (_FOLDER / "index.html").read_text(encoding="utf-8"), "text/html"


@cache
def _icon() -> tuple[str, str]:
    return (_FOLDER / "icon.svg").read_text(encoding="utf-8"), "image/svg+xml"


@cache
def _script() -> tuple[str, str]:
    return (_FOLDER / "playground.js").read_text(encoding="utf-8"), "text/javascript"


@cache
def _style() -> tuple[str, str]:
    own = (_FOLDER / "playground.css").read_text(encoding="utf-8")
    return style_sheet() + own, "text/css"


PAGES: Mapping[str, Callable[[], tuple[str, str]]] = {
    "/": _index,
    "/icon.svg": _icon,
    "/playground.js": _script,
    "/playground.css": _style,
}
"""Path to what gives the content and its kind; pictures have the style of the pages that ``heedful explain`` writes."""
