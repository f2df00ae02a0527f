"""Settings of files among those of an estimator: its examples come from X and y, so they are refused or honored."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import fields

from heedful.data.readers.table_files import read_table
from heedful.data.readers.tag_files import TagOptions
from heedful.errors import UsageError, nearest

_OF_FILES = (
    "set",
    "train",
    "dev",
    "test",
    "train_limit",
    "text",
    "premise",
    "hypothesis",
    "label",
    "score",
    "languages",
    "protocol",
    "folds",
    "fold",
)
"""Settings of the table ``[data]`` that name files, their columns, and how a data set is divided."""


def refuse_file_settings(settings: Mapping[str, object], taken: Collection[str]) -> None:
    """Refuse settings that would be ignored, and options of the data that are misspelled.

    Args:
        settings: those of the constructor, by their names with ``__``.
        taken: the options of ``data.options`` that the estimator honors.

    Raises:
        UsageError: naming the setting.
    """
    for name in _OF_FILES:
        if settings.get(f"data__{name}"):
            raise UsageError(
                f"data__{name}: is for files, and the examples of an estimator are X and y; leave it out"
            )
    options = settings.get("data__options")
    single = {name[15:]: value for name, value in settings.items() if name.startswith("data__options__")}
    for option in {**(options if isinstance(options, Mapping) else {}), **single}:
        if option in taken:
            continue
        if option in {*inspect.signature(read_table).parameters, *(each.name for each in fields(TagOptions))}:
            raise UsageError(
                f"data__options: {option!r} is for files, and the examples of an estimator are X and y; leave it out"
            )
        raise UsageError(
            f"data__options: there is no option {option!r:.60}; {nearest(str(option), tuple(taken))}"
        )
