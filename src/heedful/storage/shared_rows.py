"""Word vectors that an installed package keeps once, as whole numbers of 8 bits, for several models and for training.

A model folder may leave its frozen word vectors to such a package. Its config.json then has a table "shared": the name
of the package's rows, the SHA-256 of their file, the tensor that they are, and the length of its rows. The rows of the
tensor are those of the further words of the vocabulary, in its order. With a SHA-256 of the base forms, the vocabulary
has the package's base forms of its words too. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from heedful.errors import ArtifactError, DataError, UsageError
from heedful.storage.installed import VECTORS, installed_folder, kept, readable
from heedful.storage.manifest import CONFIG, MANIFEST, SCALE, listed_checksum, sha256, verify_manifest

ROWS, BASEFORMS = "rows.safetensors", "baseforms.tsv"
"""The files of that folder: the rows, and lines ``form<TAB>base`` for forms of words that the rows lack."""
SHARED = "shared"
"""Key of a model folder's config.json."""
_TENSORS = ("codes", "scale", "words")
_MOST = 127


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Words and their vectors in 8 bits.

    Attributes:
        words: each once.
        codes: [V, D] int8.
        scale: what the rows are multiplied by, [V] float32.
    """

    words: tuple[str, ...]
    codes: NDArray[np.int8]
    scale: NDArray[np.float32]

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors, [V, D] float32."""
        return self.codes * self.scale[:, None]

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Word to row."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def of_length(self, words: Sequence[str], length: float) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return the rows of words with another length.

        Args:
            words: words that are listed.
            length: of every vector, in the Euclidean norm.

        Returns:
            Their codes [n, D], and what each row is multiplied by [n].

        Raises:
            UsageError: naming the first word that is not listed.
        """
        missing = [word for word in words if word not in self.row]
        if missing:
            raise UsageError(f"the shared rows have no word {missing[0]!r:.80}")
        codes = self.codes[[self.row[word] for word in words]]
        norms = np.sqrt(np.einsum("vd,vd->v", codes, codes, dtype=np.float64))
        return codes, (length / np.maximum(norms, 1)).astype(np.float32)


def packaged_rows(name: str) -> Path | None:
    """Return the folder of the rows that an installed package has under a name, or None.

    Args:
        name: such as "heedful-en".

    Returns:
        The folder, which holds `ROWS` and `BASEFORMS`.

    Raises:
        ArtifactError: if they are not what the package's manifest says, where it has one.
    """
    folder = installed_folder(VECTORS, name)
    if folder is not None and (folder / MANIFEST).exists():
        _verify(folder / MANIFEST)
    return folder


@kept
def _verify(manifest: Path) -> None:
    verify_manifest(manifest.parent, (ROWS, BASEFORMS))


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file of `packaged_rows`: what the manifest says, which was checked, if there is one."""
    with readable(path):
        return listed_checksum(path) if (path.parent / MANIFEST).exists() else sha256(path)


def write_rows(path: Path, words: Sequence[str], matrix: NDArray[np.float32], step: float = 0.0) -> None:
    """Write word vectors in 8 bits.

    Args:
        path: the file.
        words: each once, without line ends.
        matrix: their vectors, [V, D].
        step: a number of which all values are multiples, which makes the codes exact and small; 0 for none. A row
            with a value beyond 127 steps has a longer step of its own.
    """
    largest = np.abs(matrix).max(axis=1, initial=0).astype(np.float64)
    scale = np.maximum(np.maximum(largest / _MOST, step), np.finfo(np.float32).tiny)
    codes = np.rint(matrix / scale[:, None]).astype(np.int8)
    text = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
    save_file({"codes": codes, "scale": scale.astype(np.float32), "words": text}, path)
    path.chmod(0o644)


def read_rows(path: Path) -> SharedRows:
    """Read word vectors in 8 bits.

    Args:
        path: the file.

    Returns:
        The words and their rows.

    Raises:
        DataError: if it is not such a file; says what is wrong.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            if sorted(file.keys()) != list(_TENSORS):
                raise DataError(
                    f"{path}: expected the tensors {', '.join(_TENSORS)}, got {sorted(file.keys())!s:.200}"
                )
            codes, scale, text = (file.get_tensor(name) for name in _TENSORS)
        words = tuple(text.tobytes().decode("utf-8").split("\n")) if text.size else ()
    except (SafetensorError, OSError, UnicodeDecodeError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: expected word vectors in 8 bits as safetensors; {error}") from error
    kinds = (codes.dtype, codes.ndim, scale.dtype, scale.shape)
    if kinds != (np.int8, 2, np.float32, codes.shape[:1]) or len(words) != len(codes):
        raise DataError(f"{path}: codes, scale and words do not belong together; get the file again")
    rows = SharedRows(words, codes, scale)
    if len(rows.row) != len(words) or not np.isfinite(scale).all():
        raise DataError(f"{path}: a word is there twice, or a scale is not finite; get the file again")
    return rows


kept_rows = kept(read_rows)
"""Read the same, once as long as the file is the same: training asks several times for the rows of a package."""


@dataclass(frozen=True)
class SharedParts:
    """What config.json says of what a model folder leaves to a package, under the key `SHARED`.

    Attributes:
        rows: name of the package's rows.
        sha256: of their file.
        baseforms: SHA-256 of the base forms, if the vocabulary leaves them to the package too; else empty.
        tensor: name of the tensor that the rows are.
        length: of each of its rows.
    """

    rows: str
    sha256: str
    baseforms: str
    tensor: str
    length: float


def record(name: str, tensor: str, length: float, *, baseforms: bool) -> dict[str, object]:
    """Return what config.json says of what a model folder leaves to a package.

    Args:
        name: of the package's rows.
        tensor: that they are.
        length: of each of its rows.
        baseforms: whether the vocabulary leaves its base forms to the package too.

    Returns:
        The table for the key `SHARED`.

    Raises:
        UsageError: if no installed package has rows of this name.
    """
    folder = packaged_rows(name)
    if folder is None:
        raise UsageError(f"no installed package has word vectors named {name!r:.80}")
    forms = checksum(folder / BASEFORMS) if baseforms else ""
    return asdict(SharedParts(name, checksum(folder / ROWS), forms, tensor, length))


def usable_baseforms(folder: Path, known: Collection[str]) -> dict[str, str]:
    """Return the base forms of a package that a vocabulary has: of forms without a row of their own, to words with one.

    Args:
        folder: of the package's rows, whose base forms are in small letters.
        known: the words of the vocabulary.

    Returns:
        Form to base form.
    """
    known = frozenset(known)
    lines = (folder / BASEFORMS).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return {form: base for form, base in pairs if form not in known and base in known}


def completed(
    config: Mapping[str, object], vocabulary: dict[str, object], path: Path
) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
    """Return what a model folder leaves to an installed package.

    Args:
        config: of the folder.
        vocabulary: of the folder, plain values.
        path: the folder, for messages.

    Returns:
        The vocabulary with its base forms, and the tensor in 8 bits and its scales, by name. For a folder that is
        complete by itself, the vocabulary as given and no tensor.

    Raises:
        ArtifactError: if the package is not installed or has other files; says what to do.
    """
    if SHARED not in config:
        return vocabulary, {}
    table = _checked_record(config[SHARED], path)
    name, tensor = table.rows, table.tensor
    trainable, extra = vocabulary.get("trainable"), vocabulary.get("extra")
    if not _is_words(trainable) or not _is_words(extra):
        raise ArtifactError(f"{path}: the vocabulary does not list the words of the shared rows")
    folder = packaged_rows(name)
    if folder is None:
        raise ArtifactError(
            f"{path}: this model has its word vectors from the package {name}, which is not installed. Install it, in "
            f"a clone of Heedful with pip install ./packages/{name}"
        )
    try:
        for file, expected in ((ROWS, table.sha256), (BASEFORMS, table.baseforms)):
            if expected and (found := checksum(folder / file)) != expected:
                raise ArtifactError(
                    f"{path}: this model needs the file {file} of {name} with SHA-256 {expected}; the installed one "
                    f"has {found}. Install the version of {name} that the model was made for."
                )
        codes, scale = read_rows(folder / ROWS).of_length(extra, table.length)
        if table.baseforms:
            vocabulary = {**vocabulary, "baseforms": usable_baseforms(folder, [*trainable, *extra])}
    except OSError as error:
        raise ArtifactError(f"{folder}: cannot be read: {error.strerror or error}") from error
    except (DataError, UsageError) as error:
        raise ArtifactError(f"{path}: {error}") from error
    return vocabulary, {tensor: codes, tensor + SCALE: scale}


def _is_words(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _checked_record(table: object, path: Path) -> SharedParts:
    names = {"rows": str, "sha256": str, "baseforms": str, "tensor": str, "length": float}
    if (
        not isinstance(table, dict)
        or table.keys() != names.keys()
        or any(type(table[name]) is not kind for name, kind in names.items())
        or not (table["sha256"] and 0 < table["length"] < 1e6)
    ):
        raise ArtifactError(f"{path / CONFIG}: {SHARED}: expected {', '.join(names)}; got {table!r:.200}")
    return SharedParts(**table)
