"""How closely an encoder follows its teacher: what is computed, and that the study goes on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from heedful_lab.studies import teacher_followed


def test_the_same_vectors_of_any_length_agree_and_others_do_not() -> None:
    own = np.random.default_rng(0).standard_normal((40, 8))
    assert teacher_followed.agreement(own, 3 * own) == pytest.approx({"cosine": 1.0, "spearman": 1.0})
    turned = own @ np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0]
    found = teacher_followed.agreement(own, turned)  # pairs are as alike as before, vectors are not
    assert found["spearman"] == pytest.approx(1.0)
    assert abs(found["cosine"]) < 0.5


def test_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = list[str]()
    monkeypatch.setattr(teacher_followed, "measure", lambda name, *_: asked.append(name) or {"cosine": 0.5})
    out = tmp_path / "cells.json"
    command = ["--data", str(tmp_path), "--encoder", str(tmp_path), "--out", str(out)]
    teacher_followed.main([*command, "--sets", "cr"])
    teacher_followed.main([*command, "--sets", "cr,trec"])
    assert asked == ["cr", "trec"]
    assert list(json.loads(out.read_text(encoding="utf-8"))) == ["cr, 300 texts", "trec, 300 texts"]
    assert capsys.readouterr().out.count("\n") == 3
