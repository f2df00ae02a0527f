"""Masks by name: small frozen values that combine with ``&`` and ``|`` and read back from their own text.

>>> str(parse_mask("forward & window(5)"))
'forward & window(5)'
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal

import torch
from torch import Tensor

from heedful.attention.mask_expressions import read_expression
from heedful.attention.visibility import FAR, Band, Visible, check_visible
from heedful.errors import UsageError, nearest
from heedful.structures import Sentences


@dataclass(frozen=True)
class Mask(ABC):
    """Base of every mask: says which keys a query may see, padding aside."""

    @abstractmethod
    def visible(self, sentences: Sentences) -> Visible:
        """Resolve for a batch.

        Returns a band where the mask depends on the offset alone, else booleans [L, L] or [B, L, L].
        """

    @property
    def reads_trees(self) -> bool:
        """Whether it depends on a dependency parse."""
        return False

    def setting_text(self) -> str:
        """Return the text that stands for the mask in settings, recipes and saved models.

        Raises UsageError if `parse_mask` does not read it back as such a mask.
        """
        text = str(self)
        try:
            known = type(parse_mask(text)) is type(self)
        except UsageError:
            known = False
        if not known:
            raise UsageError(
                f"a mask of class {type(self).__name__} has no name yet, so a saved model could not name it: call "
                f"register_mask('name', {type(self).__name__}) first"
            )
        return text

    def __str__(self) -> str:
        for name, kind in _OF_CLASS.items():
            if kind is type(self):
                width = [str(getattr(self, field.name)) for field in fields(self)]
                return f"{name}({', '.join(width)})" if width else name
        return repr(self)

    def __and__(self, other: Mask) -> Mask:
        return Both(self, other)

    def __or__(self, other: Mask) -> Mask:
        return Either(self, other)


@dataclass(frozen=True)
class JoinedMask(Mask):
    """Base of what two masks make together."""

    first: Mask
    second: Mask

    @property
    def reads_trees(self) -> bool:
        """See `Mask.reads_trees`."""
        return self.first.reads_trees or self.second.reads_trees


class Both(JoinedMask):
    """A key is visible iff both masks show it."""

    def visible(self, sentences: Sentences) -> Visible:
        """Intersect; two bands give a band."""
        one, two = self.first.visible(sentences), self.second.visible(sentences)
        if isinstance(one, Band) and isinstance(two, Band):
            return one & two
        return _dense(one, sentences) & _dense(two, sentences)

    def __str__(self) -> str:
        first = f"({self.first})" if isinstance(self.first, Either) else str(self.first)
        # Signs of equal rank group from the left, so brackets on the right keep the text's grouping ours.
        second = f"({self.second})" if isinstance(self.second, Both | Either) else str(self.second)
        return f"{first} & {second}"


class Either(JoinedMask):
    """A key is visible iff at least one mask shows it."""

    def visible(self, sentences: Sentences) -> Visible:
        """Unite; the result is dense."""
        return _dense(self.first.visible(sentences), sentences) | _dense(
            self.second.visible(sentences), sentences
        )

    def __str__(self) -> str:
        second = f"({self.second})" if isinstance(self.second, Either) else str(self.second)
        return f"{self.first} | {second}"


def _dense(visible: Visible, sentences: Sentences) -> Tensor:
    check_visible(visible, sentences.valid)
    if isinstance(visible, Band):
        return visible.keep(sentences.valid.shape[1], sentences.valid.device)
    return visible


Relation = Literal["parent", "child"]


class TreeMask(Mask):
    """Base of the masks that look at the dependency tree."""

    @property
    def reads_trees(self) -> bool:
        """See `Mask.reads_trees`."""
        return True


@dataclass(frozen=True)
class ArcsMask(TreeMask):
    """Show tokens at most ``width`` arcs away in the dependency tree, the query included.

    Attributes:
        width: largest number of arcs, at least 0.
    """

    width: int

    def visible(self, sentences: Sentences) -> Tensor:
        """Compare tree distances, [B, L, L]; a word whose position in the tree is unknown sees itself alone."""
        steps = _parsed(sentences.tree_distance, str(self))
        return (steps >= 0) & (steps <= self.width)

    def __str__(self) -> str:
        return f"arcs({self.width})"


@dataclass(frozen=True)
class RelationMask(TreeMask):
    """Show the word a query hangs on, or the words that hang on it.

    Attributes:
        relation: "parent" shows the head of the query, "child" its dependents.
    """

    relation: Relation

    def visible(self, sentences: Sentences) -> Tensor:
        """Look up heads, [B, L, L]; a root has no parent, a leaf no child, and neither sees anything then."""
        heads = _parsed(sentences.heads, str(self))
        words = sentences.words
        if words is None:
            words = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
        parent = heads[:, :, None] == words[:, None, :]
        return parent if self.relation == "parent" else parent.transpose(1, 2)

    def __str__(self) -> str:
        return self.relation


def parent() -> Mask:
    """Show the head of the query in the dependency tree. A root sees nothing."""
    return RelationMask("parent")


def child() -> Mask:
    """Show the dependents of the query in the dependency tree. A leaf sees nothing."""
    return RelationMask("child")


def arcs(width: int) -> Mask:
    """Show tokens at most ``width`` arcs away in the dependency tree, the query included.

    Args:
        width: largest number of arcs, at least 0. Two roots of one sentence are 2 arcs apart.

    Returns:
        The mask.

    Raises:
        UsageError: if width is negative or not a whole number.
    """
    _check_width(width, "arcs", "arcs")
    return ArcsMask(width)


def _check_width(width: object, mask: str, unit: str) -> None:
    if not isinstance(width, int) or isinstance(width, bool) or not 0 <= width <= FAR:
        raise UsageError(f"{mask}: width must be a whole number of {unit} from 0 to {FAR}; got {width!r}")


def _parsed(parse: Tensor | None, mask: str) -> Tensor:
    """Return what is known of the trees of a batch, which a mask of trees cannot do without."""
    if parse is None:
        raise UsageError(
            f"mask {mask!r} reads dependency trees, and these texts have none: name a parser, for example "
            "text.parser=builtin, or train on data that has heads"
        )
    return parse


@dataclass(frozen=True)
class BandMask(Mask):
    """A mask that depends on the offset alone.

    Attributes:
        name: how it is written in settings.
        band: the rule.
    """

    name: str
    band: Band

    def visible(self, sentences: Sentences) -> Band:
        """Return the rule itself."""
        return self.band

    def __str__(self) -> str:
        return self.name


def forward() -> Mask:
    """Show strictly earlier tokens: key j to query i iff j < i. The first token sees nothing."""
    return BandMask("forward", Band(None, -1))


def backward() -> Mask:
    """Show strictly later tokens: key j to query i iff j > i. The last token sees nothing."""
    return BandMask("backward", Band(1, None))


def causal() -> Mask:
    """Show the token itself and what stands before it: key j to query i iff j <= i."""
    return BandMask("causal", Band(None, 0))


def not_self() -> Mask:
    """Show every token but the query itself."""
    return BandMask("not_self", Band(diagonal=False))


def everything() -> Mask:
    """Show every token, the query included."""
    return BandMask("everything", Band())


def window(width: int) -> Mask:
    """Show tokens at most ``width`` steps away, the query included.

    Args:
        width: largest distance, in tokens, at least 0.

    Returns:
        The mask.

    Raises:
        UsageError: if width is negative or not a whole number.
    """
    _check_width(width, "window", "tokens")
    return BandMask(f"window({width})", Band(-width, width))


_WITHOUT_NUMBER: dict[str, Callable[[], Mask]] = {
    "forward": forward,
    "backward": backward,
    "causal": causal,
    "not_self": not_self,
    "everything": everything,
    "parent": parent,
    "child": child,
}
_WITH_NUMBER: dict[str, Callable[[int], Mask]] = {"window": window, "arcs": arcs}
MASK_NAMES = (*_WITHOUT_NUMBER, *(f"{name}(N)" for name in _WITH_NUMBER))
"""Those of Heedful; `mask_names` has the registered ones too."""
_OF_CLASS: dict[str, type[Mask]] = {}
"""The masks of other people's, by name."""


def register_mask(name: str, mask: type[Mask]) -> None:
    """Give a mask of your own a name, by which settings, recipes and saved models know it from now on.

    The name works like those of Heedful, alone, combined as in ``"clause & forward"``, or with its number as in
    ``"near(3)"``. Register it in every process that trains with it or loads such a model, before it does so.

    Args:
        name: small letters and "_".
        mask: a frozen dataclass that derives from `Mask`, without fields, or with one, a whole number of 0 or more.

    Raises:
        UsageError: if the name is taken by another mask or cannot be written in settings, or the class does not fit.
    """
    if not (isinstance(name, str) and re.fullmatch("[a-z_]+", name)):
        raise UsageError(f"register_mask: a name has small letters and '_' alone; got {name!r}")
    if not (isinstance(mask, type) and issubclass(mask, Mask) and is_dataclass(mask)):
        raise UsageError(
            f"register_mask({name!r}): expected a dataclass that derives from Mask; got {mask!r}"
        )
    try:
        inspect.signature(mask).bind(*fields(mask)[:1])
        fits = len(fields(mask)) < 2 and not inspect.isabstract(mask)
    except TypeError:
        fits = False
    if not fits:
        raise UsageError(
            f"register_mask({name!r}): {mask.__name__} must have a method visible and at most one field, "
            "a whole number that stands first, since settings can write no more"
        )
    if (name in _WITHOUT_NUMBER or name in _WITH_NUMBER) and _OF_CLASS.get(name) is not mask:
        raise UsageError(f"register_mask: the name {name!r} is taken; choose another")
    _OF_CLASS[name] = mask
    if fields(mask):
        _WITH_NUMBER[name] = mask
    else:
        _WITHOUT_NUMBER[name] = mask


def mask_names() -> tuple[str, ...]:
    """Return the names of all masks, ``(N)`` behind those that take a number."""
    return (*_WITHOUT_NUMBER, *(f"{name}(N)" for name in _WITH_NUMBER))


def parse_mask(text: str) -> Mask:
    """Read a mask from its text; ``&`` binds tighter than ``|`` and brackets group.

    Args:
        text: for example ``"forward & window(5)"``.

    Returns:
        The mask; its ``str`` reads back as an equal mask.

    Raises:
        UsageError: if the text is not a mask, with the nearest valid name.
    """
    return read_expression(text, _named)


def _named(name: str, number: str | None) -> Mask | str:
    """Return the mask of a name and the number in brackets behind it, or what is wrong with them."""
    if name in _WITH_NUMBER:
        return f"{name} needs a width: {name}(5)" if number is None else _WITH_NUMBER[name](int(number))
    if name in _WITHOUT_NUMBER:
        return _WITHOUT_NUMBER[name]() if number is None else f"{name} takes no number"
    return f"unknown mask {name!r}: {nearest(name, mask_names())}"
