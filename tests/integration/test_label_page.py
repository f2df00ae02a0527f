"""``heedful label`` from the first key to the file that ``heedful train`` takes: by keyboard alone, in Chromium."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import axe, browser, launch, violations  # noqa: F401
from heedful.data.readers.table_files import read_table
from served import Server
from waiting import PATIENCE, until

TEXTS = [f"a {'superb' if k % 2 else 'dull'} film, number {k}" for k in range(60)]
KEYS = "abcdefghijklmnopqrstuvwxyz"


def pool_of(folder: Path, rows: list[list[str]] | None = None, names: tuple[str, ...] = ("text",)) -> Path:
    path = folder / "pool.csv"
    tiny.write_csv(path, rows or [[text] for text in TEXTS], list(names))
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def opened(browser: Any, server: Server, **window: Any) -> Any:  # noqa: F811
    """Open the page; no error may be logged there."""
    page = browser.new_context(**window).new_page()
    page.set_default_timeout(PATIENCE * 1_000)
    page.on("pageerror", lambda each: pytest.fail(str(each)))
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.locator("#answers button, #answers input").first.wait_for()
    return page


def text_of(page: Any) -> str:
    return str(page.locator("#texts").inner_text())


def press(page: Any, *keys: str) -> None:
    """Press keys and wait until what they began is done."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_function("() => !document.querySelector('#card').hasAttribute('aria-busy')")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Any]:
    """Return a function that starts the command; each ends with exit code 0."""
    servers: list[Server] = []

    def start(*arguments: object) -> Server:
        servers.append(Server(*arguments, command="label"))
        return servers[-1]

    yield start
    assert [server.stop() for server in servers] == [0] * len(servers)


def test_a_pool_is_labeled_by_keyboard_alone(tmp_path: Path, served: Any, browser: Any) -> None:  # noqa: F811
    output = tmp_path / "labels.csv"
    server = served(pool_of(tmp_path), "--label", "good, or so", "--label", "bad", "--output", output)
    page = opened(browser, server)
    seen: dict[str, str] = {}
    for _ in range(20):
        text = text_of(page)
        assert text not in seen
        seen[text] = "good, or so" if "superb" in text else "bad"
        press(page, "1" if "superb" in text else "2")
        assert {row["text"]: row["label"] for row in rows_of(output)} == seen
    skipped = text_of(page)
    press(page, "s")
    noted = text_of(page)
    press(page, "n")
    page.keyboard.type("what's “this”?")
    press(page, "Enter", "0")
    assert rows_of(output)[-1]["note"] == "what's “this”?"
    assert (rows_of(output)[-1]["text"], rows_of(output)[-1]["label"]) == (noted, "-")
    press(page, "u")
    assert text_of(page) == noted
    assert len(rows_of(output)) == 20
    press(page, "0", "/")
    page.keyboard.type(skipped)
    page.keyboard.press("Enter")
    page.locator("#found button").first.wait_for()
    press(page, "Tab")
    while not page.evaluate("document.activeElement.closest('#found') !== null"):
        page.keyboard.press("Tab")
    press(page, "Enter")
    until(lambda: text_of(page) == skipped)
    press(page, "1" if "superb" in skipped else "2")
    assert rows_of(output)[-1]["text"] == skipped

    page.locator("#model", has_text="Trained on").wait_for()
    for _ in range(12):
        if page.locator("#guess").is_visible():
            break
        text = text_of(page)
        press(page, "1" if "superb" in text else "2")
    page.locator("#guess mark, #texts mark").first.wait_for()
    assert "The model guesses" in page.locator("#guess").inner_text()

    found = read_table(output, text="text", label="label").examples
    assert {example.texts[0]: example.target for example in found} == {
        row["text"]: row["label"] for row in rows_of(output) if row["label"] != "-"
    }
    page.context.close()


def test_training_takes_the_file_as_it_is(tmp_path: Path) -> None:
    from heedful.labeling.forms import form_of
    from heedful.labeling.label_file import LabelFile, Record

    forms: list[tuple[Any, str, list[Any]]] = [
        (
            form_of("classes", ["good, or so", 'a "bad" one']),
            "classes in",
            ["good, or so", 'a "bad" one', "-"],
        ),
        (form_of("several", ["x", "y, z"]), "several labels", [["x"], ["x", "y, z"], []]),
        (form_of("number", []), "numbers in", [0.25, 3.0, 1.5]),
        (form_of("classes", ["yes", "no"], pair=True), "pairs of texts", ["yes", "no"]),
    ]
    for form, said, labels in forms:
        path = tmp_path / f"{form.kind}-{len(form.texts)}.csv"
        file = LabelFile(path, form, print)
        file.add(
            [
                Record(
                    tuple(f"{side} {text}" for side in form.texts),
                    labels[k % len(labels)],
                    by="Ann" if k % 2 else "guest 12",
                    note="a note of several words" if k % 5 else "",
                    chosen=("random", "typical", "uncertain")[k % 3],
                    guess=labels[0] if k > 20 else None,
                    checked=k % 7 == 0,
                )
                for k, text in enumerate(TEXTS)
            ]
        )
        small = ("--set", "text.vectors=", "--set", "model.sentence=none", "--no-baseline")
        result = tiny.run("train", path, "--out", tmp_path / f"run-{path.stem}", *small)
        assert result.code == 0, result.err
        assert said in result.err + result.out, result.err


def test_a_kill_at_any_moment_loses_no_label_that_a_page_was_told_of(tmp_path: Path) -> None:
    output, told = tmp_path / "labels.csv", list[str]()
    pool = pool_of(tmp_path)
    for count in (1, 4, 6):
        server = Server(pool, "--label", "good", "--label", "bad", "--output", output, command="label")
        for _ in range(count):
            shown = server.ask("/v1/next", {"by": "Ann"}).json()
            body = {"by": "Ann", "texts": shown["texts"], "label": "good", "seen": None}
            assert server.ask("/v1/label", body).status == 200
            told.append(shown["texts"][0])
        server.stop(signal.SIGKILL)
        assert [row["text"] for row in rows_of(output)] == told
    result = tiny.run("label", pool, "--output", output, "--export", tmp_path / "tasks.json")
    assert result.code == 0, result.err
    assert len(json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))) == 11


def test_a_second_command_on_the_same_file_is_refused_in_one_line(tmp_path: Path, served: Any) -> None:
    output, pool = tmp_path / "labels.csv", pool_of(tmp_path)
    served(pool, "--label", "good", "--label", "bad", "--output", output)
    os.symlink(output, tmp_path / "link.csv")
    for name in (output, tmp_path / "link.csv"):
        result = tiny.run("label", pool, "--label", "good", "--label", "bad", "--output", name, "--port", "0")
        assert result.code == 2
        assert "another heedful label with labels.csv is at work there" in result.err
        assert "another --output" in result.err
        assert result.err.count("\n") == 1
    served(pool, "--label", "good", "--label", "bad", "--output", tmp_path / "others.csv")


def test_from_other_machines_only_with_a_key(tmp_path: Path, served: Any, browser: Any) -> None:  # noqa: F811
    pool = pool_of(tmp_path)
    server = served(
        pool, "--label", "a", "--label", "b", "--output", tmp_path / "labels.csv", "--host", "0.0.0.0"
    )
    line = next(line for line in server.log if "#key=" in line)
    key = line.partition("#key=")[2].split()[0]
    assert len(key) > 30
    assert server.ask("/v1/next", {"by": "Ann"}).status == 401
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/#key={key}")
    page.locator("#answers button").first.wait_for()
    assert "key" not in page.url
    page.close()


def test_labels_in_other_letters_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pool_of(tmp_path)
    result = tiny.run("label", "pool.csv", "--label", "A", "--label", "a", "--host", "no.such.host.invalid")
    assert "the labels 'A' and 'a' differ in capital letters alone" in result.err


def test_a_port_that_another_program_has_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_of(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = tiny.run("label", "pool.csv", "--label", "a", "--label", "b", "--port", port)
    assert result.code == 2
    assert port in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--label", "a"], "name the labels to choose from"),
        (["--label", "a", "--label", "a"], "stands twice"),
        (["--label", "a\udcff", "--label", "b"], "half a character"),
        (["--label", "a", "--label", "b", "--host", "no.such.host.invalid"], "cannot listen there"),
        (["--label", "a", "--label", "-"], "stands for rows without a label"),
        (["--label", "a", "--label", " "], "a name is empty"),
        (["--number", "5:1"], "the smaller number first"),
        (["--number", "x"], "expected LOW:HIGH"),
        (["--number", "1:5", "--label", "a"], "numbers have no labels"),
        (["--number", "1:5", "--several"], "choose one of them"),
        (["--spans", "--label", "a", "--pair", "--output", "x.jsonl"], "two texts have one class"),
        (["--spans", "--label", "a", "--output", "x.csv"], "spans go to a file that ends in .jsonl"),
        (["--label", "a", "--label", "b", "--output", "x.txt"], "ends in .csv or .jsonl"),
        (["--label", "a", "--label", "b", "--column", "text=other"], "no column 'other'"),
        (["--label", "a", "--label", "b", "--output", "pool.csv"], "is the file of"),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_of(tmp_path)
    result = tiny.run("label", "pool.csv", "--port", "0", *options)
    assert result.code in (2, 3)
    assert said in result.err
    assert result.err.count("\n") == 1


STRANGE = ("constructor", "__proto__", "5", "s", "<b>")
"""Labels that are names in JavaScript, keys of the page, or HTML."""
FORMS: dict[str, tuple[list[str], list[str], Any]] = {
    "several": (["--several", "--label", "a, b", "--label", "c"], ["2", "1", "Enter"], '["a, b", "c"]'),
    "none": (["--several", "--label", "a", "--label", "c"], ["0"], "[]"),
    "number": (["--number", "1:5"], ["3", ".", "5", "Enter"], "3.5"),
    "pair": (["--pair", "--label", "yes", "--label", "no"], ["2"], "no"),
    "many": ([f"--label=class {letter}" for letter in KEYS], ["f", "q", "Enter"], "class q"),
    "strange": ([f"--label={each}" for each in STRANGE], ["2"], "__proto__"),
    "spans": (
        ["--spans", "--label", "PER"],
        ["ArrowRight", "Shift+ArrowRight", "1", "Enter"],
        [[5, 19, "PER"]],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_labeled_by_keyboard(tmp_path: Path, served: Any, browser: Any, name: str) -> None:  # noqa: F811
    options, keys, wanted = FORMS[name]
    columns = ("premise", "hypothesis") if name == "pair" else ("text",)
    pool = pool_of(tmp_path, [["the 😀𝒳 Ann-Marie sings"] * len(columns)], columns)
    output = tmp_path / ("labels.jsonl" if name == "spans" else "labels.csv")
    page = opened(browser, served(pool, *options, "--output", output))
    press(page, *keys)
    until(lambda: page.locator("#why").inner_text() == "Done")
    if name == "strange":
        names = page.locator("#counts tbody tr td:first-child")
        until(lambda: sorted(names.all_inner_texts()) == sorted(STRANGE))
    if name == "spans":
        assert json.loads(output.read_text(encoding="utf-8"))["label"] == [[4, 6, "PER"]]
    else:
        (row,) = rows_of(output)
        assert wanted in row.values()
    page.context.close()


def test_letters_that_turn_others_around_are_shown_and_turn_nothing(
    tmp_path: Path,
    served: Any,
    browser: Any,  # noqa: F811
) -> None:
    text = "pay\u202e evil \u2066money <b>back</b>\x07"
    output = tmp_path / "labels.jsonl"
    server = served(pool_of(tmp_path, [[text]]), "--spans", "--label", "PER", "--output", output)
    page = opened(browser, server)
    assert page.locator("#texts p").evaluate("each => each.textContent") == text
    assert page.locator("#texts b").count() == 0
    codes = page.locator("#texts .code")
    assert codes.evaluate_all("all => all.map((each) => each.dataset.code)") == [
        "⟨U+202E⟩",
        "⟨U+2066⟩",
        "⟨U+0007⟩",
    ]
    widths = codes.evaluate_all("all => all.map((each) => each.getBoundingClientRect().width)")
    assert min(widths) > 20
    press(page, "1", "Enter")
    until(lambda: page.locator("#why").inner_text() == "Done")
    assert json.loads(output.read_text(encoding="utf-8"))["label"] == [[0, 3, "PER"]]
    page.context.close()


PRESSED = """() => {
  const button = document.querySelector("#answers button"), chance = document.createElement("small");
  chance.textContent = " 62 %";
  button.querySelector("span").append(chance);
  button.setAttribute("aria-pressed", "true");
}"""
"""Shows a label that was chosen before, with what a model makes of it."""


@pytest.fixture(scope="module")
def full_page(tmp_path_factory: pytest.TempPathFactory, browser: Any, axe: str) -> Iterator[Any]:  # noqa: F811
    """The page with all that it can show at once, and axe beside it."""
    folder = tmp_path_factory.mktemp("full")
    output = folder / "labels.csv"
    long = "w" * 300
    rows = [[f"a text like many others {k}"] for k in range(30)] + [[long]]
    with output.open("w", encoding="utf-8") as stream:
        stream.write("text,label,by,guess\n")
        stream.writelines(f"text {k},{'good' if k % 2 else 'bad'},Ann,good\n" for k in range(12))
        stream.write("text 1,bad,Bob,\n")
    rows += [[f"text {k}"] for k in range(12)]
    labels = ("--label", "good", "--label", "bad", "--label", long[:120])
    server = Server(pool_of(folder, rows), *labels, "--output", output, command="label")
    page = opened(browser, server, bypass_csp=True)
    press(page, "1", "/")
    page.keyboard.type("text")
    page.keyboard.press("Enter")
    page.locator("#found button").first.wait_for()
    page.evaluate(PRESSED)
    page.evaluate(axe)
    yield page
    page.context.close()
    assert server.stop() == 0


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
)
def test_axe_finds_nothing_and_nothing_runs_out_of_the_page(full_page: Any, width: int, scheme: str) -> None:
    full_page.set_viewport_size({"width": width, "height": 800})
    full_page.emulate_media(color_scheme=scheme)
    assert full_page.locator("#found button").first.is_visible()
    assert full_page.locator("#disagreements-box").is_visible()
    assert violations(full_page) == []
    over = full_page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over <= 0
