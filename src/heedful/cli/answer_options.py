"""Options about what stands beside an answer, as records: sets of labels or intervals, and the parents of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.model.decisions import Wish
    from heedful.model.decisions.conformal import Method
    from heedful.model.model import Model

    M = TypeVar("M", bound=Model[Any, Any])


@dataclass(frozen=True)
class SetOptions:
    """Which sets of labels, or intervals, are asked for beside the answers."""

    coverage: float | None = None
    method: Method | None = None
    by_class: bool = False

    def wish(self) -> Wish | None:
        """Return what is asked of sets.

        Returns:
            What is asked; None where no coverage is.

        Raises:
            UsageError: if the other options stand without a coverage, or it is out of range.
        """
        from heedful.model.decisions import Wish

        if self.coverage is None:
            if self.method or self.by_class:
                raise UsageError("--sets and --by-class say how sets are made: add --coverage, such as 0.9")
            return None
        return Wish(self.coverage, self.method or "lac", self.by_class)

    def of(self, model: M) -> M:
        """Return a model whose answers have sets, or the model itself where none are asked for.

        Args:
            model: any model.

        Returns:
            The model.

        Raises:
            UsageError: if the other options stand without a coverage, it is out of range, or the model has no sets.
        """
        wish = self.wish()
        return model if wish is None else model.promising(wish)


@dataclass(frozen=True)
class TreeOptions:
    """Whether classes are paths of a tree, and where an answer stops."""

    tree: str | None = None
    at_least: float | None = None

    def check(self) -> None:
        """Refuse the other option without a separator.

        Raises:
            UsageError: if it stands alone.
        """
        if self.tree is None and self.at_least is not None:
            raise UsageError("--at-least says where an answer in a tree stops: add --tree, such as --tree /")

    def of(self, model: M) -> M:
        """Return a model whose answers have parents, or the model itself where none are asked for.

        Args:
            model: any model.

        Returns:
            The model.

        Raises:
            UsageError: if the other option stands without a separator, or the model has no such classes.
        """
        self.check()
        return model if self.tree is None else model.in_tree(self.tree, self.at_least)
