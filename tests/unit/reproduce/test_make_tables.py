"""Cells are run once, side by side, and become figures; checked on hand-made runs and on tiny real ones."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiny
from heedful.errors import ArtefactError, UsageError
from heedful.reproduce import gather as gathering
from heedful.reproduce import making, runner
from heedful.reproduce.gather import gather
from heedful.reproduce.making import make
from heedful.reproduce.plan import SKIP, Column, Effort, Experiment, Row, System, Table, find_table
from heedful.reproduce.render import to_csv, to_markdown, to_records
from heedful.reproduce.runner import Budget

COLUMN = Column("t", "TINY", "tiny", "test.metrics.accuracy", 100.0, 1)
ROWS = (
    Row("Ours", "ours", {"t": "80.0 (0.4)"}, "a note"),
    Row("Other", "other", {}, ""),
    Row("Elsewhere 1999", "", {"t": "70.1"}, ""),
    Row("Not for this", "ours", {"t": SKIP}, ""),
)
TABLE = Table("tiny-table1", "Tiny, Table 1", (COLUMN,), ROWS, "Ours", ("below",), "", "")
TABLE_OF_SCENES = find_table("systems-scenes")
SYSTEMS = {"ours": System("ours", (), {}), "other": System("other", ("model.hidden=8",), {})}


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Declare one experiment on the tiny text task; return the folder of its data."""
    folder = tiny.write_tasks(tmp_path / "data")
    settings = ("train.max_steps=2", "train.device=cpu")
    known = {
        "tiny": Experiment(
            "tiny",
            "a tiny set",
            str(folder / "text.toml"),
            settings,
            {"standard": Effort((), 1.0)},
            (1, 2),
            0,
            (),
        )
    }
    for module in (runner, making, gathering):
        monkeypatch.setattr(module, "experiments", lambda: known)
    monkeypatch.setattr(runner, "systems", lambda: SYSTEMS)
    return folder


def record(seed: int, right: int, of: int = 10) -> dict[str, Any]:
    """Return a run that got the first ``right`` of ten examples right."""
    gold = [k % 2 for k in range(of)]
    predicted = [g if k < right else 1 - g for k, g in enumerate(gold)]
    summary = {
        "varied": f"train.seed={seed}",
        "test": {"metrics": {"accuracy": right / of}, "seconds": 0.5},
        "parameters": 1234,
        "epoch_seconds": 2.0,
        "epoch_cpu_seconds": 1.5,
    }
    settings = {"train": {"seed": seed, "max_steps": 2, "epochs": 1, "patience": 0}, "batches": {"size": 4}}
    machine = {"heedful": "0", "torch": "1", "python": "2", "platform": "3"}
    return {
        "summary": summary,
        "protocol": f"as said (seed {seed})",
        "settings": settings,
        "answers": {"gold": gold, "predicted": predicted},
        "machine": machine,
        "data": {"file": "0" * 64},
        "peak_megabytes": 100 + seed,
    }


def write(folder: Path, system: str, rights: tuple[int, ...]) -> None:
    for seed, right in enumerate(rights, start=1):
        file = folder / "standard" / "tiny" / system / f"train.seed={seed}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record(seed, right)), encoding="utf-8")


def test_figures_gaps_and_tests_from_hand_made_runs(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 10))
    write(tmp_path, "other", (2, 2))
    result = gather(TABLE, Budget(), tmp_path)
    ours, other, cited, skipped = (result.figure(row, COLUMN) for row in ROWS)
    assert ours.values == (90.0, 100.0)
    assert (ours.mean, ours.gap) == (95.0, 15.0)
    assert ours.deviation == pytest.approx(7.0711, abs=1e-4)
    assert (other.mean, other.gap, other.deviation) == (20.0, None, 0.0)
    assert (cited.mean, cited.paper) == (None, "70.1")
    assert (skipped.mean, skipped.paper) == (None, "")
    ((row, experiment, comparison),) = result.tested()
    assert (row.name, experiment) == ("Other", "tiny")
    assert comparison.difference == pytest.approx(-0.75)
    assert comparison.p is not None
    assert comparison.p < 0.01
    text = to_markdown(result, "the command")
    assert "| Ours | 80.0 (0.4) | **95.0** ± 7.1 (+15.0) |" in text
    assert "| Elsewhere 1999 (cited) | 70.1 |  |" in text
    assert "| Not for this |  |  |" in text
    assert (
        "seeds 1, 2; as said (with the run's seed); budget standard: at most 2 steps, batches of 4." in text
    )
    assert "| Ours | 1,234, 1.5, 0.5, 102 |" in text
    assert "- Ours: a note" in text
    assert "- below" in text
    found = to_records(result)
    assert [(one["row"], one["cited_only"]) for one in found] == [
        ("Ours", False),
        ("Other", False),
        ("Elsewhere 1999", True),
    ]
    assert found[0]["data"] == {"file": "0" * 64}
    rows = list(csv.DictReader(to_csv(result).splitlines()))
    assert [row["mean"] for row in rows] == ["95.0", "20.0", ""]


def test_every_row_against_every_other(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 9))
    write(tmp_path, "other", (2, 2))
    table = replace(TABLE, pairwise=True, rows=ROWS[:3])
    text = to_markdown(gather(table, Budget(), tmp_path), "")
    assert (
        "| tiny | Ours | Other |\n| --- | --- | --- |\n| Ours |  | **+70.0** |\n| Other | **-70.0** |  |"
        in text
    )
    write(tmp_path, "other", (8, 8))  # one example apart
    assert "| Ours |  | +10.0 |" in to_markdown(gather(table, Budget(), tmp_path), "")
    (tmp_path / "standard" / "tiny" / "other" / "train.seed=1.json").unlink()
    (tmp_path / "standard" / "tiny" / "other" / "train.seed=2.json").unlink()
    assert "Row minus column" not in to_markdown(gather(table, Budget(), tmp_path), "")


def test_only_the_asked_seeds_are_read(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (5, 6, 7))
    result = gather(TABLE, Budget(seeds=(3, 1)), tmp_path)
    assert result.figure(ROWS[0], COLUMN).values == (50.0, 70.0)
    assert [cell.system.name for cell in result.missing] == ["other"]
    assert "Not run: other on tiny." in to_markdown(result, "")


def test_a_file_that_is_no_run_is_named(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (5,))
    file = tmp_path / "standard" / "tiny" / "ours" / "train.seed=1.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"train\.seed=1\.json: not a run of 'heedful study'"):
        gather(TABLE, Budget(), tmp_path)


def test_cells_run_side_by_side_once_and_a_failure_stops_no_other(
    declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**SYSTEMS, "other": System("other", ("model.hidden=0",), {})}
    monkeypatch.setattr(runner, "systems", lambda: wrong)
    said: list[str] = []
    made = make(TABLE, declared, tmp_path / "out", Budget(), jobs=2, say=said.append)
    assert len(made.failures) == 1
    assert "tiny / other: " in made.failures[0]
    assert "model.hidden must be" in made.failures[0]
    files = sorted(made.markdown.parent.glob("tiny-table1.*"))
    assert [file.suffix for file in files] == [".csv", ".json", ".md"]
    kept = tmp_path / "out" / "runs" / "standard" / "tiny" / "ours" / "train.seed=2.json"
    before = kept.stat().st_mtime_ns
    monkeypatch.setattr(runner, "systems", lambda: SYSTEMS)
    again = make(TABLE, declared, tmp_path / "out", Budget(), jobs=1, say=said.append)
    assert not again.failures
    assert not again.result.missing
    assert kept.stat().st_mtime_ns == before


def test_what_cannot_be_made_says_why(tmp_path: Path) -> None:
    for name, why in (
        ("mtsa-table2", "cannot be made: needs the weights"),
        ("mtsa-figure1", "made by another command: heedful bench"),
    ):
        with pytest.raises(UsageError, match=why):
            make(find_table(name), None, tmp_path, Budget())


def test_without_running_the_papers_figures_are_shown_and_what_is_left_is_said(tmp_path: Path) -> None:
    for name, printed in (("mtsa-table2", "86.9"), ("disan-table2", "51.72")):
        said: list[str] = []
        made = make(find_table(name), tmp_path, tmp_path / "out", Budget(), run=False, say=said.append)
        assert printed in made.markdown.read_text()
        assert said == (
            []
            if name == "mtsa-table2"
            else ["sst5: the data folder lacks sst-5:train, sst-5:dev, sst-5:test"]
        )
    made = make(TABLE_OF_SCENES, None, tmp_path / "out", Budget(), run=False, say=said.append)
    left = len(made.result.missing)
    minutes = 2.5 * sum(cell.system.cost for cell in made.result.missing)
    assert said[-1] == (
        f"{left} of {left} models are not in {tmp_path / 'out' / 'runs'} yet: about {minutes:,.0f} minutes on "
        "one core; leave --no-run out to run them"
    )


def test_data_that_is_not_there_is_said_and_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(UsageError, match="disan-table2: nothing was run"):
        make(find_table("disan-table2"), tmp_path, tmp_path / "out", Budget(), say=said.append)
    assert said == ["sst5: left out, the data folder lacks sst-5:train, sst-5:dev, sst-5:test"]
