"""Downloading one file over HTTP: mirrors, resume, size cap, checksum. Nothing is believed before it is checked."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast

from heedful.data.sources import Download
from heedful.errors import DataError, UsageError
from heedful.files import sha256, told_plainly

OFFLINE_VARIABLES = ("HEEDFUL_OFFLINE", "HF_HUB_OFFLINE")
MOST_BYTES = 4 << 30
_SCHEMES = ("https://", "http://")
_BLOCK = 1 << 20
_TIMEOUT_SECONDS = 30.0

Progress = Callable[[int, int | None], None]


def is_offline() -> bool:
    """Tell whether ``HEEDFUL_OFFLINE`` or ``HF_HUB_OFFLINE`` forbids the network."""
    return any(os.environ.get(name, "").lower() in ("1", "true", "yes", "on") for name in OFFLINE_VARIABLES)


def download(
    wanted: Download, folder: Path, *, most_bytes: int = MOST_BYTES, progress: Progress | None = None
) -> Path:
    """Download a file from the first mirror that gives it whole and unaltered.

    A download that breaks off is kept and resumed by the next call. A file that is complete but has another checksum is
    deleted, and the next mirror is tried.

    Args:
        wanted: what to download. Without a published checksum the file is returned unchecked: the caller must ask.
        folder: where it is kept.
        most_bytes: largest size taken where none is published.
        progress: called with the bytes so far and the size, where it is known.

    Returns:
        The file.

    Raises:
        DataError: naming each mirror and its trouble, if none works.
        UsageError: if a mirror is not an HTTP address.
        OutputError: if the file cannot be written.
    """
    file, part = folder / wanted.name, folder / f"{wanted.name}.part"
    if file.is_file() and problem(wanted, file) is None:
        return file
    with told_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
    troubles = []
    for mirror in wanted.mirrors:
        if not mirror.startswith(_SCHEMES):
            raise UsageError(f"{mirror}: only http and https addresses are downloaded")
        trouble = _try(mirror, wanted, part, wanted.size or most_bytes, progress)
        if trouble is None:
            with told_plainly(file):
                os.replace(part, file)
            return file
        troubles.append(f"{mirror}: {trouble}")
    raise DataError(
        f"{wanted.name}: no mirror gave the file ({'; '.join(troubles)}); get it elsewhere and use --from FILE"
    )


def problem(wanted: Download, file: Path) -> str | None:
    """Say what is wrong with a downloaded file.

    Args:
        wanted: what it should be.
        file: what it is.

    Returns:
        Size or checksum expected and found; None where both agree or neither is known.
    """
    size = file.stat().st_size
    if wanted.size is not None and size != wanted.size:
        return f"expected {wanted.size:,} bytes, got {size:,}"
    if wanted.sha256 is None:
        return None
    found = sha256(file)
    return None if found == wanted.sha256 else f"expected SHA-256 {wanted.sha256}, got {found}"


class _TransferError(Exception):
    """The transfer failed; the message says why."""


def _try(mirror: str, wanted: Download, part: Path, most_bytes: int, progress: Progress | None) -> str | None:
    """Fetch from one mirror and check; what was resumed and turns out wrong is fetched once more from the start."""
    while True:
        resumed = part.exists()
        try:
            _fetch(mirror, part, most_bytes, progress)
        except _TransferError as error:
            return str(error)
        trouble = problem(wanted, part)
        if trouble is None:
            return None
        part.unlink()
        if not resumed:
            return trouble


def _fetch(address: str, part: Path, most_bytes: int, progress: Progress | None) -> None:
    """Write an address to a file, going on where an earlier attempt broke off if the server can."""
    have = part.stat().st_size if part.exists() else 0
    answer = _open(address, have)
    if answer is None:
        return
    with answer:
        resumed = answer.status == HTTPStatus.PARTIAL_CONTENT
        have = have if resumed else 0
        announced = answer.headers.get("Content-Length", "")
        size = have + int(announced) if announced.isdigit() else None
        if size is not None and size > most_bytes:
            raise _TransferError(f"{size:,} bytes, more than the {most_bytes:,} expected")
        with told_plainly(part), part.open("ab" if resumed else "wb") as out:
            while block := _read(answer):
                have += len(block)
                if have > most_bytes:
                    out.truncate(0)
                    raise _TransferError(f"more than the {most_bytes:,} bytes expected")
                out.write(block)
                if progress is not None:
                    progress(have, size)
            out.flush()
            os.fsync(out.fileno())
    if size is not None and have < size:
        raise _TransferError(f"broke off after {have:,} of {size:,} bytes; run it again to go on")


def _open(address: str, have: int) -> HTTPResponse | None:
    """Ask for the bytes after the first ``have``; None where the server says that there are none."""
    request = urllib.request.Request(address, headers={"User-Agent": "heedful"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        return cast(HTTPResponse, urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        error.close()
        if have and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return None
        raise _TransferError(f"HTTP {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise _TransferError(str(getattr(error, "reason", "") or error)) from error


def _read(answer: HTTPResponse) -> bytes:
    try:
        return answer.read(_BLOCK)
    except (OSError, HTTPException) as error:
        raise _TransferError(f"broke off ({error}); run it again to go on") from error
