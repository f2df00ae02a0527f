"""What a label is: one class, several labels, a number, or spans; and how a file has it."""

from __future__ import annotations

import itertools
import json
import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from heedful.errors import DataError, UsageError, nearest
from heedful.storage.fields import is_list, is_whole, plain_json

Label = str | float | list[str] | list[list[object]]
"""A class, a number, several labels, or spans as ``[start, end, label]``; each as JSON has it."""
Kind = Literal["classes", "several", "number", "spans"]
NONE = "-"
"""The class of a text that has none of the classes; `heedful train` leaves such rows out and counts them."""
_NO_CLASSES = (NONE, "+", "ignore")
"""Names that a reader of labels takes for something else than a class."""


@dataclass(frozen=True)
class LabelForm(ABC):
    """What is asked of each text.

    Attributes:
        labels: the names to choose from; none for numbers.
        pair: whether two texts are shown.
    """

    labels: tuple[str, ...] = ()
    pair: bool = False
    kind: ClassVar[Kind]
    column: ClassVar[str]

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of the texts in the file of labels."""
        return ("premise", "hypothesis") if self.pair else ("text",)

    @abstractmethod
    def checked(self, value: object, texts: Sequence[str]) -> Label:
        """Return a label as it is kept.

        Args:
            value: what a page or a line of JSON has.
            texts: of the example.

        Returns:
            The label.

        Raises:
            DataError: if it is none of this form; says what was expected.
        """

    def cell(self, label: Label) -> str:
        """Return a label as a cell of CSV has it."""
        return json.dumps(label, ensure_ascii=False)

    def read_cell(self, cell: str, texts: Sequence[str]) -> Label:
        """Return the label of a cell; see `checked`."""
        try:
            value = plain_json(cell, finite=False)
        except ValueError as error:
            raise DataError(f"expected a label as JSON, got {cell!r:.60}") from error
        return self.checked(value, texts)

    def named(self, label: Label) -> tuple[str, ...]:
        """Return the names that a label uses, for counts."""
        return ()

    def is_spare(self, label: Label) -> bool:
        """Tell whether a model cannot learn from a label."""
        return False

    def _known(self, name: object) -> str:
        if not isinstance(name, str) or name not in self.labels:
            raise DataError(f"there is no label {name!r:.60}; {nearest(str(name)[:60], self.labels)}")
        return name


class OneLabelForm(LabelForm):
    """One class a text, or `NONE`."""

    kind, column = "classes", "label"

    def checked(self, value: object, texts: Sequence[str]) -> Label:
        """Return a class; see `LabelForm.checked`."""
        return NONE if value == NONE else self._known(value)

    def cell(self, label: Label) -> str:
        """Return the class as it is."""
        return str(label)

    def read_cell(self, cell: str, texts: Sequence[str]) -> Label:
        """Return the class; see `checked`."""
        return self.checked(cell.strip(), texts)

    def named(self, label: Label) -> tuple[str, ...]:
        """Return the class."""
        return (str(label),)

    def is_spare(self, label: Label) -> bool:
        """Tell whether it is `NONE`."""
        return label == NONE


class SeveralLabelsForm(LabelForm):
    """Any number of labels a text, also none."""

    kind, column = "several", "labels"

    def checked(self, value: object, texts: Sequence[str]) -> Label:
        """Return labels in the order of `labels`; see `LabelForm.checked`."""
        if not is_list(value):
            raise DataError(f"expected a list of labels, got {value!r:.60}")
        chosen = {self._known(each) for each in value}
        return [each for each in self.labels if each in chosen]

    def named(self, label: Label) -> tuple[str, ...]:
        """Return the labels."""
        return tuple(str(each) for each in label) if isinstance(label, list) else ()


@dataclass(frozen=True)
class Numbers(LabelForm):
    """A number a text.

    Attributes:
        labels: none.
        pair: whether two texts are shown.
        low: the smallest number.
        high: the largest one.
    """

    low: float = -math.inf
    high: float = math.inf
    kind, column = "number", "score"

    def checked(self, value: object, texts: Sequence[str]) -> Label:
        """Return a number; see `LabelForm.checked`."""
        try:
            number = float(value) if isinstance(value, int | float | str) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not math.isfinite(number) or not self.low <= number <= self.high:
            bounds = "" if math.isinf(self.high) else f" from {self.low:g} to {self.high:g}"
            raise DataError(f"expected a number{bounds}, got {value!r:.60}")
        return number

    def cell(self, label: Label) -> str:
        """Return the number as it is shortest."""
        return f"{float(str(label)):.15g}"

    def read_cell(self, cell: str, texts: Sequence[str]) -> Label:
        """Return the number; see `checked`."""
        return self.checked(cell, texts)


class Spans(LabelForm):
    """Parts of a text, each with a label; none overlaps another."""

    kind, column = "spans", "label"

    def checked(self, value: object, texts: Sequence[str]) -> Label:
        """Return spans ``[start, end, label]`` in the order of the text, in characters; see `LabelForm.checked`."""
        if not is_list(value):
            raise DataError(f"expected a list of spans, got {value!r:.60}")
        found: list[tuple[int, int, str]] = []
        for each in value:
            if not is_list(each) or len(each) != 3:
                raise DataError(f"expected a span [start, end, label], got {each!r:.60}")
            start, end, name = each
            if (
                not (is_whole(start) and is_whole(end))
                or not 0 <= start < end <= len(texts[0])
                or not texts[0][start:end].strip()
            ):
                raise DataError(f"expected a span within the {len(texts[0]):,} characters, got {each!r:.60}")
            found.append((start, end, self._known(name)))
        found.sort()
        for one, other in itertools.pairwise(found):
            if other[0] < one[1]:
                raise DataError(f"the spans {list(one)!r:.60} and {list(other)!r:.60} overlap")
        return [[start, end, name] for start, end, name in found]

    def named(self, label: Label) -> tuple[str, ...]:
        """Return the labels of the spans."""
        return tuple(str(each[2]) for each in label) if isinstance(label, list) else ()


def alike_but_for_case(labels: Sequence[str]) -> tuple[str, str] | None:
    """Return the first two labels that differ in nothing but small and capital letters, as "a" and "A" do.

    Args:
        labels: the names to choose from.

    Returns:
        The two; None where there are none.
    """
    return _first_alike(labels, lambda name: _as_seen(name).casefold())


def _first_alike(labels: Sequence[str], key: Callable[[str], str]) -> tuple[str, str] | None:
    found: dict[str, str] = {}
    pairs = ((found.setdefault(key(name), name), name) for name in labels)
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def _as_seen(name: str) -> str:
    """Return what a reader sees: one form of each letter, single spaces, and nothing that has no width."""
    composed = unicodedata.normalize("NFC", name)
    seen = (each for each in composed if each in _JOINERS or unicodedata.category(each) != "Cf")
    return " ".join("".join(seen).split())


_JOINERS = "\u200c\u200d"
"""Characters without width that change the letters or emoji beside them."""
_FORMS: dict[Kind, type[LabelForm]] = {"classes": OneLabelForm, "several": SeveralLabelsForm, "spans": Spans}


def form_of(
    kind: Kind, labels: Sequence[str], *, pair: bool = False, bounds: tuple[float, float] | None = None
) -> LabelForm:
    """Return what is asked of each text.

    Args:
        kind: what a label is.
        labels: the names to choose from.
        pair: whether two texts are shown.
        bounds: the smallest and the largest number; None for any.

    Returns:
        The form.

    Raises:
        UsageError: if the labels or the bounds are none that can be chosen from.
    """
    if kind == "number":
        if labels:
            raise UsageError("--label: numbers have no labels; leave it out, or leave out --number")
        low, high = bounds or (-math.inf, math.inf)
        if not low < high:
            raise UsageError(f"--number {low:g}:{high:g}: expected the smaller number first")
        return Numbers((), pair, low, high)
    names = tuple(name.strip() for name in labels)
    for name in names:
        if not name or name in _NO_CLASSES:
            taken = f"{name!r} stands for rows without a label" if name else "a name is empty"
            raise UsageError(f"--label {name!r}: {taken}; choose another name")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise UsageError(
                f"--label {name!a:.60}: holds half a character, as of another encoding; type it anew"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"--label {twice!r:.60}: stands twice")
    if same := _first_alike(names, _as_seen):
        raise UsageError(
            f"--label {same[0]!a:.60} and {same[1]!a:.60}: look the same on the page; leave one of them out"
        )
    if pair and kind != "classes":
        raise UsageError(f"--pair: two texts have one class or a number, and no {kind}")
    return _FORMS[kind](names, pair)
