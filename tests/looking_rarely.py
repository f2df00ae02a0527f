"""Trainings that look inside their networks rarely, for tests of something else."""

from __future__ import annotations

import pytest

from heedful.training import breakage


@pytest.fixture(autouse=True)
def rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for signs of a broken training at the second evaluation, not at most of them.

    In trainings of a few steps it takes a tenth of the time; `tests/unit/training` tests the signs.
    """
    monkeypatch.setattr(breakage, "EVALUATIONS", frozenset({2}))
