"""Rows of measurements as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any


def rows_as_csv(rows: Sequence[Any]) -> str:
    """Write records as CSV.

    Args:
        rows: instances of one dataclass, at least one.

    Returns:
        A header and one line a row.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(rows[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()
