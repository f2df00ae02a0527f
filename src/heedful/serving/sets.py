"""What a request asks for beside answers: sets and intervals with a promise, and parents in a tree."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from heedful.errors import UsageError, nearest
from heedful.model.decisions import Wish
from heedful.model.decisions.conformal import METHODS
from heedful.serving.bodies import FEATURES, ParsedRequest, kind_of_value, read_list, read_one, wrong
from heedful.serving.request_limits import Refused

if TYPE_CHECKING:
    from heedful.model.decisions import Promise
    from heedful.model.decisions.label_tree import LabelTree
    from heedful.serving.served_model import ServedModel

COVERAGE, SETS, BY_CLASS, TREE, AT_LEAST = FIELDS = ("coverage", "sets", "by_class", "tree", "at_least")
"""Fields of a body, called as the options of ``heedful predict``."""
_WISH, _TREE = "wish", "tree"


@dataclass(frozen=True)
class TreeWish:
    """What is asked of a tree of classes; see `heedful.model.decisions.label_tree.LabelTree`.

    Attributes:
        separator: what stands between the levels of a class.
        at_least: the probability at which an answer stops; None for the class itself.
    """

    separator: str
    at_least: float | None = None


def read_predicted(fields: Mapping[str, object], most: int, *, pair: bool) -> ParsedRequest:
    """Read a request for answers; see `heedful.serving.bodies.read_list`.

    Args:
        fields: of the body; "coverage" asks for sets or intervals that hold what is right so often, "sets" says how
            sets are made, "by_class" whether it is to hold for each class; "tree" asks for parents, and "at_least" says
            where an answer stops.
        most: how many texts there may be.
        pair: whether the model takes pairs.

    Returns:
        What is asked; `wish_of` and `tree_wish_of` read what is asked of sets and of a tree.

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    asked = read_list(fields, most, pair=pair, further=(*FIELDS, FEATURES))
    return replace(asked, options={_WISH: _wish(fields), _TREE: _tree_wish(fields)})


def read_explained(fields: Mapping[str, object], *, pair: bool) -> ParsedRequest:
    """Read a request for an explanation; see `heedful.serving.bodies.read_one`.

    Args:
        fields: of the body; "tree" and "at_least" as in `read_predicted`.
        pair: whether the model takes pairs.

    Returns:
        What is asked; `tree_wish_of` reads what is asked of a tree.

    Raises:
        Refused: with 422, naming the first field that is wrong.
    """
    asked = read_one(fields, pair=pair, further=(TREE, AT_LEAST))
    return replace(asked, options={**asked.options, _TREE: _tree_wish(fields)})


def wish_of(request: ParsedRequest) -> Wish | None:
    """Return what a request asks of sets; None where it asks for none."""
    wish = request.options.get(_WISH)
    return wish if isinstance(wish, Wish) else None


def tree_wish_of(request: ParsedRequest) -> TreeWish | None:
    """Return what a request asks of a tree of classes; None where it asks for none."""
    wish = request.options.get(_TREE)
    return wish if isinstance(wish, TreeWish) else None


def _tree_wish(fields: Mapping[str, object]) -> TreeWish | None:
    separator, least = fields.get(TREE), fields.get(AT_LEAST)
    if least is not None and (isinstance(least, bool) or not isinstance(least, int | float)):
        wrong(AT_LEAST, f"expected a probability above 0, at most 1; got {kind_of_value(least)}.")
    if TREE not in fields:
        if least is not None:
            wrong(AT_LEAST, 'says where an answer in a tree stops: add "tree", such as "/".')
        return None
    if not isinstance(separator, str):
        wrong(
            TREE,
            f'expected what separates the levels of a class, such as "/"; got {kind_of_value(separator)}.',
        )
    return TreeWish(separator, least)


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
        raise _refused(error, COVERAGE) from None


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
        raise _refused(error, COVERAGE) from None


def tree_for(model: ServedModel, wish: TreeWish | None) -> LabelTree | None:
    """Return what gives the answers of a model their parents; None where they are not asked for.

    Args:
        model: the model.
        wish: what is asked of its classes.

    Returns:
        The tree.

    Raises:
        Refused: with 422, if the classes of this model make no such tree.
    """
    if wish is None:
        return None
    try:
        return model.tree_of(wish.separator, wish.at_least)
    except UsageError as error:
        raise _refused(error, AT_LEAST if str(error).startswith("at least") else TREE) from None


def _refused(error: UsageError, field: str) -> Refused:
    return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, field, str(error))
