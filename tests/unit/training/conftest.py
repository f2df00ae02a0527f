from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def quick(one_thread: None) -> None:
    """Toy runs are too small for several threads, which only wait for each other."""
