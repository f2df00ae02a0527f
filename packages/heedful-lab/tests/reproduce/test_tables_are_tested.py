"""What a table says of its differences: which runs and figures are compared, and what is printed of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import ArtifactError
from heedful.evaluation import paired_bootstrap
from heedful.evaluation.significance import describe_p
from heedful.run.kept_answers import Answers
from heedful_lab.reproduce.cell_runs import Figure, comparable, compare, gather
from heedful_lab.reproduce.listing import lacking
from heedful_lab.reproduce.plan import (
    SKIP,
    Effort,
    Experiment,
    OwnRecipe,
    Row,
    System,
    experiments,
    find_table,
)
from heedful_lab.reproduce.runner import Budget, Cell, command_of
from heedful_lab.reproduce.table_records import to_records
from heedful_lab.reproduce.table_text import matrices, pairwise, to_markdown
from made_runs import COLUMN, ROWS, SYSTEMS, TABLE, answered, record, write, write_record

SUM = hashlib.sha256(f"{'0' * 64}  file".encode()).hexdigest()[:12]
"""Of the data of made runs."""


def test_all_pairs_share_holms_level(declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "third", System("third", (), {}))
    for system, wrong in (("ours", 0), ("other", 4), ("third", 5)):
        answers = Answers("classes", np.ones(40, np.int64), (np.arange(40) >= wrong).astype(np.int64))
        write_record(tmp_path, system, replace(record(system, 1, 0), answers=answers))
    rows = tuple(Row(name, name.lower(), {}, "") for name in ("Ours", "Other", "Third"))
    result = gather(replace(TABLE, rows=rows, pairwise=True), Budget(), tmp_path)
    alone = {}
    for first, second in combinations([row.name for row in rows], 2):
        test = compare(result.runs["tiny", first.lower()], result.runs["tiny", second.lower()])
        assert test.p is not None
        alone[first, second] = test.p
    least, next_, _ = sorted(alone, key=lambda pair: alone[pair])
    found = pairwise(result, "tiny")
    assert found[least][1] == pytest.approx(min(1, 3 * alone[least]))
    assert found[next_][1] == pytest.approx(max(3 * alone[least], 2 * alone[next_]))


@pytest.mark.parametrize(
    ("points", "p", "text"),
    [(1.26, 0.049, "**+1.3**"), (1.26, 0.05, "+1.3"), (-0.04, 0.9, "+0.0")],
)
def test_bold_is_below_five_per_cent(
    declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: float, p: float, text: str
) -> None:
    write(tmp_path, "ours", (9,))
    write(tmp_path, "other", (8,))
    both = {("Ours", "Other"): (points, p), ("Other", "Ours"): (-points, p)}
    monkeypatch.setattr("heedful_lab.reproduce.table_text.pairwise", lambda *_: both)
    (matrix,) = matrices(gather(TABLE, Budget(), tmp_path))
    assert f"| Ours |  | {text} |" in matrix


@pytest.mark.parametrize(
    ("paper", "gap"),
    [(".8695 (.0012)", 0.0305), ("95.3 (0.3)", -94.4), ("-1.5", 2.4), ("208MB", -207.1)],
)
def test_a_gap_reads_the_papers_first_number(paper: str, gap: float) -> None:
    assert Figure((0.9,), paper).gap == pytest.approx(gap)
    assert Figure((0.9,), "").gap is None


def test_folds_are_put_one_after_the_other() -> None:
    runs = answered("cr", "text", ([0, 1, 1], [0, 1, 1]), ([1, 0], [0, 0]))
    assert runs.answers()[1].tolist() == [1, 1, 1, 0, 1]


def test_only_folds_that_both_have_run_are_compared() -> None:
    three = answered("cr", "text", ([0, 1], [0, 1]), ([1, 1, 1], [0, 0, 0]), ([0, 0], [0, 1]))
    two = answered("cr", "text", ([0, 1], [1, 1]), ([0, 0], [0, 0]), folds=(1, 3))
    found = compare(three, two)
    assert (found.n, found.second, found.first) == (4, 0.75, 0.75)


def test_runs_with_no_fold_in_common_are_not_compared() -> None:
    first, second = (answered("cr", "text", ([0, 1], [0, 1]), folds=(fold,)) for fold in (1, 2))
    assert comparable(first, first)
    assert not comparable(first, second)


def test_runs_on_other_data_are_not_compared_and_the_table_says_so(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 9))
    assert f"Data: 1 file, sum {SUM}." in to_markdown(gather(TABLE, Budget(), tmp_path), "")
    write_record(tmp_path, "other", replace(record("other", 1, 2), data={"file": "1" * 64}))
    result = gather(TABLE, Budget(), tmp_path)
    assert not list(result.tested())
    text = to_markdown(result, "")
    assert "the runs were made from different data, sums " in text
    assert SUM in text


def test_answers_to_other_examples_are_refused() -> None:
    first = answered("trec", "text", ([0, 1, 2, 0], [0, 1, 2, 0]))
    for gold in ([2, 2, 2, 2], [0, 1, 2]):
        with pytest.raises(ArtifactError, match="answered other examples; run one of them again"):
            compare(first, answered("trec", "text", (gold, gold)))


def test_scores_are_compared_by_the_mean_pearson_of_their_runs() -> None:
    gold = [1.0, 2.0, 3.0, 4.5]
    one, two, three = ([1.0, 2.5, 3.0, 4.0], [2.0, 1.0, 3.5, 4.5], [3.0, 1.0, 2.0, 4.0])
    both = answered("sick", "relatedness", (gold, one), (gold, two))
    found = compare(both, answered("sick", "relatedness", (gold, three)))
    assert found.second == pytest.approx(np.mean([np.corrcoef(gold, run)[0, 1] for run in (one, two)]))
    assert found.first == pytest.approx(np.corrcoef(gold, three)[0, 1])
    assert both.tested == "pearson"


def test_a_system_with_more_runs_is_not_the_better_one_for_that() -> None:
    random = np.random.default_rng(0)
    gold = random.normal(size=400)
    noisy = [(gold.tolist(), (gold + random.normal(size=400)).tolist()) for _ in range(4)]
    found = compare(answered("sick", "relatedness", *noisy[:3]), answered("sick", "relatedness", noisy[3]))
    assert abs(found.difference) < 0.06  # Pearson of the mean answer of three runs is 0.16 higher
    assert found.p is not None
    assert found.p > 0.05


def test_classes_of_one_run_are_tested_as_accuracy_is() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 3, 60)
    one, other = (np.where(random.random(60) < share, gold, (gold + 1) % 3) for share in (0.7, 0.6))
    kept = [answered("trec", "text", (gold.tolist(), answer.tolist())) for answer in (one, other)]
    found, plain = compare(*kept), paired_bootstrap("accuracy", gold, other, one)
    assert (found.p, found.difference) == (plain.p, pytest.approx(plain.difference))
    assert found.interval is not None
    assert plain.interval is not None
    assert found.interval.low == pytest.approx(plain.interval.low)
    assert found.interval.high == pytest.approx(plain.interval.high)


def test_the_grid_of_tests_is_in_points(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 9))
    write(tmp_path, "other", (2, 2))
    result = gather(TABLE, Budget(), tmp_path)
    ((_, _, test),) = result.tested()
    assert test.interval is not None
    low, high = 100 * test.interval.low, 100 * test.interval.high
    assert low < -70 < high < 0
    printed = f"| Other | -70.00 [{low:+.2f}, {high:+.2f}], {describe_p(test.p)} |"
    assert printed in to_markdown(result, "")
    assert [one["p"] for one in to_records(result)] == [None, test.p, None]


def test_systems_without_kept_answers_are_not_tested(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", (9, 9))
    write(tmp_path, "other", (2, 2))
    write_record(tmp_path, "other", replace(record("other", 2, 2), answers=None))
    result = gather(replace(TABLE, pairwise=True, rows=ROWS[:2]), Budget(), tmp_path)
    assert list(result.tested()) == []
    assert pairwise(result, "tiny") == {}


def test_what_a_cell_runs() -> None:
    small = {"standard": Effort((), 1.0), "small": Effort(("d=4", "e=4"), 1.0)}
    experiment = Experiment("e", "", "disan-trec", tuple(f"{key}=1" for key in "abcde"), small, (1, 2), 0, ())
    system = System("s", ("b=2", "c=2", "d=2", "e=2"), {"text": ("c=3", "d=3", "e=3"), "pair": ("a=9",)})
    cell = Cell(experiment, system, Budget("small", seeds=(7, 8), overrides=("e=5",)))
    assert dict(change.split("=") for change in cell.changes) == dict(zip("abcde", "12345", strict=True))
    words = cell.arguments()
    assert words[:4] == ["study", "disan-trec", "--seeds", "7,8"]
    assert words[4:] == [word for change in cell.changes for word in ("--set", change)]
    assert Cell(experiment, system, Budget("small")).arguments()[2:4] == ["--seeds", "1,2"]
    folded = replace(experiment, seeds=(), folds=10)
    assert Cell(folded, system, Budget("small")).arguments()[2:5] == ["--folds", "10", "--set"]
    assert Cell(folded, system, Budget("small", folds=3)).arguments()[2:6] == ["--folds", "10", "--only", "3"]


def test_a_system_runs_in_its_own_recipe_where_the_experiment_names_one() -> None:
    own = {
        "s": OwnRecipe("mtsa-trec", ("b=2",)),
        "family": OwnRecipe("", ("b=3",)),
        "others": OwnRecipe("", ()),
    }
    spent = {"standard": Effort((), 10.0), "long": Effort(("c=1",), 50.0, {"s": Effort(("c=2",), 7.0)})}
    experiment = Experiment("e", "", "disan-trec", ("a=1", "b=1"), spent, (1,), 0, (), own)

    def cell(system: System, budget: str) -> Cell:
        return Cell(experiment, system, Budget(budget))

    named, kin, other = System("s", (), {}, 2.0), System("t", (), {}, 2.0, "family"), System("u", (), {}, 2.0)
    assert [cell(one, "long").recipe for one in (named, kin, other)] == [
        "mtsa-trec",
        "disan-trec",
        "disan-trec",
    ]
    assert cell(named, "long").changes == ["a=1", "b=1", "b=2", "c=2"]
    assert cell(kin, "long").changes == ["a=1", "b=1", "b=3", "c=1"]
    assert cell(other, "long").changes == ["a=1", "b=1", "c=1"]
    assert [cell(one, "long").minutes for one in (named, kin)] == [7.0, 100.0]
    assert cell(named, "standard").minutes == 20.0


def test_only_what_is_absent_is_lacking(tmp_path: Path) -> None:
    (tmp_path / "trec").mkdir()
    (tmp_path / "trec" / "TREC_10.label").write_text("NUM:dist How far ?\n", encoding="utf-8")
    trec = experiments()["trec"]
    assert set(lacking(trec, tmp_path)) == set(trec.needs) - {"trec:test"}


def test_a_column_is_test_accuracy_in_per_cent_unless_it_says_otherwise() -> None:
    column = next(column for column in find_table("mtsa-table5").columns if column.key == "trec")
    assert (column.figure, column.scale, column.digits) == ("test.metrics.accuracy", 100.0, 1)


def test_some_tables_test_every_pair() -> None:
    assert [find_table(name).pairwise for name in ("systems-real", "systems-snli", "mtsa-table5")] == [
        True,
        True,
        False,
    ]


def test_seeds_come_in_the_order_of_the_command(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "ours", range(1, 11))
    found = gather(TABLE, Budget(seeds=(10, 2, 1)), tmp_path).figure(ROWS[0], COLUMN)
    assert found.values == (100.0, 20.0, 10.0)


def test_a_column_that_a_row_skips_is_not_run() -> None:
    rows = (Row("A", "ours", {}, ""), Row("B", "other", {"t": SKIP}, ""))
    assert replace(TABLE, rows=rows).cells() == (("tiny", "ours"),)


def test_the_command_repeats_what_was_asked() -> None:
    assert command_of(TABLE, Budget("small", (1, 2), 3, ("a=1",))) == (
        "heedful reproduce tiny-table1 --data DIR --budget small --seeds 1,2 --folds 3 --set a=1"
    )
