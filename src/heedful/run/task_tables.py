"""A task's own settings: ``[model.task_options]``, or a table that bears the name of the task, as ``[translation]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from heedful.models import ModelConfig
from heedful.run.run_config import RunConfig
from heedful.storage.fields import is_table
from heedful.tasks import task_names

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
