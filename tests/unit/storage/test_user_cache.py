from __future__ import annotations

from pathlib import Path

import pytest

from heedful.storage.folders import user_cache


def test_the_convention_of_xdg_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for named, wanted in (
        (str(tmp_path / "other"), tmp_path / "other"),
        ("relative", tmp_path / ".cache"),
        ("", tmp_path / ".cache"),
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        assert user_cache() == wanted
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache() == tmp_path / ".cache"
