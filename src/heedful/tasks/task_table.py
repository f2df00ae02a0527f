"""The table of tasks by their names, which `heedful.tasks.registry` fills; a model finds its task here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heedful.errors import MissingExtraError, UsageError, nearest
from heedful.model.decisions import ELSEWHERE
from heedful.storage.installed import installed

if TYPE_CHECKING:
    from heedful.tasks.saved_model import SavedModel
    from heedful.tasks.task import Task

    AnyTask = Task[Any, Any, Any, Any]
    AnyModel = SavedModel[Any]

GROUP = "heedful.tasks"
TASKS: dict[str, AnyTask] = {}
"""``model.task`` to task: those of this package, those that were registered, and those of others once asked for."""


def register(task: AnyTask) -> None:
    """Add a task, so that runs, models and commands know it.

    Args:
        task: the task.

    Raises:
        UsageError: if there is another one of its name.
    """
    if task.name in TASKS:
        raise UsageError(f"there is a task {task.name!r} already; give yours another name")
    TASKS[task.name] = task


def find_task(name: str) -> AnyTask | None:
    """Return the task of a name, also one of another package that is installed; None if there is none.

    Args:
        name: ``model.task``.

    Returns:
        The task, or None.

    Raises:
        MissingExtraError: if it is one of a package that is not installed.
    """
    if name not in TASKS and (entry := installed(GROUP).get(name)):
        register(entry.load()())
    if name not in TASKS and name in ELSEWHERE:
        raise MissingExtraError(ELSEWHERE[name], "", f"model.task={name!r}", install=ELSEWHERE[name])
    return TASKS.get(name)


def task_names() -> set[str]:
    """Return the names of all tasks, also of those of packages that are not installed."""
    return {*TASKS, *ELSEWHERE, *installed(GROUP)}


def all_tasks() -> list[AnyTask]:
    """Return every task, also those of other packages that are installed, which are then imported."""
    for name in installed(GROUP):
        find_task(name)
    return list(TASKS.values())


def task_named(name: str) -> AnyTask:
    """Return the task of a name.

    Args:
        name: ``model.task``.

    Returns:
        The task.

    Raises:
        UsageError: if there is none; gives the nearest, or says how it is installed.
    """
    found = find_task(name)
    if found is None:
        raise UsageError(unknown_task(name))
    return found


def task_of(model: AnyModel) -> AnyTask:
    """Return the task that a model answers."""
    return task_named(model.model.task)


def unknown_task(name: str) -> str:
    """Return what is said of a name that no task has."""
    return f"model.task={name!r} is unknown; {nearest(name, [*TASKS, *installed(GROUP)])}"
