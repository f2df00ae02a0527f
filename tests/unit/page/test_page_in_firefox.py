"""An exported page and an explanation in Firefox: the same answers as in Python, reached by keyboard alone."""

from __future__ import annotations

from pathlib import Path

import tiny
from firefox import Firefox, firefox  # noqa: F401
from heedful.explain import write_html
from heedful.explain.explainer import explain
from heedful.runtime import load
from waiting import until
from whole_models import whole

TEXT = "the film was not good"


def test_an_exported_page_answers_as_the_runtime_does(tmp_path: Path, firefox: Firefox) -> None:  # noqa: F811
    model = whole(tmp_path / "model", "text", "disan", parts=("wide", "mean", "states"))
    for target in (("--page", tmp_path / "model.html"), ("--int8", tmp_path / "int8")):
        assert tiny.run("export", model, *target).code == 0
    firefox.goto((tmp_path / "model.html").as_uri())
    until(lambda: firefox.value("heedful.then(() => true)"))
    firefox.press(*TEXT)  # its field has the focus
    until(lambda: firefox.value("document.querySelector('#contributions table') !== null"))
    (wanted,) = load(tmp_path / "int8").predict([TEXT])
    assert str(wanted.label) in firefox.value("document.getElementById('headline').innerText")
    shares = firefox.value(f"heedful.then((m) => m.predict(['{TEXT}'], false).probabilities)")
    found = {each["label"]: each["probability"] for each in shares}
    assert max(abs(found[name] - share) for name, share in wanted.probabilities.items()) < 2e-3
    firefox.press("Tab")
    assert firefox.value("document.activeElement.tagName") == "SUMMARY"
    firefox.press("Enter")
    until(lambda: firefox.value("document.activeElement.parentElement.open"))


def test_an_explanation_is_walked_by_keyboard(tmp_path: Path, firefox: Firefox) -> None:  # noqa: F811
    model = load(whole(tmp_path / "model", "pair", "disan", parts=("mean",)))
    write_html(explain(model, (TEXT, "a dull plot")), tmp_path / "why.html")
    firefox.goto((tmp_path / "why.html").as_uri())
    count = firefox.value("document.querySelectorAll('summary').length")
    for place in range(count):
        firefox.press("Tab")
        assert (
            firefox.value("[...document.querySelectorAll('summary')].indexOf(document.activeElement)")
            == place
        )
        assert firefox.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert firefox.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
