"""The options of commands whose answers may have a set of labels, or an interval, with a promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from heedful.cli.options import together
from heedful.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    from heedful.model.decisions.conformal import Method
    from heedful.model.model import Model

    M = TypeVar("M", bound=Model[Any, Any])

set_options = together(
    click.option(
        "--coverage",
        type=float,
        metavar="SHARE",
        help="Also give a set of labels that holds the right one so often, such as 0.9, or for numbers an "
        "interval (docs/limits.md).",
    ),
    click.option(
        "--sets",
        "method",
        type=click.Choice(["lac", "aps", "raps"]),
        help="With --coverage, how sets of classes are made: lac, the default, gives the smallest; aps and raps give "
        "larger sets to unsure texts.",
    ),
    click.option(
        "--by-class", is_flag=True, help="With --coverage, hold it for each class by itself, in larger sets."
    ),
)
"""The record is `SetOptions`."""


@dataclass(frozen=True)
class SetOptions:
    """Which sets are asked for."""

    coverage: float | None = None
    method: Method | None = None
    by_class: bool = False

    def of(self, model: M) -> M:
        """Return a model whose answers have sets, or the model itself where none are asked for.

        Args:
            model: any model.

        Returns:
            The model.

        Raises:
            UsageError: if the other options stand without a coverage, it is out of range, or the model has no sets.
        """
        from heedful.model.decisions import Wish

        if self.coverage is None:
            if self.method or self.by_class:
                raise UsageError("--sets and --by-class say how sets are made: add --coverage, such as 0.9")
            return model
        return model.promising(Wish(self.coverage, self.method or "lac", self.by_class))
