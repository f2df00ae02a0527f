"""Where a recipe is: in a file of settings of the user's, or among the packaged ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

from heedful.data.readers.table_files import TABLE_SUFFIXES
from heedful.data.readers.text_lines import bare_suffix
from heedful.errors import UsageError


def settings_file(recipe: str | Path) -> Path | None:
    """Return the file of settings that a name means.

    Args:
        recipe: name of a packaged recipe, or path of a TOML file, which may have any ending.

    Returns:
        A file that exists; None where the name can only be that of a packaged recipe.

    Raises:
        UsageError: if it is named like a table, or like a file and is none.
    """
    path = Path(recipe)
    if bare_suffix(path) in TABLE_SUFFIXES:
        raise UsageError(
            f"{path}: is a table, and a recipe was expected. To train on the table: heedful train {path}"
        )
    if os.path.isfile(path):
        return path
    if path.suffix != ".toml" and len(path.parts) <= 1:
        return None
    on_hub = re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", str(recipe)) and path.suffix == ""
    hint = f"; a data set of the Hugging Face Hub is named hub:{recipe}" if on_hub else ""
    raise UsageError(f"{path}: there is no such settings file{hint}")
