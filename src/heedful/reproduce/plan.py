"""What there is to reproduce, read from the TOML files of this package.

``experiments.toml``: data, recipe, seeds or folds. ``systems.toml``: the settings that make a recipe another system.
``tables/*.toml``: rows (systems, and what the paper printed) by columns (experiments, and which figure of them).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from heedful.errors import UsageError, nearest
from heedful.reproduce.pairs import Examples, read_examples

_FOLDER = resources.files("heedful.reproduce")


@dataclass(frozen=True)
class Effort:
    """What a budget means for an experiment.

    Attributes:
        settings: ``key=value`` settings on top of the experiment's.
        minutes: of one run of DiSAN on one core, as measured when it was written down.
    """

    settings: tuple[str, ...]
    minutes: float


@dataclass(frozen=True)
class Experiment:
    """One recipe on one data set, with the seeds or folds that are averaged.

    Attributes:
        name: its key.
        title: what it is, for a reader.
        recipe: packaged recipe it starts from.
        settings: ``key=value`` settings on top.
        budgets: budget name to what it means; "standard" is always there.
        seeds: default seeds; empty where folds are averaged.
        folds: folds of cross-validation; 0 where seeds are averaged.
        needs: data sets of the catalogue with the splits that are read, as ``set:split``.
    """

    name: str
    title: str
    recipe: str
    settings: tuple[str, ...]
    budgets: Mapping[str, Effort]
    seeds: tuple[int, ...]
    folds: int
    needs: tuple[str, ...]


@dataclass(frozen=True)
class System:
    """A model by the settings that make it.

    Attributes:
        name: its key.
        settings: ``key=value`` settings.
        per_experiment: experiment name to further settings.
        cost: time of a pass, in DiSAN's.
    """

    name: str
    settings: tuple[str, ...]
    per_experiment: Mapping[str, tuple[str, ...]]
    cost: float = 1.0


@dataclass(frozen=True)
class Column:
    """One figure of an experiment.

    Attributes:
        key: what rows call it.
        head: its heading.
        experiment: key of the experiment; empty for a column that only cites.
        figure: dotted path into the summary of a run.
        scale: what the figure is multiplied by: 100 for per cent.
        digits: after the point.
        against: key of the column with the paper's figures that the gap is taken to, where training data or
            protocol are not the paper's; empty for the column's own.
    """

    key: str
    head: str
    experiment: str
    figure: str
    scale: float
    digits: int
    against: str = ""


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        name: as the paper prints it.
        system: key of the system; empty for a row the paper itself took from elsewhere.
        paper: column key to what the paper printed.
        note: what differs from the paper's row.
    """

    name: str
    system: str
    paper: Mapping[str, str]
    note: str


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes:
        name: its key, for example "mtsa-table5".
        title: paper, number and subject.
        columns: the figures.
        rows: the lines.
        compare: name of the row that the others are tested against; empty for no test.
        notes: sentences below the table.
        command: where another command makes it: that command; it has neither rows nor columns then.
        missing: why it cannot be made from public data; empty where it can.
        examples: the pairs of a table of examples, which has neither rows nor columns; None elsewhere.
        pairwise: whether every row is also tested against every other.
        narrowed: words of the command that left rows or columns out.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    compare: str
    notes: tuple[str, ...]
    command: str
    missing: str
    examples: Examples | None = None
    pairwise: bool = False
    narrowed: tuple[str, ...] = ()

    def experiments(self) -> tuple[str, ...]:
        """Return the keys of the experiments, each once, in order."""
        return tuple(dict.fromkeys(column.experiment for column in self.columns if column.experiment))

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return what has to be run: pairs of experiment and system, each once."""
        return tuple(
            dict.fromkeys(
                (column.experiment, row.system)
                for column in self.columns
                for row in self.rows
                if column.experiment and row.system and row.paper.get(column.key) != SKIP
            )
        )


SKIP = "skip"
"""What a row says of a column that does not apply to it."""
_PAPERS = ("disan", "mtsa", "mssan", "mdman", "decomposable", "systems")


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def experiments() -> dict[str, Experiment]:
    """Read the experiments."""
    return {
        name: Experiment(
            name,
            table["title"],
            table["recipe"],
            tuple(table.get("set", ())),
            {
                "standard": Effort((), table["minutes"]),
                **{
                    key: Effort(tuple(effort["set"]), effort["minutes"])
                    for key, effort in table.get("budgets", {}).items()
                },
            },
            tuple(table.get("seeds", ())),
            table.get("folds", 0),
            tuple(table.get("needs", ())),
        )
        for name, table in _toml("experiments.toml").items()
    }


@cache
def systems() -> dict[str, System]:
    """Read the systems."""
    return {
        name: System(
            name,
            tuple(table["set"]),
            {key: tuple(value) for key, value in table.get("on", {}).items()},
            table.get("cost", System.cost),
        )
        for name, table in _toml("systems.toml").items()
    }


@cache
def tables() -> dict[str, Table]:
    """Read the tables, paper by paper."""
    files = {
        item.name.removesuffix(".toml"): item
        for item in (_FOLDER / "tables").iterdir()
        if item.name.endswith(".toml")
    }
    order = sorted(files, key=lambda name: (_PAPERS.index(name.split("-")[0]), name))
    return {name: _table(name, tomllib.loads(files[name].read_text(encoding="utf-8"))) for name in order}


def find_table(name: str) -> Table:
    """Return a table by name.

    Args:
        name: its key.

    Returns:
        The table.

    Raises:
        UsageError: if there is none of this name; gives the nearest.
    """
    known = tables()
    if name not in known:
        raise UsageError(
            f"there is no table {name!r}: {nearest(name, list(known))}; 'heedful reproduce --list' shows all"
        )
    return known[name]


def _table(name: str, source: Mapping[str, Any]) -> Table:
    columns = tuple(
        Column(
            column["key"],
            column["head"],
            column.get("experiment", ""),
            column.get("figure", "test.metrics.accuracy"),
            column.get("scale", 100.0),
            column.get("digits", 1),
            column.get("against", ""),
        )
        for column in source.get("columns", ())
    )
    rows = tuple(
        Row(row["name"], row.get("system", ""), row.get("paper", {}), row.get("note", ""))
        for row in source.get("rows", ())
    )
    return Table(
        name,
        source["title"],
        columns,
        rows,
        source.get("compare", ""),
        tuple(source.get("notes", ())),
        source.get("command", ""),
        source.get("missing", ""),
        read_examples(source["examples"]) if "examples" in source else None,
        source.get("pairwise", False),
    )
