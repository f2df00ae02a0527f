"""Pictures of a report."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import MissingExtraError, UsageError
from heedful.evaluation import evaluate_scores
from heedful.evaluation.report_figure import draw_report
from heedful.figure_style import write_figure
from made_reports import LENGTHS, made_report


def test_svg_holds_both_panels_and_is_the_same_twice(tmp_path: Path) -> None:
    first = draw_report(made_report(), tmp_path / "a" / "one.svg").read_bytes()
    assert first == draw_report(made_report(), tmp_path / "two.svg").read_bytes()
    assert first.count(b'<g id="axes_') == 3  # reliability, lengths, and the bars behind them


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_other_formats(tmp_path: Path, suffix: str, start: bytes) -> None:
    scores = evaluate_scores(np.arange(1.0, 6), np.arange(1.0, 6), lengths=LENGTHS)
    assert draw_report(scores, tmp_path / f"f{suffix}").read_bytes().startswith(start)


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        draw_report(made_report(), tmp_path / "f.jpg")
    with pytest.raises(UsageError, match="neither confidences nor sentence lengths"):
        draw_report(evaluate_scores(np.arange(2.0), np.arange(2.0)), tmp_path / "f.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"heedful\[plot\]"):
        write_figure(tmp_path / "f.png", lambda: pytest.fail("drawn"), "Drawing")
    assert list(tmp_path.iterdir()) == []
