from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from heedful import TextClassifier
from heedful.data.examples import Example
from heedful.errors import UsageError
from heedful.estimators.example_weights import example_weights, weighted


def test_examples_get_their_weights() -> None:
    examples = [Example(("a",)), Example(("b",))]
    assert [each.weight for each in weighted(examples, [0, 2])] == [0.0, 2.0]
    assert weighted(examples, None) is examples


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2, 3], "expected 2 numbers, got an array of shape"),
        (["a", "b"], "expected 2 numbers, got 'a'"),
        ("balanced", "one item a row"),
        ({"a": 1}, "one item a row"),
        ({1, 2}, "is a set"),
        (2.0, "one item a row"),
        (np.array([1, 2j]), "Complex"),
        (np.array(["2020", "2021"], "datetime64[D]"), "expected 2 numbers"),
        (np.array([1, 2], "timedelta64[s]"), "expected 2 numbers"),
        (np.ma.array([1, 2], mask=[True, False]), "some are not"),
        (np.array([[1, 2]]), "shape"),
        ([0, 0], "all are zero"),
        ([1, -1], "some are not"),
        ([1, np.nan], "some are not"),
        ([1e300, 1e300], r"from 1e-30 to 1e\+30; got 1e\+300"),
        ([0, 1e-300], "got 1e-300"),
        ([10**400, 1], "some are not"),
        ([Decimal("sNaN"), Decimal(1)], "some are not"),
    ],
)
def test_what_are_no_weights_is_named(given: list[object], said: str) -> None:
    with pytest.raises(UsageError, match=f"sample_weight: .*{said}"):
        example_weights(given, 2)


@pytest.mark.parametrize(
    "given",
    [
        (each for each in (1, 2)),
        np.array([[1], [2]]),
        [Decimal(1), Fraction(2)],
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        torch.tensor([1.0, 2.0]).to_sparse(),
    ],
    ids=["generator", "column", "fractions", "tensor", "bfloat16", "sparse tensor"],
)
def test_weights_of_other_kinds_are_read(given: object) -> None:
    found = example_weights(given, 2)
    assert found is not None
    assert found.tolist() == [1.0, 2.0]


def test_a_class_without_weight_is_named_whatever_the_weights_are() -> None:
    """The check reads the weights, and so does the training after it."""
    texts, classes = ["a b", "c d"] * 3, ["x", "y"] * 3
    with pytest.raises(UsageError, match="only examples of the class 'x' weigh more"):
        TextClassifier().fit(texts, classes, sample_weight=(float(each == "x") for each in classes))
    with pytest.raises(UsageError, match="sample_weight: expected 6 numbers, got 'a'"):
        TextClassifier().fit(texts, classes, sample_weight=["a"] * 6)


def test_a_set_has_no_order_in_which_rows_could_be_read() -> None:
    for texts, classes, name in (({"a b", "c"}, ["x", "y"], "X"), (["a b", "c"], {"x", "y"}, "y")):
        with pytest.raises(UsageError, match=f"{name}: is a set, whose items have no order"):
            TextClassifier().fit(texts, classes)
