"""Contributions of words, added up over texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heedful.explain.attribution import Attribution, Joint
from heedful.explain.explanation import Explanation
from heedful.explain.explanation_record import SentenceView
from heedful.explain.word_sums import LOWERS, RAISES, WordSums


def explained(
    words: str, values: list[float], label: str = "good", joint: tuple[Joint, ...] = ()
) -> Explanation:
    found = tuple(words.split())
    spans, place = [], 0
    for word in found:
        spans.append((place, place + len(word)))
        place += len(word) + 1
    view = SentenceView("text", words, found, tuple(spans))
    said = Attribution(
        "contributions",
        f"the log-odds of “{label}”",
        (values,),  # type: ignore[arg-type]
        whole=sum(values),
        label=label,
        probability=0.7,
        joint=joint,
    )
    return Explanation((view,), labels=("bad", "good"), probabilities=(0.3, 0.7), attribution=said)


def test_sums_and_means_of_two_classes() -> None:
    sums = WordSums()
    sums.add(explained("Fine plot", [2.0, 0.5]))
    sums.add(explained("fine !", [1.0, 9.0]))
    sums.add(explained("dull plot", [3.0, 0.1], label="bad"))
    assert sums.texts == 3
    (fine, plot) = sums.top("good", least=1)[:2]
    assert (fine.name, fine.mean, fine.count) == ("fine", pytest.approx(1.5), 2)
    assert fine.texts == ((2.0, 0), (1.0, 1))
    assert (plot.name, plot.total) == ("plot", pytest.approx(0.4))
    assert [word.name for word in sums.top("bad", least=1)] == ["dull"]
    assert sums.labels() == ["good", "bad"]


def test_rare_words_are_left_out_where_others_are_frequent() -> None:
    sums = WordSums()
    for _ in range(2):
        sums.add(explained("fine", [1.0]))
    sums.add(explained("superb", [5.0]))
    assert [word.name for word in sums.top("good")] == ["fine"]
    assert [word.name for word in sums.top("good", least=1)] == ["superb", "fine"]


def test_a_word_of_all_texts_tells_no_class_from_another() -> None:
    sums = WordSums()
    for _ in range(10):
        sums.add(explained("home fine", [4.0, 1.0]))
    assert [word.name for word in sums.top("good")] == ["home", "fine"]  # of few texts
    for _ in range(10):
        sums.add(explained("home dull", [4.0, -1.0]))
    assert [word.name for word in sums.top("good")] == ["fine"]
    assert [word.name for word in sums.top("bad")] == ["dull"]


def test_phrases_stand_for_their_words() -> None:
    sums = WordSums()
    sums.add(explained("not good , though", [1.0, 1.0, 0.0, 0.2], joint=(Joint(0, 0, 2, 1.5),)))
    names = {word.name: word.total for word in sums.top("good", least=1)}
    assert names == {"not good": 2.0, "though": 0.2}


def test_of_two_labels_each_stands_by_itself() -> None:
    sums = WordSums()
    sums.add(replace(explained("fine", [1.0]), probabilities=(0.6, 0.7)))
    assert sums.labels() == ["good"]


def test_numbers_are_raised_and_lowered() -> None:
    sums = WordSums()
    view = SentenceView("text", "new old", ("new", "old"), ((0, 3), (4, 7)))
    said = Attribution("contributions", "the predicted number", ([3.0, -2.0],), whole=1.0)  # type: ignore[arg-type]
    sums.add(Explanation((view,), labels=(), probabilities=(), score=1.0, attribution=said))
    assert [word.name for word in sums.top(RAISES)] == ["new"]
    assert [word.name for word in sums.top(LOWERS)] == ["old"]
    assert (sums.top(RAISES)[0].signed, sums.top(LOWERS)[0].signed) == (3.0, -2.0)
    assert (sums.called(LOWERS), sums.called("good")) == ("lowers the number", "good")
    named = Explanation((view,), score=1.0, attribution=said, quantity="price (EUR)")
    sums.add(named)
    assert sums.called(LOWERS) == "lowers “price (EUR)”"
