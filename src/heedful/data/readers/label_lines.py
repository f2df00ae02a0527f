"""Lines as fastText reads them: ``__label__sauce __label__cheese How much does a sauce need?``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from heedful.data.readers.text_lines import DAMAGE, numbered_lines, open_text
from heedful.errors import DataError, UsageError

PREFIX = "__label__"
_LABEL = re.compile(rf"(?:(?<=\s)|^){PREFIX}(\S*)(?:\s+|$)")
_PEEK = 1 << 12


def begins_with_label(file: Path) -> bool:
    """Return whether the first line of a file begins with a label of fastText."""
    try:
        with open_text(file) as stream:
            return stream.read(_PEEK).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(PREFIX.encode())
    except (DataError, UsageError, *DAMAGE):  # reported when it is read
        return False


def label_line_records(file: Path, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, object]]]:
    """Read a file of labels and texts; blank lines are passed over.

    Args:
        file: the file, plain or compressed.
        encoding: its encoding.

    Yields:
        The 1-based row, and the fields "text" and "label", a list where a line has several labels; None where it has
        none.
    """
    for row, line in numbered_lines(file, encoding):
        if line.strip():
            names = [name for name in _LABEL.findall(line) if name]
            label = names if len(names) > 1 else names[0] if names else None
            yield row, {"text": _LABEL.sub("", line).strip(), "label": label}
