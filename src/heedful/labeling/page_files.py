"""The files of the labeling page; its policy is that of the playground (`heedful.serving.assets`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files

from heedful.explain.style import style_sheet
from heedful.explain.svg import LEVELS
from heedful.serving.assets import PAGES as PLAYGROUND

SCRIPTS = ("api.js", "drawing.js", "answers.js", "spans.js", "label.js")
"""Each a module of the page."""


@cache
def _file(name: str, kind: str) -> tuple[str, str]:
    content = files("heedful.labeling").joinpath("label_page", name).read_text(encoding="utf-8")
    return (style_sheet(LEVELS) + content if kind == "text/css" else content), kind


PAGES: Mapping[str, Callable[[], tuple[str, str]]] = {
    "/": partial(_file, "index.html", "text/html"),
    "/icon.svg": PLAYGROUND["/icon.svg"],
    "/label.css": partial(_file, "label.css", "text/css"),
    **{f"/{name}": partial(_file, name, "text/javascript") for name in SCRIPTS},
}
"""Path to what gives the content and its kind."""
