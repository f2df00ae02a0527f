"""A recipe that the user names, as it learns from data that was recognized."""

from __future__ import annotations

import json
from collections.abc import Mapping

from heedful.errors import UsageError
from heedful.model.decisions import kind_of
from heedful.run.own_file import OwnFile
from heedful.run.recipe_files import as_table, load_config
from heedful.run.run_config import RunConfig
from heedful.tasks import task_named
from heedful.tasks.registry import unread_changes


def outputs_of(recipe: str) -> str:
    """Return what a recipe that the user names learns, which settles what his data leaves open.

    Args:
        recipe: a packaged recipe or a file of settings.

    Returns:
        "classes", "labels" and so on; empty for a pretrained encoder, which learns any of them.
    """
    config = load_config(recipe)
    return "" if config.model.pretrained.name else kind_of(config.model.task).outputs


def learned_by(recipe: str, found: OwnFile) -> OwnFile:
    """Return how a recipe that the user names learns from recognized data.

    Args:
        recipe: a packaged recipe or a file of settings.
        found: what `own_file` recognized.

    Returns:
        The same with this recipe, which no longer names data of its own.

    Raises:
        UsageError: if the recipe is for another kind of data.
    """
    own, other = load_config(found.recipe), load_config(recipe)
    if other.model.task != own.model.task and other.model.pretrained.name and not other.train.contrast:
        return _by_transformer(recipe, found, own, other)
    kind = kind_of(other.model.task)
    of_one = found.in_lists and kind.outputs == "classes" and kind.texts == 1
    if other.model.task != own.model.task and not of_one:
        raise UsageError(
            f"{recipe} learns {other.model.task!r} and not what the data holds: {found.note}; leave out {recipe}, or "
            + _REMEDIES.get((kind.outputs, kind_of(own.model.task).outputs), _NAME_COLUMNS)
        )
    named = found.overrides
    if not any(each.startswith("data.set=") for each in named):
        named = ("data.set=", *named)
    said = found.note.replace(f"trained as {found.recipe}", f"trained as {recipe}")
    return OwnFile(
        recipe, named, said.replace("several labels a text in", "one label a text in") if of_one else said
    )


_NAME_COLUMNS = "name the columns that it is to learn (--text, --premise, --hypothesis, --label, --score)"
_REMEDIES = {
    ("labels", "classes"): (
        "say what stands between the labels of a cell, as in --set 'data.options.label_separator=\"/\"'"
    ),
    (
        "labels",
        "columns",
    ): "write 1 and 0 in these columns, whether a text has the label of the name of the column",
    ("classes", "labels"): (
        "name everything, so that each cell is one class: heedful train my-texts --set data.train=FILE --text NAME "
        "--label NAME"
    ),
}
"""What to do where a recipe of the first kind is named for data of the second."""
TRANSFORMER, TAG_TRANSFORMER = "my-texts-transformer", "my-tags-transformer"
"""The packaged recipes with a pretrained encoder, for texts and for the tags of words."""


_OF_THE_TASK = ("model.task", "model.outputs", "train.metric", "train.direction")


def _by_transformer(recipe: str, found: OwnFile, own: RunConfig, other: RunConfig) -> OwnFile:
    """Return how a recipe with a pretrained encoder learns another task: what only its own task reads is left out."""
    words = TAG_TRANSFORMER if kind_of(own.model.task).of_words else TRANSFORMER
    if recipe in (TRANSFORMER, TAG_TRANSFORMER) and recipe != words:
        return learned_by(words, found)
    usual, task = as_table(RunConfig()), as_table(own)
    unread = [name for _, name in unread_changes(task_named(own.model.task), other)]
    settings = [f"{name}={json.dumps(_value_at(usual, name))}" for name in unread]
    settings += [f"{name}={json.dumps(_value_at(task, name))}" for name in _OF_THE_TASK]
    said = found.note.replace(f"trained as {found.recipe}", f"trained as {recipe}")
    return OwnFile(recipe, ("data.set=", *settings, *found.overrides), said)


def _value_at(table: Mapping[str, object], name: str) -> object:
    *path, last = name.split(".")
    for part in path:
        inner = table[part]
        assert isinstance(inner, dict)  # a table of settings
        table = inner
    return table[last]
