"""What every reader does the same way: drop and count rows without text, check gold, refuse an empty result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from heedful.data.examples import WEIGHTS, Corpus, Example, Gold
from heedful.errors import DataError, listed, nearest
from heedful.text.limits import ROWS

NO_TEXT = "no text"
OTHER_SPLIT = "another split"
_PRINTED = frozenset({"nan", "none", "<na>", "null"})
BLOCK_ROWS = 8_192
BLOCK_CHARACTERS = 4 << 20


class CorpusBuilder:
    """Collects the examples of one file.

    Args:
        source: the file, None for requests.
        keep_empty: keep a row of which a text is empty (to predict it) rather than leave it out and count it.
        keep_fields: keep every field of the rows of a table, for whoever writes them next to predictions.
    """

    def __init__(self, source: Path | None, *, keep_empty: bool = False, keep_fields: bool = False) -> None:
        self.source = source
        self._keep_empty, self._keep_fields = keep_empty, keep_fields
        self.columns: tuple[str, ...] = ()  # those of the texts, for messages
        self._examples: list[Example] = []
        self._skipped: Counter[str] = Counter()
        self._notes: list[str] = []
        self._long_numbers: list[int] = []  # rows
        self._printed_missing: dict[str, list[int]] = {}  # what stands for a text: rows
        self._most = ROWS.value()

    def where(self, row: int, field: str = "") -> str:
        """Return where in the file something is, as the start of an error message."""
        place = f"{self.source}: row {row}" if self.source else f"request {row}"
        return f"{place}, field {field!r}" if field else place

    def skip(self, reason: str) -> None:
        """Count a row that is left out."""
        self._skipped[reason] += 1

    def note(self, sentence: str) -> None:
        """Add what a user should know of the file."""
        self._notes.append(sentence)

    def take_back(self, target: Gold, reason: str) -> None:
        """Take the examples with this gold out again, and count them under a reason."""
        kept = [example for example in self._examples if example.target != target]
        self._skipped[reason] += len(self._examples) - len(kept)
        self._examples = kept

    def add(
        self,
        row: int,
        texts: tuple[str, ...],
        target: Gold,
        words: tuple[tuple[str, ...] | None, ...] = (),
        group: str = "",
        fields: Mapping[str, object] | None = None,
        cells: Mapping[str, object] | None = None,
    ) -> None:
        """Add an example, or count it under "no text" when one of its texts is empty.

        Args:
            row: 1-based row in the file.
            texts: the text or the pair.
            target: gold, or None.
            words: ready-made tokens of each text; None where a text has none.
            group: what a breakdown goes by.
            fields: the row of a table.
            cells: values of the columns beside the text.

        Raises:
            DataError: if there are more than `ROWS` allows to be held.
        """
        if not self._keep_empty and not all(map(str.strip, texts)):
            self.skip(NO_TEXT)
            return
        if words.count(None) == len(words):
            words = ()
        kept = fields if self._keep_fields else None
        for text in texts if self.source else ():
            if len(text) < 5 and text.lower() in _PRINTED:
                self._printed_missing.setdefault(text, []).append(row)
        self._examples.append(Example(texts, target, words, row, group, fields=kept, cells=cells))
        if len(self._examples) > self._most:
            raise ROWS.exceeded(self.where(row), "the file has more than")

    def weigh(self, row: int, weight: float) -> None:
        """Report how much the example that was added last counts in training, if it is that of this row."""
        if self._examples and self._examples[-1].row == row:
            self._examples[-1] = replace(self._examples[-1], weight=weight)

    def field(self, row: int, record: Mapping[str, object], name: str) -> object:
        """Return a field of a record.

        Args:
            row: 1-based row.
            record: the fields by name.
            name: the one wanted.

        Returns:
            Its value.

        Raises:
            DataError: if there is no such field; lists those there are and the nearest name.
        """
        if name not in record:
            names = [" ".join(str(present).split()) for present in record]
            hint = nearest(name, names)
            hint = f"; {hint}" if hint.startswith("did") else ""  # else it would list the columns once more
            raise DataError(f"{self.where(row)}: no column {name!r}; columns: {listed(names)}{hint}")
        return record[name]

    def label(self, row: int, field: str, value: str, labels: Sequence[str], called: str = "label") -> str:
        """Return a label that is one of the known ones.

        Args:
            row: 1-based row.
            field: column it comes from.
            value: what the file says.
            labels: the class names; an empty sequence takes any.
            called: what the field holds, for messages.

        Returns:
            The label.

        Raises:
            DataError: if it is another one.
        """
        if labels and value not in labels:
            raise DataError(
                f"{self.where(row, field)}: unknown {called} {value!r}; {nearest(value, tuple(labels))}. Correct it, "
                "or train with examples of it"
            )
        return value

    def score(
        self, row: int, field: str, value: object, low: float = -math.inf, high: float = math.inf
    ) -> float:
        """Return a score as a finite float between ``low`` and ``high``.

        Args:
            row: 1-based row.
            field: column it comes from.
            value: a number or its text.
            low: smallest score allowed.
            high: largest score allowed.

        Returns:
            The score.

        Raises:
            DataError: if it is no number or out of range.
        """
        number = number_of(value)
        if not math.isfinite(number) or not low <= number <= high:
            between = "" if math.isinf(high) else f" from {low:g} to {high:g}"
            raise DataError(f"{self.where(row, field)}: expected a number{between}, got {value!r}")
        if loses_digits(value, number):
            self._long_numbers.append(row)
        return number

    def weight(self, row: int, field: str, value: object) -> float:
        """Return the weight of an example.

        Args:
            row: 1-based row.
            field: column it comes from.
            value: a number or its text.

        Returns:
            The weight.

        Raises:
            DataError: if it is neither 0 nor a number that training can count with.
        """
        least, greatest = WEIGHTS
        number = self.score(row, field, value, 0.0, greatest)
        if 0 < number < least:
            raise DataError(
                f"{self.where(row, field)}: expected 0, or a number from {least:g}, got {value!r}"
            )
        return number

    def blocks(self, rows: Iterable[object]) -> Iterator[Corpus]:
        """Yield what was added in blocks, so that a file of any length takes the memory of one.

        Yields up to `BLOCK_ROWS` examples, fewer where their texts are long; the last block also says what was skipped,
        and may be empty then. Raises DataError if there is no example at all.
        """
        size = count = taken = 0
        for _ in rows:
            size += sum(len(text) for example in self._examples[count:] for text in example.texts)
            count = len(self._examples)
            if count >= BLOCK_ROWS or size >= BLOCK_CHARACTERS:
                yield Corpus(self._examples, source=self.source)
                taken += count
                self._examples, size, count = [], 0, 0
        if self._examples or not taken:
            yield self.build()
        elif self._skipped or self._all_notes():
            yield Corpus([], self._skipped, self.source, self._all_notes())

    def build(self) -> Corpus:
        """Return the corpus.

        Returns:
            The examples with what was skipped.

        Raises:
            DataError: if a file gave no example at all.
        """
        if self.source and not self._examples:
            reasons = ", ".join(f"{count} with {reason}" for reason, count in self._skipped.items())
            columns = f" The texts were read from {' and '.join(map(repr, self.columns))}: check --column."
            raise DataError(
                f"{self.source}: no usable row"
                + (f" (skipped: {reasons}).{columns if self.columns else ''}" if reasons else "")
            )
        return Corpus(self._examples, self._skipped, self.source, self._all_notes())

    def _all_notes(self) -> tuple[str, ...]:
        notes = [
            f"{self.where(rows[0])}: {len(rows):,} texts are {text!r}, as programs write a missing value, and are "
            "read as words"
            for text, rows in self._printed_missing.items()
        ]
        if rows := self._long_numbers:
            notes.append(
                f"{self.where(rows[0])}: {len(rows):,} numbers have more digits than double precision keeps, and are "
                "rounded; subtract a number from all of them first if these digits matter"
            )
        return (*self._notes, *notes)


def number_of(value: object) -> float:
    """Return a number, or what a text says as one; NaN for anything else, and for the underscores of Python."""
    if isinstance(value, str) and "_" in value:
        return math.nan
    try:
        return float(value) if isinstance(value, (str, int, float)) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def loses_digits(value: object, number: float) -> bool:
    """Return whether a whole number is not the one that double precision makes of it."""
    if abs(number) < 2**53 or isinstance(value, float):
        return False
    try:
        return int(str(value)) != int(number)
    except ValueError:  # it is not written as a whole number
        return False
