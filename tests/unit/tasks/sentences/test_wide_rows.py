from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Ragged, ragged_of
from heedful.tasks.sentences import fitting_wide, wide_rows
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter, counted, empty_part, feature_rows
from heedful.tasks.sentences.linear_fits import log_ratios
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.wide_rows import WideRows
from heedful.text.wide_part import WIDE, PhraseRule
from tiny import texts

RULE = PhraseRule(*WIDE)
WORDS = [text.split() for text, _ in texts()] + [[], ["never-seen"]]
FEATURES = ragged_of([RULE.numbers(words) if words else np.zeros(0, np.int32) for words in WORDS])
PART = empty_part(RULE, FEATURES.take(np.arange(90)), 2)
DRAW = np.random.default_rng(0)
CLASSES = ClassTargets.of_classes(DRAW.integers(0, 3, len(FEATURES)), 3, np.ones(len(FEATURES)))


@pytest.fixture(params=[1, 700, 10**9])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> WideRows:
    monkeypatch.setattr(wide_rows, "_BLOCK", request.param)
    monkeypatch.setattr(wide_rows, "_READ", 7)
    return WideRows.of(PART, FEATURES)


def test_values_are_those_of_the_part_to_the_bit(rows: WideRows) -> None:
    whole = rows.whole()
    for number, own in enumerate(FEATURES):
        places, values = PART.values(own)
        found = whole[number]
        assert np.array_equal(found.indices, places)
        assert np.array_equal(found.data, values)
    assert rows.shape == whole.shape == (len(FEATURES), len(PART.numbers))
    assert rows.nnz == whole.nnz > 5_000


def test_products_have_the_bits_of_those_of_one_sparse_matrix(rows: WideRows) -> None:
    whole = rows.whole()
    for outputs in (1, 3):
        weights = DRAW.standard_normal((whole.shape[1], outputs))
        slopes = (
            DRAW.standard_normal((whole.shape[0], outputs))
            * 10.0 ** DRAW.integers(-9, 9, whole.shape[0])[:, None]
        )
        assert np.array_equal(rows @ weights, whole @ weights)
        assert np.array_equal(rows.T @ slopes, whole.T @ slopes)
    assert np.array_equal(rows.squares(), np.asarray(whole.multiply(whole).sum(axis=0)).ravel())
    places = np.array([5, 3, 3, 60, len(FEATURES) - 2])
    assert (rows[places].whole() != whole[places]).nnz == 0


def test_fits_have_the_bits_of_those_on_one_sparse_matrix(
    rows: WideRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.tasks.sentences.principal_rows.MOST_DIRECTIONS", 10)
    places = np.arange(0, len(FEATURES), 3)
    rows, classes = rows[places], CLASSES.of(places)
    one, other = Fitter(rows.whole(), classes), Fitter(rows, classes)
    assert np.array_equal(log_ratios(rows, classes), log_ratios(rows.whole(), classes))
    for setting in (FitSetting(10.0), FitSetting(3.0, True), FitSetting(3.0, True, 0.25)):
        expected, found = one.fit(setting), other.fit(setting)
        assert np.array_equal(found.weights, expected.weights)
        assert np.array_equal(found.bias, expected.bias)
        assert np.array_equal(found.logits(rows), expected.logits(rows.whole()))


def test_features_are_counted_in_pieces_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, counts = np.unique(FEATURES.values, return_counts=True)
    monkeypatch.setattr(fitting_wide, "_COUNTED", 333)
    found = counted(FEATURES)
    assert np.array_equal(found[0], numbers)
    assert np.array_equal(found[1], counts)
    assert counted(Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64)))[0].dtype == np.int32


def test_only_many_values_are_made_when_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(feature_rows(PART, FEATURES), WideRows)
    monkeypatch.setattr(fitting_wide, "MOST_VALUES", 100)
    monkeypatch.setattr(fitting_wide, "MOST_DIRECTIONS", 10)
    assert isinstance(feature_rows(PART, FEATURES), WideRows)


def test_a_part_without_features_has_rows_without_values() -> None:
    empty = empty_part(RULE, ragged_of([]), 2)
    assert WideRows.of(empty, FEATURES).whole().shape == (len(FEATURES), 0)
