"""Cells of answers: what a table and a terminal say of a probability."""

from __future__ import annotations

import pytest

from heedful.model.answers import decimals


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0.5, "0.500"),
        (0.9964, "0.996"),
        (0.9994, "0.999"),
        (0.99972, "0.9997"),
        (0.9999999, "0.999999"),
        (1.0, "0.999999"),
        (0.0004, "0.0004"),
        (0.0, "0.000001"),
    ],
)
def test_nothing_reads_as_certain(share: float, written: str) -> None:
    assert decimals(share) == written
