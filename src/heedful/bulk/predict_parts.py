"""Predict for many files: list the parts, predict those that are not finished, and count the rows of all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from heedful.bulk.batch_answers import BatchAnswers, ModelOptions
from heedful.bulk.output_folder import SIDE, OutputFolder
from heedful.bulk.part_files import PredictionPart, find_files, list_parts
from heedful.bulk.part_task import Order, PartForm, RowCounts, layout_of, prepare_parts
from heedful.data.readers.reading import FileReading
from heedful.errors import MOST_AT_ONCE, UsageError, checked_whole
from heedful.machine.crew import each_done
from heedful.storage.manifest import manifest_checksum
from heedful.storage.named_models import find_model

_EVERY = 30.0
"""Seconds between two lines that say how far a run is."""


@dataclass(frozen=True)
class Totals:
    """What a run over many parts came to.

    Attributes:
        files: files of the input.
        parts: files of predictions.
        before: of them those that an earlier run had finished.
        rows: that were read.
        answered: that have a prediction.
        bad: that have none.
        truncated: rows of which a text was truncated.
        promise: what is promised of sets and intervals; empty where there are none.
    """

    files: int
    parts: int
    before: int
    rows: int
    answered: int
    bad: int
    truncated: int
    promise: str = ""

    def as_dict(self) -> dict[str, int | str]:
        """Return the counts as plain values, and the promise where there is one."""
        return {name: value for name, value in asdict(self).items() if name != "promise" or value}

    def render(self, output: Path) -> str:
        """Return the counts as lines for a person.

        Args:
            output: the folder of the predictions.

        Returns:
            The lines.
        """
        earlier = f" ({self.before:,} of them by an earlier run)" if self.before else ""
        lines = [
            f"{output}: {self.parts:,} files of predictions from {self.files:,} files{earlier}",
            f"rows read {self.rows:,}, answered {self.answered:,}, bad {self.bad:,}",
        ]
        if self.bad:
            lines.append(f"the bad rows are in {output / SIDE} with their reasons")
        if self.truncated:
            lines.append(f"rows with a truncated text: {self.truncated:,}")
        if self.promise:
            lines.append(self.promise)
        return "\n".join(lines)


def predict_parts(
    model: ModelOptions,
    pattern: str,
    output: Path,
    *,
    jobs: int = 1,
    reading: FileReading | None = None,
    form: PartForm | None = None,
    print_line: Callable[[str], None] = lambda _: None,
) -> Totals:
    """Predict for every row of many files; run it again after a kill, and it predicts what is missing.

    Each part (a row group of a Parquet file, or a file of another format) gets a file of its own in ``output``, with
    all columns of its rows before the prediction. The file is whole or not there.

    Args:
        model: the model.
        pattern: what ``--input`` says: a file, or a path with ``*``, ``?``, ``[...]`` or ``**``.
        output: a folder that is empty or was written by an earlier run of the same.
        jobs: processes; each of them computes with one thread.
        reading: how the files are read, and the columns of the texts.
        form: the form of what is written; None for the defaults.
        print_line: told how far the run is.

    Returns:
        The counts over all parts, those of earlier runs included.

    Raises:
        UsageError: if the files do not fit together, the folder holds other predictions, or so many processes cannot
            be.
        DataError: naming file and row, if a file cannot be read, or a row has no prediction.
        ArtifactError: if the model is missing or damaged.
        OutputError: if something cannot be written.
    """
    reading, form = reading or FileReading(), form or PartForm()
    checked_whole("jobs", jobs, 1, MOST_AT_ONCE)
    if reading.on_missing == "skip":
        raise UsageError(
            "--on-missing skip: choose error or empty; --bad-rows skip skips rows without a text"
        )
    checksum = manifest_checksum(find_model(model.model))
    model = replace(model, checksum=checksum)
    answers = BatchAnswers(model)
    if other := [role for role in reading.columns if role not in answers.roles]:
        raise UsageError(
            f"--column {other[0]}=: this model reads the column of {' and '.join(answers.roles)} alone"
        )
    layout = layout_of(answers, reading)
    files = find_files(pattern)
    _refuse_own(files, output)
    parts = list_parts(files, [*zip(layout.roles, layout.names, strict=True)], form.format, layout.beside)
    folder = OutputFolder(output)
    order = Order(model, reading, form, output, folder.side)
    with folder.alone():
        folder.begin(
            {
                "format_version": 1,
                "model": checksum,
                "task": answers.model.task,
                "columns": list(layout.names),
                "max_tokens": model.max_tokens,
                "truncate": model.truncate,
                "precision": model.precision,
                "coverage": None if model.wish is None else model.wish.coverage,
                "sets": None if model.wish is None else [model.wish.method, model.wish.by_class],
                "tree": model.tree,
                "at_least": model.at_least,
                "format": form.format,
                "header": form.header,
                **{name: value for name, value in reading.options().items() if name != "query"},
            }
        )
        promise = answers.model.promise
        del answers  # the processes have their own
        counts = folder.finished(parts)
        before, left = len(counts), [part for part in parts if part not in counts]
        told = time.monotonic()
        jobs = max(1, min(jobs, len(left)))
        for part, found in each_done(prepare_parts, (order,), left, jobs=jobs, name=_name) if left else ():
            folder.keep(part, found)
            counts[part] = found
            if time.monotonic() - told >= _EVERY:
                told = time.monotonic()
                rows = sum(each.rows for each in counts.values())
                print_line(f"{len(counts):,} of {len(parts):,} parts, {rows:,} rows")
    said = "" if promise is None else promise.sentence()
    return Totals(len(files), len(parts), before, **_sum(counts.values()), promise=said)


def _refuse_own(files: Iterable[tuple[Path, str]], output: Path) -> None:
    inside = Path(os.path.realpath(output))  # which takes links in a circle as they are
    for file, _ in files:
        if inside in file.resolve().parents:
            raise UsageError(f"--output {output}: holds {file}, which --input names; name another folder")


def _name(part: PredictionPart) -> str:
    return str(part.file) if part.group is None else f"{part.file}, row group {part.group}"


def _sum(counts: Iterable[RowCounts]) -> dict[str, int]:
    all_counts = list(counts)
    return {field.name: sum(getattr(each, field.name) for each in all_counts) for field in fields(RowCounts)}
