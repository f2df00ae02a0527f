"""Steps that follow each other and that the compiled kernels compute in one call, for several texts at a time.

The texts go through all of them a few at a time: what is between two steps stays in the cache, and Python does nothing
meanwhile, so that another thread may run. Results are to the last bit those of the steps one after the other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.runtime import kernels
from heedful.runtime.kernels import Floats, Lengths, TextRows, address

KINDS = (
    *("choose", "dense", "whole", "bfloat16", "twice"),
    *("additive", "gated", "weighted_sum", "mean", "concat"),
)
"""What the kernel computes, by its numbers there."""
READS = 4
"""Values that a step of a chain reads at most."""
_MORE = 13
_POOLING = ("weighted_sum", "mean")
_ADDRESS, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_CHAIN = kernels.later_function(
    "heedful_chain", ctypes.c_int, _ADDRESS, _NUMBER, _ADDRESS, _ADDRESS, _NUMBER, _NUMBER
)
Numbers = NDArray[np.int64]


class ChainLink(NamedTuple):
    """How the kernel computes a step.

    Attributes:
        kind: one of `KINDS`.
        width: from the widths of the values that it reads to that of what it makes; 0 where they do not fit.
        more: returns addresses and sizes as the kernel reads them; asked when the step is first computed.
    """

    kind: str
    width: Callable[[tuple[int, ...]], int]
    more: Callable[[], tuple[int, ...]] = tuple


class Linked(Protocol):
    """A step that a chain may have, `heedful.runtime.operators.Action`."""

    @property
    def to(self) -> str:
        """Name of the value it makes."""

    @property
    def of(self) -> tuple[str, ...]:
        """Names of the values it reads."""

    @property
    def link(self) -> ChainLink | None:
        """How the kernel computes it."""


class Chosen(TextRows):
    """A value whose rows are chosen from a table, and copied where somebody asks for them.

    Args:
        lengths: rows of each text.
        table: [N, D], contiguous.
        where: the row of the table for each row, contiguous.
    """

    __slots__ = ("table", "where")

    def __init__(self, lengths: Lengths, table: Floats, where: Numbers) -> None:
        super().__init__(lengths)
        self.table, self.where = table, where

    @property
    def whole(self) -> Floats:
        """See `TextRows.whole`."""
        if self._whole is None:
            room = kernels.room(len(self.where), self.table.shape[1])
            self._whole = self.table.take(self.where, axis=0, out=room, mode="clip")
        return self._whole

    @property
    def arrays(self) -> Sequence[Floats]:
        """See `TextRows.arrays`."""
        return (self.whole,)

    @property
    def parts(self) -> Sequence[Floats]:
        """See `TextRows.parts`."""
        return TextRows(self.lengths, self.whole).parts


class StepChain:
    """Steps that follow each other, each of which has a `ChainLink`.

    Args:
        actions: the steps.
        makes: names of the values to return.
    """

    def __init__(self, actions: Sequence[Linked], makes: Iterable[str]) -> None:
        self._actions, self._makes = actions, frozenset(makes)
        made = {action.to for action in actions}
        self._reads = tuple(dict.fromkeys(name for each in actions for name in each.of if name not in made))
        self._layouts: dict[tuple[tuple[int, bool], ...], _Layout | None] = {}

    def __call__(self, values: Mapping[str, TextRows]) -> dict[str, TextRows] | None:
        """Compute the values of several texts.

        Args:
            values: by name.

        Returns:
            What the chain makes; None where the values do not fit it, so that the steps have to be taken one by one.

        Raises:
            MemoryError: if there is no working memory.
        """
        if _CHAIN is None or not all(name in values for name in self._reads):
            return None
        read = [values[name] for name in self._reads]
        lengths = read[0].lengths
        if any(each.lengths is not lengths and each.lengths != lengths for each in read):
            return None
        sources = [(each.table, each.where) if type(each) is Chosen else (each.whole, None) for each in read]
        if any(table.ndim != 2 for table, _ in sources):
            return None
        key = tuple((table.shape[1], where is not None) for table, where in sources)
        if key not in self._layouts:
            self._layouts[key] = _laid_out(
                self._actions, dict(zip(self._reads, key, strict=True)), self._makes
            )
        layout = self._layouts[key]
        return None if layout is None else layout(lengths, sources)


class _Value(NamedTuple):
    number: int
    width: int
    of_text: bool
    place: int = -1


class _Layout:
    """Where the values of a chain lie, and its steps as the kernel reads them.

    Args:
        steps: of each its kind, the numbers of `READS` values, that of its result, and `_MORE` numbers.
        values: every value.
        made: those to return, by name.
        floats: numbers of working memory for each row.
        links: of the steps, which hold what the addresses name.
    """

    def __init__(
        self,
        steps: Sequence[Sequence[int]],
        values: Sequence[_Value],
        made: Mapping[str, _Value],
        floats: int,
        links: Sequence[ChainLink],
    ) -> None:
        self._steps, self._made, self._floats, self._links = np.array(steps, np.int64), made, floats, links
        self._values = np.array([[v.width, v.of_text, 0, 0, max(v.place, 0)] for v in values], np.int64)
        self._first = address(self._steps)

    def __call__(
        self, lengths: Lengths, sources: Sequence[tuple[Floats, Numbers | None]]
    ) -> dict[str, TextRows]:
        counts, values = np.array(lengths, np.int64), self._values.copy()
        held: list[NDArray[np.generic]] = []  # an annotation costs nothing here, and what is called 7 us
        for number, (table, where) in enumerate(sources):
            table = np.ascontiguousarray(table, np.float32)
            held.append(table)
            values[number, 2] = address(table)
            if where is not None:
                values[number, 3] = address(where)
        ones, rows, found = (1,) * len(lengths), sum(lengths), dict[str, TextRows]()
        for name, value in self._made.items():
            whole = kernels.room(len(lengths) if value.of_text else rows, value.width)
            values[value.number, 2] = address(whole)
            found[name] = TextRows(ones if value.of_text else lengths, whole)
        assert _CHAIN is not None
        sizes = (len(lengths), self._floats)
        if _CHAIN(self._first, len(self._steps), address(values), address(counts), *sizes):
            raise MemoryError(f"the steps of a network have no working memory for {rows} words")
        return found


class _Working:
    """Working memory, in numbers a row; what is given back is used again."""

    def __init__(self) -> None:
        self.floats = 0
        self._free: dict[int, list[int]] = {}

    def take(self, width: int) -> int:
        if self._free.get(width):
            return self._free[width].pop()
        self.floats += width
        return self.floats - width

    def give_back(self, value: _Value) -> None:
        if value.place >= 0:
            self._free.setdefault(value.width, []).append(value.place)


def _laid_out(
    actions: Sequence[Linked], reads: Mapping[str, tuple[int, bool]], makes: frozenset[str]
) -> _Layout | None:
    """Lay a chain out for values of these widths, which are chosen from a table or not; None where they do not fit."""
    working, steps, links = _Working(), list[list[int]](), list[ChainLink]()
    values = [_Value(number, width, of_text=False) for number, (width, _) in enumerate(reads.values())]
    by_name = dict(zip(reads, values, strict=True))
    chosen = {name for name, (_, is_chosen) in reads.items() if is_chosen}
    last = {name: number for number, action in enumerate(actions) for name in action.of}

    def new(name: str, width: int, *, of_text: bool, inside: bool) -> _Value:
        place = working.take(width) if inside else -1
        by_name[name] = _Value(len(values), width, of_text, place)
        values.append(by_name[name])
        return by_name[name]

    def step(kind: str, of: Sequence[int], to: int, more: Sequence[int] = ()) -> None:
        unread, unused = [-1] * (READS - len(of)), [0] * (_MORE - len(more))
        steps.append([KINDS.index(kind), *of, *unread, to, *more, *unused])

    for number, action in enumerate(actions):
        link, read = action.link, [by_name[name] for name in action.of]
        assert link is not None  # whoever makes a chain has looked
        width = link.width(tuple(each.width for each in read))
        pools = link.kind in _POOLING
        if not width or len({each.of_text for each in read}) != 1 or (pools and read[0].of_text):
            return None
        for name in dict.fromkeys(action.of):
            if name in chosen:
                chosen.remove(name)
                copied = new(name, by_name[name].width, of_text=False, inside=True)
                step("choose", [list(reads).index(name)], copied.number)
        of = [by_name[name].number for name in action.of]
        made = new(action.to, width, of_text=pools or read[0].of_text, inside=action.to not in makes)
        step(link.kind, of, made.number, link.more())
        links.append(link)
        for name in set(action.of):
            if last[name] == number:
                working.give_back(by_name[name])
    return _Layout(steps, values, {name: by_name[name] for name in makes}, working.floats, links)
