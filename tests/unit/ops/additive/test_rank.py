from __future__ import annotations

import pytest

from heedful.ops.additive.rank import half_widths, interpolation_error


@pytest.mark.parametrize("scale", [1.0, 5.0, 20.0])
def test_a_rank_serves_what_it_says_and_little_more(scale: float) -> None:
    tolerance = 2.0**-23
    widths = half_widths(scale, tolerance)
    assert list(widths) == sorted(widths)
    for rank, half in zip(range(4, 36, 4), widths, strict=True):
        assert interpolation_error(scale, rank, half) <= tolerance
        assert interpolation_error(scale, rank, 1.2 * half) > tolerance


def test_a_looser_tolerance_serves_wider_ranges() -> None:
    assert all(a > b for a, b in zip(half_widths(5.0, 1e-4), half_widths(5.0, 1e-7), strict=True))
