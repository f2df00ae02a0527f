"""Every row is the model that it names: built, it counts what the papers print, to the rounding printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
import torch

from heedful.models import ModelConfig
from heedful.run.recipe_files import load_config
from heedful.run.run import count_parameters
from heedful.tasks import build_network
from heedful.workshop.reproduce.plan import experiments, tables
from heedful.workshop.reproduce.runner import Budget, Cell, plan_cells

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
    "embedding-source2token": 541_803,
    "hierarchical-cnn": 3_424_203,
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
UNITS = {"k": 10**3, "m": 10**6}


@cache
def size(settings: str) -> int:
    model = MODELS[settings]
    with torch.device("meta"):
        return count_parameters(build_network(model, torch.empty(9, model.width)))


MODELS: dict[str, ModelConfig] = {}


def built(cell: Cell) -> int | None:
    """Count a cell's network on three classes; None unless it reads pairs, of which the papers print sizes."""
    model = replace(load_config(cell.recipe, cell.changes).model, outputs=3)
    MODELS[repr(model)] = model
    return size(repr(model)) if model.task == "pair" else None


def cells() -> Iterator[tuple[str, Cell]]:
    for name, table in tables().items():
        for budget in {key for one in table.experiments() for key in experiments()[one].budgets}:
            yield from ((name, cell) for cell in plan_cells(table, Budget(budget)))


@cache
def found() -> dict[str, dict[str, set[int]]]:
    """Build every row of every table in every experiment and budget: table, then system, to the sizes it has."""
    sizes: dict[str, dict[str, set[int]]] = {}
    for name, cell in cells():
        count = built(cell)
        if count is not None:
            sizes.setdefault(name, {}).setdefault(cell.system.name, set()).add(count)
    return sizes


def rounded(count: int, printed: str) -> str:
    """Write a count as the paper does: as many digits, the same unit."""
    number, unit = re.fullmatch(r"([\d.]+)([mMkK])", printed).groups()  # type: ignore[union-attr]
    digits = len(number.partition(".")[2])
    return f"{count / UNITS[unit.lower()]:.{digits}f}{unit}"


AGAIN = {("mssan-table1", "disan"): "2.35m"}
"""Where a paper rounds what another has rounded: MS-SAN's prints DiSAN's 2.35m as 2.4m."""
PRINTED = [
    (name, row.system, AGAIN.get((name, row.system), row.paper["size"]))
    for name, table in tables().items()
    for row in table.rows
    if row.system and row.paper.get("size")
]


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
    assert {rounded(count, printed) for count in found()[table][system]} == {printed}


@pytest.mark.parametrize("system", EXACT)
def test_a_system_on_pairs_counts_to_the_unit(system: str) -> None:
    everywhere = {count for systems in found().values() for count in systems.get(system, ())}
    assert everywhere == {EXACT[system]}
