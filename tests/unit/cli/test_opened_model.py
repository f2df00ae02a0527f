"""Opening a model in bfloat16 warns in one line where the processor has no instructions for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.cli import opened_model
from heedful.cli.opened_model import with_torch
from heedful.machine import processors


@pytest.mark.parametrize(
    ("precision", "flags", "lines"),
    [("bfloat16", {"fpu"}, 1), ("bfloat16", {"amx_bf16"}, 0), ("bfloat16", set(), 0), ("int8", {"fpu"}, 0)],
)
def test_bfloat16_without_instructions_is_warned_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    precision: str,
    flags: set[str],
    lines: int,
) -> None:
    monkeypatch.setattr(processors, "flags", lambda root=None: frozenset(flags))
    monkeypatch.setattr(opened_model, "open_model", lambda *place, **options: None)
    with_torch(tmp_path / "any", precision=precision)  # type: ignore[arg-type]
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", lines)
    assert ("bfloat16" in said.err) == bool(lines)
