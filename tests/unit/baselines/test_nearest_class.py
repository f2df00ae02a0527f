"""The nearest class by hand, and that very many classes have no other rival."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from heedful.baselines.nearest_class import NearestClass
from heedful.baselines.rivals import MOST_CLASSES, NEAREST_CLASS, rivals
from heedful.baselines.splits import Split, Splits


def test_the_cosines_by_hand() -> None:
    rows = sparse.csr_matrix([[1.0, 0, 0], [0, 1, 0], [0, 3, 4], [0, 0, 1]])
    model = NearestClass().fit(rows, np.array([2, 2, 5, 7]))
    assert model.classes_.tolist() == [2, 5, 7]
    asked = sparse.csr_matrix([[0.0, 1, 0], [0, 0, 1]])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(model.decision_function(asked), [[half, 0.6, 0], [0, 0.8, 1]], atol=1e-6)
    assert model.predict(asked).tolist() == [2, 7]
    two = NearestClass().fit(rows[:3], np.array([0, 1, 1]))
    assert two.decision_function(asked).shape == (2,)


def test_a_weight_of_3_is_the_row_three_times() -> None:
    rows = sparse.csr_matrix(np.random.default_rng(0).random((12, 5)))
    gold, times = np.arange(12) % 3, np.arange(12) % 4
    weighted = NearestClass().fit(rows, gold, times.astype(float))
    repeated = NearestClass().fit(rows[np.repeat(np.arange(12), times)], np.repeat(gold, times))
    np.testing.assert_allclose(weighted.coef_.toarray(), repeated.coef_.toarray(), atol=1e-6)


def test_very_many_classes_have_one_rival_whose_memory_grows_with_the_texts() -> None:
    count = MOST_CLASSES + 1
    texts, gold = [(f"word{n} and more",) for n in range(count)], np.arange(count)
    (only,) = rivals("text", texts, (), count)
    assert only is NEAREST_CLASS
    assert len(rivals("text", texts, (), MOST_CLASSES)) > 1
    split = Split(texts, gold)
    model = only.train(Splits("text", tuple(map(str, gold)), split, split, None, "invented"))  # type: ignore[arg-type]
    assert model.outputs([("word7",)]).argmax() == 7
    assert model.megabytes < 0.2
