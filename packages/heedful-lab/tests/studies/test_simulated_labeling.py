"""A labeler that is simulated: what was measured is not measured again, and the table counts labels."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from heedful_lab.studies import simulated_labeling


def test_a_run_goes_on_and_the_table_says_how_many_labels_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"a {'superb' if k % 2 else 'dull'} film {k}" for k in range(60)]
    rows = (texts, ["good" if k % 2 else "bad" for k in range(60)])
    asked = list[int]()

    def accuracy(
        texts: list[str], labels: list[str], pool: list[str], test: object
    ) -> tuple[float, list[int]]:
        assert labels == ["good" if "superb" in text else "bad" for text in texts]
        asked.append(len(texts))
        return min(0.9, len(texts) / 40), list(range(min(5, len(pool))))

    monkeypatch.setattr(simulated_labeling, "load", lambda name, data: (rows, rows))
    monkeypatch.setattr(simulated_labeling, "accuracy", accuracy)
    out = tmp_path / "cells.jsonl"
    command = ["study", "--out", str(out), "--sets", "trec", "--runs", "2", "--labels", "20,30,40"]
    monkeypatch.setattr(sys, "argv", command)
    simulated_labeling.main()
    assert sorted(asked) == sorted([60, *[20, 30, 40] * 6])
    kept = out.read_text(encoding="utf-8").splitlines()
    out.write_text("\n".join(kept[:-3]) + "\n", encoding="utf-8")
    asked.clear()
    simulated_labeling.main()
    assert asked == [20, 30, 40]
    assert sorted(out.read_text(encoding="utf-8").splitlines()) == sorted(kept)
    simulated_labeling.main()
    assert asked == [20, 30, 40]
    assert {json.loads(line)["order"] for line in kept} == {"all", "mixed", "random", "at once"}
    monkeypatch.setattr(sys, "argv", [*command, "--table"])
    simulated_labeling.main()
    assert "| trec | random | 2 | 50.0 | 75.0 | 90.0 | 90.0 | 40 |" in capsys.readouterr().out
