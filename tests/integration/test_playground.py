"""The playground in a browser: by keyboard, in the dark, on a phone's width, with hostile texts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import browser, launch  # noqa: F401
from served import Server, save_model, server
from waiting import PATIENCE

pytest.importorskip("starlette")
TEXT = "the film was superb , and the story is not dull ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    save_model(root / "one")
    save_model(root / "two", seed=1, encoder="mtsa")
    save_model(root / "pairs", task="pair")
    save_model(root / "open", encoder="mdman", options={"encoder_steps": 0})
    return root


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Server]:
    with server(folder / "one", folder / "two", folder / "pairs", folder / "open") as found:
        yield found


class Page:
    """The playground in a window of its own, with all that the browser complained about and asked for."""

    def __init__(self, program: Any, port: int, width: int = 1280, scheme: str = "light") -> None:
        self.address = f"http://127.0.0.1:{port}/"
        self.window = program.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
        self.window.set_default_timeout(PATIENCE * 1_000)
        self.complaints, self.asked = list[str](), list[str]()
        self.window.on("console", lambda message: self.complaints.append(message.text))
        self.window.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.window.on("request", lambda request: self.asked.append(request.url))
        self.window.goto(self.address)
        self.window.wait_for_selector("#model option", state="attached")

    def answered(self, count: int = 1) -> None:
        """Wait until there are answers to what is typed."""
        last = f"#results:not(.waiting) > .result:nth-child({count}):last-child"
        self.window.wait_for_selector(last)


@pytest.fixture
def opened(browser: Any, running: Server) -> Iterator[Any]:  # noqa: F811
    pages: list[Page] = []

    def opening(**how: Any) -> Page:
        pages.append(Page(browser, running.port, **how))
        return pages[-1]

    yield opening
    for page in pages:
        page.window.close()
        assert page.complaints == []
        assert all(url.startswith((page.address, "about:")) for url in page.asked)


def test_the_keyboard_is_enough(opened: Any, folder: Path, tmp_path: Path) -> None:
    page = opened()
    page.window.keyboard.type(TEXT)
    page.answered()
    assert tiny.run("explain", folder / "one", "--text", TEXT, "--html", tmp_path / "why.html").code == 0
    pictures = re.findall(r"<svg.*?</svg>", (tmp_path / "why.html").read_text(encoding="utf-8"), re.DOTALL)
    shown = page.window.eval_on_selector_all(".result svg", "all => all.map(each => each.textContent)")
    plain = [re.sub("<[^>]*>", "", picture) for picture in pictures]
    assert len(plain) >= 3
    assert ["".join(text.split()) for text in shown] == ["".join(unescaped(text).split()) for text in plain]
    assert page.window.locator(".result", has_text="base, without words").count() == 1
    assert re.fullmatch(r"one: \S.* (> |< )?[\d.]+ %", page.window.inner_text("#status"))
    focused = []
    for _ in range(5):
        page.window.keyboard.press("Shift+Tab")
        focused.append(page.window.evaluate("document.activeElement.id"))
    assert {"model", "other", "why"} <= set(focused)


def test_any_class_is_asked_about(opened: Any) -> None:
    page = opened()
    page.window.fill("#first", TEXT)
    page.answered()
    for label in page.window.eval_on_selector_all(
        "#why option", "all => all.map(each => each.value).slice(1)"
    ):
        page.window.select_option("#why", label)
        page.window.wait_for_selector(f".result h2:has-text('Why “{label}”')")


def unescaped(text: str) -> str:
    return html.unescape(text)


@pytest.fixture
def of_two_models(opened: Any) -> Any:
    page = opened()
    page.window.fill("#first", TEXT)
    page.answered()
    page.window.select_option("#other", "two")
    page.answered(2)
    return page


def test_two_models_and_pairs(of_two_models: Any) -> None:
    page = of_two_models
    assert page.window.locator(".result > h2").all_inner_texts() == ["one", "two"]
    page.window.select_option("#model", "pairs")
    page.window.fill("#second", "a dull film")
    page.answered()
    assert page.window.locator(".result .read").count() == 2


def test_gates_of_two_models_are_side_by_side(of_two_models: Any) -> None:
    page = of_two_models
    titles = page.window.locator(".result svg .head", has_text="gate")
    left = [box["x"] for box in (titles.nth(k).bounding_box() for k in range(titles.count()))]
    assert page.window.locator(".result:nth-child(1) svg .head", has_text="gate").count() == 2
    assert page.window.locator(".result:nth-child(2) svg .head", has_text="gate").count() > 0
    assert min(left) < 640 < max(left)


def test_single_features_of_a_word_by_keyboard_and_by_pointer(opened: Any) -> None:
    page = opened()
    page.window.fill("#first", TEXT)
    page.answered()
    chosen = page.window.locator(".result h2", has_text="feature by feature")
    assert chosen.count() == 0
    page.window.focus("#word")
    page.window.keyboard.press("ArrowDown")  # the first word of the text
    page.window.wait_for_selector("text=“the”, feature by feature")
    page.answered()
    page.window.locator(".result .read .w", has_text="film").click()
    page.window.wait_for_selector("text=“film”, feature by feature")
    page.answered()
    assert page.window.input_value("#word") == "film"
    page.window.fill("#first", "a superb story")
    page.window.wait_for_selector("text=feature by feature", state="detached")
    page.answered()
    assert page.window.input_value("#word") == ""
    assert not page.window.locator("#status.wrong").count()


def test_steps_of_a_policy_are_shown_where_there_is_one(opened: Any) -> None:
    page = opened()
    page.window.fill("#first", TEXT)
    page.answered()
    assert page.window.is_hidden("#policy-label")
    page.window.select_option("#model", "open")
    page.window.wait_for_selector("#policy-label:not([hidden])")
    page.window.focus("#policy")
    page.window.keyboard.press("Space")
    page.window.wait_for_selector("text=How the policy opened the masks")
    page.answered()
    assert page.window.locator("h3", has_text="Final backward mask").count() == 1


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_narrow(opened: Any, width: int, scheme: str) -> None:
    page = opened(width=width, scheme=scheme)
    page.window.fill("#first", TEXT)
    page.answered()
    page.window.select_option("#other", "two")
    page.answered(2)
    assert page.window.evaluate("document.documentElement.scrollWidth") <= width
    color = page.window.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", color)[:3])) / 765
    assert (lightness > 0.5) == (scheme == "light")
    bars = page.window.eval_on_selector_all(
        ".result .track-box i", "all => all.map(each => each.offsetWidth)"
    )
    assert max(bars) > 20  # the widths that the server wrote are applied


def test_markup_in_a_text_is_shown(opened: Any) -> None:
    hostile = '</main><img src=x onerror=alert(1)> <script>alert(2)</script> style="width:9px" film'
    page = opened()
    dialogs: list[Any] = []
    page.window.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
    page.window.fill("#first", hostile)
    page.answered()
    assert page.window.locator(".result img, .result script").count() == 0
    assert "<script>alert(2)</script>" in page.window.inner_text(".result .read")
    assert dialogs == []


def test_a_mistake_is_told(opened: Any) -> None:
    page = opened()
    page.window.fill("#first", "film " * 500)
    page.window.wait_for_selector("#status.wrong")
    assert "tokens" in page.window.inner_text("#status")
    page.complaints[:] = [
        each for each in page.complaints if "422" not in each
    ]  # the browser tells of it too
