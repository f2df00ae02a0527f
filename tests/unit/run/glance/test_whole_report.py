"""What is said of whole models of numbers, several labels and tags, from answers and explanations made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from heedful.data.examples import Example, LabelSet, WordTags
from heedful.errors import DataError, UsageError
from heedful.explain import Explanation
from heedful.explain.attribution import Attribution
from heedful.explain.explanation_record import SentenceView
from heedful.explain.word_sums import LOWERS, RAISES
from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
from heedful.model.role_spans import RoleSpan
from heedful.run.glance import Glance, GlanceRequest, Overview, render_whole, whole_lines, whole_report
from heedful.run.glance.sections import Table, Texts, Words
from heedful.tables import counted, percent

MATTER = {"lovely": 2.0, "dull": -2.0}


def said(words: Sequence[str], label: str = "", sign: float = 1.0) -> Attribution:
    values = (np.array([sign * MATTER.get(word, 0.1) for word in words]),)
    of = f"the log-odds of “{label}”" if label else "the predicted number"
    whole = float(values[0].sum())
    return Attribution(
        "contributions",
        of,
        values,
        whole,
        label=label,
        probability=1 / (1 + np.exp(-whole)) if label else None,
    )


def view(example: Example) -> SentenceView:
    return SentenceView.from_words("text", example.texts[0].split())


def read(example: Example) -> dict[str, object]:
    words = example.texts[0].split()
    return {"tokens": (len(words),), "unknown": words.count("zzz"), "truncated": False, "empty": not words}


def block(report: Overview, key: str) -> Table | Words | Texts:
    return next(section for section in report.sections if section.key == key).blocks[0]


def checked(report: Glance | Overview) -> Overview:
    """Look at what every report has to keep, and return it."""
    assert isinstance(report, Overview)
    page, lines = render_whole(report), "\n".join(whole_lines(report))
    assert "<script" not in page
    assert "<b>film</b>" not in page
    assert page.count("<section") == page.count("</section>") == len(report.sections)
    assert all(f'href="#{section.key}"' in page for section in report.sections)
    assert len(page) < 100_000
    assert report.headline in lines
    assert report.as_dict()["rows"] == len(report.examples)
    return report


def numbers() -> Overview:
    def score(example: Example) -> float:
        return sum(MATTER.get(word, 0.0) for word in example.texts[0].split())

    def explain(example: Example) -> Explanation:
        return Explanation(
            (view(example),), (), (), score=score(example), attribution=said(example.texts[0].split())
        )

    def answer(examples: Sequence[Example]) -> list[Answer]:
        return [Answer(None, {}, score(example), **read(example)) for example in examples]  # type: ignore[arg-type]

    rows = [("a lovely film", 2.1), ("a dull <b>film</b>", -2.1), ("it was", 0.0), ("so it is", 0.1)] * 15
    rows += [("a lovely zzz", -9.0)] * 10
    examples = [
        Example((text,), gold, row=k + 2, fields={"where": "west" if gold < -5 else "east"})
        for k, (text, gold) in enumerate(rows)
    ]
    return checked(
        whole_report(GlanceRequest("mine", (), answer, explain, explain), examples, "held.csv", ("text",))
    )


def test_numbers() -> None:
    report = numbers()
    words = block(report, "words")
    assert isinstance(words, Words)
    assert (words.found[RAISES][0].name, words.found[LOWERS][0].name) == ("lovely", "dull")
    worst, suspects, slices = (block(report, key) for key in ("mistakes", "suspects", "slices"))
    assert isinstance(worst, Texts)
    assert worst.shown[0].facts.endswith("-9, answered 2")
    assert isinstance(suspects, Texts)
    assert len(suspects.shown) == 10 == report.figures["suspected"]
    assert isinstance(slices, Table)
    assert {slices.rows[k][0] for k in slices.strong} >= {"where: west", "unknown words: more than a tenth"}
    assert report.figures["mean_error"] == pytest.approx((15 * 0.3 + 110) / 70)


def test_several_labels() -> None:
    def shares(example: Example) -> dict[str, float]:
        text = example.texts[0]
        return {"warm": 0.9 if "lovely" in text else 0.2, "long": 0.7 if "zzz" in text else 0.1}

    def explain(example: Example, why: str = "", word: str = "") -> Explanation:
        found, words = shares(example), example.texts[0].split()
        first, second = (said(words, label, 1.0 if label == "warm" else -1.0) for label in found)
        if why == "long":
            first, second = second, first
        return Explanation(
            (view(example),), tuple(found), tuple(found.values()), attribution=first, others=(second,)
        )

    def answer(examples: Sequence[Example]) -> list[LabelsAnswer]:
        found = [shares(example) for example in examples]
        return [
            LabelsAnswer(tuple(k for k, p in each.items() if p > 0.5), each, **read(example))  # type: ignore[arg-type]
            for each, example in zip(found, examples, strict=True)
        ]

    rows = [("a lovely film", ("warm",)), ("a dull <b>film</b>", ()), ("a lovely zzz", ("long",))] * 20
    examples = [
        Example((text,), LabelSet(names), row=k + 2, fields={}) for k, (text, names) in enumerate(rows)
    ]
    asked = GlanceRequest("mine", (), answer, explain, explain, explain)
    report = checked(whole_report(asked, examples, "held.csv", ("text",)))
    assert report.headline.startswith("66.7 %")
    table, words, confused, wrong = (block(report, k) for k in ("labels", "words", "confusions", "mistakes"))
    assert isinstance(table, Table)
    assert table.rows[0] == ("warm", "0.500", "1.000", "0.667", "20")
    assert isinstance(words, Words)
    assert (words.found["warm"][0].name, words.found["long"][0].name) == ("lovely", "dull")
    assert isinstance(confused, Texts)
    assert confused.title == "warm added: 20"
    assert isinstance(wrong, Texts)
    assert len(wrong.shown) == 1, "the same text is shown once"
    assert "warm has 90.0 %" in wrong.shown[0].facts


def test_tags() -> None:
    def tags(words: Sequence[str]) -> list[str]:
        return ["B-X" if word in ("lovely", "dull") else "O" for word in words]

    def explain(example: Example, why: str = "", word: str = "") -> Explanation:
        words = example.texts[0].split()
        place = int(word) - 1
        return Explanation(
            (view(example),),
            ("in a line",),
            (0.9,),
            attribution=said(words, f"{tags(words)[place]} for {words[place]}"),
        )

    def answer(examples: Sequence[Example]) -> list[TagsAnswer]:
        found = []
        for example in examples:
            words = tuple(example.texts[0].split())
            given, shares = tuple(tags(words)), tuple(0.99 if word == "dull" else 0.8 for word in words)
            spans = tuple(
                RoleSpan("X", k, k + 1, words[k], 0.9) for k, tag in enumerate(given) if tag == "B-X"
            )
            offsets = tuple((0, 0) for _ in words)
            found.append(
                TagsAnswer(words, offsets, given, shares, spans, words.count("zzz"), truncated=False)
            )
        return found

    rows = [("a lovely film", "O B-X O"), ("a dull <b>film</b>", "O O O"), ("it was zzz", "O O O")] * 12
    examples = [
        Example((text,), WordTags(tuple(gold.split())), (tuple(text.split()),), row=k + 1)
        for k, (text, gold) in enumerate(rows)
    ]
    asked = GlanceRequest(
        "mine", (), answer, lambda e: explain(e, "", "1"), lambda e: explain(e, "", "1"), explain
    )
    report = checked(whole_report(asked, examples, "held.conll", ()))
    table, confused, wrong, suspects = (
        block(report, k) for k in ("tags", "confusions", "mistakes", "suspects")
    )
    assert isinstance(table, Table)
    assert table.rows[0] == ("B-X", "0.500", "1.000", "0.667", "12")
    assert "F1 of spans 0.667" in report.beside
    assert isinstance(confused, Texts)
    assert confused.title == "O taken for B-X: 12"
    assert isinstance(wrong, Texts)
    assert len(wrong.shown) == 1
    assert isinstance(suspects, Texts)
    assert len(suspects.shown) == 12
    assert "<mark>dull</mark>" in render_whole(report)
    with pytest.raises(UsageError, match="does not explain the tag"):
        whole_report(replace(asked, explain_part=None), examples, "held.conll", ())
    with pytest.raises(DataError, match="no row has a label"):
        whole_report(asked, [replace(examples[0], target=None)], "held.conll", ())


def test_counted_shares_may_be_all_and_probabilities_never() -> None:
    assert (counted(1.0), counted(0.0), counted(0.9999)) == ("100.0 %", "0.0 %", "> 99.9 %")
    assert percent(1.0) == "> 99.9 %"
