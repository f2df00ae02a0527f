"""The results pages are what their runs and notes make of them, so no figure in a table was typed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from heedful.run.kept_answers import Answers
from heedful.run.record import PartFigures, RunFigures, RunRecord
from heedful.storage.layout import Varied
from heedful_lab.repository import ROOT, claims, costs, results_page
from heedful_lab.reproduce.kept_runs import pack
from made_runs import PROTOCOL


def test_the_results_pages_are_up_to_date_and_a_sample_of_their_tests_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["results_page.py", "--check"])
    results_page.main()


def test_a_page_that_was_changed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = results_page.Resampled.read(results_page.RUNS)
    monkeypatch.setattr(results_page, "ROOT", tmp_path)
    monkeypatch.setattr(results_page, "DOCS", tmp_path / "docs")
    pages = results_page.Book(kept).pages()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (curves,) = results_page.drawn(pages).values()
    assert results_page.problems(pages, kept) == [
        f"{Path('docs', 'results', 'systems-snli-curves.png')} is missing"
    ]
    curves.touch()
    assert results_page.problems(pages, kept) == []
    changed = tmp_path / "docs" / "results" / "systems-real.md"
    changed.write_text(changed.read_text(encoding="utf-8") + "A line more.\n", encoding="utf-8")
    (tmp_path / "docs" / "results" / "more.md").touch()
    assert [problem.split(" is ")[0] for problem in results_page.problems(pages, kept)] == [
        str(Path("docs", "results", "systems-real.md")),
        str(Path("docs", "results", "more.md")),
    ]


def test_a_kept_test_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = results_page.Resampled.read(results_page.RUNS)
    key = results_page.random.Random(13).sample(sorted(kept.known), 1)[0]
    kept.known[key] = results_page.Comparison(**{**vars(kept.known[key]), "p": 0.5})
    monkeypatch.setattr(results_page, "SAMPLE", 1)
    (problem,) = results_page.sampled_again(kept)
    assert key in problem


def test_the_results_are_small_and_hold_no_pickle() -> None:
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_500_000
    assert {path.suffix for path in files} <= {".gz", ".jsonl", ".json", ".md", ".csv", ".png", ".toml"}
    lines = (ROOT / "results" / "runs" / "resampled.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["answers"] for line in lines}) == len(lines) > 100


def test_a_claim_holds_by_its_sign_and_its_adjusted_p() -> None:
    assert results_page.judge is claims.judge
    claim = claims.Claim("paper", "one is better", "2, 1", "table", "small", "set", "one", "other")
    made = results_page.Comparison("bootstrap", 10, "examples", 0.5, 0.6, 0.1, None, 0.001)
    lost = results_page.Comparison("bootstrap", 10, "examples", 0.6, 0.5, -0.1, None, 0.001)
    verdicts = [
        claims.Verdict(claim, made, 0.01),
        claims.Verdict(claim, lost, 0.01),
        claims.Verdict(claim, made, 0.2),
        claims.Verdict(claim),
    ]
    assert [one.word for one in verdicts] == ["holds", "the reverse", "not shown", "not run"]
    text = claims.section([replace(one, runs=(SimpleNamespace(found=[1]),)) for one in verdicts])
    assert "Of 4 claims 1 holds, 1 is reversed, 1 is not shown and 1 was not run on the data at hand." in text
    assert "Not tested, because a system was not run: 1." in text
    assert "has an adjusted p of at most 0.010" in text
    assert "In 3 of 3 tests one of the systems was trained only once" in text


def test_a_claim_says_how_long_and_by_whose_recipe_its_systems_were_trained() -> None:
    def trained(*epochs: int) -> SimpleNamespace:
        return SimpleNamespace(found=[SimpleNamespace(figures=SimpleNamespace(epochs=one)) for one in epochs])

    claim = claims.Claim("paper", "one is better", "2, 1", "table", "small", "set", "one", "other")
    assert claims.Verdict(claim, runs=(trained(2, 4), trained(12))).epochs == "3 and 12"
    claim = replace(claim, experiment="set-own")
    assert claims.Verdict(claim, runs=(trained(2), trained(2))).epochs == "2 and 2, own"


def test_every_claim_names_systems_of_its_table() -> None:
    found = claims.read_claims(results_page.NOTES / "claims.toml")
    assert len(found) > 20
    for claim in found:
        table = results_page.find_table(claim.table)
        assert {claim.better, claim.worse} <= {row.system for row in table.rows}
        assert claim.experiment in {column.experiment for column in table.columns}


def test_costs_are_summed_by_system_and_data(tmp_path: Path) -> None:
    none = PartFigures({})
    figures = RunFigures(none, none, epochs=1200, epoch_cpu_seconds=1.5)
    answers = Answers("classes", np.zeros(1), np.zeros(1))
    half = RunRecord(Varied("train.seed", 1), PROTOCOL, {}, figures, answers, {})  # half an hour
    (tmp_path / "standard").mkdir()
    pack(
        tmp_path / "standard" / "trec-own.jsonl.gz", {("disan", half.varied): half, ("x", half.varied): half}
    )
    pack(tmp_path / "standard" / "sick.jsonl.gz", {("mtsa", half.varied): half})
    lines = costs.section(tmp_path).splitlines()
    assert "| DiSAN | 0.50 |  |  |  |  |  |  |  |  |  |  |  | 0.50 |" in lines
    assert "| MTSA |  |  |  |  |  |  | 0.50 |  |  |  |  |  | 0.50 |" in lines
    assert "| other rows | 0.50 |  |  |  |  |  |  |  |  |  |  |  | 0.50 |" in lines
    assert "| sum | 1.00 |  |  |  |  |  | 0.50 |  |  |  |  |  | 1.50 |" in lines
    pack(tmp_path / "standard" / "unheard.jsonl.gz", {("mtsa", half.varied): half})
    with pytest.raises(results_page.UsageError, match="unheard"):
        costs.section(tmp_path)
