from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.explain import Explanation, render_html, render_side_by_side, write_side_by_side


@pytest.fixture
def one(make_view) -> Explanation:
    return Explanation(
        (make_view("text", "A man plays a guitar."),), ("yes", "no"), (0.7, 0.3), method="DiSAN"
    )


@pytest.fixture
def other(one) -> Explanation:
    (view,) = one.sides
    gates = {name: gate.copy() for name, gate in view.gates.items()}
    gates["forward"][2] = 1.0 if gates["forward"][2] < 0.5 else 0.0
    return replace(one, sides=(replace(view, gates=gates),), probabilities=(0.2, 0.8), method="MTSA")


def gates_of(page: str) -> list[str]:
    found = re.search(r"<h2>Gates side by side.*?</section>", page, re.DOTALL)
    return re.findall(r"<title>(\w+, gate [^<]*)</title>", found.group()) if found else []


def test_gates_of_both_models_are_in_one_picture(one, other) -> None:
    page = render_side_by_side({"runs/a": one, "runs/b": other})
    told = gates_of(page)
    words = one.sides[0].words
    assert len([line for line in told if line.startswith("plays")]) == 4, "two gates of two models"
    for letter, each in (("A", one), ("B", other)):
        for name, gate in each.sides[0].gates.items():
            assert (
                f"plays, gate {letter} {name}: {gate[2]:.0%} own meaning, {1 - gate[2]:.0%} context" in told
            )
    first, second = (each.sides[0].gates["forward"] for each in (one, other))
    assert int(np.argmax(np.abs(first - second))) == words.index("plays")
    assert f"“plays”, forward: A {first[2]:.2f}, B {second[2]:.2f}" in page
    assert "The models disagree" in page
    assert "The models agree" in render_side_by_side({"a": one, "b": one})


def test_the_page_holds_both_explanations_and_no_script(one, other, tmp_path) -> None:
    page = write_side_by_side({"<b>a": one, "b": other}, tmp_path / "two.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    for each in (one, other):
        for picture in re.findall(r"<svg.*?</svg>", render_html(each), re.DOTALL):
            assert picture in page
    assert page.count("<details>") == 2
    assert not re.search(r"<script|<link|<img|<b>a|://(?!www\.w3\.org)", page)
    assert "default-src 'none'" in page


def test_models_that_read_other_words_have_pictures_of_their_own(one, make_view) -> None:
    text = one.sides[0].text
    (view,) = one.sides
    cut = make_view("text", text, 5)
    words = ("A", "man", "plays", "a", "gui")
    spans = (*view.spans[:4], (view.spans[4][0], view.spans[4][0] + 3))
    keep = len(words)
    joined = replace(
        cut,
        words=words,
        spans=spans,
        unknown=(),
        maps={},
        weights=None,
        gates={name: gate[:keep] for name, gate in cut.gates.items()},
    )
    page = render_side_by_side({"a": one, "b": replace(one, sides=(joined,))})
    section = re.search(r"<h2>Gates side by side.*?</section>", page, re.DOTALL)
    assert section is not None
    assert section.group().count("<svg role") == 2


def test_a_model_without_gates_is_named(one, make_view) -> None:
    bare = replace(one, sides=(replace(one.sides[0], gates={}),))
    assert "B: no gates." in render_side_by_side({"a": one, "b": bare})
    assert "Gates side by side" not in render_side_by_side({"a": bare, "b": bare})


def test_only_explanations_of_the_same_texts_are_compared(one, pair) -> None:
    with pytest.raises(UsageError, match="got 1 of 1 different texts"):
        render_side_by_side({"a": one})
    with pytest.raises(UsageError, match="got 2 of 2 different texts"):
        render_side_by_side({"a": one, "b": pair})
    assert render_side_by_side({"a": pair, "b": pair}).count("<h2>Gates side by side") == 2
