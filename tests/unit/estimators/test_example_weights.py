from __future__ import annotations

import numpy as np
import pytest

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
        (["a", "b"], "expected 2 numbers"),
        ([0, 0], "all are zero"),
        ([1, -1], "some are not"),
        ([1, np.nan], "some are not"),
        ([1e300, 1e300], r"from 1e-30 to 1e\+30; got 1e\+300"),
        ([0, 1e-300], "got 1e-300"),
    ],
)
def test_what_are_no_weights_is_named(given: list[object], said: str) -> None:
    with pytest.raises(UsageError, match=f"sample_weight: .*{said}"):
        example_weights(given, 2)
