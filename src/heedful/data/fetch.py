"""``heedful data get``: bring a data set into the data folder, from its mirrors or from a local copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from heedful.data.archive import extract, inside, write_stream
from heedful.data.datasets import DATASETS
from heedful.data.download import MOST_BYTES, Progress, download, is_offline, problem
from heedful.data.readers.opening import find_file
from heedful.data.sources import SOURCES, Download
from heedful.errors import DataError, UsageError, nearest
from heedful.files import sha256

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
    if name in DATASETS:
        raise UsageError(f"{name} has no download; to get it: {DATASETS[name].obtain}")
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
        write_stream(stream, target, local.stat().st_size)
    return [target]
