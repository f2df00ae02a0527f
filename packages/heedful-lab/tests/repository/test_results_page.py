"""The results pages are what their runs and notes make of them, so no figure in a table was typed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from heedful.evaluation.significance import Interval
from heedful.run.kept_answers import Answers
from heedful.run.record import PartFigures, RunFigures, RunRecord
from heedful.storage.layout import Varied
from heedful_lab.repository import ROOT, claims, claims_page, costs, results_page
from heedful_lab.repository.verdicts import why_unsure, with_seeds
from heedful_lab.reproduce import cell_runs
from heedful_lab.reproduce.kept_runs import pack
from heedful_lab.reproduce.learning_curves import stopped_rising
from heedful_lab.reproduce.runner import Cell
from made_runs import PROTOCOL


@pytest.fixture(scope="module", autouse=True)
def _kept_runs_are_read_once() -> Iterator[None]:
    """Read each file of kept runs once for all pages that tests make."""
    read, known = cell_runs.read_runs, dict[tuple[str, str, Path], cell_runs.Runs]()

    def read_once(cell: Cell, folder: Path) -> cell_runs.Runs:
        key = cell.name, repr(cell.budget), folder
        return known[key] if key in known else known.setdefault(key, read(cell, folder))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_runs, "read_runs", read_once)
        yield


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
    assert sum(path.stat().st_size for path in files) < 3_000_000
    assert {path.suffix for path in files} <= {".gz", ".jsonl", ".json", ".md", ".csv", ".png", ".toml"}
    lines = (ROOT / "results" / "runs" / "resampled.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["answers"] for line in lines}) == len(lines) > 100


CLAIM = claims.Claim("Paper, Table 1", "one is better", "2, 1", "table", "small", "set", "one", "other")


def made(difference: float, half: float, p: float) -> results_page.Comparison:
    ends = Interval(difference - half, difference + half, "bootstrap")
    return results_page.Comparison("bootstrap", 10, "examples", 0.5, 0.5 + difference, difference, ends, p)


@pytest.mark.parametrize(
    ("difference", "half", "p", "word"),
    [
        (0.01, 0.005, 0.01, "as published"),
        (0.03, 0.005, 0.01, "larger"),
        (0.004, 0.003, 0.01, "smaller"),
        (0.004, 0.005, 0.3, "smaller"),
        (0.004, 0.009, 0.3, "cannot tell"),
        (0.03, 0.005, 0.2, "cannot tell"),
        (-0.004, 0.02, 0.3, "cannot tell"),
        (-0.01, 0.005, 0.01, "reversed"),
    ],
)
def test_a_verdict_says_where_the_published_difference_and_none_lie(
    difference: float, half: float, p: float, word: str
) -> None:
    assert claims.Verdict(CLAIM, made(difference, half, p), p).word == word


def test_a_difference_of_another_reason_is_called_so_and_one_that_was_not_run_too() -> None:
    other = replace(CLAIM, other=True)
    assert claims.Verdict(other, made(0.01, 0.005, 0.01), 0.01).word == "for another reason"
    assert claims.Verdict(other, made(-0.01, 0.005, 0.01), 0.01).word == "reversed"
    assert claims.Verdict(other, made(0.001, 0.02, 0.9), 0.9).word == "cannot tell"
    unread = replace(CLAIM, published="not legible")
    assert claims.Verdict(unread, made(0.01, 0.005, 0.01), 0.01).word == "as published"
    assert claims.Verdict(CLAIM).word == "not run"


def test_the_first_page_counts_the_verdicts_and_the_page_of_claims_has_each() -> None:
    verdicts = [
        claims.Verdict(CLAIM, made(0.01, 0.005, 0.01), 0.01),
        claims.Verdict(replace(CLAIM, reason="Too few words."), made(-0.01, 0.005, 0.01), 0.01),
        claims.Verdict(CLAIM),
    ]
    lines = claims_page.section(verdicts).splitlines()
    assert "Of 3 claims 2 were tested." in lines[2]
    assert "| all | 1 |  |  |  | 1 |  | 1 |" in lines
    text = claims_page.page(verdicts)
    assert "+1.0 [+0.5, +1.5], p = 0.010" in text
    assert "- **one is better** (reversed). Too few words." in text
    assert claims_page.picture(verdicts).count("stroke-width") == 2


@pytest.mark.parametrize(
    ("examples", "half", "published", "said"),
    [
        (1.3, 1.4, 0.9, "±1.3 points: too few examples to tell the published +0.9 from none."),
        (1.3, 1.9, 1.9, "±1.3 points, and ±1.9 with the spread of the seeds: more seeds could tell."),
        (1.3, 1.3, 2.3, "±1.3 points; +1.5 is too near to none for a test among so many claims."),
        (1.3, 1.9, None, "±1.3 points."),
    ],
)
def test_a_verdict_that_cannot_tell_says_why(
    examples: float, half: float, published: float | None, said: str
) -> None:
    assert why_unsure(examples, half, 500, 1.5, published) == f"The 500 test examples alone leave {said}"


def test_the_page_says_why_a_claim_cannot_be_told_and_what_a_missing_one_costs() -> None:
    unsure = claims.Verdict(CLAIM, made(0.004, 0.02, 0.3), 0.3, examples=0.015)
    costly = replace(
        CLAIM,
        table="systems-effort",
        budget="standard",
        experiment="trec-effort",
        better="mtsa",
        worse="disan",
    )
    (missing,) = claims.judge([costly], lambda *_: None, results_page.Resampled())
    assert missing.lacking > 0
    text = claims_page.page([unsure, missing])
    assert "(cannot tell). The 10 test examples alone leave ±1.5 points: too few" in text
    command = "heedful reproduce systems-effort --data DIR --rows mtsa,disan --columns trec"
    cost = f"The runs that are missing take about {missing.lacking:.1f} hours of one core: `{command}`."
    assert f"(not run). {cost}" in text


def test_seeds_that_differ_widen_an_interval() -> None:
    test = made(0.02, 0.01, 0.0)
    assert with_seeds(test, [0.7], [0.68]) is test
    wide = with_seeds(test, [0.70, 0.72], [0.68])
    assert wide.interval is not None
    assert wide.interval.low < 0 < wide.interval.high
    assert wide.p is not None
    assert wide.p > 0.05
    same = with_seeds(test, [0.70, 0.70], [0.68, 0.68])
    assert same.interval is not None
    assert (same.interval.low, same.interval.high) == pytest.approx((0.01, 0.03))


def test_costs_are_compared_by_how_many_times_one_is_better() -> None:
    measured = {
        "small": {"parameters": 1_000_000, "train": 200.0, "train_spread": 0.01},
        "large": {"parameters": 2_000_000, "train": 100.0, "train_spread": 0.01},
    }
    smaller = replace(CLAIM, published="1.0, 2.0", better="small", worse="large", figure="parameters")
    slower = replace(CLAIM, published="1, 2", better="large", worse="small", figure="train")
    unknown = replace(smaller, worse="other")
    found = claims.judge([smaller, slower, unknown], lambda *_: None, results_page.Resampled(), measured)
    assert [one.word for one in found] == ["as published", "reversed", "not run"]
    alike = replace(slower, published="100, 100", equal=True)
    (near,) = claims.judge(
        [alike],
        lambda *_: None,
        results_page.Resampled(),
        {**measured, "large": {**measured["small"], "train": 199.0}},
    )
    assert near.word == "as published"
    assert "2.00 times [" in claims_page.page(found)


@pytest.mark.parametrize(
    ("dev", "stopped"),
    [
        ([1, 2, 3, 4, 5], False),
        ([1, 2, 5, 4, 4], True),
        ([1, 2, 3, 5, 5, 5, 5, 5, 5, 5], True),
        ([1, 2, 3, 4, 5, 6, 7, 8, 8.5, 9], False),
        ([3, 2, 1], False),
        ([], False),
    ],
)
def test_a_run_has_converged_if_dev_did_not_rise_over_its_last_fifth(dev: list[float], stopped: bool) -> None:
    assert stopped_rising(dev) is stopped


def test_a_claim_says_how_many_steps_and_by_whose_recipe_its_systems_were_trained() -> None:
    def trained(*steps: int) -> SimpleNamespace:
        return SimpleNamespace(found=[SimpleNamespace(figures=SimpleNamespace(steps=one)) for one in steps])

    assert claims.Verdict(CLAIM, runs=(trained(2000, 4000), trained(12))).effort == "3,000 and 12"
    own = replace(CLAIM, experiment="set-own")
    assert claims.Verdict(own, runs=(trained(2), trained(2))).effort == "2, own recipes"
    same = replace(CLAIM, experiment="set-effort")
    assert claims.Verdict(same, runs=(trained(2), trained(2))).effort == "2, same effort"


def test_every_claim_names_systems_of_its_table() -> None:
    found = claims.read_claims(results_page.NOTES / "claims.toml")
    assert len(found) >= 49
    for claim in found:
        if claim.is_cost:
            assert {claim.better, claim.worse} <= set(
                claims.read_costs(ROOT / "results" / "benchmarks" / "models-amd.json")
            )
            continue
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
    on_gpu = replace(
        half,
        varied=Varied("train.seed", 2),
        machine={"cuda": "a GPU"},
        figures=replace(figures, train_seconds=900.0),
    )
    pack(tmp_path / "standard" / "mpqa.jsonl.gz", {("disan@0.1", on_gpu.varied): on_gpu})
    lines = costs.section(tmp_path).splitlines()
    assert "| on a GPU |  |  | 0.25 |  |  |  |  |  |  |  |  |  | 0.25 |" in lines
    assert "| DiSAN | 0.50 |  |  |  |  |  |  |  |  |  |  |  | 0.50 |" in lines
    assert "| MTSA |  |  |  |  |  |  | 0.50 |  |  |  |  |  | 0.50 |" in lines
    assert "| other rows | 0.50 |  |  |  |  |  |  |  |  |  |  |  | 0.50 |" in lines
    assert "| sum | 1.00 |  |  |  |  |  | 0.50 |  |  |  |  |  | 1.50 |" in lines
    pack(tmp_path / "standard" / "unheard.jsonl.gz", {("mtsa", half.varied): half})
    with pytest.raises(results_page.UsageError, match="unheard"):
        costs.section(tmp_path)
