"""Pages of explanations in a real Chromium: on paper, on a desk, and walked by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import browser, launch  # noqa: F401
from heedful.explain import write_html
from heedful.explain.explainer import explain
from heedful.explain.style import style_sheet
from heedful.run.glance.page_pieces import STYLE
from heedful.runtime import load
from waiting import PATIENCE
from whole_models import whole

TEXT, PAIR = "the film was not good", ("the film was not good", "a dull plot")
ASKED = {"text": TEXT, "pair": PAIR, "labels": TEXT, "number": TEXT, "pair-number": PAIR}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An explanation of each task as a page, by its name, and an exported page."""
    root = tmp_path_factory.mktemp("pages")
    made = {}
    for task, asked in ASKED.items():
        model = load(whole(root / task, task, "disan", parts=("mean",)))
        write_html(explain(model, asked), made.setdefault(task, root / f"{task}.html"))
    exported = root / "exported.html"
    assert tiny.run("export", root / "text", "--page", exported).code == 0
    return made | {"exported": exported}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:  # noqa: F811
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(PATIENCE * 1_000)
    yield opened
    opened.close()


def test_what_a_reader_has_not_opened_is_not_printed(page: Any, pages: dict[str, Path]) -> None:
    page.emulate_media(media="print")
    shown = "[...document.querySelectorAll('details')].map((each) => each.checkVisibility())"
    bare = "[...document.querySelectorAll('section')].filter((one) => one.checkVisibility() && !one.innerText.trim())"
    for name in ASKED:
        page.goto(pages[name].as_uri())
        folded = page.evaluate(shown)
        assert folded, name
        assert not any(folded), name
        assert page.evaluate(f"{bare}.length") == 0
        page.evaluate("document.querySelector('details').open = true")
        assert page.evaluate(shown)[0]
        assert page.evaluate("document.querySelector('details[open]').innerText.length") > 50


def test_what_is_folded_away_is_printed_in_reports(page: Any) -> None:
    style = style_sheet() + STYLE
    page.set_content(f"<style>{style}</style><section><details><summary>more</summary><p>rows</p></details>")
    page.emulate_media(media="print")
    assert page.locator("summary").is_visible()
    assert page.locator("p").is_visible()


def test_a_page_of_a_number_begins_at_the_left(page: Any, pages: dict[str, Path]) -> None:
    for name in ("number", "pair-number", "text"):
        page.goto(pages[name].as_uri())
        left = page.evaluate("document.querySelector('.read').getBoundingClientRect().left")
        assert (left > 200) is (name == "text")  # to the left of its words are the bars of its classes


def test_every_page_is_walked_by_keyboard_alone(page: Any, pages: dict[str, Path]) -> None:
    reach = "[...document.querySelectorAll('a[href],button,summary,textarea,input,select,[tabindex=\"0\"]')]"
    here = """() => {
      const at = document.activeElement, ring = getComputedStyle(at);
      const all = REACH.filter((each) => each.checkVisibility());
      return [all.indexOf(at), ring.outlineStyle !== "none" || ring.boxShadow !== "none", at.outerHTML.slice(0, 90)];
    }""".replace("REACH", reach)
    for name, path in pages.items():
        page.goto(path.as_uri())
        if name == "exported":
            page.evaluate("heedful.then(() => null)")
            page.keyboard.type(TEXT)  # its field has the focus
            page.locator("#contributions table").first.wait_for()
        count = page.evaluate(f"{reach}.filter((each) => each.checkVisibility()).length")
        assert count
        for place in range(name == "exported", count):
            page.keyboard.press("Tab")
            at, is_seen, what = page.evaluate(here)
            assert at == place, f"{name}: Tab {place + 1} of {count} comes to {what}"
            assert is_seen, f"{name}: no ring around {what}"
        if name != "exported":
            page.locator("summary").first.focus()
            page.keyboard.press("Enter")
            assert page.evaluate("document.querySelector('details').open")
