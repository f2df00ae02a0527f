"""Tasks whose examples stand in the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.data.examples import Corpus
from heedful.data.readers.reading import Reading
from heedful.data.readers.table_files import read_table, table_blocks
from heedful.errors import UsageError
from heedful.tasks.named_files import check_options, one_file_a_part
from heedful.tasks.task import Files

if TYPE_CHECKING:
    from heedful.config import DataConfig

TEXT, PAIR = ("text",), ("premise", "hypothesis")
"""The columns of a text, and of a pair."""
_ALL = (*TEXT, *PAIR, "label", "score")
"""Columns that `read_table` takes; each is a setting or an option of its own and none of ``data.options``."""


@dataclass(frozen=True)
class Table:
    """Which columns of a table a task reads.

    Attributes:
        texts: `TEXT` or `PAIR`.
        gold: "label" or "score".
        separator: what stands between the labels of an example unless ``data.options.label_separator`` says otherwise;
            empty where an example has one label.
    """

    texts: tuple[str, ...]
    gold: str
    separator: str = ""

    @property
    def settings(self) -> frozenset[str]:
        """The settings that name the columns."""
        return frozenset(f"data.{role}" for role in (*self.texts, self.gold))

    @property
    def options(self) -> frozenset[str]:
        """The options of a command that say how a table is read; see `Reading.as_options`."""
        return frozenset((*self.texts, self.gold, "group", *Reading().options()))

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
        taken = (*_ALL, "labels", *(() if self.separator else ("label_separator",)))
        read_part = check_options(data.options, read_table, "tables", taken)
        if self.separator and "label_separator" not in data.options:
            read_part = partial(read_part, label_separator=self.separator)
        columns: dict[str, str | None] = {
            role: getattr(data, role) or None for role in (*self.texts, self.gold)
        }
        if columns[self.gold] is None:
            raise UsageError(
                f"data.{self.gold} must name the column of the {self.gold}: --column {self.gold}=NAME"
            )
        paths, fingerprint = one_file_a_part(names, root)

        def read() -> dict[str, Corpus]:
            parts = {"train": read_part(paths["train"], **columns)}
            # The other files are read knowing the classes, so that a misspelt one is named with its row and field.
            labels = labels_of(parts["train"])
            others = [part for part in paths if part != "train"]
            return parts | {part: read_part(paths[part], **columns, labels=labels) for part in others}

        return Files(read, fingerprint)

    def gold_of(
        self, file: Path, given: Mapping[str, object], labels: Sequence[str], run: Mapping[str, object]
    ) -> Corpus:
        """Read a table of examples with gold.

        Args:
            file: the table.
            given: what the options of the command say; see `Reading.as_options`. A column that neither they nor the run
                name has the name of its role.
            labels: the names that are allowed.
            run: the settings of the run that trained the model; its file is read in the same way.

        Returns:
            The examples, those without words among them.
        """
        how = self._how(file, given, run)
        columns = {role: how.columns.get(role, role) for role in (*self.texts, self.gold)}
        read: Callable[..., Corpus] = partial(read_table, **how.said())
        return read(file, **columns, group=how.columns.get("group"), labels=labels, keep_empty=True)

    def gold_blocks(
        self, file: Path, given: Mapping[str, object], labels: Sequence[str], run: Mapping[str, object]
    ) -> Iterator[Corpus]:
        """Read a table of examples with gold in blocks; see `gold_of` for the arguments."""
        how = self._how(file, given, run)
        roles = (*self.texts, self.gold, *(["group"] if "group" in how.columns else ()))
        return table_blocks(file, roles, how, labels=labels)

    def _how(self, file: Path, given: Mapping[str, object], run: Mapping[str, object]) -> Reading:
        how = Reading.of_options(given).beside(Reading.of_run(run), file)
        return replace(how, label_separator=self.separator or None) if how.label_separator is None else how
