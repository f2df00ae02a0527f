"""Compress bytes as the files that every reader unpacks."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable


def in_zip(content: bytes, name: str = "inside.txt") -> bytes:
    """Return a ZIP archive of one file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


STREAMS: dict[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.compress,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
}
"""Suffix to what packs a stream of bytes."""
PACKERS: dict[str, Callable[[bytes], bytes]] = {**STREAMS, ".zip": in_zip}
"""Suffix to what packs a file."""
