"""Boards that a folder keeps: each says of which data and by which options it was made, and stands for no other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heedful.baselines.board_request import BoardRequest, settings_of
from heedful.errors import UsageError
from heedful.run.sources import data_root, find_source
from heedful.storage.fields import damaged, is_table, read_json

MADE_OF = "made_of"
"""Field of a board in JSON."""


def made_of(name: str, request: BoardRequest) -> dict[str, object]:
    """Return what a board depends on, as its file keeps it.

    Args:
        name: of the data; see `settings_of`.
        request: what the board is to hold.

    Returns:
        The SHA-256 of each file of the data, and the options.

    Raises:
        UsageError: if there is no such data.
        DataError: if a file is missing.
    """
    config = settings_of(name, request.overrides, request.folder)
    source = find_source(config, data_root(config, request.folder))
    return {
        "files": dict(source.fingerprint),
        "runs": list(request.runs),
        "examples": request.examples,
        "with": list(request.encoders),
        "without": list(request.without),
        "studies": list(request.studies),
        "settings": list(request.overrides),
        "frozen": [str(folder) for folder in request.frozen],
    }


def kept_note(file: Path, made: Mapping[str, object]) -> str:
    """Return why a board that is there is not made again.

    Args:
        file: of the board.
        made: what the board that is asked for depends on, of `made_of`.

    Returns:
        A line for the user.

    Raises:
        UsageError: if it was made of other data or by other options; names them.
        ArtifactError: if the file is no board.
    """
    board = read_json(file, dict, damaged("Delete it, or name another --out."), finite=False)
    before = board.get(MADE_OF)
    if not is_table(before):
        return f"{file}: exists and is kept; it does not say of which data it was made"
    changed = [name for name in made if before.get(name) != made[name]]
    if changed:
        what = "of other data" if changed == ["files"] else f"by other options ({', '.join(changed)})"
        raise UsageError(
            f"{file}: was made {what}; delete it, or name another --out, and the board is made anew"
        )
    return f"{file}: exists and is kept"
