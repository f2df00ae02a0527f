"""The page's judgment of its own order: by guesses of the texts that come after a training."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from heedful.labeling.next_text import MANY
from heedful_lab.studies import judged_order


@pytest.mark.parametrize(("is_hard", "helps"), [(True, True), (False, False)])
def test_the_order_helps_where_the_model_is_wrong_on_uncertain_texts(
    is_hard: bool,
    helps: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = [f"a {'superb' if k % 2 else 'dull'} film {k}" for k in range(500)]
    rows = (texts, ["good" if k % 2 else "bad" for k in range(500)])
    uncertain: set[str] = set()

    def guesses(lesson: Any, texts: list[str] | None = None) -> Any:
        if texts is None:
            uncertain.update(each[0] for each in lesson.pool[-60:])
            return list(range(len(lesson.pool) - 60, len(lesson.pool)))
        right = ["good" if "superb" in text else "bad" for text in texts]
        wrong = [(text in uncertain) == is_hard for text in texts]
        return ["none" if is_wrong else label for is_wrong, label in zip(wrong, right, strict=True)]

    monkeypatch.setattr(judged_order, "load", lambda name, data: (rows, rows))
    monkeypatch.setattr(judged_order, "guesses", guesses)
    out = tmp_path / "lines.jsonl"
    monkeypatch.setattr(
        sys, "argv", ["study", "--out", str(out), "--sets", "trec", "--runs", "1", "--before", str(MANY + 10)]
    )
    judged_order.main()
    (line,) = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert line["helps"] is helps
    assert line["uncertain"] >= 50
    assert line["uncertain wrong"] == float(is_hard)
    assert line["random"] >= 25
    judged_order.main()
    assert len(capsys.readouterr().out.splitlines()) == 1
