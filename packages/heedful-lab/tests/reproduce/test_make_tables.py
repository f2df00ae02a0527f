"""Cells are run once, side by side, and become figures; checked on hand-made runs and on tiny real ones."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

import tiny
from forked_commands import started
from heedful.errors import ArtifactError, MissingExtraError, UsageError
from heedful.machine import crew
from heedful.machine.executors import OneByOne
from heedful.run.kept_settings import plain_settings
from heedful.run.recipe_files import load_config
from heedful.storage.layout import FOLD, Varied
from heedful_lab.reproduce import cell_runs as gathering
from heedful_lab.reproduce import command_process, making, runner
from heedful_lab.reproduce.cell_runs import gather
from heedful_lab.reproduce.making import make, narrow
from heedful_lab.reproduce.plan import System, experiments, find_table, systems
from heedful_lab.reproduce.runner import Budget, Cell, Order, failed
from heedful_lab.reproduce.table_records import to_csv, to_records
from heedful_lab.reproduce.table_text import to_markdown
from made_runs import COLUMN, PROTOCOL, ROWS, SYSTEMS, TABLE, record, with_test_figures, write, write_record


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
    protocol = PROTOCOL.of_all_runs().sentence()
    assert f"seeds 1, 2; {protocol}; budget standard: at most 2 steps, " in text
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
    assert result.figure(ROWS[0], COLUMN).values == (70.0, 50.0)
    assert [cell.system.name for cell in result.missing] == ["other"]
    assert "Not run: other on tiny." in to_markdown(result, "")


def test_a_file_that_is_no_run_is_named(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (5,))
    file = tmp_path / "standard" / "tiny" / "ours" / "train.seed=1.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"train\.seed=1\.json: expected a run that heedful study kept"):
        gather(TABLE, Budget(), tmp_path)


def test_cells_run_side_by_side_once_and_a_failure_stops_no_other(
    declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**SYSTEMS, "other": System("other", ("model.hidden=0",), {})}
    monkeypatch.setattr(runner, "systems", lambda: wrong)
    monkeypatch.setattr(crew, "_SPAWN", started())
    said: list[str] = []
    made = make(TABLE, Order(declared, tmp_path / "out", print_line=said.append), jobs=2)
    (failure,) = made.failures
    assert failure.cell == "other on tiny"
    assert "model.hidden" in failure.why
    assert isinstance(failed(made.failures, ""), UsageError)
    files = sorted(made.markdown.parent.glob("tiny-table1.*"))
    assert [file.suffix for file in files] == [".csv", ".json", ".md"]
    kept = tmp_path / "out" / "runs" / "standard" / "tiny" / "ours" / "train.seed=2.json"
    before = kept.stat().st_mtime_ns
    monkeypatch.setattr(runner, "systems", lambda: SYSTEMS)
    again = make(TABLE, Order(declared, tmp_path / "out", print_line=said.append), executor=OneByOne())
    assert not again.failures
    assert not again.result.missing
    assert kept.stat().st_mtime_ns == before


def test_what_cannot_be_made_says_why(tmp_path: Path) -> None:
    for name, why in (
        ("mtsa-table2", "cannot be made: needs the weights"),
        ("mtsa-figure1", "made by another command: heedful bench"),
    ):
        with pytest.raises(UsageError, match=why):
            make(find_table(name), Order(None, tmp_path))


def test_without_running_the_papers_figures_are_shown_and_what_is_left_is_said(tmp_path: Path) -> None:
    for name, printed in (("mtsa-table2", "86.9"), ("disan-table2", "51.72")):
        said: list[str] = []
        made = make(find_table(name), Order(tmp_path, tmp_path / "out", run=False, print_line=said.append))
        assert printed in made.markdown.read_text()
        assert said == (
            []
            if name == "mtsa-table2"
            else [
                f"{one}: the data folder lacks sst-5:train, sst-5:dev, sst-5:test"
                for one in ("sst5-own", "sst5")
            ]
        )
    made = make(
        find_table("systems-scenes"), Order(None, tmp_path / "out", run=False, print_line=said.append)
    )
    left = len(made.result.missing)
    minutes = 2.5 * sum(cell.system.cost for cell in made.result.missing)
    assert said[-1] == (
        f"{left} of {left} runs are not in {tmp_path / 'out' / 'runs'} yet: about {minutes:,.0f} minutes on "
        "one core; leave --no-run out to make them"
    )


def test_data_that_is_not_there_is_said_and_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(UsageError, match="disan-table2: nothing was run"):
        make(find_table("disan-table2"), Order(tmp_path, tmp_path / "out", print_line=said.append))
    lacks = "left out, the data folder lacks sst-5:train, sst-5:dev, sst-5:test"
    assert said == [f"sst5-own: {lacks}", f"sst5: {lacks}"]


def test_a_folder_that_was_not_named_is_not_said_to_lack_data(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(
        UsageError, match=r"disan-table2: nothing was run \(no data folder is named: --data DIR"
    ):
        make(find_table("disan-table2"), Order(None, tmp_path / "out", print_line=said.append))
    needs = "it needs sst-5:train, sst-5:dev, sst-5:test"
    why = f"left out, no data folder is named (--data DIR, or HEEDFUL_DATA); {needs}"
    assert said == [f"sst5-own: {why}", f"sst5: {why}"]


def test_settings_with_a_mistake_do_not_get_into_the_command_of_a_table(tmp_path: Path) -> None:
    wrong = tiny.run("reproduce", "mtsa-table5", "--no-run", "--out", tmp_path, "--set", "train.epoch=3")
    assert (wrong.code, "train.epoch: unknown setting; did you mean 'epochs'?" in wrong.err) == (2, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--list", "--rows", "nosuch"), "--rows: name the TABLE it is for"),
        (("--no-run",), "--no-run: name the TABLE it is for"),
        (
            ("mtsa-figure1", "--seeds", "1"),
            "--seeds: mtsa-figure1 is made by another command, which takes none of it",
        ),
        (("mtsa-figure1", "--set", "a=1"), "--set: mtsa-figure1 is made by another command"),
        (("mtsa-figure1", "--data", "."), "--data: mtsa-figure1 is made by another command"),
        (("mtsa-figure1", "--json"), "--json: mtsa-figure1 is made by another command"),
    ],
)
def test_options_that_would_be_ignored_are_refused(words: tuple[str, ...], message: str) -> None:
    told = tiny.run("reproduce", *words)
    assert (told.code, told.out, message in told.err) == (2, "", True), told.err


def test_runs_of_other_settings_are_left_out_and_named(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "runs", "ours", (9, 10))
    changed = Budget(overrides=("model.dropout=0.15",))
    result = gather(TABLE, changed, tmp_path / "runs")
    assert not result.runs
    said: list[str] = []
    make(TABLE, Order(declared, tmp_path, changed, run=False, print_line=said.append))
    assert "train.seed=1.json: left out, it was made with other settings" in said[0]
    assert "4 of 4 runs are not in" in said[-1]


def test_a_cell_with_one_of_its_runs_is_not_done(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "runs", "ours", (9,))
    write(tmp_path / "runs", "other", (5, 6))
    said: list[str] = []
    made = make(TABLE, Order(declared, tmp_path, run=False, print_line=said.append))
    assert said == [
        f"1 of 4 runs are not in {tmp_path / 'runs'} yet: about 1 minutes on one core; leave --no-run out to make them"
    ]
    text = made.markdown.read_text()
    assert "**90.0**, n 1 (+10.0)" in text
    assert "a tiny set: seeds 1, 2; named files; " in text
    (tmp_path / "runs" / "standard" / "tiny" / "other" / "train.seed=2.json").unlink()
    text = to_markdown(gather(TABLE, Budget(), tmp_path / "runs"), "")
    assert "a tiny set: seeds 1 of 1, 2 (the others are not finished); named files; " in text


def test_seeds_leave_columns_of_folds_as_they_are(
    declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_folds = replace(runner.experiments()["tiny"], seeds=(), folds=3)
    for module in (runner, gathering):
        monkeypatch.setattr(module, "experiments", lambda: {"tiny": in_folds})
    cells = {cell.system.name: cell for cell in runner.plan_cells(TABLE, Budget(seeds=(7,), folds=2))}
    assert cells["ours"].runs == (Varied(FOLD, 1), Varied(FOLD, 2))
    folder = tmp_path / cells["ours"].folder
    folder.mkdir(parents=True)
    for fold in (1, 2, 3):
        changes = [*cells["ours"].changes, "data.folds=3", f"data.fold={fold}"]
        settings = plain_settings(load_config(in_folds.recipe, changes))
        kept = replace(record("ours", 1, 4 + fold), settings=settings, varied=Varied(FOLD, fold))
        write_record(tmp_path, "ours", kept)
    found = gather(TABLE, Budget(seeds=(7,)), tmp_path)
    assert found.figure(ROWS[0], COLUMN).values == (50.0, 60.0, 70.0)
    two = gather(TABLE, Budget(folds=2), tmp_path)
    assert two.figure(ROWS[0], COLUMN).values == (50.0, 60.0)


def test_a_narrowed_table_has_its_own_files_and_command(declared: Path, tmp_path: Path) -> None:
    write(tmp_path / "runs", "ours", (9, 10))
    write(tmp_path / "runs", "other", (5, 6))
    whole = make(TABLE, Order(declared, tmp_path, run=False))
    before = whole.markdown.read_text()
    made = make(narrow(TABLE, ["ours"], ["t"]), Order(declared, tmp_path, Budget(folds=2), run=False))
    assert made.markdown.name == "tiny-table1-part.md"
    text = made.markdown.read_text()
    assert "heedful reproduce tiny-table1 --data DIR --folds 2 --rows ours --columns t\n" in text
    assert "| Other |" not in text
    assert whole.markdown.read_text() == before


def test_p_belongs_to_the_figure_that_was_tested(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 10))
    write(tmp_path, "other", (2, 2))
    size = replace(COLUMN, key="size", head="size", figure="parameters", scale=1.0)
    records = to_records(gather(replace(TABLE, columns=(COLUMN, size)), Budget(), tmp_path))
    found = {(one["row"], one["column"]): one["p"] for one in records}
    assert found["Other", "t"] < 0.01
    assert found["Other", "size"] is None
    assert found["Ours", "t"] is None


def test_a_column_of_other_data_has_its_gap_to_the_papers(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 10))
    cited = replace(COLUMN, experiment="")
    part = replace(COLUMN, key="part", head="TINY, a part", against="t")
    result = gather(replace(TABLE, columns=(cited, part)), Budget(), tmp_path)
    text = to_markdown(result, "")
    assert "| Ours | 80.0 (0.4) | **95.0** ± 7.1 (+15.0) |" in text
    assert (
        "- TINY, a part: the difference in brackets is from the paper's TINY, which has other data or another protocol."
        in text
    )
    found = {(one["row"], one["column"]): one for one in to_records(result)}
    assert (found["Ours", "part"]["gap"], found["Ours", "part"]["gap_to"]) == (15.0, "t")
    assert found["Ours", "t"]["gap"] is None


def test_files_say_which_data_versions_and_counters(declared: Path, tmp_path: Path) -> None:
    for seed, right in ((1, 9), (2, 10)):
        counted = with_test_figures(record("ours", seed, right), signatures={"bleu": "tok:13a|version:2"})
        write_record(tmp_path, "ours", counted)
    result = gather(TABLE, Budget(), tmp_path)
    text = to_markdown(result, "")
    sums = hashlib.sha256(f"{'0' * 64}  file".encode()).hexdigest()[:12]
    assert f"Data: 1 file, sum {sums}." in text
    assert "- bleu: tok:13a|version:2." in text
    (row, *_) = csv.DictReader(to_csv(result).splitlines())
    assert row["data"] == f"file={'0' * 64}"
    assert "torch=1" in row["versions"]
    assert to_records(result)[0]["signatures"] == {"bleu": "tok:13a|version:2"}


def test_a_table_names_the_commits_that_its_runs_recorded(declared: Path, tmp_path: Path) -> None:
    def measured() -> str:
        text = make(TABLE, Order(declared, tmp_path, run=False)).markdown.read_text()
        (line,) = [line for line in text.splitlines() if line.startswith("- Measured with")]
        return line.removeprefix("- Measured with heedful 0, torch 1, Python 2, 3")

    write(tmp_path / "runs", "ours", [9, 8])
    assert measured() == "."
    first = record("ours", 1, 9)
    write_record(
        tmp_path / "runs", "ours", replace(first, machine={**first.machine, "commit": "0123456789ab"})
    )
    assert measured() == "; commit 0123456789ab, other runs did not record theirs."
    second = record("ours", 2, 8)
    write_record(
        tmp_path / "runs", "ours", replace(second, machine={**second.machine, "commit": "ab-changed"})
    )
    assert measured() == "; commit 0123456789ab, ab-changed."


def test_a_table_made_by_another_command_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def stand_in(words: list[str]) -> int:
        ran.append(words)
        return 6 * (len(ran) - 1)  # the second one fails

    monkeypatch.setattr(command_process, "run_words", stand_in)
    assert tiny.run("reproduce", "mtsa-figure1", "--out", tmp_path / "out").code == 0
    assert ran[0] == [
        *("bench", "--full", "--out", str(tmp_path / "out")),
        *("--figure", str(tmp_path / "out" / "mtsa-figure1.png")),
    ]
    told = tiny.run("reproduce", "mtsa-figure1", "--out", tmp_path / "out")
    assert (told.code, "failed; see above" in told.err) == (6, True)
    (tmp_path / "t.csv").write_text("mine")
    told = tiny.run("reproduce", "mtsa-figure1", "--out", tmp_path / "t.csv")
    assert (told.code, "t.csv is a file, not a folder" in told.err) == (6, True)
    assert len(ran) == 2


def test_the_scoreboard_reads_the_folder_of_data_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(command_process, "run_words", lambda words: ran.append(words) or 0)
    assert tiny.run("reproduce", "users-choice", "--out", tmp_path / "out", "--data", tmp_path).code == 0
    assert ran[0][0] == "baselines"
    assert ran[0][-4:] == ["--out", str(tmp_path / "out"), "--data", str(tmp_path)]


def test_the_command_line_lists_narrows_and_prints_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    shown = tiny.run("reproduce", "--list", "--out", tmp_path).out
    assert "needs trec:train, trec:test" in shown
    assert " runs made; on one core about " in shown
    records = tiny.run("reproduce", "--list", "--out", tmp_path, "--json").json()
    by_name = {one["table"]: one for one in records}
    assert by_name["mtsa-figure1"]["made_by"].startswith("heedful bench")
    assert by_name["disan-table4"]["needs"] == {
        "sick-r:train": False,
        "sick-r:dev": False,
        "sick-r:test": False,
    }
    assert by_name["disan-table4"]["runs"] >= 1
    wrong = tiny.run("reproduce", "--list", "--budget", "smal")
    assert (wrong.code, "did you mean 'small'" in wrong.err) == (2, True)
    nowhere = tiny.run("reproduce", "mtsa-table5", "--data", tmp_path / "nowhere")
    assert (nowhere.code, "which is not a folder" in nowhere.err) == (2, True)
    words = ("reproduce", "mtsa-table5", "--no-run", "--rows", "MTSA", "--columns", "trec", "--out", tmp_path)
    found = tiny.run(*words, "--seeds", "1,2", "--folds", "2", "--json", "--quiet").json()
    assert [(one["row"], one["column"], one["paper"]) for one in found] == [("MTSA", "trec", "95.3 (0.3)")]
    written = (tmp_path / "mtsa-table5-part.md").read_text(encoding="utf-8")
    assert "--data DIR --seeds 1,2 --folds 2 --rows MTSA --columns trec" in written
    twice = tiny.run(*words, "--seeds", "1,1")
    assert (twice.code, "name each seed once" in twice.err) == (2, True)


def test_a_row_whose_name_has_a_comma_is_chosen_by_its_name(tmp_path: Path) -> None:
    name = "Decomposable attention, intra-sentence"
    words = ("reproduce", "systems-snli", "--no-run", "--out", tmp_path, "--quiet")
    assert name in tiny.run(*words, "--rows", name).out
    assert tiny.run(*words, "--rows", f"{name}, other").code == 2


@pytest.mark.parametrize(("asked", "only"), [(3, 3), (12, 10)])
def test_no_more_folds_are_run_than_there_are(asked: int, only: int) -> None:
    cell = Cell(experiments()["cr"], systems()["disan"], Budget(folds=asked))
    assert len(cell.runs) == only
    assert cell.arguments()[2:6] == ["--folds", "10", "--only", str(only)]


def test_a_table_says_which_data_its_experiments_lack(tmp_path: Path) -> None:
    made = make(find_table("disan-table2"), Order(tmp_path, tmp_path / "out", run=False))
    lacks = "the data folder lacks sst-5:train, sst-5:dev, sst-5:test"
    assert f"- Experiments without runs: sst5-own ({lacks}), sst5 ({lacks})." in made.markdown.read_text(
        encoding="utf-8"
    )


def test_a_table_by_sentence_length_is_drawn_too(
    declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = with_test_figures(record("ours", 1, 9), by_length={"0-5": {"accuracy": 0.9, "count": 10}})
    write_record(tmp_path / "runs", "ours", kept)
    table = replace(TABLE, columns=(replace(COLUMN, figure="test.by_length.0-5.accuracy"),), rows=ROWS[:1])
    said: list[str] = []
    make(table, Order(declared, tmp_path, run=False, print_line=said.append))
    assert said[-1] == f"drawn in {tmp_path / 'tiny-table1.png'}"
    assert (tmp_path / "tiny-table1.png").read_bytes().startswith(b"\x89PNG")

    def absent(*_: object) -> Path:
        raise MissingExtraError("matplotlib", "figures", "Drawing")

    monkeypatch.setattr(making, "draw_by_length", absent)
    make(table, Order(declared, tmp_path, run=False, print_line=said.append))
    assert said[-1].startswith("not drawn: Drawing needs matplotlib")


def test_a_part_that_a_run_has_not_leaves_its_figure_empty(declared: Path, tmp_path: Path) -> None:
    kept = with_test_figures(record("ours", 1, 9), by_length={"0-5": {"accuracy": 0.9, "count": 10}})
    write_record(tmp_path, "ours", kept)
    write_record(tmp_path, "ours", record("ours", 2, 9))
    columns = [
        replace(COLUMN, key=name, figure=f"test.by_length.{name}.accuracy") for name in ("0-5", "6-10")
    ]
    result = gather(replace(TABLE, columns=tuple(columns)), Budget(), tmp_path)
    assert [result.figure(ROWS[0], column).values for column in columns] == [(90.0,), ()]
    wrong = replace(COLUMN, figure="test.metrics.f1")
    with pytest.raises(ArtifactError, match=r"ours on tiny: train\.seed=1, train\.seed=2 has no figure"):
        result.figure(ROWS[0], wrong)


def test_a_run_that_went_on_in_another_process_has_no_figure_of_memory(
    declared: Path, tmp_path: Path
) -> None:
    write_record(tmp_path, "ours", replace(record("ours", 1, 9), peak_megabytes=None))
    memory = replace(COLUMN, key="memory", figure="peak_megabytes", scale=1.0, digits=0)
    result = gather(replace(TABLE, columns=(memory, COLUMN)), Budget(), tmp_path)
    assert result.figure(ROWS[0], memory).values == ()
    assert result.figure(ROWS[0], COLUMN).values == (90.0,)
    write_record(tmp_path, "ours", record("ours", 2, 9))
    result = gather(replace(TABLE, columns=(memory, COLUMN)), Budget(), tmp_path)
    assert result.figure(ROWS[0], memory).values == (102.0,)
    to_markdown(result, "the command")


def test_peaks_are_of_runs_in_one_go(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 9))
    write_record(tmp_path, "ours", replace(record("ours", 2, 9), peak_megabytes=None))
    on_gpu = replace(record("other", 1, 9), peak_megabytes=None, peak_gpu_megabytes=7)
    write_record(tmp_path, "other", on_gpu)
    result = gather(TABLE, Budget(), tmp_path)
    text = to_markdown(result, "")
    assert "| Ours | 1,234, 1.5, 0.5, 101 |" in text
    assert "| Other | 1,234, 1.5, 0.5, ? + 7 GPU |" in text
    found = {one["row"]: one for one in to_records(result)}
    assert (found["Ours"]["peak_megabytes"], found["Other"]["peak_megabytes"]) == (101, None)
    assert found["Other"]["peak_gpu_megabytes"] == 7


def test_a_table_says_which_experiments_its_budget_has_and_which_not(tmp_path: Path) -> None:
    text = to_markdown(gather(find_table("mtsa-table5"), Budget("published"), tmp_path), "")
    has = "cr-paper-own, mpqa-paper-own, subj-paper-own, trec-paper-own, trec-own, sst5-own, sst5"
    assert f"\n- Experiments without runs: {has}.\n" in text
    lacks = "cr-paper, cr-own, cr, mpqa-paper, mpqa-own, mpqa, subj-paper, subj-own, subj, trec-paper, trec"
    assert f"\n- Experiments without a budget published: {lacks}.\n" in text
    standard = to_markdown(gather(find_table("mtsa-table5"), Budget(), tmp_path), "")
    assert "Experiments without a budget" not in standard
