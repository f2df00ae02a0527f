from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from sklearn.exceptions import DataConversionWarning

from heedful import TextClassifier, TextScorer
from heedful.errors import UsageError
from heedful.estimators.columns import rows_of


def test_columns_of_arrow_torch_and_masked_arrays() -> None:
    arrow = pytest.importorskip("pyarrow")
    assert rows_of(arrow.array(["a", None])) == ["a", None]
    assert rows_of(arrow.chunked_array([["a"], ["b"]])) == ["a", "b"]
    assert rows_of(torch.tensor([1, 0])) == [1, 0]
    assert rows_of(np.ma.array([1, 2, 3], mask=[0, 1, 0])) == [1, None, 3]


def test_a_sparse_matrix_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match="sparse") as refused:
        rows_of(scipy.sparse.eye(3), name="y")
    assert "\n" not in str(refused.value)


def test_a_tensor_without_numbers_for_numpy_is_refused_in_one_line() -> None:
    with pytest.raises(
        UsageError, match=r"y: this Tensor of torch\.float32 on meta has no values that NumPy"
    ):
        rows_of(torch.ones(2, device="meta"), name="y")


class Protocol:
    """A column of a library that has NumPy's protocol alone."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array(["a", "b"])


def test_a_column_by_numpys_protocol_is_read() -> None:
    assert rows_of(Protocol()) == ["a", "b"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.ones(2) + 1j, "Complex data not supported"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (None, "requires y to be passed"),
    ],
)
def test_what_is_no_column_is_named(column: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rows_of(column, name="y")


@pytest.mark.parametrize(
    ("estimator", "y"), [(TextClassifier, [["p"], ["n"]] * 20), (TextScorer, [[1.0], [2.0]] * 20)]
)
def test_a_column_vector_is_read_with_a_warning(estimator: type, y: list[list[object]]) -> None:
    texts = [f"{word} {number}" for number in range(20) for word in ("good", "bad")]
    made = estimator(text__vectors="", model__sentence="none", train__max_steps=1)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        made.fit(texts, np.array(y), baseline=False)
    assert made.predict(texts).shape == (40,)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_that_is_none_is_refused(threads: object) -> None:
    with pytest.raises(UsageError, match="threads must be"):
        TextClassifier(threads=threads).fit(["a", "b"], ["x", "y"])  # type: ignore[arg-type]


def test_targets_may_come_from_a_generator() -> None:
    texts = [f"good {number}" for number in range(30)] + [f"bad {number}" for number in range(30)]
    labels = ["p"] * 30 + ["n"] * 30
    made = TextClassifier(text__vectors="", model__sentence="none").fit(
        texts, (y for y in labels), baseline=False
    )
    assert made.predict(["good 5", "bad 5"]).tolist() == ["p", "n"]
