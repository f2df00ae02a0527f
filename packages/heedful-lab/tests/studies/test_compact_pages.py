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
    assert line == "small: accuracy 100.00 %, loss 0.6931, 50.0 % of the answers equal"
    assert "accuracy 50.00 %, loss 10.7" in compact_pages.told("small", whole, whole, ["a", "c"])


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_both_files_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = served.save_model(tmp_path / "model")
    texts = tmp_path / "texts.csv"
    texts.write_text("text,label\na dull film,no\na superb story,yes\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["compact_pages", str(model), str(texts)])
    compact_pages.main()
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("whole tables: accuracy ")
    assert second.startswith("small numbers: accuracy ")
    assert "100.0 % of the answers equal" in second  # a small table stays as it is
