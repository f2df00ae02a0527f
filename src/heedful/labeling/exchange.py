"""Labels for and from other tools: Label Studio's tasks and doccano's lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import is_table_name, table_records
from heedful.data.readers.text_fields import is_missing
from heedful.data.readers.tool_formats import plain_record, rejected
from heedful.data.readers.written_labels import written_labels
from heedful.errors import DataError, UsageError
from heedful.labeling.forms import NONE, Label, LabelForm
from heedful.labeling.label_file import LabelFile, Record
from heedful.storage import write_text

_Table = dict[str, object]


def export_labels(labels: Path, form: LabelForm, target: Path) -> int:
    """Write labels as another tool reads them.

    Args:
        labels: the file of labels.
        form: what a label is.
        target: .json for tasks of Label Studio with an annotation of each person, .jsonl for lines of doccano, of which
            each text has the latest label.

    Returns:
        How many texts were written.

    Raises:
        UsageError: if the name says neither, or there are no labels.
        DataError: if the file of labels cannot be read.
        OutputError: if the target cannot be written.
    """
    if target.suffix not in (".json", ".jsonl"):
        raise UsageError(f"--export {target}: expected .json for Label Studio or .jsonl for doccano")
    if not labels.exists():
        raise UsageError(f"{labels}: is not there, so there is nothing to export")
    by_key: dict[str, list[Record]] = {}
    for record in LabelFile(labels, form, lambda _: None).records:
        by_key.setdefault(record.key, []).append(record)
    texts = list(by_key.values())
    if target.suffix == ".json":
        tasks = [_task(number, form, records) for number, records in enumerate(texts, 1)]
        write_text(target, json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    else:
        lines = [_line(number, form, records[-1]) for number, records in enumerate(texts, 1)]
        write_text(target, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return len(texts)


def _task(number: int, form: LabelForm, records: Sequence[Record]) -> _Table:
    """Return a task of Label Studio, with one annotation for each person."""
    latest = {record.by: record for record in records}
    annotations: list[_Table] = [
        {"id": 1_000 * number + place, "was_cancelled": False, "result": _results(form, record)}
        for place, record in enumerate(latest.values())
    ]
    data: _Table = dict(zip(form.texts, records[0].texts, strict=True))
    return {"id": number, "data": data, "annotations": annotations, "predictions": []}


def _results(form: LabelForm, record: Record) -> list[_Table]:
    """Return the regions and choices of an annotation."""
    head: _Table = {"from_name": form.column, "to_name": form.texts[0], "meta": {"text": [record.by or "?"]}}
    label = record.label
    if isinstance(label, list) and form.kind == "spans":
        return [
            {
                **head,
                "type": "labels",
                "value": {"start": each[0], "end": each[1], "text": _part(record, each), "labels": [each[2]]},
            }
            for each in label
        ]
    if form.kind == "number":
        return [{**head, "type": "number", "value": {"number": label}}]
    names = [str(each) for each in label] if isinstance(label, list) else [str(label)]
    chosen = [name for name in names if name != NONE]
    return [{**head, "type": "choices", "value": {"choices": chosen}}] if chosen else []


def _part(record: Record, span: object) -> str:
    start, end = (span[0], span[1]) if isinstance(span, list) else (0, 0)
    return record.texts[0][start:end]


def _line(number: int, form: LabelForm, record: Record) -> _Table:
    """Return a line of doccano: one class is a list there too."""
    label: object = record.label
    if form.kind == "classes":
        label = [] if record.label == NONE else [record.label]
    texts: _Table = dict(zip(form.texts, record.texts, strict=True))
    return {"id": number, **texts, "label": label, "Comments": [record.note] if record.note else []}


def taken_labels(pool: Path, form: LabelForm, reading: FileReading) -> list[Record]:
    """Return the labels that a pool has, as Label Studio, doccano and tables have them.

    Args:
        pool: the file.
        form: what a label is; other labels than its own are refused.
        reading: how the file is read.

    Returns:
        The labels; rows without one are left out.

    Raises:
        UsageError: if the file is no table.
        DataError: naming the row, if a label is none of the form.
    """
    if not is_table_name(pool):
        raise UsageError(f"--take-labels: {pool} is no table, so it has no labels")
    named = [reading.columns.get(role, role) for role in form.texts]
    gold = reading.columns.get("score" if form.kind == "number" else "label")
    found = []
    for row, given in table_records(pool, reading):
        record = plain_record(given)
        texts = tuple(record.get(name) for name in named)
        value = record.get(gold) if gold else record.get(form.column, record.get("label"))
        if rejected(record, ()) or is_missing(value) or value in ("", []):
            continue
        if not all(isinstance(text, str) and text.strip() for text in texts):
            continue
        plain = tuple(map(str, texts))
        try:
            found.append(
                Record(plain, _taken(form, value, plain, f"{pool}: row {row}"), by="pool", chosen="pool")
            )
        except DataError as error:
            raise DataError(f"{pool}: row {row}: {error}") from error
    return found


def _taken(form: LabelForm, value: object, texts: Sequence[str], where: str) -> Label:
    """Return a label as other tools write it."""
    if form.kind == "spans":
        spans = value if isinstance(value, list) else []
        return form.checked([_span(each) for each in spans], texts)
    names = written_labels(value, where)
    if form.kind == "several":
        return form.checked([str(value)] if names is None else names, texts)
    if names is not None and len(names) == 1:
        value = names[0]
    return form.checked(str(value).strip() if form.kind == "classes" else value, texts)


def _span(each: object) -> object:
    if isinstance(each, dict):
        start = each.get("start", each.get("start_offset"))
        return [start, each.get("end", each.get("end_offset")), each.get("label")]
    return each
