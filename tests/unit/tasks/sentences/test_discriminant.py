"""Linear discriminants from sums: those of the rows, what a row says without itself, and few rows of many features."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Ragged
from heedful.tasks.sentences import discriminant
from heedful.tasks.sentences.discriminant import PRIOR, Discriminant
from heedful.tasks.sentences.learning_by_sums import SumRows, no_sums, with_rows
from heedful.text.wide_part import PhraseRule


def drawn(count, width=6, outputs=3, seed=0):
    """Return rows of classes, [N, D], and their classes."""
    generator = np.random.default_rng(seed)
    classes = np.append(np.arange(outputs), generator.integers(0, outputs, count - outputs))
    return generator.normal(size=(count, width)) + np.eye(outputs, width)[classes] * 2 + 5, classes


def summed(rows, classes, outputs=3):
    words = Ragged(np.zeros(0, np.int32), np.zeros(len(rows) + 1, np.int64))
    given = SumRows(rows, words, classes, np.ones(len(rows)))
    return with_rows(no_sums((("made", rows.shape[1]),), outputs), given, PhraseRule())


def around(logits):
    return logits - logits.mean(axis=1, keepdims=True)


def test_they_are_those_of_the_rows(monkeypatch):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    monkeypatch.setattr(discriminant, "_RARE", 0.0)
    monkeypatch.setattr(discriminant, "PRIOR", 1.0)
    rows, classes = drawn(200)
    other = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, classes)
    found = Discriminant.of(summed(rows, classes)).solved(1e-9).fit(1.0).logits(rows)
    np.testing.assert_allclose(around(found), around(other.decision_function(rows)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("named", [False, True])
def test_a_row_without_itself_is_answered_as_the_others_teach(named):
    rows, classes = drawn(30)
    names = np.random.default_rng(4).normal(size=(3, 6)) if named else None
    whole = Discriminant.of(summed(rows, classes), names)
    found = whole.solved(2.0).without_itself(rows, classes)
    for place in range(len(rows)):
        left = np.delete(np.arange(len(rows)), place)
        rest = Discriminant.of(summed(rows[left], classes[left]), names)
        fit, bias = rest.solved(2.0).fit(1.0), PRIOR * np.log(rest.counts + 10)
        count = whole.counts.sum()  # what the products are divided by stays
        expected = (fit.logits(rows[[place]]) - bias) * count / (count - 1) + bias
        np.testing.assert_allclose(around(found[[place]]), around(expected), atol=1e-8)


def test_few_rows_of_many_features_are_seen_along_their_own_directions(monkeypatch):
    rows, classes = drawn(12, width=60)
    few = Discriminant.of(summed(rows, classes)).scaled(np.linspace(1, 2, 60))
    assert few.directions.shape == (60, 12 - 3)
    monkeypatch.setattr(discriminant, "_FEW", 0.0)
    every = Discriminant.of(summed(rows, classes)).scaled(np.linspace(1, 2, 60))
    assert every.directions is None
    for one, other in zip(
        *(each.solved(0.5).without_itself(rows, classes) for each in (few, every)), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)
    fits = few.solved(0.5).fit(3.0), every.solved(0.5).fit(3.0)
    np.testing.assert_allclose(fits[0].weights, fits[1].weights, atol=1e-8)


def test_a_class_without_a_row_lies_in_the_middle_and_the_only_row_of_one_leaves_nothing():
    rows, classes = drawn(20, outputs=2)
    sums = summed(np.concatenate([rows, rows[:1]]), np.append(classes, 2), outputs=4)
    solved = Discriminant.of(sums).solved(1.0)
    found = solved.without_itself(rows[:1], np.array([2]))
    np.testing.assert_allclose(found[0, 2], found[0, 3])
    assert (solved.pulls[3] == 0).all()
    assert np.isfinite(solved.fit(1.0).logits(rows)).all()


def test_products_that_were_rounded_are_penalized_more():
    rows, classes = drawn(40)
    whole = Discriminant.of(summed(rows, classes))
    broken = discriminant.replace(whole, within=whole.within - 60 * np.eye(6))
    assert np.isfinite(broken.solved(1.0).fit(1.0).weights).all()
