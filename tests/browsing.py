"""A real Chromium, and models as pages in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from heedful.export import described
from heedful.models import Network
from heedful.page import render_page
from heedful.storage.model_folder import ModelFolder
from heedful.text.vocabulary import Vocabulary
from waiting import PATIENCE

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
Opened = Callable[..., Any]
WINDOW: Any = {"width": 1280, "height": 720}
"""What a new page has."""


def folder_of(
    network: Network, vocabulary: Vocabulary, *, task: str = "text", encoder: str = "disan", **text: Any
) -> ModelFolder:
    outputs = 3
    labels = [] if task == "relatedness" else ["no", "<b>some</b>", "yes"]
    config = {
        "model": {"task": task, "encoder": encoder, "outputs": outputs},
        "text": {"tokenizer": "treebank", "max_tokens": 400, "truncate": "error", **text},
        "temperature": 1.5,
    }
    return ModelFolder(config, network.state_dict(), vocabulary.to_plain(), labels, {}, "")


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[..., Any]]:
    """Return a function that starts Chromium with flags; skipped, and counted, where there is none.

    It ends with the module: while it runs, no other module of the process can have an event loop.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra dev is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as started:
        made = []

        def start(*flags: str) -> Any:
            rights = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
            made.append(started.chromium.launch(executable_path=CHROMIUM, args=[*rights, *flags]))
            return made[-1]

        yield start
        for browser in made:
            browser.close()


@pytest.fixture(scope="module")
def browser(launch: Callable[..., Any]) -> Any:
    return launch()


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, as the extra dev brings it; ``HEEDFUL_AXE`` names another one."""
    named = os.environ.get("HEEDFUL_AXE", "")
    if named:
        return Path(named).read_text(encoding="utf-8")
    brings = pytest.importorskip("axe_playwright_python", reason="the extra dev is not installed")
    return (files(brings) / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Any) -> list[dict[str, str]]:
    """Run axe, which is loaded, and return the rule, the impact and the first place of each violation."""
    found = page.evaluate("""async () => JSON.stringify(
      (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
        ({id, impact, nodes}) => ({id, impact, html: nodes[0].html.slice(0, 200)})))""")
    return list(json.loads(found))


def asked(page: Any, function: str, given: object) -> Any:
    """Call a function of a page; what it takes and returns goes as JSON, as Playwright is slow to wrap each value."""
    plain = "(_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value"
    called = f"async (given) => JSON.stringify(await ({function})(JSON.parse(given)), {plain})"
    return json.loads(page.evaluate(called, json.dumps(given)))


@pytest.fixture(scope="module")
def windows(browser: Any) -> Iterator[tuple[Any, list[Any]]]:
    """The context of a module's pages, and those that no test uses: a new one takes as long as a small test."""
    context = browser.new_context()
    yield context, []
    context.close()


@pytest.fixture
def opened(windows: tuple[Any, list[Any]], tmp_path: Path) -> Iterator[Opened]:
    """Return a function that opens a model as a page; no request may leave it, and no error may be logged."""
    context, idle = windows
    used, troubles = list[tuple[Any, dict[str, Callable[..., None]]]](), list[str]()

    def open_page(folder: ModelFolder | Path, network: Network | None = None) -> Any:
        path = folder if isinstance(folder, Path) else tmp_path / "model.html"
        if isinstance(folder, ModelFolder):
            assert network is not None
            path.write_text(render_page(folder, described(network)), encoding="utf-8")
        page = idle.pop() if idle else context.new_page()
        page.set_default_timeout(PATIENCE * 1_000)
        heard: dict[str, Callable[..., None]] = {
            "request": lambda each: troubles.append(each.url) if each.url != path.as_uri() else None,
            "console": lambda each: troubles.append(each.text),
            "pageerror": lambda each: troubles.append(str(each)),
        }
        for name, hear in heard.items():
            page.on(name, hear)
        used.append((page, heard))
        page.goto(path.as_uri())
        page.evaluate("heedful.then(() => null)")
        return page

    yield open_page
    for page, heard in used:
        if not page.is_closed():
            page.evaluate("null")  # what was said before has been heard when this comes back
            for name, hear in heard.items():
                page.remove_listener(name, hear)
            page.set_viewport_size(WINDOW)
            idle.append(page)
    assert troubles == []
