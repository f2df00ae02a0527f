"""The tensors of a model folder, mapped from the file: a table of word vectors costs the rows that are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from heedful.errors import ArtifactError, UsageError
from heedful.runtime.kernels import Floats
from heedful.storage.fields import REMEDY, not_safetensors
from heedful.storage.manifest import LARGEST, NOT_FINITE, SCALE, VOCABULARY, WEIGHTS, read_words
from heedful.storage.shared_rows import SHARED, completed

_KINDS: dict[str, type[np.generic]] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.float32,
    "I64": np.int64,
    "I32": np.int32,
    "I8": np.int8,
    "U8": np.uint8,
}
"""What the kinds of number in a file become; NumPy has no bfloat16, which is read as float32."""
_EXPONENT = 0x7C00
_CHECKED = 1 << 20
"""Numbers that are checked at a time, so that a check takes little memory."""


class Weights:
    """Tensors of a safetensors file by name; nothing is read before it is asked for.

    Args:
        path: the file, checked against its manifest.
        shared: further tensors, which another package keeps.
        own: tensors that were read already, of which the path only names the place; None to read the file.

    Raises:
        ArtifactError: if it is no safetensors file, holds a kind of number that the runtime does not read, a matrix of
            whole numbers without their scales, or a number that is not finite.
    """

    def __init__(
        self,
        path: Path,
        shared: Mapping[str, NDArray[np.generic]] | None = None,
        own: Mapping[str, NDArray[np.generic]] | None = None,
    ) -> None:
        self.path = path
        self._tensors = {**(dict(_mapped(path)) if own is None else own), **(shared or {})}
        for name, tensor in self._tensors.items():
            if tensor.dtype.kind == "f" and not _is_finite(tensor):
                raise ArtifactError(f"{path}: tensor {name!r} {NOT_FINITE}. {REMEDY}")
            whole = tensor.dtype.kind != "f" and not (
                tensor.dtype == np.int8 and name + SCALE in self._tensors
            )
            if whole and tensor.ndim > 1:
                raise ArtifactError(
                    f"{path}: tensor {name!r:.200} holds {tensor.dtype}, expected real numbers. {REMEDY}"
                )

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def raw(self, name: str) -> NDArray[np.generic]:
        """Return a tensor as it is in the file.

        Args:
            name: its name.

        Returns:
            The tensor, still in the file.

        Raises:
            UsageError: if there is none of this name.
        """
        if name not in self._tensors:
            raise UsageError(f"tensor {name!r:.200} is missing")
        return self._tensors[name]

    def scales(self, name: str) -> Floats | None:
        """Return what the rows of an int8 matrix are multiplied by.

        Args:
            name: of the matrix.

        Returns:
            [rows] float32; None for a matrix of another kind.

        Raises:
            UsageError: if they are missing or not one a row.
        """
        matrix = self.raw(name)
        if matrix.dtype != np.int8:
            return None
        scales = self.raw(name + SCALE)
        if scales.shape != matrix.shape[:1] or scales.dtype.kind != "f":
            raise UsageError(f"tensor {name + SCALE!r:.200} must hold {len(matrix)} numbers, one a row")
        return np.asarray(scales, np.float32)

    def floats(self, name: str) -> Floats:
        """Return a tensor as float32, in memory.

        Args:
            name: its name.

        Returns:
            The tensor.

        Raises:
            UsageError: if it is missing or does not hold real numbers.
        """
        tensor = self.raw(name)
        scales = self.scales(name)
        if scales is not None:
            return np.asarray(tensor, np.int8) * scales.reshape(-1, *(1,) * (tensor.ndim - 1))
        if tensor.dtype.kind != "f":
            raise UsageError(f"tensor {name!r:.200} holds {tensor.dtype}, expected float32")
        return np.array(tensor, np.float32)

    def rows(self, name: str, numbers: NDArray[np.integer]) -> Floats:
        """Return some rows of a matrix as float32.

        Args:
            name: its name.
            numbers: which rows, each in range.

        Returns:
            [rows, width].
        """
        scales = self.scales(name)
        chosen = np.asarray(self.raw(name)[numbers], np.float32)
        return chosen if scales is None else chosen * scales[numbers, None]


def _mapped(path: Path) -> Iterator[tuple[str, NDArray[np.generic]]]:
    try:
        with safe_open(path, framework="numpy") as checked:  # which checks the whole header
            names = list(checked.keys())
        with path.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(size))
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        raise not_safetensors(path, error) from error
    whole = np.memmap(path, np.uint8, mode="r")
    for name in names:
        entry = header[name]
        if entry["dtype"] not in _KINDS:
            raise ArtifactError(
                f"{path}: tensor {name!r:.200} holds {entry['dtype']}; the runtime reads {', '.join(_KINDS)}"
            )
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        part = np.asarray(whole[first:last])
        if entry["dtype"] == "BF16":
            wide = part.copy().view(np.uint16).astype(np.uint32) << 16  # the upper half of a float32
            yield name, wide.view(np.float32).reshape(entry["shape"])
            continue
        # a header may end anywhere, and NumPy reads numbers that begin anywhere only from a copy
        aligned = part if first % 8 == 0 else part.copy()
        yield name, aligned.view(_KINDS[entry["dtype"]]).reshape(entry["shape"])


def _is_finite(tensor: NDArray[np.generic]) -> bool:
    flat = tensor.reshape(-1)
    if (
        flat.dtype == np.float16
    ):  # of which none is above 1e30; the exponent of those that are not finite is all ones
        bits = flat.view(np.int16)
        return all(
            int((bits[start : start + _CHECKED] & _EXPONENT).max()) < _EXPONENT
            for start in range(0, len(bits), _CHECKED)
        )
    return all(
        float(np.abs(flat[start : start + _CHECKED]).max()) <= LARGEST
        for start in range(0, len(flat), _CHECKED)
    )


def read_words_and_weights(
    path: Path, config: Mapping[str, object], rarely: str | None = None
) -> tuple[dict[str, object], Weights]:
    """Read the words and the tensors of a folder, with what it leaves to a package.

    Args:
        path: the folder.
        config: its ``config.json``.
        rarely: see `heedful.storage.manifest.read_words`.

    Returns:
        Its vocabulary in plain values, and its tensors.

    Raises:
        ArtifactError: if one cannot be read; names the file.
    """
    plain, shared = read_words(path / VOCABULARY, rarely), dict[str, NDArray[np.generic]]()
    if SHARED in config:  # else the folder is complete by itself
        plain, shared = completed(config, plain, path)
    return plain, Weights(path / WEIGHTS, shared)
