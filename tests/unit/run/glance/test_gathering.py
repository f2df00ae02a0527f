"""What is said of a whole model, from answers and explanations of a model made by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from heedful.data.examples import Example
from heedful.errors import DataError, UsageError
from heedful.explain import Explanation
from heedful.explain.attribution import Attribution
from heedful.explain.explanation_record import SentenceView
from heedful.model.answers import Answer
from heedful.run.glance import Glance, GlanceRequest, glance_at, glance_lines, render_glance

LABELS = ("bad", "good")


def chance(text: str) -> float:
    """The probability of "good": the word lovely speaks for it, dull against it."""
    return 0.9 if "lovely" in text else 0.1 if "dull" in text else 0.6


def answer(examples: Sequence[Example]) -> list[Answer]:
    made = []
    for example in examples:
        good = chance(example.texts[0])
        made.append(
            Answer(
                LABELS[good > 0.5],
                {"bad": 1 - good, "good": good},
                None,
                (len(example.texts[0].split()),),
                unknown=example.texts[0].count("zzz"),
                truncated=False,
                empty=False,
            )
        )
    return made


def explain(example: Example) -> Explanation:
    text = example.texts[0]
    words, good = tuple(text.split()), chance(text)
    spans, place = [], 0
    for word in words:
        spans.append((place, place + len(word)))
        place += len(word) + 1
    label, sign = (LABELS[1], 1.0) if good > 0.5 else (LABELS[0], -1.0)
    values = [sign * (2.0 if word == "lovely" else -2.0 if word == "dull" else 0.1) for word in words]
    said = Attribution(
        "contributions",
        f"the log-odds of “{label}”",
        (values,),  # type: ignore[arg-type]
        whole=sign * math.log(good / (1 - good)),
        label=label,
        probability=max(good, 1 - good),
    )
    view = SentenceView("text", text, words, tuple(spans))
    return Explanation((view,), labels=LABELS, probabilities=(1 - good, good), attribution=said)


def rows() -> list[Example]:
    texts = [
        ("a lovely film", "good", "east"),
        ("a dull <b>film</b>", "bad", "east"),
        ("so it was", "good", "east"),
    ]
    made = [texts[k % 3] for k in range(60)] + [("a lovely zzz place", "bad", "west")] * 12
    return [
        Example((text,), label, row=k + 2, fields={"text": text, "label": label, "where": where})
        for k, (text, label, where) in enumerate(made)
    ] + [Example(("no label here",), None)]


@pytest.fixture(scope="module")
def glance() -> Glance:
    return glance_at(
        GlanceRequest("mine", LABELS, answer, explain, explain), rows(), "held.csv", ("text", "label")
    )


def test_figures(glance: Glance) -> None:
    assert glance.accuracy == 60 / 72
    assert glance.interval.low < glance.accuracy < glance.interval.high
    assert {each.name: each.count for each in glance.classes} == {"bad": 32, "good": 40}
    assert {each.name: each.recall for each in glance.classes} == {"bad": 20 / 32, "good": 1.0}
    assert sum(each.count for each in glance.calibration.bins) == 72


def test_words_with_real_examples(glance: Glance) -> None:
    bad, good = glance.classes
    assert bad.words[0].name == "dull"
    assert good.words[0].name == "lovely"
    assert "lovely" in glance.examples[good.words[0].texts[0][1]].texts[0]
    assert glance.explained == 72


def test_confusions_and_mistakes(glance: Glance) -> None:
    (only,) = glance.confusions
    assert (only.label, only.answer, only.count) == ("bad", "good", 12)
    assert len(only.places) == 5
    assert all(glance.examples[place].target == "bad" for place, _ in glance.mistakes)


def test_slices(glance: Glance) -> None:
    weak = {each.name: each.accuracy for each in glance.slices if each.weak}
    assert weak["where: west"] == 0.0
    assert weak["unknown words: more than a tenth"] == 0.0
    assert not any(each.weak for each in glance.slices if each.name == "where: east")
    assert not any(each.name.startswith("text") for each in glance.slices)


def test_suspects(glance: Glance) -> None:
    assert glance.suspected == 12
    assert {each.suggestion for each in glance.suspects} == {"good"}
    assert glance.suspects[0].probability == pytest.approx(0.1)


def test_the_page_is_safe_and_whole(glance: Glance) -> None:
    page = render_glance(glance)
    assert "<script" not in page
    assert "<b>film</b>" not in page
    assert "a dull &lt;b&gt;film&lt;/b&gt;" in page or "&lt;b&gt;film" in page
    for title in (
        "Classes",
        "Words and phrases",
        "What is confused",
        "Surest mistakes",
        "Slices",
        "Calibration",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<section") == page.count("</section>")
    assert "<mark>lovely</mark>" in page
    assert len(page) < 60_000


def test_lines_and_plain_values(glance: Glance) -> None:
    text = "\n".join(glance_lines(glance))
    assert "bad taken for good: 12" in text
    assert "Weak slices: " in text
    found = glance.as_dict()
    assert found["rows"] == 72
    assert found["suspected"] == 12


def test_what_cannot_be_looked_at() -> None:
    with pytest.raises(UsageError, match="answer with one class"):
        glance_at(GlanceRequest("mine", (), answer, explain, explain), rows(), "held.csv", ())
    with pytest.raises(DataError, match="no row has a label"):
        glance_at(GlanceRequest("mine", LABELS, answer, explain, explain), rows()[-1:], "held.csv", ())


def test_a_label_that_the_model_does_not_have() -> None:
    odd = [*rows(), Example(("a lovely film",), "so-so", row=99, fields={})]
    found = glance_at(
        GlanceRequest("mine", LABELS, answer, explain, explain), odd, "held.csv", ("text", "label"), seconds=0
    )
    assert found.classes[-1].name == "so-so"
    assert found.classes[-1].recall == 0.0
    assert found.explained == 1


def test_of_very_many_classes_those_that_most_rows_have_come_first() -> None:
    """In the order of the alphabet 1,498 classes without a row would hide those that the file has."""
    others = tuple(f"a class {number}" for number in range(1_498))

    def among_many(examples: Sequence[Example]) -> list[Answer]:
        none = dict.fromkeys(others, 0.0)
        return [replace(each, probabilities={**none, **each.probabilities}) for each in answer(examples)]

    request = GlanceRequest("mine", (*others, *LABELS), among_many, explain, explain)
    found = glance_at(request, rows(), "held.csv", ("text", "label"))
    assert [each.name for each in found.classes[:3]] == ["good", "bad", "a class 0"]
    lines = glance_lines(found)
    assert any(line.startswith("  good (40 rows): lovely") for line in lines)
    assert "  and 1,480 more classes, which --html FILE shows" in lines
    table = render_glance(found).split('id="classes"')[1]
    assert table.index(">good<") < table.index(">a class 0<")
    assert re.search(r">a class 0<.{0,80}>-<", table, re.DOTALL)
