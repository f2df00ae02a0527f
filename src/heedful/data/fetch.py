"""``heedful data get``: bring a data set into the data folder, from its mirrors or from a local copy."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from heedful.data.datasets import data_sets
from heedful.data.download import MOST_BYTES, SOURCES, Download, Progress, download, is_offline, problem
from heedful.data.readers.text_lines import find_file
from heedful.errors import DataError, OutputError, UsageError, nearest
from heedful.storage import replacing, sha256
from heedful.text.limits import UNPACKED
from heedful.text.text_files import DAMAGE, damaged

MOST_ENTRIES = 10_000
_BLOCK = 1 << 20
_ENCRYPTED = 0x1


def extract(
    archive: Path,
    folder: Path,
    members: Mapping[str, str],
    *,
    most_entries: int = MOST_ENTRIES,
    most_bytes: int | None = None,
) -> list[Path]:
    """Write chosen members of a zip archive into a folder, each by a temporary file that is then renamed.

    The whole archive is refused if any entry is no regular file or folder, is encrypted, or has a name that leaves the
    folder, if there are too many entries, or if they unpack to too much, whatever their headers claim.

    Args:
        archive: the zip archive.
        folder: where the files go.
        members: which member becomes which file, relative to the folder.
        most_entries: largest number of entries.
        most_bytes: largest total size of the unpacked members; None for `UNPACKED`.

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
            left = UNPACKED.value() if most_bytes is None else most_bytes
            for member, file in members.items():
                with opened.open(entries[member]) as packed:
                    left -= write_stream(packed, inside(folder, file), left, f"{archive}: entry {member!r}")
    except OutputError:
        raise
    except DAMAGE as error:
        raise DataError(f"{archive}: not a readable zip archive: {error}") from error
    return [folder / file for file in members.values()]


def write_stream(stream: IO[bytes], target: Path, most_bytes: int, source: str) -> int:
    """Write a stream to a file atomically.

    Returns the bytes written. Raises DataError if the stream is longer, or cannot be read to its end. Raises
    OutputError if the file cannot be written.
    """
    written = 0
    with replacing(target) as out:
        while block := _block(stream, source):
            written += len(block)
            if written > most_bytes:
                raise DataError(
                    f"{source}: would grow beyond the {most_bytes:,} bytes left of what is allowed; "
                    f"if that is right, set {UNPACKED.variable} higher"
                )
            out.write(block)
    return written


def _block(stream: IO[bytes], source: str) -> bytes:
    """Read on; trouble in reading is none of writing, though both may be an OSError."""
    try:
        return stream.read(_BLOCK)
    except DAMAGE as error:
        raise damaged(source, error) from error


def inside(folder: Path, name: str) -> Path:
    """Return ``folder / name``, refusing names that lead out of the folder.

    Raises DataError if the name is absolute, climbs, or has a drive or a backslash.
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


DOWNLOADS = ".downloads"
_SAME_SOURCE = {"sst-5": "sst", "sst-2": "sst", "trec-fine": "trec"}


def get(
    name: str,
    folder: str | Path,
    *,
    from_file: str | Path | None = None,
    accept: Iterable[str] = (),
    offline: bool | None = None,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
    sources: Mapping[str, tuple[Download, ...]] = SOURCES,
) -> list[Path]:
    """Bring the files of a data set into the data folder; those already there stay as they are.

    Args:
        name: the data set, or word vectors such as "glove-6b".
        folder: the data folder.
        from_file: a local copy of what would be downloaded, or the folder that holds it; nothing is then downloaded.
        accept: SHA-256 checksums that the user accepts where none is published, or for a local copy that differs.
        offline: forbid the network; by default what HEEDFUL_OFFLINE and HF_HUB_OFFLINE say.
        most_bytes: largest download taken where no size is published.
        progress: called during a download with the bytes so far and the size, where it is known.
        sources: the table of downloads.

    Returns:
        The files of the data set.

    Raises:
        UsageError: if there is no source, the network is forbidden, or a checksum waits for the user's consent.
        DataError: if no mirror works, or the file is altered, damaged or hostile.
        OutputError: if something cannot be written.
    """
    folder = Path(folder)
    wanted = _downloads(name, sources)
    if all(_is_there(folder, file) for one in wanted for file in targets(one)):
        return [find_file(folder / file) for one in wanted for file in targets(one)]
    accepted = {checksum.lower() for checksum in accept}
    files = []
    for one in wanted:
        if from_file is not None:
            local = _local(one, Path(from_file), alone=len(wanted) == 1)
            _agree(one, local, accepted)
            files += _install(one, local, folder)
            continue
        if is_offline() if offline is None else offline:
            raise UsageError(
                f"{name}: downloads are off (HEEDFUL_OFFLINE or HF_HUB_OFFLINE); use --from FILE"
            )
        local = download(one, folder / DOWNLOADS, most_bytes=most_bytes, progress=progress)
        _agree(one, local, accepted)
        files += _install(one, local, folder)
        local.unlink()
    return files


def targets(wanted: Download) -> list[str]:
    """Name the files of the data folder that a download becomes."""
    return list(wanted.members.values()) if wanted.members else [wanted.file]


def _downloads(name: str, sources: Mapping[str, tuple[Download, ...]]) -> tuple[Download, ...]:
    source = _SAME_SOURCE.get(name, name)
    if source in sources:
        return sources[source]
    if known := data_sets().get(name):
        raise UsageError(f"{name} has no download; to get it: {known.obtain}")
    raise UsageError(f"nothing to get by the name {name!r}; {nearest(name, tuple(sources))}")


def _is_there(folder: Path, file: str) -> bool:
    try:
        find_file(folder / file)
    except DataError:
        return False
    return True


def _local(wanted: Download, given: Path, alone: bool) -> Path:
    if given.is_dir():
        given = given / wanted.name
    elif not alone and given.name != wanted.name:
        raise UsageError(f"{given}: give the folder that holds {wanted.name} and the other files")
    if not given.is_file():
        raise DataError(f"{given}: no such file; a copy of {wanted.mirrors[0]} was expected")
    return given


def _agree(wanted: Download, local: Path, accepted: set[str]) -> None:
    """Refuse a file whose checksum neither the table nor the user vouches for."""
    trouble = problem(wanted, local)
    if trouble is None and wanted.sha256 is not None:
        return
    found = sha256(local)
    if found in accepted:
        return
    if trouble is not None:
        raise DataError(f"{local}: {trouble}; if you trust this file: --accept-checksum {found}")
    raise UsageError(
        f"{local}: no checksum of {wanted.name} is published; it has SHA-256 {found}; "
        f"if you trust it: --accept-checksum {found}"
    )


def _install(wanted: Download, local: Path, folder: Path) -> list[Path]:
    if wanted.members:
        return extract(local, folder, wanted.members)
    target = inside(folder, wanted.file)
    with local.open("rb") as stream:
        write_stream(stream, target, local.stat().st_size, str(local))
    return [target]
