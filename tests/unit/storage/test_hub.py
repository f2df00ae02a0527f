"""What goes wrong on the way to the Hub is one line."""

from __future__ import annotations

import pytest

from heedful.errors import DataError, UsageError
from heedful.storage.hub import endpoint, hub_errors


def test_the_server_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    assert endpoint() == "http://127.0.0.1:1"
    monkeypatch.setenv("HF_ENDPOINT", "")
    assert endpoint() is None


def test_any_trouble_is_told_in_one_line_and_own_errors_stay() -> None:
    with (
        pytest.raises(DataError, match=r"^a/b: was not given: far away$"),
        hub_errors(DataError, "a/b: was not given"),
    ):
        raise RuntimeError("far away\nand long")
    with pytest.raises(UsageError, match=r"^ours$"), hub_errors(DataError, "a/b"):
        raise UsageError("ours")
