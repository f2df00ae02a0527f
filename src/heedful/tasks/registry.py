"""The table of tasks: a name to the one object that knows everything about the task of that name.

To add a task: write a class derived from `heedful.tasks.task.Task` (or from `WordTask` or `SentenceTask`) in a module
or folder of its own, and add an object of it to the table. A package of your own names its class, which is called
without arguments, by an entry point of the group ``heedful.tasks`` under the name of the task; a script calls
`register`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from heedful.attention.randomness import drawing_from, seeded
from heedful.data.readers.reading import ROLES
from heedful.errors import ArtifactError, UsageError
from heedful.machine import threads
from heedful.machine.torch_state import own_torch_state
from heedful.model.text_reading import Limits
from heedful.models import ModelConfig, Network, word_embedding
from heedful.storage.model_folder import CONFIG, load_model_folder
from heedful.tasks.classification import PairTask, TextTask
from heedful.tasks.columns_task import LabelColumnsTask
from heedful.tasks.labels import LabelsTask
from heedful.tasks.number import NumberTask, PairNumberTask
from heedful.tasks.relatedness import RelatednessTask
from heedful.tasks.roles.roles_task import RolesTask
from heedful.tasks.saved_model import SavedModel, model_folder
from heedful.tasks.tags import TagsTask
from heedful.tasks.task import Task
from heedful.tasks.task_table import (
    TASKS,
    all_tasks,
    find_task,
    register,
    task_named,
    task_names,
    task_of,
    unknown_task,
)
from heedful.tasks.vectors import VectorTask
from heedful.tasks.words.word_task import WordTask

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig

__all__ = [
    "TASKS",
    "AnyModel",
    "AnyTask",
    "all_tasks",
    "build_network",
    "find_task",
    "load_model",
    "refuse_options",
    "register",
    "task_named",
    "task_names",
    "task_of",
    "task_problems",
    "unread_changes",
    "unread_settings",
]

AnyTask = Task[Any, Any, Any, Any]
AnyModel = SavedModel[Any]

_OWN: tuple[AnyTask, ...] = (
    TextTask(),
    PairTask(),
    RelatednessTask(),
    NumberTask(),
    PairNumberTask(),
    LabelsTask(),
    LabelColumnsTask(),
    TagsTask(),
    RolesTask(),
    VectorTask(),
)

for _task in _OWN:
    register(_task)
READ_ELSEWHERE = frozenset({"data.languages"})
"""Settings that only tasks of other packages read."""


@own_torch_state()
@drawing_from(seeded(0))  # weights that those of the folder replace
def load_model(
    path: Path | str, *, max_tokens: int | None = None, truncate: Literal["error", "head"] | None = None
) -> AnyModel:
    """Read a model folder, whatever it answers, checking every file against its checksum.

    Args:
        path: the folder, or the run folder that holds it.
        max_tokens: longest text, in tokens; None for what the model was saved with.
        truncate: what a longer text does: "error", or "head" to read its beginning; None for what was saved.

    Returns:
        The model, in evaluation mode.

    Raises:
        ArtifactError: if anything is missing, altered or of an unknown version.
        MissingExtraError: if its task comes with a package that is not installed.
        UsageError: if the limit is below 1.
    """
    threads.settle()
    path = model_folder(path)
    folder = load_model_folder(path)
    model = folder.config.get("model")
    name = model.get("task", ModelConfig.task) if isinstance(model, dict) else ModelConfig.task
    task = find_task(name) if isinstance(name, str) else None
    if task is None:
        raise ArtifactError(
            f"{path / CONFIG}: {unknown_task(str(name)[:80])}. Copy the folder again, or train the model again."
        )
    found: AnyModel = task.load(folder, path, Limits(max_tokens, truncate))
    return found


def build_network(
    config: ModelConfig, trained: Tensor, frozen: Tensor | None = None, ngrams: Tensor | None = None
) -> Network:
    """Build the network of a task that reads words.

    Weights are drawn from torch's global generator: seed it first.

    Args:
        config: the settings.
        trained: see `heedful.models.build.word_embedding`.
        frozen: likewise.
        ngrams: likewise.

    Returns:
        The network, in training mode.

    Raises:
        UsageError: if a setting is unknown or out of range, or the vectors' width is not ``config.width``.
    """
    embedding = word_embedding(config, trained, frozen, ngrams)
    task = task_named(config.task)
    if not isinstance(task, WordTask):
        raise UsageError(f"model.task={config.task!r} does not read words and has no word vectors")
    return task.network(config, embedding)


def task_problems(config: RunConfig) -> list[str]:
    """Find what is wrong with the settings of a run for its task.

    Args:
        config: the settings.

    Returns:
        One sentence a mistake: a task that is not known, a setting that it does not use and that is not at its default,
        and what the task itself finds.
    """
    task = find_task(config.model.task)
    if task is None:
        return [unknown_task(config.model.task)]
    own = task.options_problems(config.model) if "model.task_options" in task.uses else []
    return [*_unused(task, config), *own, *task.problems(config)]


def refuse_options(task: AnyTask, options: Mapping[str, object]) -> None:
    """Refuse options of a command that a task does not take.

    Args:
        task: the task of the model.
        options: value by name of an option, without the dashes; None, False and () are not given.

    Raises:
        UsageError: naming the option and the tasks that take it.
    """
    for name, value in options.items():
        if value not in (None, False, ()) and name not in task.options:
            others = [other.noun for other in all_tasks() if name in other.options] or ["other packages"]
            option = f"--column {name}=" if name in ROLES else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for models of {_listed(others)}; this is a model of {task.noun}")


def unread_settings(task: AnyTask) -> list[str]:
    """Return the settings that only other tasks read, by their dotted names, or those of the tables that hold them."""
    particular = sorted(READ_ELSEWHERE.union(*(other.uses for other in TASKS.values())))
    return [
        setting
        for setting in particular
        if not any(setting == own or setting.startswith(f"{own}.") for own in task.uses)
    ]


def unread_changes(task: AnyTask, config: RunConfig) -> list[tuple[str, str]]:
    """Return the settings that only other tasks read, each with the names below it that are not at their defaults."""
    usual = _defaults(type(config))  # type: ignore[arg-type]  # classes can be hashed
    return [
        (setting, name)
        for setting in unread_settings(task)
        for name in _changed(_at(config, setting), _at(usual, setting), setting)
    ]


@cache
def _defaults(kind: type[RunConfig]) -> RunConfig:
    return kind()


def _unused(task: AnyTask, config: RunConfig) -> Iterable[str]:
    """Name the settings that only other tasks use, and that are not at their defaults."""
    for setting, name in unread_changes(task, config):
        users = [other.name for other in all_tasks() if setting in other.uses] or ["of another package"]
        yield (
            f"{name} is not used by a task of {task.noun}: remove it, or set model.task to one that uses it "
            f"({', '.join(users)})"
        )


def _changed(value: object, usual: object, name: str) -> Iterable[str]:
    """Give the dotted names below a setting whose values differ from the defaults."""
    if isinstance(value, Mapping) or is_dataclass(value):
        for key in value if isinstance(value, Mapping) else (field.name for field in fields(value)):
            yield from _changed(_inner(value, key), _inner(usual, key), f"{name}.{key}")
    elif value != usual:
        yield name


def _at(record: object, name: str) -> object:
    """Return the value of a dotted name in settings."""
    return reduce(_inner, name.split("."), record)


def _inner(record: object, key: str) -> object:
    """Return what a table or settings hold under a name; None where they hold nothing."""
    return record.get(key) if isinstance(record, Mapping) else getattr(record, key, None)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[:-1] else "") + "".join(names[-1:])
