"""A folder of arrays and texts that knows when it has been altered."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtefactError
from heedful.files import replace_folder

_MANIFEST = "manifest.json"
Arrays = dict[str, NDArray[Any]]


def write_stored(path: Path, texts: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write texts and arrays as the folder `path`, whole or not at all.

    Args:
        path: the folder; an old one is replaced.
        texts: content of each text file by its name.
        arrays: content of each array file by its name, without suffix.

    Raises:
        OutputError: if it cannot be written.
    """
    with replace_folder(path) as folder:
        manifest = {}
        for name, text in texts.items():
            manifest[name] = _write(folder / name, text.encode("utf-8"))
        for name, values in arrays.items():
            stream = io.BytesIO()
            np.save(stream, values, allow_pickle=False)
            manifest[f"{name}.npy"] = _write(folder / f"{name}.npy", stream.getvalue())
        (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def read_stored(path: Path) -> tuple[dict[str, str], Arrays]:
    """Read what `write_stored` wrote, checking size and SHA-256 of every file.

    Args:
        path: the folder.

    Returns:
        Texts and arrays by name.

    Raises:
        ArtefactError: naming the file, if one is missing or altered.
    """
    texts: dict[str, str] = {}
    arrays: Arrays = {}
    for name, expected in _manifest(path).items():
        content = _read(path / name)
        if _facts(content) != expected:
            raise ArtefactError(
                f"{path / name}: altered or cut short: {len(content)} bytes do not match the manifest"
            )
        if name.endswith(".npy"):
            arrays[name.removesuffix(".npy")] = np.load(io.BytesIO(content), allow_pickle=False)
        else:
            texts[name] = content.decode("utf-8")
    return texts, arrays


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(_read(path / _MANIFEST))
    except ValueError as error:
        raise ArtefactError(f"{path / _MANIFEST}: not JSON: {error}") from error
    if not isinstance(manifest, dict) or any(Path(name).name != name for name in manifest):
        raise ArtefactError(f"{path / _MANIFEST}: expected the files of this folder by name")
    return manifest


def _write(file: Path, content: bytes) -> dict[str, Any]:
    file.write_bytes(content)
    return _facts(content)


def _facts(content: bytes) -> dict[str, Any]:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ArtefactError(f"{file}: cannot be read: {error.strerror or error}") from error
