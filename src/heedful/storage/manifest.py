"""The files of a model folder and their manifest: checked byte by byte before anything in them is believed.

File names are fixed here, never taken from a file, so that no folder can point outside itself. Nothing here needs
torch: `heedful.storage.model_folder` reads the tensors for training, `heedful.runtime` for answering without it.

The vocabulary may be compressed to a third of its size. Its file then holds two fields: "bytes", the length of the
vocabulary as JSON, and "zlib", that JSON in the format of zlib, written in base64. Folders that training writes hold
the vocabulary itself, for people to read.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from heedful.errors import ArtifactError
from heedful.storage.fields import (
    REMEDY,
    Fields,
    damaged_model,
    is_texts,
    parsed,
    read_fields,
    read_json,
    read_text,
)
from heedful.storage.flat_tables import cut_out
from heedful.storage.installed import REINSTALL, in_package
from heedful.storage.layout import MODEL, SETTINGS, holds_run, holds_study

Value = TypeVar("Value")
FORMAT_VERSION = 1
CONFIG, WEIGHTS, VOCABULARY = SETTINGS, "weights.safetensors", "vocabulary.json"
LABELS, METRICS, CARD = "labels.json", "metrics.json", "README.md"
MODEL_FILES = (CONFIG, WEIGHTS, VOCABULARY, LABELS, METRICS, CARD)
MANIFEST = "manifest.json"
SCALE = ".scale"
"""Ending of the name of the tensor that the rows of a matrix of whole numbers are multiplied by."""
LARGEST = 1e30
"""Largest number of a model's weights: sums of products of larger ones are soon not finite in single precision."""
NOT_FINITE = "holds values that are not finite, or above 1e30"


def refuse_without_model(folder: Path) -> None:
    """Report what a folder of Heedful's holds in the place of a model, if it holds none.

    Raises ArtifactError if it has no model yet, or cannot be read.
    """
    with _readable(folder):
        _refuse_without_model(folder)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_labels(folder: Path) -> list[str]:
    """Read the labels of a model; raises ArtifactError if they are no list of strings."""
    labels: list[str] = read_json(folder / LABELS, list)
    if not is_texts(labels):
        raise ArtifactError(f"{folder / LABELS}: expected a list of strings. {REMEDY}")
    return labels


def read_card(folder: Path) -> str:
    """Return the card of a model, which anybody may have edited; empty where it was removed."""
    with _readable(folder):
        if not (folder / CARD).is_file():
            return ""
        return (folder / CARD).read_bytes().decode("utf-8", errors="replace")


def write_json(path: Path, value: object) -> None:
    """Write plain values as JSON; a number that is not finite becomes null.

    Args:
        path: the file.
        value: mappings, sequences, strings, numbers, None.
    """
    path.write_text(json_text(value), encoding="utf-8", newline="\n")


def write_manifest(folder: Path, names: Sequence[str]) -> None:
    """Write the manifest of a folder: the format's version, and the size and SHA-256 of each file but the card.

    People edit the card, on the Hugging Face Hub for example, and no answer depends on it.
    """
    files = {
        name: {}
        if name == CARD
        else {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)}
        for name in names
    }
    manifest = {"format_version": FORMAT_VERSION, "files": files}
    write_json(folder / MANIFEST, manifest)


def verify_manifest(folder: Path, names: Sequence[str]) -> None:
    """Check a folder against its manifest.

    Raises ArtifactError at the first difference.
    """
    with _readable(folder):
        _verify(folder, names)


def listed(folder: Path) -> frozenset[str]:
    """Return the names of the files that the manifest of a folder lists, and of the manifest itself.

    Args:
        folder: a folder, or none.

    Returns:
        The names; empty where there is no manifest that Heedful wrote.
    """
    try:
        fields = read_fields(folder / MANIFEST)
        fields.value("format_version")
        return frozenset({MANIFEST, *fields.parts_by_name("files")})
    except ArtifactError:
        return frozenset()


def manifest_checksum(folder: Path) -> str:
    """Return the SHA-256 of the manifest of a model: it tells the model from every other, wherever its folder is.

    Args:
        folder: a model folder, or the run folder that holds it.

    Returns:
        The checksum in hexadecimal.

    Raises:
        ArtifactError: if there is no model.
    """
    path = _with_manifest(folder)
    with _readable(path):
        return sha256(path / MANIFEST)


def answers_checksum(folder: Path) -> str:
    """Return a SHA-256 that tells a model from those that answer otherwise; figures of its training may differ.

    A run that has ended and is resumed, which writes it again, keeps its checksum.

    Args:
        folder: see `manifest_checksum`.

    Returns:
        The checksum in hexadecimal.

    Raises:
        ArtifactError: if there is no model.
    """
    path = _with_manifest(folder)
    with _readable(path):
        files = read_fields(path / MANIFEST).parts_by_name("files")
        sums = [f"{name} {each.text('sha256')}" for name, each in sorted(files.items()) if name not in _ABOUT]
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()


_ABOUT = (METRICS, CARD)
"""Files that say how a model was trained, on which no answer depends."""


def _with_manifest(folder: Path) -> Path:
    """Return the folder of a model, whose run folder may be named."""
    inner = folder / MODEL
    path = inner if os.path.isdir(inner) and not os.path.exists(folder / WEIGHTS) else folder
    refuse_without_model(path)
    with _readable(path):
        if not (path / MANIFEST).is_file():
            raise ArtifactError(f"{path}: expected a model folder; it has no {MANIFEST}. Check the path.")
    return path


def listed_checksum(path: Path) -> str:
    """Return the SHA-256 of a file by the manifest beside it, which `verify_manifest` has checked."""
    return read_fields(path.parent / MANIFEST).part("files").part(path.name).text("sha256")


@contextlib.contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(
            f"{folder}: cannot be read: {error.strerror or error}. Check its permissions."
        ) from error
    except ArtifactError as error:
        if not in_package(folder):
            raise
        problem = str(error).removesuffix(REMEDY).removesuffix("Check the path.")
        raise ArtifactError(f"{problem.rstrip()} {REINSTALL}") from error


def refuse_no_folder(folder: Path) -> None:
    """Refuse a model where there is no folder.

    Args:
        folder: of the model, or of a run.

    Raises:
        ArtifactError: if it is none.
    """
    if not os.path.isdir(folder):
        package = "" if os.sep in str(folder) else ", or install the package that has it, such as heedful-en"
        advice = _nearest_folder(folder) or f"Check the path{package}."
        raise ArtifactError(f"{folder}: expected a folder written by heedful; there is none. {advice}")


def _nearest_folder(folder: Path) -> str:
    """Ask for the folder beside whose name is closest; nothing where none is close."""
    from difflib import get_close_matches

    try:
        beside = sorted(entry.name for entry in folder.parent.iterdir() if entry.is_dir())
    except OSError:
        return ""
    close = get_close_matches(folder.name, beside, n=1)
    return f"Did you mean {str(folder.with_name(close[0]))!r:.300}?" if close else ""


def _runs_within(folder: Path) -> str:
    """Name the runs that a folder holds, the first of many; nothing where it holds none."""
    try:
        places = [Path(entry.path) for entry in os.scandir(folder)]
        runs = sorted(
            place.name for place in places if holds_run(place) or (place / MODEL / MANIFEST).exists()
        )
    except OSError:
        return ""
    return (
        f"It holds the runs {', '.join(runs[:5])}{', ...' if runs[5:] else ''}: name one of them."
        if runs
        else ""
    )


def _refuse_without_model(folder: Path) -> None:
    if folder.name == MODEL and not os.path.lexists(folder) and holds_run(folder.parent):
        raise ArtifactError(
            f"{folder}: there is no model yet: the run in {folder.parent} writes it at its end. Wait for it; if it was "
            f"interrupted, continue it: heedful train with its recipe and data, --out {folder.parent} --resume."
        )
    if not os.path.isdir(folder) or os.path.exists(folder / MANIFEST):
        return
    if holds_study(folder):
        raise ArtifactError(
            f"{folder}: holds the runs of a study, which keeps figures and no model. heedful train makes a model."
        )
    if holds_run(folder):
        raise ArtifactError(
            f"{folder}: holds a run that has no model yet. End it: heedful train with its recipe and data, "
            f"--out {folder} --resume."
        )


def _verify(folder: Path, names: Sequence[str]) -> None:
    path = folder / MANIFEST
    refuse_no_folder(folder)
    if not path.is_file():
        advice = _runs_within(folder) or "Check the path."
        raise ArtifactError(f"{path}: missing, so this is no folder written by heedful. {advice}")
    manifest = read_fields(path)
    if (version := manifest.whole("format_version")) != FORMAT_VERSION:
        raise ArtifactError(
            f"{path}: expected format_version {FORMAT_VERSION}, found {version}. "
            "Use the version of heedful that wrote it, or train the model again."
        )
    files = manifest.part("files")
    if sorted(files) != sorted(names):
        raise ArtifactError(f"{path}: expected the files {sorted(names)}, found {sorted(files)}. {REMEDY}")
    if path.read_bytes() != json_text(manifest.record).encode():
        raise ArtifactError(f"{path}: was altered after it was written. {REMEDY}")
    for name in names:
        if name != CARD:
            _verify_file(folder / name, files.table(name))


def _verify_file(path: Path, entry: Mapping[str, object]) -> None:
    if not path.is_file():
        raise ArtifactError(f"{path}: missing. {REMEDY}")
    found: dict[str, object] = {"bytes": path.stat().st_size}
    if found["bytes"] == entry.get("bytes"):
        found["sha256"] = sha256(path)
    if found != entry:
        raise ArtifactError(
            f"{path}: was altered: expected {entry}, found {found}; or {MANIFEST}, which expects it, was. {REMEDY}"
        )


def json_text(value: object) -> str:
    """Return plain values as JSON; a number that is not finite becomes null."""
    return json.dumps(_plain(value), indent=1, allow_nan=False) + "\n"


def _plain(value: object) -> object:
    """Replace what JSON has no word for: numbers that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


MOST_TIMES = 64
"""How many times as long as the compressed bytes the vocabulary may be; words are 3 to 12 times as long."""
_FIELDS = {"bytes", "zlib"}


def packed(vocabulary: Mapping[str, object]) -> dict[str, object]:
    """Compress a vocabulary.

    Args:
        vocabulary: plain values.

    Returns:
        What vocabulary.json holds: the fields "bytes" and "zlib", or the vocabulary as given where
            these would be longer, or where `read_words` would refuse them.
    """
    # ASCII, as in the plain file: half of a surrogate pair in a word could not be written as UTF-8
    whole = json.dumps(vocabulary, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    small = zlib.compress(whole, 9)
    if len(small) * 4 > len(whole) * 3 or len(whole) > MOST_TIMES * len(small):
        return dict(vocabulary)
    return {"bytes": len(whole), "zlib": base64.b64encode(small).decode("ascii")}


def read_words(path: Path, rarely: str | None = None) -> dict[str, object]:
    """Read a vocabulary, compressed or not; what it unpacks to is limited before it is unpacked.

    Args:
        path: of vocabulary.json.
        rarely: the name of a table of strings that is rarely looked at, which may come as a `FlatTable`.

    Returns:
        The vocabulary as plain values, not checked any further.

    Raises:
        ArtifactError: if the file is not JSON, or its compressed part is damaged, unpacks to another length than it
            says or to more than `MOST_TIMES` its own.
    """
    found = _words_of(read_text(path), path, rarely)
    return _words_of(_unpacked(found, path), path, rarely) if found.keys() == _FIELDS else found


def _words_of(text: str, path: Path, rarely: str | None) -> dict[str, object]:
    """Parse a vocabulary, a large table of it apart from the rest where both are JSON by themselves."""
    if rarely is not None and (parts := cut_out(text, rarely)) is not None:
        with contextlib.suppress(ArtifactError):
            found: dict[str, object] = parsed(parts[0], str(path), dict)
            return {**found, rarely: parts[1]}
    whole: dict[str, object] = parsed(text, str(path), dict)
    return whole


def _unpacked(found: Mapping[str, object], path: Path) -> str:
    fields = Fields(found, str(path), error=damaged_model)
    length, text = fields.whole("bytes"), fields.text("zlib")
    try:
        small = base64.b64decode(text, validate=True)
        if not 0 < length <= MOST_TIMES * len(small):
            raise ArtifactError(
                f"{path}: {len(small):,} compressed bytes cannot be a vocabulary of {length!r:.40} bytes: at "
                f"most {MOST_TIMES} times as many are unpacked. {REMEDY}"
            )
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(small, length + 1)
        text = whole.decode("utf-8")
    except (binascii.Error, ValueError, zlib.error) as error:
        raise ArtifactError(f"{path}: the compressed vocabulary is damaged: {error}. {REMEDY}") from error
    if len(whole) != length or not unpacking.eof or unpacking.unused_data:
        raise ArtifactError(
            f"{path}: the compressed vocabulary does not unpack to the {length:,} bytes that the file says. {REMEDY}"
        )
    return text
