"""What a cell of labels means: one name, or a list as programs print it, a table of choices, spans, indicators."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from heedful.errors import DataError
from heedful.storage.fields import is_list, is_texts, plain_json

LABELS_TASK = "for several labels a text train my-labels (in Python MultiLabelClassifier)"
_ITEM = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_LIST = re.compile(rf"[\[({{]\s*(?:{_ITEM}(?:\s*,\s*|\s+|(?=['\"]))?)*,?\s*[\])}}]")
_NUMBER = r"(?:\d+(?:\.\d*)?(?:e-?\d+)?|True|False)"
_TABLE = re.compile(rf"\{{\s*(?:{_ITEM}\s*:\s*{_NUMBER}\s*(?:,\s*|(?=\}})))+\}}")
_ENTRY = re.compile(rf"({_ITEM})\s*:\s*({_NUMBER})")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_CALL = re.compile(r"[A-Za-z_.]+\(\s*([\[({].*[\])}])\s*(?:,\s*\w+\s*=[^,=()]*)*\)", re.DOTALL)
_EMPTY = ("set()", "frozenset()", "list()", "tuple()", "()")
_LONGEST = 1 << 16
_TAG = re.compile(r"O|[BIESLU]-\S+")
_ANSWERS = frozenset({"accept", "reject", "ignore"})


def written_labels(value: object, where: str) -> list[str] | None:
    """Return the labels that a value lists: a list, what a program prints of one, or a table of label to 0 or 1.

    Args:
        value: of a cell or a field.
        where: it stands, for messages.

    Returns:
        The labels as they are written; None for anything else, so also for one name.

    Raises:
        DataError: if a table has other values than from 0 to 1.
    """
    if isinstance(value, str):
        value = _printed(value.strip())
    if isinstance(value, Mapping):
        if not is_list(choices := value.get("choices")) or len(value) > 1:
            return _chosen(value, where)
        value = choices
    return list(value) if is_texts(value) else None


def _printed(text: str) -> object:
    """Return the list or table that a text is, as JSON or as programs print it; else the text itself."""
    if text in _EMPTY:
        return []
    if text[-1:] == ")" and len(text) <= _LONGEST and (call := _CALL.fullmatch(text)) is not None:
        inner = _printed(call[1])
        return text if inner == call[1] else inner  # array(['a', 'b'], dtype=object)
    if len(text) > _LONGEST or text[-1:] != _CLOSING.get(text[:1], " "):
        return text
    if text[0] == "{" or text[0] == "[":
        with suppress(ValueError):
            found = plain_json(text, finite=False)
            return found if is_texts(found) or isinstance(found, Mapping) else text
    if _TABLE.fullmatch(text):  # as Python prints one
        truth = {"True": "1", "False": "0"}
        return {_unquoted(name): float(truth.get(value, value)) for name, value in _ENTRY.findall(text)}
    if not _LIST.fullmatch(text):
        return text
    return [_unquoted(each) for each in re.findall(_ITEM, text)]


def _unquoted(item: str) -> str:
    return re.sub(r"\\(.)", r"\1", item[1:-1])


def _chosen(table: Mapping[object, object], where: str) -> list[str]:
    for name, value in table.items():
        if not isinstance(name, str) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise DataError(
                f"{where}: expected a table of labels, each with a number from 0 to 1, got {name!r:.40}: {value!r:.40}"
            )
    return [str(name) for name, value in table.items() if isinstance(value, int | float) and value >= 0.5]


def holds_spans(value: object) -> bool:
    """Return whether a value lists spans: ``[start, end, label]``, or tables with a start and an end; or their JSON."""
    if isinstance(value, str) and value.lstrip()[:1] == "[" and len(value) <= _LONGEST and "start" in value:
        with suppress(ValueError):
            value = plain_json(value, finite=False)
    if not is_list(value) or not value:
        return False
    first = value[0]
    if is_list(first):
        return len(first) >= 3 and all(
            isinstance(each, int | float) or (isinstance(each, str) and each.strip().isdecimal())
            for each in first[:2]
        )
    return isinstance(first, Mapping) and bool({"start", "start_offset"} & first.keys())


def are_tags(names: Collection[str]) -> bool:
    """Return whether labels are tags of words, such as O, B-PER and I-PER, and no classes of texts."""
    return "O" in names and len(names) > 1 and all(_TAG.fullmatch(name) for name in names)


def is_indicators(names: Sequence[str]) -> bool:
    """Return whether labels are zeros and ones alone, at least two of them."""
    return len(names) > 1 and all(name in ("0", "1") for name in names)


def left_brackets(parts: Sequence[str]) -> bool:
    """Return whether brackets stand around what was split, so that they would become letters of labels."""
    first, last = parts[0].strip(), parts[-1].strip()
    inside = "".join(parts)
    return (
        first[:1] in _CLOSING
        and last.endswith(_CLOSING[first[:1]])
        and inside.count(first[:1]) == inside.count(last[-1:]) == 1
        and (len(parts) > 1 or first[1:2] in "'\"")
    )


def checked_name(name: str, where: str, what: str = "label") -> str:
    """Return a label.

    Args:
        name: the label.
        where: it stands, for messages.
        what: it is, if no label.

    Returns:
        The same.

    Raises:
        DataError: if it holds half a surrogate pair, which no file can hold.
    """
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{where}: the {what} {name!r:.60} holds half of a character (a lone surrogate); correct it"
            ) from None
    return name


def no_gold(labels: Collection[str]) -> list[str]:
    """Return those of the labels of a column that say that a row has no label.

    Args:
        labels: all of them.

    Returns:
        "-", with which SNLI marks pairs without agreement, unless "+" is a label too; "ignore" beside no other labels
        than "accept" and "reject", the answers of Prodigy.
    """
    marks = ["-"] if "-" in labels and "+" not in labels and len(labels) > 2 else []
    return marks + (
        ["ignore"] if "ignore" in labels and len(labels) > 1 and _ANSWERS.issuperset(labels) else []
    )
