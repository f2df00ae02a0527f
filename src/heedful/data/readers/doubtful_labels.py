"""What the labels of a column may mean beside what they are read as: said with a count, wherever they come from."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from heedful.data.readers.written_labels import LABELS_TASK, are_tags, left_brackets

MISSING = frozenset({"nan", "none", "null", "na", "n/a", "<na>", "#n/a", "nat", "nil", "?", "-", ""})
"""What programs and people write where a value is missing, in small letters."""

_PRODIGY = frozenset({"accept", "reject", "ignore"})
_JOINING = "|;/+&,\n、，；"
_RARE = "|;,\n、，；"
"""Marks that stand in few names of one label: that one part is a label too is doubt enough."""
_LEVELS = ("/", "::", ">", ".")
"""What stands between the levels of a path."""
_DIGITS = 15
"""Digits that double precision keeps apart; longer numbers are names."""
_FEW, _MOST = 6, 0.8
"""Fewer distinct labels may be classes that are called by numbers; most labels are numbers from this share on."""
_OWN, _NEARLY_ALL = 20, 0.9
"""So many labels of one row each, which nearly all rows have, are the names of rows or free text."""
_PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?", re.ASCII)
_OTHER_NUMBER = re.compile(
    r"\(?[-+\u2212]?\s?([$£€¥]|[A-Z]{2,3}\b)?[\s\u00a0\u202f]?(\d{1,3}([.,'’_ \u00a0\u202f]\d{3})+|\d+)([.,]\d+)?"
    r"[\s\u00a0\u202f]?([%‰$£€¥]|[A-Z]{3}|kr|zł|Kč|Fr\.?)?\)?",
    re.ASCII,
)
"""A number with a sign of a currency or a share, a decimal comma, or marks between its thousands."""
INDICATORS = re.compile(r"\[?[01](?:\s*[,;| ]\s*[01])+\]?")


def doubts(rows: Mapping[str, int], *, of_words: bool = False) -> list[str]:
    """Return which labels of a column may be no label, several labels, paths, or one label that is written in two ways.

    Args:
        rows: label to the number of its rows.
        of_words: whether the labels are those of words, and may be tags.

    Returns:
        A sentence of each kind that is found.
    """
    several, own = list(_several(rows)), list(_of_one_row(rows))
    further = () if several else own or [*_in_a_tree(rows), *_numbers(rows)]
    tags = () if of_words else _tags(rows)
    return [*_no_label(rows), *tags, *several, *_written_twice(rows), *further]


def _tags(rows: Mapping[str, int]) -> Iterator[str]:
    """Return whether labels are tags of words, one word a row."""
    if are_tags(rows):
        tag = next(name for name in rows if name != "O")
        yield (
            f"the labels are tags of words, such as {tag!r:.60}, and each row is read as a text with a class; if each "
            "row is a word of a sentence, write words and tags in lines, with an empty line between sentences, in a "
            "file ending in .conll, and train my-tags (in Python TokenTagger)"
        )


def _no_label(rows: Mapping[str, int]) -> Iterator[str]:
    names = [name for name in rows if name.strip().lower() in MISSING and not (name == "-" and "+" in rows)]
    if "_" in rows:
        names.append("_")
    if "ignore" in rows and not _PRODIGY.issuperset(rows):
        names.append("ignore")
    if "-1" in rows and {"0", "1"}.issubset(rows):
        names.append("-1")
    if names:
        count = sum(rows[name] for name in names)
        yield (
            f"{count:,} rows have the label {' or '.join(map(repr, names))}, which often stands where a label is "
            "missing, and is read as a class; if it means none, drop these rows"
        )


def _of_one_row(rows: Mapping[str, int]) -> Iterator[str]:
    """Return whether nearly every row has a label of its own, as a number of the row or a sentence would be."""
    own, count = [name for name, number in rows.items() if number == 1], sum(rows.values())
    numbers = sum(_PLAIN_NUMBER.fullmatch(name.strip()) is not None for name in own)
    if len(own) >= _OWN and len(own) >= _NEARLY_ALL * count:
        yield (
            f"{len(own):,} of {count:,} rows have a label that no other row has, such as {own[0]!r:.60}, so that no "
            "class can be learned; if these are names of rows or free text, name the column of the classes"
            + (", and that of numbers to learn with --score" if numbers == len(own) else "")
        )


def _several(rows: Mapping[str, int]) -> Iterator[str]:
    """Return which labels may be several: doccano joins them with "#"; others are joined of known labels."""
    if indicators := [name for name in rows if INDICATORS.fullmatch(name)]:
        count = sum(rows[name] for name in indicators)
        yield (
            f"{count:,} rows have a label such as {indicators[0]!r:.60}, which is read as one; if zeros and ones say "
            f"which labels a text has, write one column for each label, and {LABELS_TASK}"
        )
        return
    if lists := [name for name in rows if left_brackets(name.split(",")) and "," in name]:
        count = sum(rows[name] for name in lists)
        yield (
            f"{count:,} rows have a label such as {lists[0]!r:.60}, which is read as one; if it is a list, write it as "
            f"['a', 'b'], and {LABELS_TASK}"
        )
    found = [
        (name, mark)
        for name in rows
        for mark in "#" + _JOINING
        if mark in name
        and all(parts := [part.strip() for part in name.split(mark)])
        and (mark == "#" or (any if mark in _RARE else all)(part in rows for part in parts))
    ]
    found = found or _sharing(rows)
    if found:
        name, mark = found[0]
        count = sum(rows[each] for each in dict.fromkeys(each for each, _ in found))
        yield (
            f"{count:,} rows have a label such as {name!r:.60}, which is read as one; if it is several joined by "
            f"{mark!r}, {LABELS_TASK} with data.options.label_separator={json.dumps(mark)}"
        )


def _sharing(rows: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return labels that have a part in common with another one, with the mark between their parts."""
    for mark in _RARE.replace(",", "").replace("，", ""):
        parts = {name: [part.strip() for part in name.split(mark)] for name in rows if mark in name}
        counts = Counter(part for each in parts.values() for part in set(each))
        if found := [(name, mark) for name, each in parts.items() if any(counts[part] > 1 for part in each)]:
            return found
    return []


def _in_a_tree(rows: Mapping[str, int]) -> Iterator[str]:
    """Return whether most labels are paths of which some have a parent in common."""
    for mark in _LEVELS:
        split = {
            name: name.split(mark) for name in rows if mark in name and not (mark == "." and " " in name)
        }
        paths = {name: [part.strip() for part in parts] for name, parts in split.items()}
        named = [name for name, parts in paths.items() if all(any(map(str.isalpha, part)) for part in parts)]
        parents = Counter(paths[name][0] for name in named)
        if 2 * len(named) > len(rows) and max(parents.values()) > 1:
            yield (
                f"{len(named):,} of {len(rows):,} labels look like paths of a tree, such as {named[0]!r:.60}; training "
                f'needs no option for it, and with --tree "{mark}" predict, explain, evaluate and export know their '
                "parents"
            )
            return


def _written_twice(rows: Mapping[str, int]) -> Iterator[str]:
    """Return which labels are one but for case, characters that cannot be seen, or the writing of a number."""
    alike: dict[str, list[str]] = {}
    for name in rows:
        alike.setdefault(_bare(name), []).append(name)
    groups = [names for names in alike.values() if len(names) > 1]
    if groups:
        told = ", ".join(f"{name!a:.40} ({rows[name]:,})" for name in groups[0])
        others = f", and {len(groups) - 1:,} more such groups" if len(groups) > 1 else ""
        yield (
            f"the labels {told}{others} differ only in case, in how a letter or a number is written, or in characters "
            "that cannot be seen, and are read as different ones; write them alike if they are the same"
        )


def _numbers(rows: Mapping[str, int]) -> Iterator[str]:
    """Return whether most labels are numbers, of which some are written in another way, so that all became classes."""
    if len(rows) < _FEW:
        return
    plain = {name for name in rows if _PLAIN_NUMBER.fullmatch(name.strip())}
    other = [name for name in rows if name not in plain and _OTHER_NUMBER.fullmatch(name.strip())]
    strange = [name for name in rows if name not in plain and name not in other]
    if other and len(plain) + len(other) >= _MOST * len(rows):
        count = sum(rows[name] for name in other)
        yield (
            f"{count:,} rows have a label such as {other[0]!r:.60}, a number that is read as a class; to learn numbers "
            "write them in digits with a point (3.5), and name the column with --score"
        )
    elif strange and len(plain) >= _MOST * len(rows) and any("." in name for name in plain):
        count = sum(rows[name] for name in strange)
        yield (
            f"{count:,} rows have a label such as {strange[0]!r:.60}, which is no number, and so all the others, which "
            "are, are read as classes; to learn numbers drop these rows, and name the column with --score"
        )


def _bare(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).casefold()
    text = " ".join("".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc", "Mn")).split())
    if text in ("true", "false"):
        return "1.0" if text == "true" else "0.0"
    try:
        return str(float(text)) if len(text) <= _DIGITS else text
    except ValueError:
        return text
