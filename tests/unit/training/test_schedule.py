from __future__ import annotations

import pytest

from heedful.training.schedule import learning_rate_factor


def factors(schedule: str, warmup: int, total: int) -> list[float]:
    return [
        learning_rate_factor(step, schedule=schedule, warmup_steps=warmup, total_steps=total)
        for step in range(total)
    ]


def test_constant_is_one_after_the_warmup() -> None:
    assert factors("constant", 0, 4) == [1.0] * 4
    assert factors("constant", 4, 6) == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_linear_falls_towards_zero_and_never_reaches_it_in_the_run() -> None:
    assert factors("linear", 0, 4) == [1.0, 0.75, 0.5, 0.25]
    assert factors("linear", 2, 6) == pytest.approx([0.5, 1.0, 1.0, 0.75, 0.5, 0.25])


def test_noam_falls_with_the_inverse_square_root() -> None:
    found = factors("noam", 4, 20)
    assert found[:5] == pytest.approx([0.25, 0.5, 0.75, 1.0, (4 / 5) ** 0.5])
    assert found[15] == pytest.approx(0.5)
    assert factors("noam", 0, 3) == pytest.approx([1.0, 2**-0.5, 3**-0.5])
