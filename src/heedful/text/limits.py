"""Limits of what is read, each an environment variable: how much may be unpacked, how long a line is, how many rows."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from heedful.errors import DataError, UsageError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NUMBER = re.compile(r"(\d{1,15}) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limit:
    """The largest amount that is read.

    Attributes:
        variable: the environment variable that sets another one: a whole number, or one with K, M, G or T after it,
            each 1,024 times the one before.
        usual: what holds where the variable is not set.
        unit: what is counted.
    """

    variable: str
    usual: int
    unit: str

    def value(self) -> int:
        """Return the limit that holds now.

        Returns:
            A number above 0.

        Raises:
            UsageError: if the variable holds no such number.
        """
        given = os.environ.get(self.variable, "").strip()
        if not given:
            return self.usual
        match = _NUMBER.fullmatch(given)
        number = int(match[1]) * _UNITS[match[2].upper()] if match else 0
        if not number:
            raise UsageError(
                f"{self.variable}={given!r}: expected a whole number above 0, such as {self.usual} or 2G"
            )
        return number

    def exceeded(self, place: str, what: str) -> DataError:
        """Return the refusal of what is larger.

        Args:
            place: the file, with the row where there is one.
            what: what is larger, such as "a line has more than".

        Returns:
            An error that names the limit and how to raise it.
        """
        return DataError(
            f"{place}: {what} {self.value():,} {self.unit}; if that is right, set {self.variable} higher"
        )


UNPACKED = Limit("HEEDFUL_MAX_UNPACKED", 8 << 30, "bytes")
"""What one compressed file, one archive or one Parquet file may unpack to. GloVe 840B, 5.6 GB, stays below."""

LINE = Limit("HEEDFUL_MAX_LINE", 16 << 20, "bytes")
"""One line, one record of several lines, or one text; about three million words of English."""

ROWS = Limit("HEEDFUL_MAX_ROWS", 10_000_000, "rows")
"""Examples that are held in memory together; about 1 kB each, and the words."""
