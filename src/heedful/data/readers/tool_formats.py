"""Records of annotation tools as plain ones: Label Studio's tasks, Prodigy's, doccano's and spaCy's JSON.

A plain record has the text and the label among its own fields, so that columns can name them. What the tools call the
label is also called "label", unless the record has a field of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

LABEL = "label"
_CANCELED = "was_cancelled"
"""As Label Studio spells it."""
_DIFFER = "annotations differ"
"""The field that says that two annotators of a task of Label Studio do not agree."""
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
    """Return why an annotator passed over an example.

    Args:
        record: its fields.
        read: the columns of the texts and the gold; an answer that is itself read is none.

    Returns:
        What the row is counted under; empty where nobody did.
    """
    if record.get(_CANCELED) is True and "annotations" in record:
        return "canceled by the annotator"
    answer = record.get("answer")
    if "answer" in read or not isinstance(answer, str):
        return ""
    is_prodigy = any(name.startswith("_") for name in record) or "accept" in record or "spans" in record
    return _ANSWERS.get(answer, "") if is_prodigy else ""


class Remarks:
    """Counts what tools say of examples that are read all the same, so that it is not passed over in silence."""

    def __init__(self) -> None:
        self._differ = 0
        self._answers = Counter[str]()

    def see(self, record: Mapping[str, object], read: Collection[str]) -> None:
        """Look at a record that is read; ``read`` are the columns of the texts and the gold."""
        self._differ += record.get(_DIFFER) is True
        answer = record.get("answer")
        if "answer" not in read and isinstance(answer, str):
            self._answers[answer] += 1

    def notes(self) -> Iterator[str]:
        """Yield a sentence of each kind that was seen."""
        if self._differ:
            yield f"the annotators of {self._differ:,} texts do not agree, and what the first one said is read"
        passed = sum(self._answers[name] for name in _ANSWERS)
        if passed and {"accept", *_ANSWERS}.issuperset(self._answers):
            yield (
                f"{passed:,} rows whose “answer” is reject or ignore, the words of Prodigy, are read like the others; "
                "if an annotator has passed over them, drop these rows"
            )


def _of_label_studio(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task as exported: its data, and the choices of its annotation by the names of the controls."""
    found: dict[str, Any] = {**record, **record["data"]}
    given = [each for each in record.get("annotations") or () if isinstance(each, Mapping)]
    used = [each for each in given if not each.get(_CANCELED)]
    said = [_read_annotation(each) for each in used]
    found[_CANCELED] = bool(given) and not used
    found[_DIFFER] = any(each != said[0] for each in said)
    values, choices, spans = said[0] if said else ({}, {}, [])
    for control, value in values.items():
        found.setdefault(control, value)
    found.update(choices)
    if LABEL not in found:
        found[LABEL] = spans or (next(iter(choices.values())) if len(choices) == 1 else None)
    return found


def _read_annotation(annotation: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]], list[Any]]:
    """Return numbers and choices by the names of the controls, and spans."""
    values: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {}
    spans: list[Any] = []
    for result in annotation.get("result") or ():
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        control = str(result.get("from_name", LABEL))
        for kind in ("choices", "taxonomy"):
            if isinstance(value.get(kind), list):
                choices.setdefault(control, []).extend(value[kind])
        for kind in ("rating", "number"):
            if kind in value:
                values.setdefault(control, value[kind])
        if isinstance(value.get("labels"), list) and "start" in value:
            spans += [
                {"start": value["start"], "end": value["end"], "label": name} for name in value["labels"]
            ]
    return values, choices, spans
