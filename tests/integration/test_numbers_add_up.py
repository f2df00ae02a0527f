"""What is shown beside a probability adds up to it, on every door; the page has a test of its own."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.estimators import MultiLabelClassifier, PairClassifier, TextClassifier, TextScorer
from heedful.explain import Explanation
from heedful.explain.methods import MethodChoice
from heedful.serving.served_model import open_served
from tiny import pairs, run, texts

SMALL: dict[str, Any] = {
    "model__width": 16, "model__hidden": 16, "train__epochs": 2, "train__optimizer__lr": 0.02, "text__vectors": "",
}  # fmt: skip
TEXT, PAIR = "I found this film superb and lovely , not dull .", ("A dog runs .", "The dog sleeps .")


def numbers_of(rows: list[tuple[str, str]]) -> list[float]:
    return [3.0 * (label == "pos") + len(text) / 40 for text, label in rows]


@pytest.fixture(
    scope="module", params=["network and parts", "parts alone", "labels", "number", "number alone", "pair"]
)
def model(request: pytest.FixtureRequest) -> Any:
    rows = texts()[:120]
    if request.param == "pair":
        data = pairs()[:200]
        return PairClassifier(**SMALL, data__few_rows=0).fit(
            [row[:2] for row in data], [row[2] for row in data]
        )
    said = [text for text, _ in rows]
    if request.param == "labels":
        return MultiLabelClassifier(**SMALL, data__few_rows=0).fit(
            said, [[label, "any"] for _, label in rows]
        )
    if request.param == "number alone":
        return TextScorer().fit(said, numbers_of(rows))
    if request.param == "number":
        return TextScorer(**SMALL, data__few_rows=0).fit(said, numbers_of(rows))
    few = {} if request.param == "parts alone" else {**SMALL, "data__few_rows": 0}
    return TextClassifier(**few).fit(said, [label for _, label in rows])


def shown_by(record: dict[str, Any], label: str) -> float:
    if record["score"] is not None:
        return float(record["score"])
    named = dict(zip(record["labels"], record["probabilities"], strict=True))
    share = named.pop(label)
    one_of_them = (
        abs(share + sum(named.values()) - 1) < 1e-9
    )  # near 1 the others say more exactly what is missing
    return float(np.log(share / (sum(named.values()) if one_of_them else 1 - share)))


def assert_adds_up(record: dict[str, Any]) -> None:
    for said in (record["attribution"], *record["others"]):
        total = said["start"] + sum(map(sum, said["values"])) + said["together"]
        assert total == pytest.approx(shown_by(record, said["label"]), rel=0, abs=1e-9)


def lines_of(figures: list[str]) -> list[float]:
    return [float(figure.replace("\u2212", "-")) for figure in figures]


def test_on_every_door(model: Any, tmp_path: Path) -> None:
    request = PAIR if isinstance(model, PairClassifier) else TEXT
    explanation: Explanation = model.explain(request)
    assert_adds_up(explanation.to_dict())
    model.save_pretrained(tmp_path / "m")
    asked = ("--text", TEXT) if request == TEXT else ("--premise", PAIR[0], "--hypothesis", PAIR[1])
    printed = run("explain", tmp_path / "m", *asked, "--json")
    assert printed.code == 0, printed.err
    assert_adds_up(json.loads(printed.out))
    served = open_served(tmp_path / "m")
    by_gradients = () if model.predictor_.model.encoder == "none" else ("gradient", "integrated")
    for method in (None, "occlusion", "shapley", "contributions", *by_gradients):
        assert_adds_up(served.explain(request, MethodChoice(method)).to_dict())
    plain = run("explain", tmp_path / "m", *asked)
    rows = [line.split() for line in plain.out.splitlines() if re.search(r"[+-]\d+\.\d\d( |$)", line)]
    assert any("base," in row for row in rows), plain.out
    nothing = ("", "") if request == PAIR else ""
    why = None if explanation.attribution is None else explanation.attribution.label or None
    without_words = served.explain(nothing, MethodChoice(why=why)).attribution
    assert without_words is not None
    for method in (None, "occlusion", "shapley"):  # the base is the answer without words
        found = served.explain(request, MethodChoice(method, why=why)).attribution
        assert found is not None
        assert found.start == pytest.approx(without_words.whole, abs=1e-4)
    page = explanation.to_html(tmp_path / "why.html").read_text(encoding="utf-8")
    for content in (page, html.unescape(explanation._repr_html_())):
        table = content.partition('<table class="signed">')[2].partition("</table>")[0]
        exact = lines_of(re.findall(r'<data value="([^"]+)"', table))
        assert sum(exact[:-1]) == pytest.approx(exact[-1], abs=1e-6)
        assert exact[-1] == pytest.approx(explanation.attribution.whole, abs=1e-6)  # type: ignore[union-attr]
        rows = lines_of(re.findall(r'">([+-]?[\d.]+)(?: =|</data>)', table))
        assert rows == pytest.approx(exact, abs=0.005)


def test_another_class_is_explained_and_an_unknown_one_refused(tmp_path: Path) -> None:
    rows = texts()[:120]
    model = TextClassifier().fit([text for text, _ in rows], [label for _, label in rows])
    model.save_pretrained(tmp_path / "m")
    for label in ("pos", "neg"):
        found = run("explain", tmp_path / "m", "--text", TEXT, "--why", label, "--json").json()
        assert found["attribution"]["label"] == label
        assert_adds_up(found)
    refused = run("explain", tmp_path / "m", "--text", TEXT, "--why", "positive")
    assert (refused.code, len(refused.err.strip().splitlines())) == (2, 1)
    assert "positive" in refused.err
    for text in ("", "zzz qqq"):
        found = run("explain", tmp_path / "m", "--text", text, "--json")
        assert found.code == 0, found.err
        assert_adds_up(found.json())
