"""Records of annotation tools as plain ones: Label Studio's tasks, Prodigy's, doccano's and spaCy's JSON.

A plain record has the text and the label among its own fields, so that columns can name them. What the tools call the
label is also called "label", unless the record has a field of that name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

LABEL = "label"
_ANSWERS = {"reject": "answer: reject", "ignore": "answer: ignore"}
_LABELS = ("cats", "accept", "labels")
"""What spaCy, Prodigy's choices and older versions of doccano call the labels of a text."""


def plain_record(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record of an example, whichever tool wrote it.

    Args:
        record: an object of a JSON file.

    Returns:
        The same record, with the fields of a task of Label Studio and with "label" added where the tool has other names
        for them.
    """
    if isinstance(record.get("data"), Mapping) and ("annotations" in record or "predictions" in record):
        return _of_label_studio(record)
    if LABEL in record:
        return record
    for name in _LABELS:
        value = record.get(name)
        if isinstance(value, list | Mapping):
            return {**record, LABEL: value}
    return record


def rejected(record: Mapping[str, object], read: Collection[str]) -> str:
    """Say why an annotator passed over an example.

    Args:
        record: its fields.
        read: the columns of the texts and the gold; an answer that is itself read is none.

    Returns:
        What the row is counted under; empty where nobody did.
    """
    if record.get("was_canceled") is True and "annotations" in record:
        return "canceled by the annotator"
    answer = record.get("answer")
    if "answer" in read or not isinstance(answer, str):
        return ""
    is_prodigy = any(name.startswith("_") for name in record) or "accept" in record or "spans" in record
    return _ANSWERS.get(answer, "") if is_prodigy else ""


def _of_label_studio(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task as exported: its data, and the choices of its annotation by the names of the controls."""
    found: dict[str, Any] = {**record, **record["data"]}
    given = [each for each in record.get("annotations") or () if isinstance(each, Mapping)]
    used = [each for each in given if not each.get("was_canceled")]
    found["was_canceled"] = bool(given) and not used
    choices: dict[str, list[Any]] = {}
    spans: list[Any] = []
    for result in (used[0].get("result") or ()) if used else ():
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        control = str(result.get("from_name", LABEL))
        for kind in ("choices", "taxonomy"):
            if isinstance(value.get(kind), list):
                choices.setdefault(control, []).extend(value[kind])
        for kind in ("rating", "number"):
            if kind in value:
                found.setdefault(control, value[kind])
        if isinstance(value.get("labels"), list) and "start" in value:
            spans += [
                {"start": value["start"], "end": value["end"], "label": name} for name in value["labels"]
            ]
    found.update(choices)
    if LABEL not in found:
        found[LABEL] = spans or (next(iter(choices.values())) if len(choices) == 1 else None)
    return found
