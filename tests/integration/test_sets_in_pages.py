"""Files for JavaScript and pages give the sets and intervals that the runtime gives, where an export asks for them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import heedful
import tiny
from browsing import Opened, browser, launch, opened, windows  # noqa: F401
from heedful.model.decisions import Wish
from heedful.runtime import load
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import in_node

WORDS = ("goal", "rook", "soup", "film")
TEXTS = [
    f"{how} {word} {when} {k}"
    for word in WORDS
    for how in ("grim", "fine")
    for when in ("now", "then")
    for k in "abc"
]
ASKED = [
    "fine goal now",
    "a film now",
    "grim rook then b",
    "a soup a soup then",
]  # no two classes are equally likely
SMALL: dict[str, Any] = {"text__vectors": "", "model__sentence": "none"}


def targets(kind: str) -> Any:
    rows = [text.split() for text in TEXTS]
    return {
        "classes": [word for _, word, *_ in rows],
        "labels": [[word, *(["late"] if when == "then" else [])] for _, word, when, _ in rows],
        "columns": [{"mood": how, "what": word} for how, word, *_ in rows],
        "number": [WORDS.index(word) + 0.1 * "abc".index(k) for _, word, _, k in rows],
    }[kind]


def saved(kind: str, folder: Path) -> Path:
    made = {
        "classes": heedful.TextClassifier,
        "labels": heedful.MultiLabelClassifier,
        "columns": heedful.LabelColumnsClassifier,
        "number": heedful.TextScorer,
    }[kind](**SMALL)
    made.fit(TEXTS, targets(kind), baseline=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules") / "node_modules" / "heedful"
    javascript_package.write(folder)
    return folder


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
@pytest.mark.parametrize("kind", ["classes", "labels", "columns", "number"])
def test_sets_are_those_of_the_runtime(kind: str, package: Path, tmp_path: Path) -> None:
    model, file, small = saved(kind, tmp_path / "model"), tmp_path / "model.heedful", tmp_path / "small"
    result = tiny.run("export", model, "--javascript", file, "--int8", small, "--coverage", "0.8")
    assert result.code == 0, result.err
    wanted = load(small).promising(Wish(0.8)).predict(ASKED)
    for mine, other in zip(in_node(package, file, [[text] for text in ASKED]), wanted, strict=True):
        theirs = other.as_dict()
        if kind == "number":
            assert mine["interval"] == pytest.approx(theirs["interval"], abs=1e-4)
        else:
            assert mine["prediction_set"] == list(theirs["prediction_set"])
    plain = tiny.run("export", model, "--javascript", file)
    assert plain.code == 0
    assert {"prediction_set", "interval"}.isdisjoint(in_node(package, file, [[ASKED[0]]])[0])


def test_a_page_says_the_set_and_what_is_promised(tmp_path: Path, opened: Opened) -> None:  # noqa: F811
    model, page = saved("classes", tmp_path / "model"), tmp_path / "page.html"
    assert tiny.run("export", model, "--page", page, "--coverage", "0.8").code == 0
    shown = opened(page)
    shown.fill("textarea", "fine goal now")
    shown.wait_for_selector("#probabilities summary")
    said = shown.locator("#probabilities details").last.text_content()
    assert said.startswith("Set: goal (0.8 promised)")
    assert "a share of about 0.8 of new texts has the right class in its set" in said


def test_what_has_no_sets_is_refused(tmp_path: Path) -> None:
    model = saved("classes", tmp_path / "model")
    for more, part in (
        (
            ("--onnx", tmp_path / "m.onnx", "--coverage", "0.8"),
            "--coverage is for the page and the file for JavaScript",
        ),
        (
            ("--page", tmp_path / "p.html", "--coverage", "1"),
            "coverage: expected a number above 0 and below 1",
        ),
        (("--page", tmp_path / "p.html", "--coverage", "0.999"), "takes at least 999 rows"),
    ):
        result = tiny.run("export", model, *more)
        assert result.code == 2
        assert part in result.err.splitlines()[-1]
        assert not (tmp_path / "p.html").exists()
