"""The declared tables: every name resolves, every setting is one, and the papers' figures are the papers'."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.data import catalog
from heedful.errors import UsageError
from heedful.models import build
from heedful.run.recipe_files import load_config
from heedful.storage.layout import FOLD, SEED, Varied
from heedful.tasks import TASKS
from heedful_lab.reproduce.listing import lacking, list_tables
from heedful_lab.reproduce.making import narrow
from heedful_lab.reproduce.plan import OTHERS, experiments, find_table, systems, tables
from heedful_lab.reproduce.runner import Budget, Cell, plan_cells

BUDGETS = ("standard", "small")
CELLS = {
    (cell.experiment.name, cell.system.name): cell
    for table in tables().values()
    for cell in plan_cells(table, Budget())
}


def test_every_table_of_the_issue_is_there() -> None:
    wanted = {f"disan-table{k}" for k in range(1, 6)} | {f"mtsa-table{k}" for k in range(1, 7)}
    wanted |= {f"mssan-table{k}" for k in range(1, 5)} | {"mdman-table2", "mdman-table3"}
    wanted |= {f"decomposable-table{k}" for k in range(1, 4)} | {"disan-figure5", "mtsa-figure1"}
    assert wanted <= set(tables())


@pytest.mark.parametrize("name", list(tables()))
def test_names_resolve(name: str) -> None:
    table = tables()[name]
    keys = {column.key for column in table.columns}
    assert len(keys) == len(table.columns)
    for column in table.columns:
        assert not column.experiment or column.experiment in experiments()
    for row in table.rows:
        assert not row.system or row.system in systems()
        assert not row.system or systems()[row.system].family in ("", *systems())
        assert set(row.paper) <= keys
    assert not table.compare or table.compare in [row.name for row in table.rows if row.system]


def test_systems_with_several_seeds_are_tested_pair_by_pair() -> None:
    asked = {name for name, table in tables().items() if table.pairwise}
    assert asked == {"systems-effort", "systems-paper", "systems-real", "systems-snli"}


@pytest.mark.parametrize(("experiment", "system"), list(CELLS))
def test_every_cell_is_a_run_that_can_be_set_up(experiment: str, system: str) -> None:
    words = CELLS[experiment, system].arguments()
    changes = [value for flag, value in itertools.pairwise(words) if flag == "--set"]
    model = load_config(words[1], changes).model
    settings = build.encoder_config(model)
    if model.encoder in build.ENCODERS:
        # The word vectors of translations and roles are narrower than what a text's encoder reads.
        build.ENCODERS[model.encoder][1](model.tagger.projected or model.width, settings)


@pytest.mark.parametrize("name", list(experiments()))
def test_own_recipes_are_of_systems_that_there_are(name: str) -> None:
    one = experiments()[name]
    named = {*one.own, *(key for effort in one.budgets.values() for key in effort.own)}
    assert named <= {*systems(), OTHERS}
    assert name.endswith(("-own", "-effort")) or not one.own
    assert {key for system in systems().values() for key in system.per_task} <= set(TASKS)


@pytest.mark.parametrize("name", list(experiments()))
def test_needs_are_splits_of_the_catalog(name: str) -> None:
    for need in experiments()[name].needs:
        data_set, _, split = need.partition(":")
        assert split in catalog.splits(data_set) or split == "all"
    assert lacking(experiments()[name], None) == experiments()[name].needs


@pytest.mark.parametrize(
    ("table", "row", "column", "printed"),
    [
        ("disan-table1", "DiSAN", "test", "85.62"),
        ("disan-table2", "DiSAN", "test", "51.72"),
        ("disan-table3", "cBoW", "matched", "65.200"),
        ("disan-table3", "DiSAN", "mismatched", "71.402"),
        ("disan-table4", "DiSAN", "pearson", ".8695 (.0012)"),
        ("disan-table5", "DiSAN", "subj", "94.2 (0.6)"),
        ("mtsa-table1", "Multi-CNN", "memory", "208MB"),
        ("mtsa-table3", "w/o source2token", "test", "84.9 (-1.4)"),
        ("mtsa-table4", "MTSA", "wsjf", "84.8"),
        ("mtsa-table5", "MTSA", "trec", "95.3 (0.3)"),
        ("mtsa-table6", "MTSA", "setup1", "24.09"),
        ("mssan-table1", "MS-SAN*", "sst5", "53.5"),
        ("mssan-table2", "+ direction & dp. distance", "test", "86.7"),
        ("mssan-table4", "+ direction & xl pos", "dev", "87.2"),
        ("decomposable-table2", "intra", "E", "92.1"),
    ],
)
def test_figures_are_the_papers(table: str, row: str, column: str, printed: str) -> None:
    found = next(line for line in find_table(table).rows if line.name == row)
    assert found.paper[column] == printed


def test_a_table_can_be_narrowed_and_keeps_its_reference() -> None:
    table = find_table("mtsa-table5")
    small = narrow(table, ["bi-lstm", "SRU"], ["trec", "sst5"])
    assert [row.name for row in small.rows] == ["SRU", "Bi-LSTM", "MTSA"]
    assert [column.key for column in small.columns] == ["trec", "sst5"]
    with pytest.raises(UsageError, match="--rows: there is no 'bi-lstn'; did you mean 'bi-lstm'"):
        narrow(table, ["bi-lstn"], [])
    with pytest.raises(UsageError, match="--columns: there is no 'snli'"):
        narrow(table, [], ["snli"])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no table 'mtsa-table9': did you mean 'mtsa-table"):
        find_table("mtsa-table9")
    with pytest.raises(
        UsageError, match="--budget 'smal': mtsa-table3 has none of that name: did you mean 'small'"
    ):
        plan_cells(find_table("mtsa-table3"), Budget("smal"))
    with pytest.raises(UsageError, match="--budget: there is no 'smal'; did you mean 'small'"):
        list_tables(None, Path("none"), Budget("smal"))


def test_a_run_costs_what_its_system_and_budget_cost() -> None:
    table = narrow(find_table("systems-snli"), [], ["test"])
    cells = {cell.system.name: cell for cell in plan_cells(table, Budget())}
    assert (cells["disan"].minutes, len(cells["disan"].runs)) == (16.0, 2)
    assert cells["mdman"].minutes == pytest.approx(1.8 * 16.0)
    small = plan_cells(table, Budget("small", seeds=(1,)))
    disan = next(cell for cell in small if cell.system.name == "disan")
    assert (disan.minutes, disan.runs) == (9.0, (Varied(SEED, 1),))
    for_folds = plan_cells(narrow(find_table("mtsa-table5"), ["disan"], ["cr-honest-same"]), Budget(folds=2))
    assert {cell.runs for cell in for_folds} == {(Varied(FOLD, 1), Varied(FOLD, 2))}


def test_the_list_counts_the_budget_that_is_asked_for(tmp_path: Path) -> None:
    asked = {
        name: {line.table.name: line for line in list_tables(None, tmp_path, Budget(name))}
        for name in BUDGETS
    }
    small = asked["small"]["mtsa-table3"]
    assert (small.runs, asked["standard"]["mtsa-table3"].runs) == (
        10,
        45,
    )  # 40,000 pairs in the shared recipe alone: 5 rows, 2 seeds
    assert (small.done, small.left) == (0, 0.0)  # no data is named
    assert small.minutes > 0
    assert set(small.needs.values()) == {False}
    assert asked["small"]["systems-scenes"].runs == asked["standard"]["systems-scenes"].runs  # it has but one


def test_a_gap_is_taken_to_a_column_of_the_same_table() -> None:
    for table in tables().values():
        keys = {column.key for column in table.columns}
        assert {column.against for column in table.columns} <= {"", *keys}, table.name


@pytest.mark.parametrize(
    ("experiment", "system", "recipe"),
    [
        ("ewt-srl", "bi-lstm-tagger", "bi-lstm-ewt-srl"),
        ("ewt-srl", "cnn-tagger", "cnn-ewt-srl"),
        ("ewt-srl", "mssan-tagger", "mssan-ewt-srl"),
        ("ewt-srl", "deep-att", "multi-head-ewt-srl"),
        ("multi30k", "mssan-translator", "mssan-multi30k"),
        ("multi30k", "transformer", "transformer-multi30k"),
    ],
)
def test_a_system_of_a_sequence_task_is_its_recipe(experiment: str, system: str, recipe: str) -> None:
    cell = Cell(experiments()[experiment], systems()[system], Budget())
    ours = load_config(cell.experiment.recipe, cell.changes)
    assert replace(ours, name="") == replace(load_config(recipe), name="")
