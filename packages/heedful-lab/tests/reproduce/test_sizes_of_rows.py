"""Every row is the model that it names: built, it counts what the papers print, to the rounding printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import pytest
import torch

from heedful.run.recipe_files import load_config
from heedful.run.run import count_parameters
from heedful.run.run_config import RunConfig
from heedful.tasks import build_network
from heedful_lab.reproduce.plan import experiments, systems, tables
from heedful_lab.reproduce.runner import Budget, Cell, plan_cells
from heedful_lab.translation.translation_task import build_translation, options_of
from printed_sizes import (
    PRINTED,
    READ,
    TAGGERS,
    TRANSLATORS,
    on_grades,
    on_pairs,
    on_roles,
    on_texts,
    on_translation,
    rounded,
)

EXACT = {
    "bi-blosan": 4_148_403,
    "bi-gru": 2_524_203,
    "bi-lstm": 2_884_803,
    "cnn": 1_441_803,
    "decomposable": 381_803,
    "decomposable-intra": 582_214,
    "disan": 2_345_403,
    "disan-no-directions": 2_345_403,
    "distance-san": 4_691_643,
    "embedding-additive": 451_803,
    "embedding-mean": 361_203,
    "embedding-source2token": 541_803,
    "hierarchical-cnn": 3_424_203,
    "mdman": 2_979_006,
    "mssan": 1_803_303,
    "mssan-sep": 3_965_403,
    "mtsa": 2_885_403,
    "mtsa-no-masks": 2_885_403,
    "mtsa-no-modules": 1_803_603,
    "mtsa-no-source2token": 2_524_203,
    "mtsa-no-token2token": 2_525_403,
    "multi-head": 1_982_403,
    "resan": 3_067_205,
}
"""Sizes on SNLI that follow from the papers' equations and published code, layer by layer."""
CLASSES = {"cr": 2, "mpqa": 2, "sst-2": 2, "sst-5": 5, "subj": 2, "trec": 6}
"""Data sets of texts to how many classes they have; those of pairs have three."""
TAGS = 9
"""As many as three roles have; how many the data has is known only where it is."""
PAPERS_ON_TEXTS = {
    ("disan", "sst-5"): 1_806_000,  # 2 blocks of 451,500 + 721,200 + (600 x 300 + 300) + 300 x 5
    ("disan", "trec"): 1_806_300,  # the same, with 300 x 6
    ("mtsa", "sst-5"): 2_165_400,  # 2 heads of 631,200 + 721,200 + (600 x 300 + 300) + 300 x 5
    ("mtsa", "trec"): 2_165_700,  # the same, with 300 x 6
}
PAPERS_ON_GRADES = {
    "disan": 1_986_005,  # 903,000 + 721,200 + (2 x 600 x 300 + 300) + (300 x 5 + 5)
    "mtsa": 2_345_405,  # 1,262,400 + 721,200 + the same
}


@dataclass(frozen=True)
class Built:
    """A row with an experiment and a budget, built: what it counts."""

    table: str
    system: str
    task: str
    data: str
    final_bias: bool
    count: int


def cells() -> Iterator[tuple[str, Cell]]:
    """Return every row of every table in every experiment and budget, and every model that a figure draws."""
    for name, table in tables().items():
        for budget in {key for one in table.experiments() for key in experiments()[one].budgets}:
            yield from ((name, cell) for cell in plan_cells(table, Budget(budget)))
        if trained := table.examples or table.picture:
            experiment = experiments()[trained.experiment]
            for budget in experiment.budgets:
                for system in trained.models.values():
                    yield name, Cell(experiment, systems()[system], Budget(budget))


CONFIGS: dict[str, RunConfig] = {}


@cache
def size(settings: str) -> int:
    config = CONFIGS[settings]
    model = config.model
    with torch.device("meta"):
        if model.task == "translation":  # tables of subwords do not count, so any few will do
            return count_parameters(build_translation(model, options_of(model), 9, 9))
        return count_parameters(build_network(model, torch.empty(9, model.width)))


settings_of = cache(load_config)  # many rows have the same settings


def built(table: str, cell: Cell) -> Built:
    config = settings_of(cell.recipe, tuple(cell.changes))
    task, data = config.model.task, config.data.set
    outputs = {"pair": 3, "roles": TAGS, "text": CLASSES.get(data, 0)}.get(task, config.model.outputs)
    config = replace(config, model=replace(config.model, outputs=outputs))
    settings = repr(config.model)
    CONFIGS[settings] = config
    return Built(table, cell.system.name, task, data, config.model.final_bias, size(settings))


@cache
def found() -> tuple[Built, ...]:
    return tuple(dict.fromkeys(built(name, cell) for name, cell in cells()))


def of_task(task: str, system: str) -> list[Built]:
    return [one for one in found() if (one.task, one.system) == (task, system)]


def test_every_row_with_a_system_is_built() -> None:
    trained = [(name, table.examples or table.picture) for name, table in tables().items()]
    drawn = {(name, system) for name, one in trained if one for system in one.models.values()}
    rows = {(name, row.system) for name, table in tables().items() for row in table.rows if row.system}
    assert {(one.table, one.system) for one in found()} == rows | drawn
    assert {one.task for one in found()} == {"pair", "relatedness", "roles", "text", "translation"}
    assert min(one.count for one in found()) > 0


def test_the_tables_that_print_sizes_are_looked_at() -> None:
    assert {name for name, _, _ in PRINTED} == {
        "decomposable-table1",
        "disan-table1",
        "mssan-table1",
        "mssan-table3",
        "mtsa-table1",
        "mtsa-table3",
    }


@pytest.mark.parametrize(("table", "system", "printed"), PRINTED)
def test_a_row_is_as_large_as_the_paper_prints(table: str, system: str, printed: str) -> None:
    assert {rounded(one.count, printed) for one in of_task("pair", system) if one.table == table} == {printed}


@pytest.mark.parametrize("system", EXACT)
def test_a_system_on_pairs_counts_to_the_unit(system: str) -> None:
    assert {one.count for one in of_task("pair", system)} == {EXACT[system]}


@pytest.mark.parametrize("system", [*READ, "decomposable"])
def test_the_equations_give_the_sizes_on_pairs(system: str) -> None:
    assert on_pairs(system) == EXACT[system]


def test_a_row_on_texts_counts_to_the_unit() -> None:
    rows = [one for one in found() if one.task == "text"]
    assert {one.data for one in rows} == set(CLASSES)
    wrong = [
        one for one in rows if one.count != on_texts(one.system, CLASSES[one.data], final_bias=one.final_bias)
    ]
    assert wrong == []


@pytest.mark.parametrize(("system", "data"), PAPERS_ON_TEXTS)
def test_the_published_classifiers_of_texts_have_no_last_bias(system: str, data: str) -> None:
    expected = PAPERS_ON_TEXTS[system, data]
    assert on_texts(system, CLASSES[data], final_bias=False) == expected
    assert {one.count for one in of_task("text", system) if one.data == data} == {expected}


def test_a_row_of_relatedness_counts_to_the_unit() -> None:
    rows = {one.system: one.count for one in found() if one.task == "relatedness"}
    assert rows == {system: on_grades(system) for system in rows}
    assert {system: rows[system] for system in PAPERS_ON_GRADES} == PAPERS_ON_GRADES


def test_a_row_of_roles_counts_to_the_unit() -> None:
    rows = {one.system: one.count for one in found() if one.task == "roles"}
    assert rows == {system: on_roles(system, TAGS) for system in TAGGERS}


def test_a_row_of_translation_counts_to_the_unit() -> None:
    rows = {one.system: one.count for one in found() if one.task == "translation"}
    assert rows == {system: on_translation(system) for system in TRANSLATORS}
