"""Learning from sums: the same as from the rows, in one installment or many, and what a row says without itself."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Ragged
from heedful.tasks.sentences.learning_by_sums import (
    SETTINGS,
    SumRows,
    Wholes,
    _Bayes,
    first_sums,
    learned_by_sums,
    no_sums,
    with_rows,
)
from heedful.text.wide_part import PhraseRule

RULE = PhraseRule(1, 2, 0)
FEATURES = (("made", 6),)


def drawn(count, seed=0, outputs=3):
    """Rows of classes, whose words and features tell the class."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, outputs, count)
    centers = np.random.default_rng(9).normal(size=(outputs, 6))
    dense = (centers[classes] + generator.normal(size=(count, 6))).astype(np.float32)
    words = [np.unique(2 * np.append(generator.integers(10, 40, 5), one)).astype(np.int32) for one in classes]
    offsets = np.cumsum([0, *map(len, words)])
    return SumRows(dense, Ragged(np.concatenate(words), offsets), classes, np.ones(count))


def summed(parts):
    found = no_sums(FEATURES, 3)
    for rows in parts:
        found = with_rows(found, rows, RULE)
    return found


def test_installments_give_the_sums_of_all_rows():
    rows = drawn(60)
    parts = [rows.of(places) for places in np.array_split(np.arange(60), 7)]
    one, many = summed([rows]), summed(parts)
    np.testing.assert_allclose(one.products, many.products, atol=1e-9)
    np.testing.assert_allclose(one.totals, many.totals, atol=1e-9)
    for name in ("classes", "numbers", "places", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize("place", [0, 17])
def test_what_a_row_would_be_answered_without_itself_is_what_the_others_teach(place):
    rows = drawn(50)
    alone, others = rows.of(np.array([place])), rows.of(np.delete(np.arange(50), place))
    whole, rest = summed([rows]), summed([others])
    ratios = _Bayes.of(whole, RULE, 1.0).without_itself(alone)[0]
    left = _Bayes.of(rest, RULE, 1.0)
    features, _ = left.empty.values(alone.words[0])
    _, values = _Bayes.of(whole, RULE, 1.0).empty.values(alone.words[0])
    np.testing.assert_allclose(ratios, values @ left.part(1.0).weights[features], atol=1e-4)


def test_new_rows_are_learned_with_those_that_are_gone_and_a_class_that_comes_alone():
    first, second, test = drawn(150, seed=1), drawn(150, seed=2), drawn(300, seed=3)
    first = first.of(np.flatnonzero(first.classes < 2))
    second = second.of(np.flatnonzero(second.classes == 2))
    sums = learned_by_sums(with_rows(no_sums(FEATURES, 3), first, RULE), first, RULE, 0.3).sums
    found = learned_by_sums(with_rows(sums, second, RULE), second, RULE, 0.3)
    logits = found.dense.logits(test.dense) + found.wide.logits(test.words)
    assert np.mean(logits.argmax(axis=1) == test.classes) > 0.8
    assert len(found.sums.losses) == SETTINGS
    assert found.logits.shape == (len(second.classes), 3)


def test_rows_of_weight_zero_choose_nothing():
    rows = drawn(40)
    silent = SumRows(rows.dense, rows.words, rows.classes, np.zeros(40))
    found = learned_by_sums(summed([rows]), silent, RULE, 0.3)
    np.testing.assert_array_equal(found.sums.losses, 0)
    assert np.isfinite(found.logits).all()


@pytest.mark.parametrize("count", [1, 5, 12, 13, 40])
def test_few_rows_of_many_features_choose_as_all_features_would(count):
    generator = np.random.default_rng(count)
    rows = drawn(count)
    wide = (rows.dense @ generator.normal(size=(6, 24)) + generator.normal(size=(count, 24))).astype(
        np.float32
    )
    rows = SumRows(wide + 3, rows.words, rows.classes, generator.integers(0, 3, count).astype(np.float64))
    found = first_sums((("made", 24),), 3, rows, RULE, 0.3)
    sums = with_rows(no_sums((("made", 24),), 3), rows, RULE)
    np.testing.assert_allclose(found.losses, learned_by_sums(sums, rows, RULE, 0.3).sums.losses, atol=1e-9)
    np.testing.assert_array_equal(found.products, sums.products)


def test_names_of_classes_teach_what_few_rows_do_not():
    rows, test = drawn(150, seed=1), drawn(300, seed=3)
    rows = rows.of(np.concatenate([np.flatnonzero(rows.classes < 2), np.flatnonzero(rows.classes == 2)[:1]]))
    centers = np.random.default_rng(9).normal(size=(3, 6))
    right = []
    for names in (None, centers):
        wholes = Wholes(names, np.arange(6) > 3)
        dense = learned_by_sums(summed([rows]), rows, RULE, 0.3, wholes).dense
        right.append(np.mean(dense.logits(test.dense).argmax(axis=1) == test.classes))
    assert right[1] > right[0]
