"""From data to a recipe: `heedful train reviews.csv` says which columns it reads, `heedful train trec` what it is."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heedful.data.datasets import OWN_NAMES, own_data_sets
from heedful.data.hub_data import fetch_hub_data, is_hub_name
from heedful.data.readers.class_folders import find_named, folder_problem, is_class_folder
from heedful.data.readers.column_kinds import LOOKED_AT, ColumnKind, kinds_of
from heedful.data.readers.column_roles import Roles, named_roles, roles_of
from heedful.data.readers.label_lines import begins_with_label
from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import BINARY_TABLES, TABLE_SUFFIXES, is_table_name, table_records
from heedful.data.readers.tag_columns import looks_tagged
from heedful.data.readers.tag_files import TAG_SUFFIXES
from heedful.data.readers.tag_records import SPANS, holds_tokens
from heedful.data.readers.text_lines import bare_suffix
from heedful.data.readers.tool_formats import plain_record
from heedful.data.readers.written_labels import holds_spans
from heedful.errors import DataError, UsageError, check_known, nearest
from heedful.features.feature_kinds import KINDS, refuse_roles, wanted_columns
from heedful.run.recipe_tables import read_recipe, values_of
from heedful.storage.fields import Fields
from heedful.storage.installed import recipe_names
from heedful.text.pipes import is_pipe, is_spooled

_ROLES = ("text", "premise", "hypothesis", "label", "score")
_MOST_NAMED, _MOST_UNREAD = 4, 20


@dataclass(frozen=True)
class OwnFile:
    """How a file of the user's is trained on.

    Attributes:
        recipe: the packaged recipe.
        overrides: ``key=value`` settings that name the file and its columns.
        note: one line that says what was recognized.
        in_lists: whether labels stand in lists, which a recipe for classes reads where each has one.
    """

    recipe: str
    overrides: tuple[str, ...]
    note: str
    in_lists: bool = False


def is_own_file(name: str, root: Path | None) -> bool:
    """Return whether what stands where a recipe is expected is data: by its name, or because it is there.

    Args:
        name: what the user typed.
        root: the folder of data sets, or None.

    Returns:
        Whether it is data.
    """
    path = Path(name)
    if is_hub_name(name):
        return True
    if path.suffix == ".toml" or name in recipe_names():
        return False
    if is_table_name(path) or bare_suffix(path) in TAG_SUFFIXES or is_pipe(path) or _recipe_of_set(name):
        return True
    for each in [path] if root is None else [root / path, path]:
        if os.path.isdir(each):
            return True
        if os.path.isfile(each):  # a file of settings may have any name
            return bool(each.suffix) or begins_with_label(each) or _holds_tags(each)
    return False


def own_file(name: str, overrides: Sequence[str], root: Path | None, wanted: str = "") -> OwnFile:
    """Recognize what a file holds.

    Args:
        name: of the file, relative to ``root`` or to the working folder; or of a known data set.
        overrides: ``key=value`` settings of the user, which name columns and say how the file is read.
        root: the folder of data sets, or None.
        wanted: what the recipe that the user names learns, as in `roles_of`; empty where he names none.

    Returns:
        The recipe with the settings that the user left open.

    Raises:
        UsageError: if it is open what is to be learned; lists the choices.
        DataError: if the file is missing or cannot be read.
    """
    if is_hub_name(name):
        return _of_hub(name, overrides, root, wanted)
    if recipe := _recipe_of_set(name):
        known = f"data.set={name}"
        return OwnFile(recipe, (known,), f"{name}: {own_data_sets()[name].citation}; trained as {recipe}")
    places = [Path(name)] if root is None else [root / name, Path(name)]
    for each in filter(os.path.isdir, places):
        if not is_class_folder(each):
            raise DataError(folder_problem(each))
    file = find_named(name, root)
    given = values_of(overrides)
    train = f"data.train={json.dumps(name, ensure_ascii=False)}"
    if _holds_tags(file):
        return OwnFile("my-tags", (train,), f"{name}: words with their tags; trained as my-tags")
    if not (is_table_name(file) or is_class_folder(file) or is_spooled(file) or begins_with_label(file)):
        raise UsageError(
            f"{name}: is neither a recipe nor data whose format is known; expected a name that ends in "
            f"{', '.join((*TABLE_SUFFIXES, *BINARY_TABLES, *TAG_SUFFIXES))}, or a folder of text files for each class"
        )
    options = {key.removeprefix("data.options."): value for key, value in given.items()}
    records = (plain_record(record) for _, record in table_records(file, FileReading.of_options(options)))
    ahead = list(itertools.islice(records, LOOKED_AT))
    if not ahead:
        raise DataError(f"{name}: holds no rows")
    one_object = len(ahead) == 1 and len(ahead[0]) > 1 and bare_suffix(file) in (".json", ".jsonl")
    if one_object and all(isinstance(value, list | Mapping) for value in ahead[0].values()):
        raise DataError(
            f"{name}: holds one JSON object, which would be one row; expected an array of objects, or one object a "
            "line (pandas writes them with orient='records')"
        )
    if any(
        isinstance(record.get(field), list) and holds_spans(record[field])
        for record in ahead
        for field in SPANS
    ):
        return OwnFile("my-tags", (train,), f"{name}: texts with spans; trained as my-tags")
    kinds = kinds_of(ahead)
    named = {role: value for role in _ROLES if isinstance(value := given.get(f"data.{role}"), str) and value}
    separator = options.get("label_separator")
    beside = _features_of(given.get("data.features"), kinds)
    refuse_roles(beside, named_roles(kinds, named))
    learned = {name: kind for name, kind in kinds.items() if name not in beside or name in named.values()}
    try:
        roles = roles_of(learned, named, separator if isinstance(separator, str) else "", wanted)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
    _refuse_nameless(name, roles, named)
    recipe = _recipe_of(roles)
    found = {
        **dict(
            zip(("text",) if len(roles.texts) == 1 else ("premise", "hypothesis"), roles.texts, strict=True)
        ),
        "score" if roles.kind == "score" else "label": roles.gold,
    }
    settings = [f"data.{role}={json.dumps(column, ensure_ascii=False)}" for role, column in found.items()]
    if roles.separator:
        settings.append(f"data.options.label_separator={json.dumps(roles.separator)}")
    counts = kinds[roles.gold].counts if roles.gold in kinds else {}
    read = [*beside, options.get("weight")]
    roles = replace(roles, unread=tuple(each for each in roles.unread if each not in read))
    said = f"{name}: {_recognized(roles, counts, beside)}; trained as {recipe}"
    in_lists = roles.kind == "labels" and roles.gold in kinds and kinds[roles.gold].lists > 0
    return OwnFile(recipe, (train, *settings), said, in_lists)


def _of_hub(name: str, overrides: Sequence[str], root: Path | None, wanted: str) -> OwnFile:
    """Recognize a data set of the Hub; its own dev and test splits are used, unless the user names others."""
    data = fetch_hub_data(name)
    found = own_file(str(data.files["train"]), overrides, root, wanted)
    said = found.note.removeprefix(str(data.files["train"]))
    splits = ", ".join(data.files)
    further = [
        f"data.{split}={json.dumps(str(file))}" for split, file in data.files.items() if split != "train"
    ]
    return OwnFile(
        found.recipe, (*found.overrides, *further), f"{name} at {data.commit[:12]} ({splits}){said}"
    )


def _recipe_of_set(name: str) -> str:
    """Return the recipe for own data that learns what a known data set holds; empty where there is none."""
    if name not in OWN_NAMES:
        return ""
    own = (recipe for recipe in recipe_names() if recipe.startswith("my-"))
    return next((each for each in own if _task_of(each) == own_data_sets()[name].task), "")


def _task_of(recipe: str) -> str:
    """Return the name of the task of a packaged recipe for own data, which names it."""
    table, source = read_recipe(recipe)
    return Fields(table, source).part("model", {}).text("task", "")


def _refuse_nameless(name: str, roles: Roles, named: Mapping[str, str]) -> None:
    """Refuse to choose a column without a name: what stands in the first row may be a title and no header."""
    chosen = (*roles.texts, *roles.gold.split(","))
    nameless = [each for each in chosen if re.fullmatch(r"column \d+'*", each) and each not in named.values()]
    if nameless:
        role = "text" if nameless[0] in roles.texts else "score" if roles.kind == "score" else "label"
        raise UsageError(
            f"{name}: the first row has no name for {nameless[0]!r}. If it is a title, delete the rows above the names "
            f"of the columns; if the column has no name, choose it: --{role} {nameless[0]!r}"
        )


def _recipe_of(roles: Roles) -> str:
    if roles.kind == "labels":
        return "my-labels"
    if roles.kind == "columns":
        return "my-label-columns"
    pair = len(roles.texts) == 2
    if roles.kind == "score":
        return "my-scores" if pair else "my-numbers"
    return "my-pairs" if pair else "my-texts"


def _features_of(written: object, kinds: Mapping[str, ColumnKind]) -> tuple[str, ...]:
    """Return the columns that are read beside the text, all of them there."""
    if not isinstance(written, list | tuple):
        return ()
    names = tuple(wanted.name for wanted in wanted_columns([str(each) for each in written]))
    for name in names:
        bare, colon, kind = name.rpartition(":")
        if colon and bare in kinds and name not in kinds:
            raise UsageError(
                f"--feature {name}: {kind!r} is no kind of a column; {nearest(kind.lower(), KINDS)}"
            )
        check_known(name, kinds, f"--feature {name}: there is no such column")
    return names


def _recognized(roles: Roles, counts: Mapping[str, int], beside: Sequence[str] = ()) -> str:
    texts = " and ".join(f"“{name}”" for name in roles.texts)
    pair = "pairs of texts in" if len(roles.texts) == 2 else "texts in"
    if roles.kind == "score":
        gold = f"numbers in “{roles.gold}”"
    elif roles.kind == "labels":
        mark = f" with “{roles.separator}” between them" if roles.separator else ""
        gold = f"several labels a text in “{roles.gold}”{mark}"
    elif roles.kind == "columns":
        columns = " and ".join(f"“{name.strip()}”" for name in roles.gold.split(","))
        gold = f"a class of each of the label columns {columns}"
    else:
        names = sorted(counts)
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        gold = f"classes in “{roles.gold}” ({', '.join(f'{each:.60}' for each in names[:_MOST_NAMED])}{more})"
    if beside:
        gold += f"; beside the text {', '.join(f'“{name}”' for name in beside)}"
    further = len(roles.unread) - _MOST_UNREAD
    listed = ", ".join(f"{each:.60}" for each in roles.unread[:_MOST_UNREAD])
    unread = f"; not read: {listed}{f' and {further:,} more' if further > 0 else ''}" if listed else ""
    return f"{pair} {texts}, {gold}{unread}"


def _holds_tags(file: Path) -> bool:
    if not os.path.isfile(file):
        return False
    if bare_suffix(file) in TAG_SUFFIXES or holds_tokens(file):
        return True
    return bare_suffix(file) in ("", ".txt", ".tsv") and looks_tagged(file)
