"""Sets of labels and intervals with a promise, as a request for answers asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from heedful.errors import UsageError, nearest
from heedful.model.decisions import Wish
from heedful.model.decisions.conformal import METHODS
from heedful.serving.bodies import FEATURES, ParsedRequest, kind_of_value, read_list, wrong
from heedful.serving.bounds import Refused

if TYPE_CHECKING:
    from heedful.model.decisions import Promise
    from heedful.serving.served_model import ServedModel

COVERAGE, SETS, BY_CLASS = FIELDS = ("coverage", "sets", "by_class")
"""Fields of a body, called as the options of ``heedful predict``."""
_WISH = "wish"


def read_predicted(fields: Mapping[str, object], most: int, *, pair: bool) -> ParsedRequest:
    """Read a request for answers; see `heedful.serving.bodies.read_list`.

    Args:
        fields: of the body; "coverage" asks for sets or intervals that hold what is right so often, "sets" says how
            sets are made, "by_class" whether it is to hold for each class.
        most: how many texts there may be.
        pair: whether the model takes pairs.

    Returns:
        What is asked; `wish_of` reads what is asked of sets.

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    asked = read_list(fields, most, pair=pair, further=(*FIELDS, FEATURES))
    return replace(asked, options={_WISH: _wish(fields)})


def wish_of(request: ParsedRequest) -> Wish | None:
    """Return what a request asks of sets; None where it asks for none."""
    wish = request.options.get(_WISH)
    return wish if isinstance(wish, Wish) else None


def _wish(fields: Mapping[str, object]) -> Wish | None:
    method, by_class = fields.get(SETS, METHODS[0]), fields.get(BY_CLASS, False)
    if not isinstance(by_class, bool):
        wrong(BY_CLASS, f"expected true or false, got {kind_of_value(by_class)}.")
    known = next((name for name in METHODS if name == method), None)
    if known is None:
        came = nearest(method[:40], METHODS) if isinstance(method, str) else f"got {kind_of_value(method)}"
        wrong(SETS, f"expected {', '.join(METHODS)}; {came.rstrip('.')}.")
    if COVERAGE not in fields:
        if by_class or known != METHODS[0]:  # what says the same as without them may come from a form
            wrong(BY_CLASS if by_class else SETS, 'says how sets are made: add "coverage", such as 0.9.')
        return None
    coverage = fields[COVERAGE]
    if isinstance(coverage, bool) or not isinstance(coverage, int | float):
        wrong(COVERAGE, f"expected a number above 0 and below 1, such as 0.9; got {kind_of_value(coverage)}.")
    try:
        return Wish(coverage, known, by_class)
    except UsageError as error:
        raise _refused(error) from None


async def promise_for(model: ServedModel, wish: Wish | None) -> Promise | None:
    """Return what gives the answers of a model their sets; None where none are asked for.

    Args:
        model: the model.
        wish: what is asked of sets.

    Returns:
        The promise.

    Raises:
        Refused: with 422, if answers of this model have no sets, or it keeps no scores of rows that chose nothing.
    """
    if wish is None:
        return None
    try:
        return await asyncio.to_thread(model.promise_of, wish)
    except UsageError as error:
        raise _refused(error) from None


def _refused(error: UsageError) -> Refused:
    return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, COVERAGE, str(error))
