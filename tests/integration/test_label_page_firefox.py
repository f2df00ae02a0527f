"""The labeling page in Firefox, by keyboard alone, with axe where it is installed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import axe  # noqa: F401
from firefox import Firefox, firefox  # noqa: F401
from served import Server
from waiting import until

TEXTS = [f"a {'superb' if k % 2 else 'dull'} film, number {k}" for k in range(30)]
FREE = "!document.querySelector('#card').hasAttribute('aria-busy')"


@pytest.fixture
def page(tmp_path: Path, firefox: Firefox) -> Iterator[Any]:  # noqa: F811
    """Return a function that starts the command with a pool and opens its page."""
    servers: list[Server] = []

    def start(rows: list[list[str]], *options: object, columns: tuple[str, ...] = ("text",)) -> Firefox:
        pool = tmp_path / "pool.csv"
        tiny.write_csv(pool, rows, list(columns))
        servers.append(Server(pool, *options, command="label"))
        firefox.goto(f"http://127.0.0.1:{servers[-1].port}/")
        until(lambda: firefox.value("document.querySelector('#answers button, #answers input') !== null"))
        return firefox

    yield start
    firefox.goto("about:blank")
    assert [server.stop() for server in servers] == [0] * len(servers)


def press(page: Firefox, *keys: str) -> None:
    """Press keys and wait until what they began is done."""
    for key in keys:
        page.press(key)
        until(lambda: page.value(FREE))


def shown(page: Firefox, name: str = "texts") -> str:
    return str(page.value(f"document.getElementById('{name}').innerText"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_labels_notes_undo_skip_and_search_by_keys(tmp_path: Path, page: Any) -> None:
    output = tmp_path / "labels.csv"
    window = page([[each] for each in TEXTS], "--label", "good", "--label", "bad", "--output", output)
    wanted: dict[str, str] = {}
    for _ in range(6):
        text = shown(window)
        wanted[text] = "good" if "superb" in text else "bad"
        press(window, "1" if "superb" in text else "2")
        assert {row["text"]: row["label"] for row in rows_of(output)} == wanted
    skipped = shown(window)
    press(window, "s")
    noted = shown(window)
    press(window, "n", *"odd", "Enter", "0")
    assert (rows_of(output)[-1]["text"], rows_of(output)[-1]["label"]) == (noted, "-")
    assert rows_of(output)[-1]["note"] == "odd"
    press(window, "u")
    assert shown(window) == noted
    assert len(rows_of(output)) == 6
    press(window, "/", *skipped.rpartition(" ")[2], "Enter")
    until(lambda: window.value("document.querySelector('#found button') !== null"))
    buttons = "[...document.querySelectorAll('#found button')]"
    place = window.value(f"{buttons}.findIndex((each) => each.innerText.includes(arguments[0]))", skipped)
    while not window.value(
        "document.activeElement === document.querySelectorAll('#found button')[arguments[0]]", place
    ):
        window.press("Tab")
    press(window, "Enter")
    until(lambda: shown(window) == skipped)
    press(window, "2")
    assert rows_of(output)[-1]["text"] == skipped


FORMS: dict[str, tuple[list[str], list[str], object]] = {
    "several": (["--several", "--label", "a, b", "--label", "c"], ["2", "1", "Enter"], '["a, b", "c"]'),
    "number": (["--number", "1:5"], ["3", ".", "5", "Enter"], "3.5"),
    "pair": (["--pair", "--label", "yes", "--label", "no"], ["2"], "no"),
    "spans": (["--spans", "--label", "PER"], ["ArrowRight", "Shift+ArrowRight", "1", "Enter"], [4, 6, "PER"]),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_labeled_by_keys(tmp_path: Path, page: Any, name: str) -> None:
    options, keys, wanted = FORMS[name]
    columns = ("premise", "hypothesis") if name == "pair" else ("text",)
    output = tmp_path / ("labels.jsonl" if name == "spans" else "labels.csv")
    window = page([["the 😀𝒳 Ann-Marie sings"] * len(columns)], *options, "--output", output, columns=columns)
    press(window, *keys)
    until(lambda: shown(window, "why") == "Done")
    if name == "spans":
        assert json.loads(output.read_text(encoding="utf-8"))["label"] == [wanted]
    else:
        assert wanted in rows_of(output)[0].values()


def test_axe_finds_nothing(tmp_path: Path, page: Any, axe: str) -> None:  # noqa: F811
    options = ("--label", "good", "--label", "bad", "--output", tmp_path / "labels.csv")
    window = page([[each] for each in TEXTS], *options)
    press(window, "1", "2")
    window.ask("WebDriver:ExecuteScript", script=axe, args=[], sandbox=None)
    found = window.value("axe.run(document, {resultTypes: ['violations']})")
    assert [each["id"] for each in found["violations"]] == []
