"""Files that a command writes into a folder under names of its own choosing: never over what somebody else wrote."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from heedful.errors import ArtifactError, OutputError
from heedful.storage.fields import is_list, is_table, read_json


def refuse_foreign_results(folder: Path, names: Sequence[str], *, own: bool) -> None:
    """Refuse a folder in which results would replace what somebody else wrote; nothing is changed.

    Args:
        folder: where results are written, which may not be there yet.
        names: the files that are written.
        own: whether those that are there are results of Heedful's, by `is_record` or otherwise.

    Raises:
        OutputError: naming what would be replaced.
    """
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken and not own:
        raise OutputError(
            f"{folder}: Heedful did not write {', '.join(taken)} there, and would replace it now. Choose another "
            "--out, or move it away."
        )


def is_record(file: Path, fields: Collection[str]) -> bool:
    """Return whether a file is JSON that Heedful writes: a table, or a list of tables.

    Args:
        file: the file, which may not be there.
        fields: what the table, or the first one, must have.

    Returns:
        Whether it is.
    """
    try:
        found = read_json(file, object, finite=False)
    except ArtifactError:
        return False
    first = found[0] if is_list(found) and found else found
    return is_table(first) and all(name in first for name in fields)
