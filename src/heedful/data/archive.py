"""Taking named files out of a zip archive that may be hostile."""

from __future__ import annotations

import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from heedful.errors import DataError
from heedful.files import told_plainly

MOST_ENTRIES = 10_000
MOST_BYTES = 16 << 30
_BLOCK = 1 << 20
_ENCRYPTED = 0x1


def extract(
    archive: Path,
    folder: Path,
    members: Mapping[str, str],
    *,
    most_entries: int = MOST_ENTRIES,
    most_bytes: int = MOST_BYTES,
) -> list[Path]:
    """Write chosen members of a zip archive into a folder, each by a temporary file that is then renamed.

    The whole archive is refused if any entry is no regular file or folder, is encrypted, or has a name that leaves the
    folder, if there are too many entries, or if they unpack to too much, whatever their headers claim.

    Args:
        archive: the zip archive.
        folder: where the files go.
        members: which member becomes which file, relative to the folder.
        most_entries: largest number of entries.
        most_bytes: largest total size of the unpacked members.

    Returns:
        The files, in the order of ``members``.

    Raises:
        DataError: if the archive is damaged, refused, or lacks a member.
        OutputError: if a file cannot be written.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = {entry.filename: entry for entry in _checked(archive, opened, most_entries)}
            absent = [member for member in members if member not in entries]
            if absent:
                raise DataError(f"{archive}: holds no {absent[0]!r}; is it the right archive?")
            left = most_bytes
            for member, file in members.items():
                with opened.open(entries[member]) as packed:
                    left -= write_stream(packed, inside(folder, file), left)
    except (zipfile.BadZipFile, EOFError, zlib.error, RuntimeError) as error:
        raise DataError(f"{archive}: not a readable zip archive: {error}") from error
    return [folder / file for file in members.values()]


def write_stream(stream: IO[bytes], target: Path, most_bytes: int) -> int:
    """Write a stream to a file: temporary file beside it, sync, rename.

    Args:
        stream: what is written.
        target: the file; its folder is made.
        most_bytes: largest size.

    Returns:
        The bytes written.

    Raises:
        DataError: if the stream is longer.
        OutputError: if the file cannot be written.
    """
    written = 0
    with told_plainly(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tmp-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                while block := stream.read(_BLOCK):
                    written += len(block)
                    if written > most_bytes:
                        raise DataError(
                            f"{target}: would grow beyond the {most_bytes:,} bytes left of what is allowed"
                        )
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
            Path(name).chmod(0o644)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    return written


def inside(folder: Path, name: str) -> Path:
    """Return ``folder / name``, refusing names that lead out of the folder.

    Args:
        folder: the folder.
        name: a relative path with forward slashes.

    Returns:
        The path.

    Raises:
        DataError: if the name is absolute, climbs, or has a drive or a backslash.
    """
    _refuse_outside(name)
    target = folder / name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{target}: leads out of {folder} through a link and is refused")
    return target


def _refuse_outside(name: str) -> None:
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in path.parts[0]:
        raise DataError(f"{name!r}: a file name that leads out of its folder is refused")


def _checked(archive: Path, opened: zipfile.ZipFile, most_entries: int) -> list[zipfile.ZipInfo]:
    entries = opened.infolist()
    if len(entries) > most_entries:
        raise DataError(
            f"{archive}: {len(entries):,} entries, more than the {most_entries:,} allowed; refused"
        )
    for entry in entries:
        mode = entry.external_attr >> 16
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise DataError(
                f"{archive}: entry {entry.filename!r} is a link or device; the archive is refused"
            )
        if entry.flag_bits & _ENCRYPTED:
            raise DataError(f"{archive}: entry {entry.filename!r} is encrypted; the archive is refused")
        _refuse_outside(entry.filename)
    return entries
