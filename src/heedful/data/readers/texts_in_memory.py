"""Texts and pairs that a program hands over: strings, pairs of strings, or mappings with named fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.table_files import Columns, OnMissing, text_fields
from heedful.errors import DataError


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
    columns = Columns.named(None, premise, hypothesis) if pair else Columns.named(text, None, None)
    builder = CorpusBuilder(None, keep_empty=True)
    for row, request in enumerate(requests, start=1):
        record = _record(builder, row, request, columns.texts)
        texts = text_fields(builder, row, record, columns.texts, on_missing)
        if texts is not None:
            builder.add(row, texts, None)
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
