"""The files that the settings name: found, hashed, and read with options that their reader knows.

A `TableRoles` says which columns of a file hold the examples of a task.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from heedful.data.examples import Corpus
from heedful.data.readers.class_folders import find_named, sum_of_folder
from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import read_table, table_blocks
from heedful.errors import DataError, UsageError, nearest
from heedful.features.feature_kinds import refuse_roles, wanted_columns
from heedful.model.decisions import kind_of
from heedful.models import ModelConfig
from heedful.settings import fit
from heedful.storage import sha256
from heedful.storage.file_states import refuse_changed, state_of
from heedful.tasks.prepared import Corpora, Files

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig

Read = TypeVar("Read")


def check_options(
    options: Mapping[str, object], reader: Callable[..., Read], what: str, taken: Collection[str] = ()
) -> Callable[..., Read]:
    """Give a reader its options, and refuse those that it does not take, or not of this type.

    Args:
        options: ``data.options`` of the settings.
        reader: what reads the data; its parameters are the options.
        what: is read, for messages.
        taken: parameters that are said elsewhere and are no options; the path always is one.

    Returns:
        The reader, which reads with these options.

    Raises:
        UsageError: listing every mistake.
    """
    hints = typing.get_type_hints(reader)
    valid = tuple(name for name in inspect.signature(reader).parameters if name not in ("path", *taken))
    problems = []
    for name, value in options.items():
        if name not in valid:
            problems.append(f"option {name!r} of {what} is unknown; {nearest(name, valid)}")
            continue
        hint = hints.get(name, object)
        _, wrong = fit(value, tuple[str, ...] if hint == Sequence[str] else hint)
        if wrong:
            problems.append(f"data.options.{name}: {wrong}; got {value!r}")
    if problems:
        raise UsageError("; ".join(problems))
    return partial(reader, **options)


def one_file_a_part(
    names: Mapping[str, str], root: Path | None, read: Callable[[Mapping[str, Path]], Corpora]
) -> Files:
    """Find the file of each part.

    Args:
        names: part to what the settings call its file.
        root: the folder of data sets, or None.
        read: reads the files of all parts.

    Returns:
        The files, with the SHA-256 of what is read: one that changes until it is read to its end is refused.

    Raises:
        DataError: if a file is missing or cannot be read.
    """
    paths = {part: find_named(name, root) for part, name in names.items()}
    before = {path: state_of(path) for path in paths.values()}
    sums = {published(part, names[part]): sum_of(path) for part, path in paths.items()}

    def read_unchanged() -> Corpora:
        parts = read(paths)
        refuse_changed(before)
        return parts

    return Files(read_unchanged, sums)


def published(part: str, name: str) -> str:
    """Return what a card calls a file: its relative name; of an absolute one, which tells of a machine, only the end.

    Two files must not share a name: the cache is keyed by these names and the files' hashes. A relative name stands for
    one file, and a part reads no two files of one name.
    """
    path = Path(name)
    return f"{part}: {path.name}" if path.is_absolute() else name


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file or of a folder of files, or a `DataError` that it cannot be read."""
    try:
        return sum_of_folder(path) if path.is_dir() else sha256(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


TEXT, PAIR = ("text",), ("premise", "hypothesis")
"""The columns of a text, and of a pair."""
_ALL = (*TEXT, *PAIR, "label", "score")
"""Columns that `read_table` takes; each is a setting or an option of its own and none of ``data.options``."""


@dataclass(frozen=True)
class TableRoles:
    """Which columns of a table a task reads.

    Attributes:
        texts: `TEXT` or `PAIR`.
        gold: "label" or "score".
        separator: what stands between the labels of an example unless ``data.options.label_separator`` says otherwise;
            empty where an example has one label.
        label_columns: whether an example has a class of each of several columns, named with commas between.
    """

    texts: tuple[str, ...]
    gold: str
    separator: str = ""
    label_columns: bool = False

    @property
    def settings(self) -> frozenset[str]:
        """The settings that name the columns."""
        return frozenset(f"data.{role}" for role in (*self.texts, self.gold))

    @property
    def options(self) -> frozenset[str]:
        """The options of a command that say how a table is read; see `FileReading.as_options`."""
        return frozenset((*self.texts, self.gold, "group", *FileReading().options()))

    def files(
        self,
        names: Mapping[str, str],
        data: DataConfig,
        root: Path | None,
        labels_of: Callable[[Corpus], tuple[str, ...]],
    ) -> Files:
        """Find the tables of a run; see `heedful.tasks.task.Task.files`.

        Args:
            names: part to what the settings call its file.
            data: the settings.
            root: the folder of data sets, or None.
            labels_of: collects the names that the other files may use from the training part.

        Returns:
            The files.
        """
        taken = (
            *_ALL,
            "labels",
            "known",
            "features",
            "label_columns",
            *(() if self.separator else ("label_separator",)),
        )
        read_part = check_options(data.options, read_table, "tables", taken)
        if self.separator and "label_separator" not in data.options:
            read_part = partial(read_part, label_separator=self.separator)
        if self.label_columns:
            read_part = partial(read_part, label_columns=True)
        columns: dict[str, str | None] = {
            role: getattr(data, role) or None for role in (*self.texts, self.gold)
        }
        if features := tuple(wanted.name for wanted in wanted_columns(data.features)):
            refuse_roles(features, {role: name for role, name in columns.items() if name})
            read_part = partial(read_part, features=features)
        if columns[self.gold] is None:
            raise UsageError(
                f"data.{self.gold} must name the column of the {self.gold}: --column {self.gold}=NAME"
            )
        named = str(columns[self.gold])
        for role in self.texts:
            if columns[role] in (named, *(named.split(",") if self.label_columns else ())):
                raise UsageError(
                    f"data.{self.gold}: {columns[role]!r:.80} is the column of the {role}, which cannot be the "
                    f"{self.gold} too; name another column"
                )
        if self.label_columns and "," not in named:
            raise UsageError(
                f"data.label: expected two label columns or more, --column label=NAME for each; got "
                f"{columns[self.gold]!r:.80} alone, which my-texts learns"
            )

        def read(paths: Mapping[str, Path]) -> Corpora:
            parts = {"train": read_part(paths["train"], **columns)}
            # The other files are read knowing the classes: "-" is none beside others, and unseen ones are counted.
            labels = labels_of(parts["train"])
            others = [part for part in paths if part != "train"]
            return parts | {part: read_part(paths[part], **columns, known=labels) for part in others}

        return one_file_a_part(names, root, read)

    def gold_of(
        self, file: Path, options: Mapping[str, object], labels: Sequence[str], run: Mapping[str, object]
    ) -> Corpus:
        """Read a table of examples with gold.

        Args:
            file: the table.
            options: what the options of the command say; see `FileReading.as_options`. A column that neither they nor
                the run name has the name of its role.
            labels: the names that are allowed.
            run: the settings of the run that trained the model; its file is read in the same way.

        Returns:
            The examples, those without words among them.
        """
        how = self._how(file, options, run)
        columns = {role: how.columns.get(role, role) for role in (*self.texts, self.gold)}
        read: Callable[..., Corpus] = partial(
            read_table, **how.chosen_options(), features=how.features, label_columns=self.label_columns
        )
        return read(file, **columns, group=how.columns.get("group"), known=labels, keep_empty=True)

    def gold_blocks(
        self, file: Path, options: Mapping[str, object], labels: Sequence[str], run: Mapping[str, object]
    ) -> Iterator[Corpus]:
        """Read a table of examples with gold in blocks; see `gold_of` for the arguments."""
        how = self._how(file, options, run)
        roles = (*self.texts, self.gold, *(["group"] if "group" in how.columns else ()))
        return table_blocks(file, roles, how, known=labels, label_columns=self.label_columns)

    def _how(self, file: Path, given: Mapping[str, object], run: Mapping[str, object]) -> FileReading:
        how = FileReading.of_options(given).beside(FileReading.of_run(run), file)
        return replace(how, label_separator=self.separator or None) if how.label_separator is None else how


def is_symmetric(model: ModelConfig) -> bool:
    """Return whether the order of the texts of a pair changes nothing: ``model.matching``, or grades of relatedness."""
    return model.matching == "symmetric" or kind_of(model.task).outputs == "grades"
