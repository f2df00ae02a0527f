"""One task: read a part, answer its rows, and write its file whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

from heedful.bulk.batch_answers import Bad, BatchAnswers, ModelOptions, one_thread
from heedful.bulk.part_files import PredictionPart, import_parquet
from heedful.bulk.part_rows import PartRow, RowLayout, batch_rows, file_blocks, group_batches, schema_of
from heedful.bulk.prediction_table import Column, PredictionFile, free_name
from heedful.data.examples import Corpus, Example
from heedful.data.readers.reading import FileReading
from heedful.errors import DataError
from heedful.storage import note_read, operation, replacing
from heedful.storage.file_states import refuse_changed
from heedful.text.characters import json_line

if TYPE_CHECKING:
    from pyarrow import DataType, RecordBatch

    from heedful.model.answers import AnyAnswer

_WRITTEN_ROWS = 65_536
"""Rows of a row group of a Parquet file that is written."""


@dataclass(frozen=True)
class PartForm:
    """The form of what is written.

    Attributes:
        format: "parquet", "csv", "tsv" or "jsonl"; empty for that of each file.
        header: whether CSV and TSV begin with the names of their columns.
        skip_bad: whether a row without an answer goes to a side file; otherwise it stops the run.
    """

    format: str = ""
    header: bool = True
    skip_bad: bool = False


@dataclass(frozen=True)
class Order:
    """How every part is predicted.

    Attributes:
        options: the model.
        reading: how the options say that files are read.
        form: the form of what is written.
        output: the folder of the predictions.
        side: the folder of the rows without an answer.
    """

    options: ModelOptions
    reading: FileReading
    form: PartForm
    output: Path
    side: Path


@dataclass
class RowCounts:
    """What became of the rows of a part.

    Attributes:
        rows: that were read.
        answered: that have a prediction.
        bad: that have none.
        truncated: rows of which a text was truncated.
    """

    rows: int = 0
    answered: int = 0
    bad: int = 0
    truncated: int = 0


def prepare_parts(order: Order) -> Callable[[PredictionPart], RowCounts]:
    """Read the model and return what predicts a part; every process of the command calls this once."""
    answers = BatchAnswers(order.options)
    one_thread()
    layout = layout_of(answers, order.reading)
    return lambda part: _predict(part, order, answers, layout)


def layout_of(answers: BatchAnswers, reading: FileReading) -> RowLayout:
    """Return where the texts of a row are: as the options say, else as in training, else by the names of the roles."""
    named = {**answers.trained.columns, **reading.columns}
    names = tuple(named.get(role, role) for role in answers.roles)
    return RowLayout(answers.roles, names, reading, answers.trained, answers.beside)


def _predict(part: PredictionPart, order: Order, answers: BatchAnswers, layout: RowLayout) -> RowCounts:
    counts = RowCounts()
    with operation(), ExitStack() as open_files:
        note_read(part.file)
        side = _SideFile(order.side / f"{part.name}.jsonl", open_files)
        judge = _Judge(part, answers, counts, side if order.form.skip_bad else None)
        with replacing(order.output / part.output) as stream:
            if part.group is None:
                _write_lines(part, order, answers, layout, judge, stream)
            elif part.format == "parquet":
                _write_parquet(part, answers, layout, judge, stream)
            else:
                _write_lines_of_group(part, order, answers, layout, judge, stream)
            refuse_changed({part.file: part.state})  # since all files were looked into
    return counts


@dataclass
class _Judge:
    """Answers blocks of rows, and counts; a bad row goes to the side file or ends the run."""

    part: PredictionPart
    answers: BatchAnswers
    counts: RowCounts
    side: _SideFile | None

    def answer(self, rows: Sequence[PartRow], batch: RecordBatch | None = None) -> list[AnyAnswer | Bad]:
        """Return one answer a row, `Bad` where there is none; all fields of a row are in the batch, if there is one."""
        readable = iter(self.answers.answers([row.values for row in rows if not row.reason]))
        found = [Bad(row.reason) if row.reason else next(readable) for row in rows]
        self.counts.rows += len(rows)
        for place, (row, answer) in enumerate(zip(rows, found, strict=True)):
            if not isinstance(answer, Bad):
                self.counts.answered += 1
                self.counts.truncated += bool(getattr(answer, "truncated", False))
                continue
            self.counts.bad += 1
            if self.side is None:
                raise DataError(
                    f"{self.part.file}: row {row.number:,}: {answer.reason}. Correct it, or pass --bad-rows skip, "
                    "which writes such rows to a side file and counts them"
                )
            fields = dict(row.fields) if batch is None else batch.slice(place, 1).to_pylist()[0]
            self.side.add({"row": row.number, "reason": answer.reason, "fields": fields})
        return found


def _write_lines(
    part: PredictionPart,
    order: Order,
    answers: BatchAnswers,
    layout: RowLayout,
    judge: _Judge,
    stream: IO[bytes],
) -> None:
    file = PredictionFile(Path(part.output), stream, answers.model.header, with_header=order.form.header)
    for rows in file_blocks(part, layout):
        found = judge.answer(rows)
        _add(file, answers, rows, found)
    file.begin_if_empty()


def _write_lines_of_group(
    part: PredictionPart,
    order: Order,
    answers: BatchAnswers,
    layout: RowLayout,
    judge: _Judge,
    stream: IO[bytes],
) -> None:
    file = PredictionFile(Path(part.output), stream, answers.model.header, with_header=order.form.header)
    file.expect_names(schema_of(part).names)
    first = part.first
    for batch in group_batches(part):
        rows = batch_rows(batch, layout, first)
        found = judge.answer(rows, batch)
        fields = batch.to_pylist()
        whole = [PartRow(row.number, row.values, f) for row, f in zip(rows, fields, strict=True)]
        _add(file, answers, whole, found)
        first += len(rows)
    file.begin_if_empty()


def _add(
    file: PredictionFile, answers: BatchAnswers, rows: Sequence[PartRow], found: Sequence[AnyAnswer | Bad]
) -> None:
    good = [(row, answer) for row, answer in zip(rows, found, strict=True) if not isinstance(answer, Bad)]
    examples = [Example(("",), row=row.number, fields=row.fields) for row, _ in good]
    if good:
        file.add(Corpus(examples), [answer for _, answer in good], answers.model.rows)


def _write_parquet(
    part: PredictionPart, answers: BatchAnswers, layout: RowLayout, judge: _Judge, stream: IO[bytes]
) -> None:
    pyarrow, parquet = import_parquet()
    own = schema_of(part)
    added = [
        pyarrow.field(free_name(each.name, set(own.names)), arrow_type(pyarrow, each))
        for each in answers.columns
    ]
    schema = pyarrow.schema([*own, *added])
    first = part.first
    pending: list[RecordBatch] = []
    with parquet.ParquetWriter(stream, schema) as writer:
        for batch in group_batches(part):
            found = judge.answer(batch_rows(batch, layout, first), batch)
            first += batch.num_rows
            good = [answer for answer in found if not isinstance(answer, Bad)]
            if len(good) < len(found):
                batch = batch.filter(pyarrow.array([not isinstance(answer, Bad) for answer in found]))
            arrays = [
                pyarrow.array([column.value(answer) for answer in good], type=field.type)
                for column, field in zip(answers.columns, added, strict=True)
            ]
            pending.append(pyarrow.RecordBatch.from_arrays([*batch.columns, *arrays], schema=schema))
            if sum(each.num_rows for each in pending) >= _WRITTEN_ROWS:
                writer.write_table(pyarrow.Table.from_batches(pending, schema))
                pending = []
        if pending:
            writer.write_table(pyarrow.Table.from_batches(pending, schema))


def arrow_type(pyarrow: ModuleType, column: Column) -> DataType:
    """Return the Arrow type of a column of predictions."""
    inner = pyarrow.string() if column.kind in ("text", "texts") else pyarrow.float64()
    return pyarrow.list_(inner) if column.kind in ("texts", "numbers") else inner


class _SideFile:
    """Rows without an answer, a line of JSON each; the file is begun with the first one, and old ones are removed.

    Args:
        path: the file.
        open_files: ends what is written.
    """

    def __init__(self, path: Path, open_files: ExitStack) -> None:
        self._path, self._open_files = path, open_files
        self._stream: IO[bytes] | None = None
        path.unlink(missing_ok=True)

    def add(self, record: object) -> None:
        """Write a row."""
        if self._stream is None:
            self._stream = self._open_files.enter_context(replacing(self._path))
        plain = json.loads(json.dumps(record, default=str))  # Parquet has dates and bytes
        self._stream.write(json_line(plain).encode("utf-8", "backslashreplace") + b"\n")
