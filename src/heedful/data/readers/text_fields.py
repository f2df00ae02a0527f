"""The texts of an example among named fields, and the texts and pairs that a program hands over.

A program hands over strings, pairs of strings, or mappings with named fields. None and NaN stand for a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import NO_TEXT, CorpusBuilder
from heedful.data.readers.reading import OnMissing
from heedful.errors import DataError, UsageError, check_known

ON_MISSING = ("error", "empty", "skip")


@dataclass(frozen=True)
class TextColumns:
    """Which column plays which part.

    Attributes:
        texts: one column for a text, two for a pair.
        label: column of class names, or None.
        score: column of numbers, or None.
        group: column a breakdown goes by, or None.
    """

    texts: tuple[str, ...]
    label: str | None = None
    score: str | None = None
    group: str | None = None

    def roles(self) -> tuple[tuple[str, str], ...]:
        """Return every role that has a column, with its name."""
        texts = ("text",) if len(self.texts) == 1 else ("premise", "hypothesis")
        gold = {"label": self.label, "score": self.score, "group": self.group}
        named = [*zip(texts, self.texts, strict=True), *gold.items()]
        return tuple((role, name) for role, name in named if name is not None)

    @classmethod
    def named(
        cls,
        text: str | None,
        premise: str | None,
        hypothesis: str | None,
        label: str | None = None,
        score: str | None = None,
        group: str | None = None,
    ) -> TextColumns:
        """Check that the parts make a text or a pair, with at most one kind of gold.

        Returns the columns. Raises UsageError if they do not.
        """
        if label is not None and score is not None:
            raise UsageError(f"label={label!r} and score={score!r}: name one of them")
        if text is not None and premise is None and hypothesis is None:
            return cls((text,), label, score, group)
        if text is None and premise is not None and hypothesis is not None:
            return cls((premise, hypothesis), label, score, group)
        given = {"text": text, "premise": premise, "hypothesis": hypothesis}
        got = ", ".join(name for name, value in given.items() if value is not None) or "none of them"
        raise UsageError(f"name the column of the text, or both of premise and hypothesis; got {got}")


def read_requests(
    requests: Iterable[object],
    *,
    pair: bool = False,
    text: str = "text",
    premise: str = "premise",
    hypothesis: str = "hypothesis",
    on_missing: OnMissing = "error",
) -> Corpus:
    """Turn texts or pairs into examples without gold, one for each, in order; empty texts are kept.

    Args:
        requests: strings (texts), pairs of strings, or mappings with the fields named below.
        pair: whether each is a pair.
        text: field of the text in a mapping.
        premise: field of the first text of a pair in a mapping.
        hypothesis: field of the second.
        on_missing: what None or NaN does: "error", or "empty" (predicted as the empty sentence), or "skip" (counted;
            the result is then shorter).

    Returns:
        The examples; their row is the 1-based place of the request.

    Raises:
        DataError: naming request and field, if a value is missing or is no text.
    """
    columns = TextColumns.named(None, premise, hypothesis) if pair else TextColumns.named(text, None, None)
    builder = CorpusBuilder(None, keep_empty=True)
    for row, request in enumerate(requests, start=1):
        record = _record(builder, row, request, columns.texts)
        texts = text_fields(builder, row, record, columns.texts, on_missing)
        if texts is not None:
            cells = request if isinstance(request, Mapping) else None
            builder.add(row, texts, None, cells=cells)
    return builder.build()


def _record(
    builder: CorpusBuilder, row: int, request: object, fields: tuple[str, ...]
) -> Mapping[str, object]:
    if isinstance(request, Mapping):
        for name in fields:
            builder.field(row, request, name)
        return request
    if len(fields) == 1:
        return {fields[0]: request}
    if isinstance(request, str) or not isinstance(request, Sequence) or len(request) != len(fields):
        raise DataError(f"{builder.where(row)}: expected a pair (premise, hypothesis), got {request!r:.80}")
    return dict(zip(fields, request, strict=True))


def text_fields(
    builder: CorpusBuilder,
    row: int,
    record: Mapping[str, object],
    fields: Iterable[str],
    on_missing: OnMissing,
) -> tuple[str, ...] | None:
    """Return the texts of a record, or None where the row is skipped (and counted) for a missing value.

    Args:
        builder: what counts the skipped.
        row: 1-based row.
        record: the fields by name.
        fields: those that are texts.
        on_missing: what a missing value does.

    Returns:
        One string a field, or None.

    Raises:
        DataError: naming row and field, if a value is missing under "error", or is no text.
    """
    texts = []
    for name in fields:
        value = record[name]
        if is_missing(value):
            if on_missing == "error":
                remedy = (
                    "; --on-missing empty reads every missing text as an empty one" if builder.source else ""
                )
                found = "" if value is None else " (NaN)"
                raise DataError(
                    f"{builder.where(row, name)}: value is missing{found}; drop the row, or write an empty "
                    f"string{remedy}"
                )
            if on_missing == "skip":
                builder.skip(NO_TEXT)
                return None
            value = ""
        if not isinstance(value, str):
            raise DataError(
                f"{builder.where(row, name)}: expected text, got {type(value).__name__} {value!r:.80}"
            )
        texts.append(str(value))
    return tuple(texts)


def is_missing(value: object) -> bool:
    """Return whether a value stands for nothing: None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


def check_on_missing(on_missing: str) -> OnMissing:
    """Check what a missing text does.

    Returns it. Raises UsageError if it is unknown.
    """
    check_known(on_missing, ON_MISSING, f"on_missing {on_missing!r} is unknown")
    return cast(OnMissing, on_missing)
