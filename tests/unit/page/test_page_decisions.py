"""A page in Chromium gives numbers and several labels as the runtime does, and says what words contribute to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import Opened
from heedful.explain.explainer import explain
from heedful.model.answers import LabelsAnswer
from heedful.runtime import load
from waiting import until
from whole_models import TEXTS, whole

ASKED = """async (asked) => { const model = await heedful; return asked.map((texts) => {
  const { chosen, score, logits, probabilities } = model.predict(texts);
  return { chosen, score, logits, probabilities, why: model.explain(texts) }; }); }"""


def paged(path: Path) -> tuple[Path, Any]:
    """Return the page of a model, and the runtime's model with the weights that the page has."""
    page, small = path.with_suffix(".html"), path.with_name("small")
    result = tiny.run("export", path, "--page", page, "--whole-tables", "--int8", small)
    assert result.code == 0, result.err
    return page, load(small)


@pytest.mark.parametrize("encoder", ["embedding", "none"])
@pytest.mark.parametrize("task", ["labels", "label-columns", "number", "pair-number"])
def test_answers_and_contributions_are_those_of_the_runtime(
    task: str, encoder: str, tmp_path: Path, opened: Opened
) -> None:
    html, model = paged(whole(tmp_path / "model", task, encoder))
    requests: list[Any] = list(zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True)) if model.is_pair else [*TEXTS]
    found = opened(html).evaluate(ASKED, [list(each) if model.is_pair else [each] for each in requests])
    for request, mine, wanted in zip(requests, found, model.predict(requests), strict=True):
        assert mine["logits"] == pytest.approx(model.logits([request])[0], abs=1e-4)
        if isinstance(wanted, LabelsAnswer):
            shares = {each["label"]: each["probability"] for each in mine["probabilities"]}
            assert shares == pytest.approx(wanted.probabilities, abs=1e-5)
            assert (mine["chosen"], mine["score"]) == (list(wanted.labels), None)
        else:
            assert (mine["chosen"], mine["probabilities"]) == (None, [])
            assert mine["score"] == pytest.approx(wanted.score, abs=1e-4)
        theirs = explain(model, request)
        assert theirs.attribution is not None
        for said, other in zip(mine["why"], (theirs.attribution, *theirs.others), strict=True):
            assert said["label"] == other.label
            assert (said["whole"], said["start"]) == pytest.approx((other.whole, other.start), abs=1e-3)
            assert said["reach"] == pytest.approx(other.reach, abs=1e-4)
            for values, words in zip(said["values"], other.values, strict=True):
                assert values == pytest.approx(words.tolist(), abs=1e-3)


def wait_for_headline(page: Any, expected: str) -> None:
    """Wait for an answer; the page allows no text to be run as a program, so the page is asked again and again."""
    until(lambda: page.locator("#headline").text_content() == expected)


def test_the_headline_names_every_label_or_the_number(tmp_path: Path, opened: Opened) -> None:
    html, model = paged(whole(tmp_path / "labels", "labels", "none"))
    page = opened(html)
    for text, answer in zip(TEXTS, model.predict(list(TEXTS)), strict=True):
        if not text:
            continue
        page.fill("textarea", text)
        expected = f"{', '.join(answer.labels) or 'no label'}{len(answer.labels)} of 3 labels"
        wait_for_headline(page, expected)
        assert page.locator("#probabilities tr.best").count() == len(answer.labels)
    page.wait_for_selector("#contributions table.signed")


def test_the_headline_of_a_number_says_what_numbers_it_learned(tmp_path: Path, opened: Opened) -> None:
    html, model = paged(whole(tmp_path / "number", "number", "none"))
    page = opened(html)
    page.fill("textarea", TEXTS[0])
    expected = f"score {next(iter(model.predict([TEXTS[0]]))).score:.2f}numbers of training: 0.00 to 9.00"
    wait_for_headline(page, expected)
    page.wait_for_selector("#contributions table.signed")
