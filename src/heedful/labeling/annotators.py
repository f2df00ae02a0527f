"""What each person of a session has done: the texts on their pages, what they skipped, and what they can take back."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from heedful.labeling.label_file import Record

KEPT = 900.0
"""Seconds for which a text that is on somebody's page is not given to another person."""
Change = tuple[Record | None, Record | None]
"""A label before and after."""


@dataclass
class Person:
    """One person.

    Attributes:
        skipped: keys of the texts that were skipped.
        why: key of a text that was shown to what it was chosen for.
        changes: what each request has changed, the latest last.
    """

    skipped: set[str] = field(default_factory=set)
    why: dict[str, str] = field(default_factory=dict)
    changes: list[Sequence[Change]] = field(default_factory=list)


class People:
    """All persons of a session, by name."""

    def __init__(self) -> None:
        self._people: defaultdict[str, Person] = defaultdict(Person)
        self._held: dict[str, tuple[str, float]] = {}

    def __getitem__(self, name: str) -> Person:
        return self._people[name]

    def hold(self, key: str, name: str) -> None:
        """Keep a text for a person who has it on the page; the one from before is free again."""
        self.let_go(name)
        self._held[key] = name, time.monotonic()

    def let_go(self, name: str) -> None:
        """Give the text of a person to others."""
        self._held = {key: held for key, held in self._held.items() if held[0] != name}

    def holds_another(self, key: str, name: str) -> bool:
        """Tell whether a text is on the page of another person."""
        holder, since = self._held.get(key, (name, 0.0))
        return holder != name and time.monotonic() - since < KEPT

    @property
    def skipped(self) -> frozenset[str]:
        """Keys of the texts that somebody skipped."""
        return frozenset().union(*(person.skipped for person in self._people.values()))
