"""Expressions of masks as text: names, numbers in brackets behind them, ``&``, ``|`` and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from heedful.errors import UsageError


class _Joins(Protocol):
    def __and__(self, other: Any) -> Any: ...

    def __or__(self, other: Any) -> Any: ...


Rule = TypeVar("Rule", bound=_Joins)
_TOKEN = re.compile(r"\s*(?:(?P<name>[a-z_]+)(?:\(\s*(?P<number>\d+)\s*\))?|(?P<sign>[&|()]))")
_LONGEST = 1_000
"""Characters of the longest text of a mask."""


def read_expression(text: str, named: Callable[[str, str | None], Rule | str]) -> Rule:
    """Read an expression; ``&`` binds tighter than ``|`` and brackets group.

    Args:
        text: for example ``"forward & window(5)"``.
        named: returns what a name with the number behind it, or None, stands for, or what is wrong with them.

    Returns:
        What the expression stands for.

    Raises:
        UsageError: if the text is no such expression.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise UsageError(f"mask {text!r:.60}: expected a text of at most {_LONGEST} characters")
    parser = _Parser(text, named)
    try:
        found = parser.either()
    except RecursionError:
        raise parser.error("brackets are nested too deeply") from None
    if parser.sign is not None or parser.name is not None:
        raise parser.error(f"unexpected {parser.sign or parser.name!r}")
    return found


class _Parser(Generic[Rule]):
    """Recursive descent over names and signs."""

    def __init__(self, text: str, named: Callable[[str, str | None], Rule | str]) -> None:
        self.text, self.named, self.position = text, named, 0
        self.name: str | None = None
        self.number: str | None = None
        self.sign: str | None = None
        self.advance()

    def error(self, why: str) -> UsageError:
        return UsageError(f"mask {self.text!r:.80}: {why}; write for example 'forward & window(5)'")

    def advance(self) -> None:
        self.name = self.number = self.sign = None
        if not self.text[self.position :].strip():
            return
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise self.error(f"cannot read {self.text[self.position :].strip()!r}")
        self.position = match.end()
        self.name, self.number, self.sign = match["name"], match["number"], match["sign"]

    def either(self) -> Rule:
        mask = self.both()
        while self.sign == "|":
            self.advance()
            mask = mask | self.both()
        return mask

    def both(self) -> Rule:
        mask = self.one()
        while self.sign == "&":
            self.advance()
            mask = mask & self.one()
        return mask

    def one(self) -> Rule:
        if self.sign == "(":
            self.advance()
            mask = self.either()
            if self.sign != ")":
                raise self.error("a bracket is not closed")
        elif self.name is None:
            raise self.error("a mask is missing" if self.sign is None else f"unexpected {self.sign!r}")
        else:
            found = self.named(self.name, self.number)
            if isinstance(found, str):
                raise self.error(found)
            mask = found
        self.advance()
        return mask
