"""What there is to reproduce, read from the TOML files of this package.

``experiments.toml``: data, recipe, seeds or folds. ``systems.toml``: the settings that make a recipe another system.
``tables/*.toml``: rows (systems, and what the paper printed) by columns (experiments, and which figure of them).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from heedful.errors import UsageError, nearest
from heedful.storage.fields import Fields
from heedful_lab.reproduce.example_pairs import Examples, read_examples
from heedful_lab.reproduce.picture import Picture, read_picture

OTHERS = "others"
"""In the place of a system's name: all systems that an experiment does not name."""
_FOLDER = resources.files("heedful_lab.reproduce")


@dataclass(frozen=True)
class Effort:
    """What a budget means for an experiment.

    Attributes:
        settings: ``key=value`` settings on top of the experiment's.
        minutes: of one run of DiSAN on one core, as measured when it was written down; the most it may take where the
            dev part ends the run.
        own: system or family to what the budget means for it instead; its minutes, where there are any, are its own,
            not DiSAN's.
    """

    settings: tuple[str, ...]
    minutes: float
    own: Mapping[str, Effort] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnRecipe:
    """What a system's own paper changes of an experiment.

    Attributes:
        recipe: packaged recipe in the place of the experiment's; empty for the same.
        settings: ``key=value`` settings on top of the experiment's.
    """

    recipe: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """A setting that the dev split chooses for each system, with the first seed alone.

    Attributes:
        setting: its dotted name, such as "model.dropout".
        values: that are tried, as they are written in settings.
    """

    setting: str
    values: tuple[str, ...]


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
        needs: data sets of the catalog with the splits that are read, as ``set:split``.
        own: system or family to the recipe of its own paper; empty where all systems share one recipe.
        choice: what the dev split chooses for each system; None where nothing is chosen.
    """

    name: str
    title: str
    recipe: str
    settings: tuple[str, ...]
    budgets: Mapping[str, Effort]
    seeds: tuple[int, ...]
    folds: int
    needs: tuple[str, ...]
    own: Mapping[str, OwnRecipe] = field(default_factory=dict)
    choice: Choice | None = None


@dataclass(frozen=True)
class System:
    """A model by the settings that make it.

    Attributes:
        name: its key.
        settings: ``key=value`` settings.
        per_task: task (``model.task`` of a recipe) to further settings, those of its family included.
        cost: time of an epoch, in DiSAN's.
        family: the system whose recipes are its own too; empty for itself.
    """

    name: str
    settings: tuple[str, ...]
    per_task: Mapping[str, tuple[str, ...]]
    cost: float = 1.0
    family: str = ""

    def named_in(self, own: Mapping[str, object]) -> str:
        """Return by which name an experiment knows its own recipe: its name, its family's, or that of all others."""
        return next((name for name in (self.name, self.family, OTHERS) if name in own), "")


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
        scatter: keys of three columns: a picture has the first along x, the second along y, and says the third of each
            row; empty for no such picture.
        picture: what a figure of single sentences shows, which has neither rows nor columns; None elsewhere.
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
    scatter: tuple[str, ...] = ()
    picture: Picture | None = None

    @property
    def reads_data(self) -> bool:
        """Whether the command that makes it takes the folder of data sets."""
        return self.command.startswith("heedful baselines")

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
_PAPERS = ("disan", "mtsa", "mssan", "mdman", "decomposable", "systems", "users")


def _toml(*path: str) -> Fields:
    return Fields(tomllib.loads(_FOLDER.joinpath(*path).read_text(encoding="utf-8")), path[-1])


@cache
def experiments() -> dict[str, Experiment]:
    """Read the experiments."""
    source = _toml("experiments.toml")
    return {name: _experiment(name, table, source) for name, table in source.parts_by_name().items()}


def _experiment(name: str, table: Fields, source: Fields) -> Experiment:
    own, budgets = table.parts_by_name("own", {}), table.parts_by_name("budgets", {})
    table = _with_like(table, source)
    return Experiment(
        name,
        table.text("title"),
        table.text("recipe"),
        table.texts("set", ()),
        {
            "standard": Effort((), table.number("minutes")),
            **{key: _effort(effort) for key, effort in budgets.items()},
        },
        table.wholes("seeds", ()),
        table.whole("folds", 0),
        table.texts("needs", ()),
        {key: OwnRecipe(one.text("recipe", ""), one.texts("set", ())) for key, one in own.items()},
        _choice(table.part("choose")) if "choose" in table else None,
    )


def _choice(table: Fields) -> Choice:
    return Choice(table.text("setting"), table.texts("values"))


def _with_like(table: Fields, source: Fields) -> Fields:
    """Fill what an experiment does not say with what the one says that it is like."""
    if "like" not in table:
        return table
    like = _with_like(source.part(table.text("like")), source)
    return Fields({**like.record, **table.record}, table.place, table.path)


def _effort(table: Fields) -> Effort:
    """Read what a budget means; without minutes they are 0, which stands for the experiment's times the cost."""
    own = {key: _effort(one) for key, one in table.parts_by_name("own", {}).items()}
    return Effort(table.texts("set", ()), table.number("minutes", 0.0), own)


@cache
def systems() -> dict[str, System]:
    """Read the systems."""
    source = _toml("systems.toml")
    return {name: _system(name, table, source) for name, table in source.parts_by_name().items()}


def _system(name: str, table: Fields, source: Fields) -> System:
    family = table.text("family", "")
    tasks = [one.part("on", {}) for one in (source.part(family, {}), table)]
    return System(
        name,
        table.texts("set"),
        {task: of_task.texts(task) for of_task in tasks for task in of_task},
        table.number("cost", System.cost),
        family,
    )


@cache
def tables() -> dict[str, Table]:
    """Read the tables, paper by paper."""
    files = (item.name for item in (_FOLDER / "tables").iterdir() if item.name.endswith(".toml"))
    names = (file.removesuffix(".toml") for file in files)
    order = sorted(names, key=lambda name: (_PAPERS.index(name.split("-")[0]), name))
    return {name: _table(name, _toml("tables", f"{name}.toml")) for name in order}


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


def _table(name: str, source: Fields) -> Table:
    columns = tuple(
        Column(
            column.text("key"),
            column.text("head"),
            column.text("experiment", ""),
            column.text("figure", "test.metrics.accuracy"),
            column.number("scale", 100.0),
            column.whole("digits", 1),
            column.text("against", ""),
        )
        for column in source.parts("columns", ())
    )
    rows = tuple(
        Row(row.text("name"), row.text("system", ""), row.texts_by_name("paper", {}), row.text("note", ""))
        for row in source.parts("rows", ())
    )
    return Table(
        name,
        source.text("title"),
        columns,
        rows,
        source.text("compare", ""),
        source.texts("notes", ()),
        source.text("command", ""),
        source.text("missing", ""),
        read_examples(source.part("examples")) if "examples" in source else None,
        source.flag("pairwise", False),
        scatter=source.texts("scatter", ()),
        picture=read_picture(source.part("picture")) if "picture" in source else None,
    )
