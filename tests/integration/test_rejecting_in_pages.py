"""Files for JavaScript and pages answer that no class fits where the runtime does, and say why as it does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import heedful
import tiny
from browsing import Opened, browser, launch, opened, windows  # noqa: F401
from heedful.explain.explainer import explain
from heedful.runtime import load
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import in_node
from waiting import until

NONE = "none of these"
WORDS = ("goal", "rook", "soup")
TEXTS = [
    f"{how} {word} {when} {k}"
    for word in WORDS
    for how in ("grim", "fine")
    for when in ("now", "then")
    for k in "abc"
]
ASKED = ["fine goal now", "Ünïcode çäse ğ 字", "", "soup soup soup nowhere", "x " * 500, "rook\u2028then"]
PLAIN: dict[str, Any] = {"text__vectors": "", "model__sentence": "none"}
MEAN: dict[str, Any] = {"text__vectors": "auto", "model__sentence": "mean"}
REJECTS = {"reject": 0.9}


def saved(folder: Path, settings: dict[str, Any], *, pairs: bool = False, others: Any = None) -> Path:
    rows: list[Any] = [(text, f"a {text.split()[1]}") for text in TEXTS] if pairs else TEXTS
    made = heedful.PairClassifier if pairs else heedful.TextClassifier
    model = made(**settings, model__task_options=REJECTS)
    model.fit(rows, [text.split()[1] for text in TEXTS], baseline=False, none_of_these=others)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules") / "node_modules" / "heedful"
    javascript_package.write(folder)
    return folder


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
@pytest.mark.parametrize(
    "way",
    [
        "text",
        pytest.param("mean", marks=pytest.mark.english),
        pytest.param("pair", marks=pytest.mark.english),
        "others",
    ],
)
def test_rejected_texts_are_those_of_the_runtime(way: str, package: Path, tmp_path: Path) -> None:
    settings = MEAN if way in ("mean", "pair") else PLAIN
    others = ["boil an egg", "reset the wifi", "tax forms"] if way == "others" else None
    folder = saved(tmp_path / "model", settings, pairs=way == "pair", others=others)
    file, small = tmp_path / "model.heedful", tmp_path / "small"
    targets = ("--javascript", file, "--whole-tables", "--int8", small)
    assert tiny.run("export", folder, *targets, "--coverage", "0.8").code == 0
    requests = [[text, "a goal"] if way == "pair" else [text] for text in ASKED]
    asked: list[Any] = [tuple(each) for each in requests] if way == "pair" else [*ASKED]
    wanted = load(small).limited(truncate="head").predict(asked)
    labels = set()
    for mine, answer in zip(in_node(package, file, requests), wanted, strict=True):
        theirs = answer.as_dict()
        assert mine["label"] == theirs["label"]
        assert mine["unlike"] == pytest.approx(theirs["unlike"], abs=1e-3)
        assert mine["unlike_share"] == pytest.approx(theirs["unlike_share"], abs=1e-3)
        assert mine["probabilities"] == pytest.approx(theirs["probabilities"], abs=1e-5)
        labels.add(mine["label"])
    assert NONE in labels
    assert labels != {NONE}


def test_a_page_says_why_no_class_fits(tmp_path: Path, opened: Opened) -> None:  # noqa: F811
    page, small = tmp_path / "page.html", tmp_path / "small"
    folder = saved(tmp_path / "model", PLAIN)
    assert tiny.run("export", folder, "--page", page, "--whole-tables", "--int8", small).code == 0
    shown = opened(page)
    shown.fill("textarea", "tax forms need signing")
    headline = shown.locator("#headline")
    until(lambda: headline.text_content() == f"{NONE}more unlike than all known texts")
    said = shown.locator("#probabilities details").last.text_content()
    assert said.startswith(f"Why “{NONE}”: unlike all training texts")
    assert "these words are new: tax, forms, need, signing" in said
    theirs = explain(load(small), "tax forms need signing").none_of_these
    assert theirs is not None
    for name, added in theirs.parts.items():
        assert f"{name}{added:+.2f}" in said.replace("0.00", "+0.00").replace("++", "+")
    until(lambda: "Why “" in (shown.locator("#contributions").text_content() or ""))
    shown.fill("textarea", "fine goal now")
    until(lambda: (headline.text_content() or "").startswith("goal"))
    assert "It is like training texts" in shown.locator("#probabilities details").last.text_content()
