"""Shared fixtures: the folder of real data sets, and fixed seeds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, from HEEDFUL_DATA; the test is skipped, and counted, without it."""
    folder = os.environ.get("HEEDFUL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("HEEDFUL_DATA names no folder of data sets")
    return Path(folder).resolve()
