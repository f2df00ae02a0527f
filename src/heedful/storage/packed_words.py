"""The words of a model folder in a third of their room: the JSON of the vocabulary, compressed, inside vocabulary.json.

The file then holds two fields: "bytes", the length of the vocabulary as JSON, and "zlib", that JSON in the format of
zlib, written in base64. Folders that training writes hold the vocabulary itself, for people to read.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

from heedful.errors import ArtefactError
from heedful.storage.manifest import REMEDY, parsed, read_json

MOST_TIMES = 64
"""How many times as long as the compressed bytes the vocabulary may be; words are 3 to 12 times as long."""
_FIELDS = {"bytes", "zlib"}


def packed(vocabulary: Mapping[str, object]) -> dict[str, object]:
    """Compress a vocabulary.

    Args:
        vocabulary: plain values.

    Returns:
        What vocabulary.json holds: the two fields above, or the vocabulary as given where these would be longer, or
            where `read_words` would refuse them.
    """
    # ASCII, as in the plain file: half of a surrogate pair in a word could not be written as UTF-8
    whole = json.dumps(vocabulary, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    small = zlib.compress(whole, 9)
    if len(small) * 4 > len(whole) * 3 or len(whole) > MOST_TIMES * len(small):
        return dict(vocabulary)
    return {"bytes": len(whole), "zlib": base64.b64encode(small).decode("ascii")}


def read_words(path: Path) -> dict[str, object]:
    """Read a vocabulary, compressed or not; what it unpacks to is limited before it is unpacked.

    Args:
        path: of vocabulary.json.

    Returns:
        The vocabulary as plain values, not checked any further.

    Raises:
        ArtefactError: if the file is not JSON, or its compressed part is damaged, unpacks to another length than it
            says or to more than `MOST_TIMES` its own.
    """
    found: dict[str, object] = read_json(path, dict)
    return _unpacked(found, path) if found.keys() == _FIELDS else found


def _unpacked(found: Mapping[str, object], path: Path) -> dict[str, object]:
    length, text = found["bytes"], found["zlib"]
    if type(length) is not int or not isinstance(text, str):
        raise ArtefactError(
            f'{path}: expected a whole number as "bytes" and a text as "zlib", got {length!r:.40} and '
            f"{type(text).__name__}. {REMEDY}"
        )
    try:
        small = base64.b64decode(text, validate=True)
        if not 0 < length <= MOST_TIMES * len(small):
            raise ArtefactError(
                f"{path}: {len(small):,} compressed bytes cannot be a vocabulary of {length!r:.40} bytes: at "
                f"most {MOST_TIMES} times as many are unpacked. {REMEDY}"
            )
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(small, length + 1)
        text = whole.decode("utf-8")
    except (binascii.Error, ValueError, zlib.error) as error:
        raise ArtefactError(f"{path}: the compressed vocabulary is damaged: {error}. {REMEDY}") from error
    if len(whole) != length or not unpacking.eof or unpacking.unused_data:
        raise ArtefactError(
            f"{path}: the compressed vocabulary does not unpack to the {length:,} bytes that the file says. {REMEDY}"
        )
    vocabulary: dict[str, object] = parsed(text, path, dict)
    return vocabulary
