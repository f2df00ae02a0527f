"""The columns beside the texts of a request to the server, read as strictly as its other fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.data.examples import Example
from heedful.errors import DataError, nearest
from heedful.serving.bodies import FEATURES, ParsedRequest, kind_of_value, text_of, wrong
from heedful.serving.served_model import Request

if TYPE_CHECKING:
    from heedful.features.feature_columns import FeatureColumns


def with_columns(
    request: ParsedRequest, fields: Mapping[str, object], columns: FeatureColumns | None
) -> ParsedRequest:
    """Put the values of columns beside the texts of a request.

    Args:
        request: the texts or pairs.
        fields: of the body; "features" is an object with a value for each column, or for a list of texts a list of
            such objects.
        columns: what the model reads beside a text; None for a model of texts alone.

    Returns:
        The same, each text or pair with its columns.

    Raises:
        Refused: with 422, naming the first field that is wrong, if a column is missing or unknown, or a value is of
            another kind, or the model reads texts alone.
    """
    if columns is None:
        if FEATURES in fields:
            wrong(FEATURES, "this model reads texts alone; leave the field out.")
        return request
    several = request.field.endswith("s")
    if FEATURES not in fields:
        names = ", ".join(columns.names)
        shape = "a list with one object for each text" if several else "an object"
        wrong(
            FEATURES,
            f"missing: this model also reads columns beside the text ({names:.200}); send {shape} with their values, "
            "null where one is not known.",
        )
    found, count = fields[FEATURES], len(request.requests)
    if not several:
        rows = {FEATURES: found}
    elif not isinstance(found, list):
        wrong(FEATURES, f"expected a list with one object for each text, got {kind_of_value(found)}.")
    elif len(found) != count:
        wrong(FEATURES, f"expected one object for each of {count:,} texts, got {len(found):,}.")
    else:
        rows = {f"{FEATURES}[{place}]": row for place, row in enumerate(found)}
    return replace(
        request,
        requests=[
            _beside(each, row, field, columns)
            for each, (field, row) in zip(request.requests, rows.items(), strict=True)
        ],
    )


def _beside(request: Request, row: object, field: str, columns: FeatureColumns) -> Request:
    if not isinstance(row, dict):
        wrong(field, f'expected an object such as {{"price": 3}}, got {kind_of_value(row)}.')
    for name, value in row.items():
        if name not in columns.names:
            hint = nearest(name[:40], columns.names)
            wrong(field, f"there is no such column; {hint}{'' if hint.endswith('?') else '.'}")
        if isinstance(value, dict | list):
            wrong(
                field,
                f"column {name!r:.60}: expected a number, a string or null, got {kind_of_value(value)}.",
            )
        if isinstance(value, str):
            text_of(value, field)
    if missing := [name for name in columns.names if name not in row]:
        wrong(
            field,
            f"the model also reads the column {missing[0]!r:.60}, which is not there; send it, null where it is not "
            "known.",
        )
    try:
        columns.read(row, field)
    except DataError as error:
        wrong(field, f"{str(error).removeprefix(f'{field}, ')}.")
    texts = (request,) if isinstance(request, str) else request
    return Example(tuple(texts), cells=row) if isinstance(texts, tuple) else request
