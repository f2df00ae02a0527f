"""The table of tasks: everything that differs between them in a run, one object each.

To add one: a subclass of `RunTask` in a module of its own, and a line in `_ALL`.
"""

from heedful.pipeline.tasks.base import RunTask
from heedful.pipeline.tasks.classify import PairTask, TextTask
from heedful.pipeline.tasks.relatedness import ScoreTask

_ALL: tuple[RunTask, ...] = (TextTask(), PairTask(), ScoreTask())

BY_KIND: dict[str, RunTask] = {task.kind: task for task in _ALL}
"""Kind of data to task."""

BY_NAME: dict[str, RunTask] = {task.name: task for task in _ALL}
"""``model.task`` to task."""

__all__ = ["BY_KIND", "BY_NAME", "RunTask"]
