"""What stands for a list of requests, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.model.text_reading import listed


class Column:
    """A column as pyarrow has it."""

    def __init__(self, *values: str) -> None:
        self.values = values

    def to_pylist(self) -> list[str]:
        return [*self.values]


@pytest.mark.parametrize(
    "requests", [["a", "b"], ("a", "b"), np.array(["a", "b"]), Column("a", "b"), {"a": 1, "b": 2}.keys()]
)
def test_columns_are_lists(requests: object) -> None:
    assert list(listed(requests)) == ["a", "b"]


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ("a", r"expected a list of texts, got one string: write \['a'\]"),
        (b"a", r"got one string: write \[b'a'\]"),
        ({"a", "b"}, "expected a list of texts, got set {"),
        ({"text": ["a"]}, r"got dict {'text': \['a'\]}"),
        (np.array("a"), "expected a list of texts, got ndarray"),
        (None, "expected a list of texts, got NoneType None"),
        (3, "got int 3"),
    ],
)
def test_what_has_no_rows_or_no_order_is_refused(requests: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        listed(requests, "texts")
