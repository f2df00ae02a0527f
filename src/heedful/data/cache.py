"""Encoded data and word vectors kept on disk, so that a second start is immediate.

Everything in the cache can be made again: what is damaged is rebuilt, and what cannot be written is done without.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np
from numpy.lib.format import write_array
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset, EncodeReport, KeptWords
from heedful.data.examples import Ragged
from heedful.errors import ArtifactError
from heedful.storage import add_folder, sha256
from heedful.storage.fields import read_fields
from heedful.storage.folders import user_cache
from heedful.storage.growing_arrays import MOST_BYTES, released
from heedful.text.vectors import WordVectors, files_of, read_vectors, vector_format
from heedful.text.vocabulary import AnyVocabulary, vocabulary_from_json

MANIFEST = "manifest.json"
"""The file of an entry that lists its other files."""
Arrays = dict[str, NDArray[Any]]


def write_stored(path: Path, texts: Mapping[str, str], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write texts and arrays as the folder `path`, whole or not at all.

    Raises OutputError if it cannot be written.
    """
    with add_folder(path) as folder:
        manifest = {}
        for name, text in texts.items():
            with _Counted.created(folder / name) as stream:
                stream.write(text.encode("utf-8"))
            manifest[name] = stream.facts()
        for name, values in arrays.items():
            with _Counted.created(folder / f"{name}.npy") as stream:
                write_array(stream, np.asarray(values), allow_pickle=False)  # in pieces: it may lie in a file
            released(values)
            manifest[f"{name}.npy"] = stream.facts()
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def read_stored(path: Path) -> tuple[dict[str, str], Arrays]:
    """Read what `write_stored` wrote, checking size and SHA-256 of every file.

    Raises ArtifactError, naming the file, if one is missing or altered.
    """
    texts: dict[str, str] = {}
    arrays: Arrays = {}
    for name, expected in _manifest(path).items():
        found = _facts_of(path / name)
        if found != expected:
            raise ArtifactError(
                f"{path / name}: altered or cut short: {found['size']} bytes do not match the manifest"
            )
        if name.endswith(".npy"):
            large = int(path.joinpath(name).stat().st_size) > MOST_BYTES
            loaded = np.load(path / name, mmap_mode="r" if large else None, allow_pickle=False)
            arrays[name.removesuffix(".npy")] = np.asarray(loaded)
        else:
            texts[name] = _read(path / name).decode("utf-8")
    return texts, arrays


def _manifest(path: Path) -> Mapping[str, object]:
    manifest = read_fields(path / MANIFEST, ArtifactError)
    if any(Path(name).name != name for name in manifest):
        raise manifest.refused("must have the files of this folder by name")
    return manifest.record


class _Counted:
    """A file that is written piece by piece, with the size and the SHA-256 of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest, self._size = file, hashlib.sha256(), 0

    @classmethod
    @contextmanager
    def created(cls, path: Path) -> Iterator[_Counted]:
        with path.open("wb") as file:
            yield cls(file)

    def write(self, piece: bytes) -> int:
        self._digest.update(piece)
        self._size += len(piece)
        return self._file.write(piece)

    def facts(self) -> dict[str, object]:
        return {"size": self._size, "sha256": self._digest.hexdigest()}


def _facts_of(file: Path) -> dict[str, object]:
    try:
        return {"size": file.stat().st_size, "sha256": sha256(file)}
    except OSError as error:
        raise ArtifactError(f"{file}: cannot be read: {error.strerror or error}") from error


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ArtifactError(f"{file}: cannot be read: {error.strerror or error}") from error


PIECES_FORMAT = 11
"""Part of every key; raise it when a reader, a tokenizer or this layout changes."""

_COLUMNS = ("sides", "heads", "places", "spelled")
"""What a data set holds of each side."""
_WHOLE = ("ngrams", "phrases")
"""What it holds once, if at all."""

_LOG = logging.getLogger(__name__)
Encoded = TypeVar("Encoded", bound=EncodedDataset)
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class PreparedData(Generic[Encoded]):
    """What the cache keeps of a data set.

    Attributes:
        vocabulary: words to rows, or to pieces.
        datasets: encoded parts by name, such as "train" and "dev".
        notes: what readers left out, as lines for a person.
        tokenizer: name of the tokenizer.
    """

    vocabulary: AnyVocabulary
    datasets: dict[str, Encoded]
    notes: tuple[str, ...] = ()
    tokenizer: str = "treebank"


CACHE_VARIABLE, NONE = "HEEDFUL_CACHE", "none"
"""The environment variable that names the cache folder, and its value for keeping nothing."""


def cache_folder(folder: Path | None = None) -> Path | None:
    """Return the cache folder: the argument, else the environment's HEEDFUL_CACHE, else "heedful" in `user_cache`.

    Returns None where HEEDFUL_CACHE is "none": nothing is kept then.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if folder is None and named == NONE:
        return None
    return folder or Path(named or user_cache() / "heedful")


def cache_key(files: Sequence[Path], settings: Mapping[str, object]) -> str:
    """Return a name for the result of reading and encoding these files with these settings.

    Args:
        files: every file that the result depends on; their content counts, not their names.
        settings: everything else it depends on (reader, tokenizer, vocabulary, limits), as JSON values.

    Returns:
        64 hexadecimal digits.
    """
    content = {
        "format": PIECES_FORMAT,
        "files": [sha256(file) for file in files],
        "settings": dict(settings),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()


def load_or_prepare(
    key: str,
    build: Callable[[], PreparedData[Encoded]],
    folder: Path | None = None,
    *,
    dataset: type[Encoded],
) -> PreparedData[Encoded]:
    """Return what the cache holds under a key, or build and keep it.

    Args:
        key: see `cache_key`.
        build: makes the data when the cache has none, or a damaged one (which is logged).
        folder: see `cache_folder`.
        dataset: the class of the data sets, which depends on the task.

    Returns:
        The data, the same whether read or built.
    """
    return _load_or_build(_entry(folder, "encoded", key), build, _pack, partial(_unpack, dataset))


def load_or_read_vectors(path: Path, folder: Path | None = None, *, lowercase: bool = False) -> WordVectors:
    """Return all the vectors of a file, from the cache if they have been read before.

    Only vectors written as text are kept there: binary ones are read about as fast as the cache.

    Raises DataError, see `read_vectors`.
    """
    if vector_format(path) != "text":
        return read_vectors(path, lowercase=lowercase)
    return _load_or_build(
        _entry(folder, "vectors", cache_key(files_of(path), {"lowercase": lowercase})),
        lambda: read_vectors(path, lowercase=lowercase),
        lambda vectors: ({"words.json": json.dumps(vectors.words)}, {"matrix": vectors.matrix}),
        lambda texts, arrays: WordVectors(tuple(json.loads(texts["words.json"])), arrays["matrix"]),
    )


def load_or_build_arrays(
    kind: str, key: str, build: Callable[[], Arrays], folder: Path | None = None
) -> Arrays:
    """Return what the cache holds under a key, or build and keep it.

    Args:
        kind: folder inside the cache.
        key: name of the content, such as a hash of what it was made from.
        build: makes the arrays by name.
        folder: see `cache_folder`.

    Returns:
        The arrays, the same whether read or built.
    """
    return _load_or_build(
        _entry(folder, kind, key), build, lambda arrays: ({}, arrays), lambda _, arrays: arrays
    )


def _entry(folder: Path | None, kind: str, key: str) -> Path | None:
    place = cache_folder(folder)
    return None if place is None else place / kind / key


def _load_or_build(
    path: Path | None,
    build: Callable[[], _T],
    pack: Callable[[_T], tuple[dict[str, str], Arrays]],
    unpack: Callable[[dict[str, str], Arrays], _T],
) -> _T:
    if path is None:
        return build()
    if path.exists():
        try:
            return unpack(*read_stored(path))
        except (ArtifactError, KeyError, ValueError, TypeError) as error:
            _LOG.warning("cache: %s; made again", error)
            shutil.rmtree(path, ignore_errors=True)
    built = build()
    try:
        write_stored(path, *pack(built))
    except OSError as error:
        _LOG.warning("cache: not kept: %s", error)
    return built


def _pack(data: PreparedData[Encoded]) -> tuple[dict[str, str], Arrays]:
    facts = {}
    arrays: Arrays = {}
    for number, (name, dataset) in enumerate(data.datasets.items()):
        facts[name] = {
            "sides": len(dataset.sides),
            "group_names": dataset.group_names,
            "labels": dataset.labels,
            "report": asdict(dataset.report),
            "cells": dataset.cells,
            "mean_weight": dataset.mean_weight,
        }
        arrays |= {f"{number}-rows": dataset.rows, f"{number}-groups": dataset.groups}
        if dataset.targets is not None:
            arrays[f"{number}-targets"] = dataset.targets
        if dataset.weights is not None:
            arrays[f"{number}-weights"] = dataset.weights
        for name in _WHOLE:
            ragged = getattr(dataset, name)
            if ragged is not None:
                arrays |= {f"{number}-{name}": ragged.values, f"{number}-{name}-offsets": ragged.offsets}
        arrays |= {f"{number}-further-{part}": values for part, values in dataset.further().items()}
        if dataset.kept is not None:
            arrays |= _packed_words(f"{number}-kept", dataset.kept)
        if dataset.texts is not None:
            arrays[f"{number}-texts"] = _as_json(dataset.texts)
        for column in _COLUMNS:
            for side, ragged in enumerate(getattr(dataset, column)):
                arrays[f"{number}-{column}-{side}"] = ragged.values
                arrays[f"{number}-{column}-offsets-{side}"] = ragged.offsets
    texts = {
        "vocabulary.json": data.vocabulary.to_json(),
        "datasets.json": json.dumps({"datasets": facts, "notes": data.notes, "tokenizer": data.tokenizer}),
    }
    return texts, arrays


def _unpack(kind: type[Encoded], texts: dict[str, str], arrays: Arrays) -> PreparedData[Encoded]:
    facts = json.loads(texts["datasets.json"])
    datasets = {}
    for number, (name, fact) in enumerate(facts["datasets"].items()):
        column = partial(_column, arrays, number, fact["sides"])
        dataset = EncodedDataset(
            targets=arrays.get(f"{number}-targets"),
            weights=arrays.get(f"{number}-weights"),
            mean_weight=fact["mean_weight"],
            rows=arrays[f"{number}-rows"],
            groups=arrays[f"{number}-groups"],
            group_names=tuple(fact["group_names"]),
            labels=tuple(fact["labels"]),
            report=EncodeReport(**fact["report"]),
            sides=column("sides"),
            heads=column("heads"),
            places=column("places"),
            spelled=column("spelled"),
            ngrams=_whole(arrays, f"{number}-ngrams"),
            phrases=_whole(arrays, f"{number}-phrases"),
            kept=_kept_words(arrays, f"{number}-kept", fact["sides"]),
            texts=_kept_texts(arrays, f"{number}-texts"),
            cells=tuple(fact["cells"]),
        )
        mark = f"{number}-further-"
        further = {part.removeprefix(mark): own for part, own in arrays.items() if part.startswith(mark)}
        datasets[name] = kind.with_further(dataset, further)
    vocabulary = vocabulary_from_json(texts["vocabulary.json"])
    return PreparedData(vocabulary, datasets, tuple(facts["notes"]), facts["tokenizer"])


def _packed_words(name: str, kept: KeptWords) -> Arrays:
    found: Arrays = {f"{name}-forms": _as_json(kept.forms)}
    for side, ragged in enumerate(kept.sides):
        found |= {f"{name}-{side}": ragged.values, f"{name}-offsets-{side}": ragged.offsets}
    return found


def _as_json(texts: Sequence[object]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts).encode("ascii"), np.uint8)  # escapes keep a lone surrogate


def _kept_texts(arrays: Arrays, name: str) -> tuple[tuple[str, ...], ...] | None:
    return tuple(map(tuple, json.loads(arrays[name].tobytes()))) if name in arrays else None


def _kept_words(arrays: Arrays, name: str, sides: int) -> KeptWords | None:
    if f"{name}-forms" not in arrays:
        return None
    columns = (Ragged(arrays[f"{name}-{side}"], arrays[f"{name}-offsets-{side}"]) for side in range(sides))
    return KeptWords(tuple(json.loads(arrays[f"{name}-forms"].tobytes())), tuple(columns))


def _whole(arrays: Arrays, name: str) -> Ragged | None:
    values = arrays.get(name)
    return None if values is None else Ragged(values, arrays[f"{name}-offsets"])


def _column(arrays: Arrays, number: int, sides: int, name: str) -> tuple[Ragged, ...]:
    """Return what was kept of each side; nothing where the data set had none."""
    return tuple(
        Ragged(arrays[f"{number}-{name}-{side}"], arrays[f"{number}-{name}-offsets-{side}"])
        for side in range(sides)
        if f"{number}-{name}-{side}" in arrays
    )
