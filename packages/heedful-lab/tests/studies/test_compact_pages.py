"""What small numbers of pages cost is counted rightly, and the command goes through."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import served
from heedful_lab.studies import compact_pages


def test_answers_are_counted() -> None:
    whole = [{"label": "a", "probabilities": {"a": 0.5}}, {"label": "b", "probabilities": {"a": 0.5}}]
    other = [{"label": "a", "probabilities": {"a": 0.5}}, {"label": "a", "probabilities": {"a": 0.5}}]
    line = compact_pages.told("small", other, whole, ["a", "a"])
    wanted = "small: accuracy 100.00 %, loss 0.6931, 50.0 % of the answers equal"
    assert line == f"{wanted}, probabilities moved by 0.000 at most, 0.0000 on the mean"
    moved = {"label": "a", "probabilities": {"a": 0.2, "b": 0.1}}
    assert compact_pages.moved(moved, whole[0]) == pytest.approx(0.3)
    assert "accuracy 50.00 %, loss 10.7" in compact_pages.told("small", whole, whole, ["a", "c"])


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
@pytest.mark.parametrize("columns", ["text", "premise,hypothesis"])
def test_both_files_are_measured(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_pair = "," in columns
    model = served.save_model(tmp_path / "model", task="pair" if is_pair else "text")
    texts = tmp_path / "texts.csv"
    more = ",a film" if is_pair else ""
    texts.write_text(f"{columns},label\na dull film{more},no\na superb story{more},yes\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["compact_pages", str(model), str(texts), "--changed", "1"])
    compact_pages.main()
    first, second, changed = capsys.readouterr().out.splitlines()
    assert changed.startswith("0.000 ")
    assert changed.endswith(" | a film") is is_pair
    assert first.startswith("whole tables: accuracy ")
    assert second.startswith("small numbers: accuracy ")
    assert "100.0 % of the answers equal" in second  # a small table stays as it is
