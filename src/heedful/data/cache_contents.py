"""What the cache holds, for the person whose texts it keeps: where it is, how large it is, and an empty one."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heedful.data.cache import MANIFEST, cache_folder
from heedful.errors import OutputError

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class CacheEntry:
    """One result that the cache keeps.

    Attributes:
        kind: "encoded" (texts of a run as numbers, with their vocabulary), "vectors", "parses" and so on.
        path: its folder.
        size: bytes on disk.
        changed: when it was written, in the local time zone.
    """

    kind: str
    path: Path
    size: int
    changed: str


def entries(folder: Path | None = None) -> list[CacheEntry]:
    """List what the cache keeps.

    Args:
        folder: see `heedful.data.cache.cache_folder`.

    Returns:
        The entries, by kind and age.
    """
    found = [
        CacheEntry(
            path.parent.name,
            path,
            _size(path),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(_changed(path))),
        )
        for path in _folders(cache_folder(folder))
    ]
    return sorted(found, key=lambda entry: (entry.kind, entry.changed, entry.path.name))


def clear(folder: Path | None = None) -> int:
    """Delete what the cache keeps, and nothing else in its folder.

    Args:
        folder: see `heedful.data.cache.cache_folder`.

    Returns:
        The number of entries that were deleted.

    Raises:
        OutputError: if one cannot be deleted.
    """
    count = 0
    for path in _folders(cache_folder(folder)):
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            continue  # another process has deleted it
        except OSError as error:
            raise OutputError(f"{path}: cannot be deleted: {error.strerror}") from error
        count += 1
    return count


def first_use_note() -> tuple[str, ...]:
    """Return one line that says where data will be kept, if nothing has been kept there before."""
    place = cache_folder()
    if place is None or place.exists():
        return ()
    return (
        f"encoded texts and word vectors are kept in {place} for later runs: 'heedful data cache' lists and clears "
        "them, and --no-cache keeps none",
    )


def _folders(place: Path | None) -> Iterator[Path]:
    """Yield the folders of the entries: named by a key, with a manifest."""
    if place is None or not place.is_dir():
        return
    for path in sorted(place.glob("*/*")):
        if _KEY.fullmatch(path.name) and (path / MANIFEST).is_file():
            yield path


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _changed(path: Path) -> float:
    return (path / MANIFEST).stat().st_mtime
