"""A column of dates: how far along the time of the training rows, and the year, month, weekday and hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Self

import numpy as np

from heedful.features.cells import Cell, date_in, days_of
from heedful.features.feature_column import MISSING, FeatureColumn, Parsed
from heedful.features.feature_kinds import Kind

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_PART = 0.5
"""How large the number of a year, month, weekday or hour is; a date has four of them."""
_YEARS = 40


@dataclass(frozen=True)
class DateColumn(FeatureColumn):
    """A column of dates.

    Attributes:
        center: mean of the training dates, in days from 1970.
        scale: their standard deviation in days; 1 where they do not differ.
        least: an earlier date counts as this one where time is a line.
        greatest: a later one as this one.
        years: the years of the training dates.
        has_hours: whether any of them has a time of day.
    """

    kind: ClassVar[Kind] = "date"
    center: float = 0.0
    scale: float = 1.0
    least: float = 0.0
    greatest: float = 0.0
    years: tuple[int, ...] = ()
    has_hours: bool = False

    @classmethod
    def of(cls, name: str, values: Sequence[datetime]) -> Self:
        """Return the column of training dates, missing ones left out; there may be none."""
        if not values:
            return cls(name)
        days = np.array([days_of(value) for value in values])
        years = tuple(sorted({value.year for value in values})[-_YEARS:])
        hours = any((value.hour, value.minute, value.second) != (0, 0, 0) for value in values)
        spread = float(days.std())
        least, greatest = float(days.min()), float(days.max())
        return cls(name, float(days.mean()), spread if spread > 1e-9 else 1.0, least, greatest, years, hours)

    @property
    def parts(self) -> tuple[str, ...]:
        """See `FeatureColumn.parts`."""
        hours = tuple(f"hour {hour}" for hour in range(24)) if self.has_hours else ()
        return (MISSING, "time", *_MONTHS, *_WEEKDAYS, *hours, *map(str, self.years))

    def parse(self, cell: Cell) -> Parsed:
        """See `FeatureColumn.parse`."""
        return date_in(cell)

    def features(self, value: Parsed) -> Sequence[tuple[int, float]]:
        """See `FeatureColumn.features`."""
        if not isinstance(value, datetime):
            return ((0, 1.0),)
        inside = min(max(days_of(value), self.least), self.greatest)
        found = [(1, (inside - self.center) / self.scale), (1 + value.month, _PART)]
        found.append((14 + value.weekday(), _PART))
        if self.has_hours:
            found.append((21 + value.hour, _PART))
        if value.year in self.years:
            found.append((21 + 24 * self.has_hours + self.years.index(value.year), _PART))
        return found

    def summary(self) -> str:
        """See `FeatureColumn.summary`."""
        first, last = (np.datetime64(int(days), "D") for days in (self.least, self.greatest))
        return f"date, {first} to {last}" if self.years else "date, none given"
