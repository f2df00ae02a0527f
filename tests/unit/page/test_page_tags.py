"""A page in Chromium tags texts as the runtime does, with a network, a linear part with its chain, and both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from browsing import Opened
from heedful.model.answers import TagsAnswer
from heedful.runtime import load
from heedful.runtime.tag_model import Tagger
from whole_models import TEXTS, tagger

ASKED = [*TEXTS, "ÉCOLE 24-Hour İstanbul won't 3rd", "the film was dull " * 110]
TAGGED = """async (texts) => { const model = await heedful; return texts.map((text) => {
  const { tags, spans, scores } = model.predict([text]);
  return { tags, scores, spans: spans.map(({ role, start, end }) => [role, start, end]) }; }); }"""


def paged(path: Path) -> tuple[Path, Any]:
    """Return the page of a model, and the runtime's model with the weights that the page has."""
    page, small = path.with_suffix(".html"), path.with_name("small")
    result = tiny.run("export", path, "--page", page, "--whole-tables", "--int8", small)
    assert result.code == 0, result.err
    return page, load(small)


@pytest.mark.parametrize(
    ("encoder", "settings", "tolerance"),
    [
        ("none", {}, 1e-5),
        ("none", {"vectors": False, "tags": ("NOUN", "VERB")}, 1e-5),
        ("none", {"tags": ("O", "B-x", "I-x", "E-x", "S-x")}, 1e-5),
        ("disan", {}, 1e-4),
        ("embedding", {"linear": False}, 1e-4),
    ],
)
def test_tags_are_those_of_the_runtime(
    encoder: str, settings: dict[str, Any], tolerance: float, tmp_path: Path, opened: Opened
) -> None:
    html, model = paged(tagger(tmp_path / "model", encoder, **settings))
    assert isinstance(model, Tagger)
    found = opened(html).evaluate(TAGGED, ASKED)
    for text, mine, wanted in zip(ASKED, found, model.predict(ASKED), strict=True):
        assert isinstance(wanted, TagsAnswer)
        assert [each["tag"] for each in mine["tags"]] == list(wanted.tags)
        assert [each["word"] for each in mine["tags"]] == list(wanted.words)
        assert mine["spans"] == [[span.role, span.start, span.end] for span in wanted.spans]
        shares = [each["probability"] for each in mine["tags"]]
        assert shares == pytest.approx(wanted.probabilities, abs=tolerance)
        logits = model.logits([text])
        scores = np.array(mine["scores"]).reshape(logits.shape)
        assert np.abs(scores - logits).max(initial=0) <= tolerance * max(1, np.abs(logits).max(initial=0))


def test_what_one_types_is_a_table_of_words(tmp_path: Path, opened: Opened) -> None:
    html, model = paged(tagger(tmp_path / "model", "none"))
    page = opened(html)
    page.fill("textarea", TEXTS[3])
    page.wait_for_selector("#probabilities table")
    (answer,) = model.predict([TEXTS[3]])
    assert isinstance(answer, TagsAnswer)
    assert page.locator("#headline").inner_text().startswith(f"{len(answer.spans)} span")
    cells = page.locator("#probabilities table").last.locator("tr td").all_inner_texts()
    assert cells[::3] == list(answer.words)
    assert cells[1::3] == list(answer.tags)
    assert page.locator("#contributions table").count() == 0
