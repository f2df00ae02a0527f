"""TOML recipes to settings, the tables of tasks among them; every mistake is reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path

from heedful.errors import UsageError
from heedful.models import ModelConfig, encoder_problems
from heedful.run.recipe_tables import is_of_a_run, read_recipe, value_of
from heedful.run.run_config import RunConfig
from heedful.settings import read_table
from heedful.storage.fields import is_table
from heedful.tasks import task_names, task_problems

FEW_ROWS = "data.few_rows"
LEAST_STEPS = "train.least_steps"
NETWORK_TABLES = ("model.", "train.", "batches.", "distil.", "text.subword", "text.parser", "text.random")
"""Tables and settings of a network."""
WITHOUT_NETWORK = (
    *(f"model.{name}" for name in ("task", "wide", "sentence", "outputs")),
    *(
        f"train.{name}"
        for name in ("seed", "metric", "direction", "class_weight", "evaluate_train", "device")
    ),
    "batches.eval_size",
    *(
        f"distil.{name}"
        for name in (
            "teacher",
            "texts",
            "dev_fraction",
            "augment",
            "mask",
            "swap",
            "ngram",
            "phrases",
            "kind",
            "seed",
        )
    ),
)
"""Those of them that a model without a network reads too."""


def load_config(recipe: str | Path, overrides: Iterable[str] = ()) -> RunConfig:
    """Read settings from a packaged recipe or a TOML file.

    Args:
        recipe: name of a packaged recipe, or path of a TOML file.
        overrides: ``table.key=value`` strings, the value in TOML or a bare string; applied last. One that only a
            network reads, such as model.dropout, asks for a network however few the rows are (data.few_rows=0).

    Returns:
        The settings, defaults filled in.

    Raises:
        UsageError: if the recipe does not exist, is not TOML, or holds any mistake; all mistakes are listed.
    """
    table, source = read_recipe(recipe)
    table = into_options(table) if is_of_a_run(Path(recipe)) else table
    problems: list[str] = []
    data = table.get("data")
    if (
        isinstance(data, dict)
        and not data.get("set")
        and any(text.startswith("data.set=") for text in overrides)
    ):
        data.pop(
            "options", None
        )  # they say how files of the user's are read; a known set is read in its own way
    names = [_apply(table, text, problems) for text in overrides]
    _follow(table, names, problems)
    return _checked(table, problems, source)


def override(config: RunConfig, values: Mapping[str, object]) -> RunConfig:
    """Return a copy of the settings with some values changed.

    Args:
        config: the settings to start from.
        values: dotted name to value, for example ``{"train.epochs": 3}``.

    Returns:
        The changed settings.

    Raises:
        UsageError: listing every mistake.
    """
    table, problems = asdict(config), list[str]()
    for name, value in values.items():
        _set(table, name, value, problems)
    _follow(table, list(values), problems)
    return _checked(table, problems, "settings")


def from_table(table: Mapping[str, object], source: str) -> RunConfig:
    """Read settings from nested plain values, as a model folder keeps them.

    Args:
        table: the settings.
        source: where they come from, for messages.

    Returns:
        The settings, defaults filled in.

    Raises:
        UsageError: listing every mistake.
    """
    return _checked(dict(table), [], source, starts=False)


def to_toml(config: RunConfig) -> str:
    """Write settings as TOML that `load_config` reads back equal.

    Args:
        config: the settings.

    Returns:
        The text.
    """
    import tomli_w

    return tomli_w.dumps(as_table(config))


def as_table(config: RunConfig) -> dict[str, object]:
    """Return settings as a file holds them: lists for tuples, and what is None left out.

    Args:
        config: the settings.

    Returns:
        What `from_table` reads back equal.
    """
    return _plain_table(asdict(config))


def _plain_table(table: Mapping[str, object]) -> dict[str, object]:
    """Tuples become lists, and None is left out: TOML has neither."""
    return {key: _plain(item) for key, item in table.items() if item is not None}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return _plain_table(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


_MOST_SHOWN = 20
"""Mistakes that a message lists."""


def _checked(table: dict[str, object], problems: list[str], source: str, *, starts: bool = True) -> RunConfig:
    """Make settings of a table; of a run that has been trained, what its task made of them is not asked again."""
    if starts:
        problems += misplaced(table)
    config = read_table(RunConfig, into_options(table), "", problems) or RunConfig()
    problems += encoder_problems(config.model)
    if starts:
        problems += task_problems(config)
    if problems:
        lines = "\n".join(f"  {problem:.300}" for problem in problems[:_MOST_SHOWN])
        if len(problems) > _MOST_SHOWN:
            lines += f"\n  and {len(problems) - _MOST_SHOWN:,} more"
        raise UsageError(f"{source}: mistakes in the settings: {len(problems)}\n{lines}")
    return config


def _follow(table: dict[str, object], names: list[str], problems: list[str]) -> None:
    """Set what follows from settings that a user gives: a network for few rows too, and as many epochs as named."""
    if _need_network(names):
        _set(table, FEW_ROWS, 0, problems)
    if "train.epochs" in names and LEAST_STEPS not in names:
        _set(table, LEAST_STEPS, 0, problems)


def _need_network(names: Iterable[str]) -> bool:
    """Return whether settings that a user gives ask for a network; with data.few_rows the user says so."""
    names = list(names)
    return FEW_ROWS not in names and any(
        name.startswith(NETWORK_TABLES) and not name.startswith(WITHOUT_NETWORK) for name in names
    )


def _apply(table: dict[str, object], text: str, problems: list[str]) -> str:
    """Set one ``a.b.c=value`` in nested dictionaries; return its name."""
    name, sign, raw = text.partition("=")
    if not sign or not name.strip():
        problems.append(f"--set {text!r}: write table.key=value, for example train.epochs=3")
        return ""
    _set(table, name.strip(), value_of(raw), problems)
    return name.strip()


def _set(table: dict[str, object], name: str, value: object, problems: list[str]) -> None:
    """Set a dotted name in nested dictionaries."""
    *path, last = name.split(".")
    for part in path:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            problems.append(f"{name}: {part} is a value, not a table")
            return
        table = inner
    table[last] = value


_TABLES = frozenset(field.name for field in fields(RunConfig))


def into_options(table: Mapping[str, object]) -> dict[str, object]:
    """Move what stands in a table of the task's name to ``model.task_options``, and drop the tables of other tasks.

    Args:
        table: plain settings; those of a run that was kept may have the tables of all tasks.

    Returns:
        The settings.
    """
    model, left = table.get("model", {}), dict(table)
    if not is_table(model):
        return left
    for name, own in of_tasks(table):
        del left[name]
        options = model.get("task_options", {})
        if name == model.get("task", ModelConfig.task) and is_table(options):
            left["model"] = {**model, "task_options": {**options, **own}}
    return left


def misplaced(table: Mapping[str, object]) -> Iterator[str]:
    """Yield a sentence for each setting in a table that bears the name of another task.

    Args:
        table: plain settings.

    Yields:
        What is wrong, and what to do.
    """
    model = table.get("model", {})
    task = model.get("task", ModelConfig.task) if is_table(model) else ModelConfig.task
    for name, own in of_tasks(table):
        if name != task:
            for key in own:
                yield f"{name}.{key} is not used by model.task={task!r}: remove it, or set model.task={name!r}"


def of_tasks(table: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the tables that bear the name of a task."""
    others = [(name, own) for name, own in table.items() if name not in _TABLES and is_table(own)]
    known = task_names() if others else set[str]()
    yield from ((name, own) for name, own in others if name in known)
