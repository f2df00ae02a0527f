"""What each word contributes as a record, and in color on the text."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from heedful.errors import DataError, UsageError
from heedful.explain import Attribution, Explanation, render_html, render_text
from heedful.explain.method_ranking import KEY, Standing, standing_of
from heedful.explain.signed_words import signed_level, sum_of
from heedful.text.characters import cells


@pytest.fixture
def signed(pair: Explanation) -> Explanation:
    """A pair whose words contribute from -0.4 to 0.5."""
    values = tuple(np.linspace(-0.4, 0.5, len(view.words)) for view in pair.sides)
    errors = tuple(np.full(len(view.words), 0.03) for view in pair.sides)
    total = float(sum(side.sum() for side in values))
    said = Attribution("shapley", "the log-odds of “entailment”", values, 1.9, 1.9 - total, label="entailment",
                       probability=0.87, reach=0.5, errors=errors, samples=50)  # fmt: skip
    return replace(
        pair, attribution=said, standing="Of 5 methods shapley came third on made texts (9 texts)."
    )


def test_the_record_survives_json(signed: Explanation) -> None:
    plain = json.loads(json.dumps(signed.to_dict()))
    again = Explanation.from_dict(plain)
    assert again.to_dict() == signed.to_dict()
    assert again.attribution is not None
    assert again.attribution.gap == pytest.approx(0)
    with pytest.raises(DataError):
        Explanation.from_dict({**plain, "attribution": {"method": "shapley"}})
    older = {name: value for name, value in plain.items() if name not in ("attribution", "standing")}
    assert Explanation.from_dict(older).attribution is None


def test_numbers_that_do_not_belong_to_the_words_are_refused(pair: Explanation) -> None:
    with pytest.raises(UsageError, match="one number for each word"):
        replace(pair, attribution=Attribution("occlusion", "it", (np.zeros(2), np.zeros(2)), 1.0))
    with pytest.raises(UsageError, match="finite"):
        Attribution("occlusion", "it", (np.array([np.inf]),), 1.0)


def test_the_page_colors_words_by_their_sign_and_says_what_that_means(signed: Explanation) -> None:
    page = render_html(signed)
    marked = re.findall(r'<bdi class="w ([pnz]\d*)[^"]*" title="contribution ([+-]?\d\.\d\d)', page)
    assert len(marked) == sum(len(view.words) for view in signed.sides)
    assert all(
        (float(value) > 0.03) == (name[0] == "p") for name, value in marked if abs(float(value)) > 0.05
    )
    for words in ("The darkest shade is a change of 0.5 or more", "Why “entailment”", "1.90 = 87.0 %",
                  "standard error", "+0.50 ± 0.03", "-0.40 ± 0.03", "on average over 50 random orders",
                  "Of 5 methods shapley came third"):  # fmt: skip
        assert words in page
    assert not re.search(r'class="w t\d', page), "no shade of the weights is left on the text"
    assert re.search(r'class="w t\d', render_html(replace(signed, attribution=None)))


def test_the_terminal_has_signs_without_color_and_fits(signed: Explanation) -> None:
    plain = render_text(signed)
    assert "Why “entailment” (shapley)" in plain
    assert re.search(r"stage \(premise\) +\+0\.\d\d ± 0\.03 +\++", plain)
    assert re.search(r"A \(premise\) +-0\.40 ± 0\.03 +-+", plain)
    assert re.search(r"log-odds of “entailment” +\+1.90 = 87.0 %", plain)
    assert max(cells(line) for line in plain.splitlines()) <= 80
    assert "\x1b" not in plain
    assert "\x1b[43;30m" in render_text(signed, color=True)


def test_hostile_words_stay_shown(hostile: Explanation) -> None:
    values = (np.linspace(-1, 1, len(hostile.sides[0].words)),)
    said = Attribution("occlusion", "the probability of “<b>\u202e”", values, 1.0)
    explanation = replace(hostile, attribution=said)
    page, lines = render_html(explanation), render_text(explanation, color=True)
    assert "<script" not in page
    assert "<b>\u202e" not in page
    assert "\u202e" not in page + lines
    assert "\x1b[31m" not in lines


def test_a_figure_is_drawn(signed: Explanation, tmp_path: pytest.TempPathFactory) -> None:
    pytest.importorskip("matplotlib")
    with_it, both, without = (
        replace(signed, attribution=said).to_figure(tmp_path / name, attention=attention).read_bytes()  # type: ignore[operator]
        for said, name, attention in (
            (signed.attribution, "a.svg", None),
            (signed.attribution, "b.svg", True),
            (None, "c.svg", None),
        )
    )
    assert both.count(b"<path") > without.count(b"<path")
    assert len(with_it) < len(without), "maps are drawn where they are asked for"


def test_a_sum_equals_no_bound(signed: Explanation) -> None:
    said = signed.attribution
    assert said is not None
    assert sum_of(said) == "+1.90 = 87.0 %"
    assert sum_of(replace(said, probability=0.99999)) == "+1.90, > 99.9 %"
    assert sum_of(replace(said, probability=None)) == "+1.90"


def test_shades_are_even_in_sign() -> None:
    assert [signed_level(value, 0.5) for value in (0.5, 0.25, 0.01, -0.25, -0.5, 9.0)] == [6, 3, 0, -3, -6, 6]


def test_how_the_methods_did_is_said_and_checked() -> None:
    standing = Standing(("occlusion", "shapley", "attention"), "made texts", 40, ("shapley",))
    assert standing_of({KEY: json.loads(json.dumps(standing.as_dict()))}) == standing
    assert standing_of({}) is None
    assert standing.sentence("attention") == (
        "Of 3 methods attention came third on made texts (40 texts); the best was occlusion."
    )
    assert "came first" in standing.sentence("occlusion")
    assert "statistically tied with shapley" in standing.sentence("occlusion")
    assert "came second on made texts (40 texts), statistically tied" in standing.sentence("shapley")
    assert standing.sentence("gradient") == ""
    from heedful.errors import ArtifactError

    plain = standing.as_dict()
    for wrong in (
        3,
        {},
        {**plain, "order": []},
        {**plain, "order": ["magic"]},
        {**plain, "order": ["shapley", "shapley"]},
        {**plain, "tied": ["gradient"]},
        {**plain, "on": 3},
        {**plain, "texts": "40"},
        {**plain, "more": 1},
        {**plain, "order": [[]]},
    ):
        with pytest.raises(ArtifactError, match="explanations"):
            standing_of({KEY: wrong})
