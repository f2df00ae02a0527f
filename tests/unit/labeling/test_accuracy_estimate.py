"""The accuracy is that of a fair sample, whatever else was labeled."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Corpus, Example
from heedful.labeling.accuracy_estimate import curve, order_helps, sample
from heedful.labeling.forms import form_of
from heedful.labeling.label_file import Record
from heedful.labeling.pool import Pool

FORM = form_of("classes", ["a", "b"])
POOL = Pool(Corpus([Example((f"text {k}",), row=k + 2) for k in range(400)]))


def labeled(places: list[int], right: list[bool], chosen: str = "random") -> list[Record]:
    return [
        Record(POOL.texts[place], "a", chosen=chosen, guess="a" if hit else "b")
        for place, hit in zip(places, right, strict=True)
    ]


def first(records: list[Record]) -> dict[str, tuple[int, Record]]:
    return {record.key: (number, record) for number, record in enumerate(records)}


def test_only_the_beginning_of_the_random_order_counts() -> None:
    hard = POOL.order[50:90]
    records = labeled(hard, [False] * 40, "uncertain") + labeled(POOL.order[:30], [True] * 30)
    drawn = sample(POOL, first(records), frozenset())
    assert [record for _, record in drawn] == records[40:]
    (*_, point) = curve(FORM, drawn)
    assert (point.value, point.texts, point.labels) == (1.0, 30, 70)
    assert 0.85 < point.low < 0.9
    assert len(sample(POOL, first(records), frozenset([POOL.keys[POOL.order[30]]]))) == 30


def test_the_interval_covers_the_true_accuracy_however_texts_are_chosen() -> None:
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        hits = generator.random(len(POOL)) < 0.8
        places = [
            *POOL.order[:60],
            *(k for k in range(len(POOL)) if not hits[k]),
        ]  # and every wrong one besides
        places = list(dict.fromkeys(places))
        records = labeled(places, [bool(hits[k]) for k in places])
        drawn = sample(POOL, first(records), frozenset())
        fair = [each for each in drawn if each[1].texts in {POOL.texts[k] for k in POOL.order[:60]}]
        point = curve(FORM, fair)[-1]
        covered += point.low <= 0.8 <= point.high
    assert covered >= 53


def test_there_is_no_point_before_ten_texts_and_none_without_guesses() -> None:
    records = labeled(POOL.order[:9], [True] * 9)
    assert curve(FORM, sample(POOL, first(records), frozenset())) == []
    blind = [Record(POOL.texts[k], "a") for k in POOL.order[:50]]
    assert curve(FORM, sample(POOL, first(blind), frozenset())) == []


def test_the_error_of_numbers_is_a_mean_with_its_interval() -> None:
    form = form_of("number", [])
    records = [Record(POOL.texts[k], 3.0, guess=3.0 + (n % 2)) for n, k in enumerate(POOL.order[:40])]
    point = curve(form, sample(POOL, first(records), frozenset()))[-1]
    assert point.value == pytest.approx(0.5)
    assert point.low < 0.5 < point.high < 0.7


@pytest.mark.parametrize(("wrong", "helps"), [(20, True), (4, False), (0, False)])
def test_the_order_helps_where_uncertain_texts_are_harder(wrong: int, helps: bool) -> None:
    doubted = labeled(POOL.order[100:140], [k >= wrong for k in range(40)], "uncertain")
    fair = labeled(POOL.order[:40], [k >= 4 for k in range(40)])
    drawn = sample(POOL, first(doubted + fair), frozenset())
    assert order_helps(FORM, doubted + fair, drawn) is helps
    assert order_helps(FORM, doubted[:20] + fair, drawn) is None
