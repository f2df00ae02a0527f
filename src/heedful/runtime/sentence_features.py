"""Frozen features of a text for a sentence part: NumPy computes them from its words, and no training changes them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.storage.installed import readable
from heedful.storage.manifest import SCALE
from heedful.storage.shared_rows import BASEFORMS, ROWS, SharedRows, checksum, kept_rows, packaged_rows

Floats = NDArray[np.float32]
MEAN, JOINED, STATES = "mean", "joined", "states"
"""What config.json calls the kinds of features: means of vectors, several kinds, and what a sentence encoder gives."""


@runtime_checkable
class SentenceFeatures(Protocol):
    """Turns the words of a text into numbers."""

    @property
    def width(self) -> int:
        """Numbers of a text, F."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """Features of one kind each, in order: what is compared by a cosine of its own; their sum is the width."""

    def vectors(self, words: Sequence[str]) -> NDArray[np.floating]:
        """Return the vectors of words, [n, D]; zero for a word without one."""

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Return the features of texts.

        Args:
            texts: the words of each text, as the model's tokenizer gives them.

        Returns:
            [N, F] float32. The row of a text does not depend on the other texts; that of one without a known word is
            zero.
        """

    def knows(self, word: str) -> bool:
        """Return whether there is a vector of a word."""

    def table(self) -> dict[str, object]:
        """Return what config.json says of them."""

    def tensors(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the tensors that a folder has itself, under a prefix; none of what a package has."""

    def complete(self) -> SentenceFeatures:
        """Return the same features, of which a folder has everything itself."""


@dataclass(frozen=True)
class Origin:
    """The files of an installed package from which features come.

    Attributes:
        name: of the package's rows, such as "heedful-en"; empty for rows that only the model has.
        sha256: of the file of rows.
        baseforms: SHA-256 of the file of base forms.
    """

    name: str = ""
    sha256: str = ""
    baseforms: str = ""


@dataclass(frozen=True, eq=False)
class MeanOfVectors:
    """The mean of the vectors of a text's words, scaled to unit length: ``sum(v_i) / |sum(v_i)|``.

    Words without a vector are left out. A word is looked up as it is written, then in lower case, then by its base
    form.

    Attributes:
        rows: words and their vectors in 8 bits.
        baseforms: lines ``form<TAB>base``, in lower case, for forms without a row of their own.
        origin: the package that has these rows.
    """

    rows: SharedRows
    baseforms: str = ""
    origin: Origin = field(default_factory=Origin)

    @classmethod
    def packaged(cls, name: str) -> MeanOfVectors:
        """Read the rows and base forms of an installed package, once.

        Args:
            name: such as "heedful-en".

        Returns:
            The features, which know where they come from.

        Raises:
            UsageError: if no installed package has rows of this name.
            DataError: if its file is damaged.
        """
        folder = packaged_rows(name)
        if folder is None:
            raise UsageError(
                f"no installed package has word vectors named {name!r:.80}. Install it, in a clone of Heedful with pip "
                f"install ./packages/{name:.80}"
            )
        origin = Origin(name, checksum(folder / ROWS), checksum(folder / BASEFORMS))
        return _of_package(folder, origin)

    @property
    def width(self) -> int:
        """See `SentenceFeatures.width`."""
        return int(self.rows.codes.shape[1])

    def knows(self, word: str) -> bool:
        """See `SentenceFeatures.knows`."""
        return self.row_of(word) >= 0

    @property
    def blocks(self) -> tuple[int, ...]:
        """See `SentenceFeatures.blocks`."""
        return (self.width,)

    def table(self) -> dict[str, object]:
        """See `SentenceFeatures.table`: where their rows are."""
        return {"kind": MEAN, **asdict(self.origin)}

    def tensors(self, prefix: str) -> dict[str, NDArray[Any]]:
        """See `SentenceFeatures.tensors`."""
        if self.origin.name:
            return {}
        rows = self.rows
        found: dict[str, NDArray[Any]] = {"rows": rows.codes, "rows" + SCALE: rows.scale}
        found |= {"words": text_bytes("\n".join(rows.words)), "baseforms": text_bytes(self.baseforms)}
        return {f"{prefix}.{name}": np.ascontiguousarray(array) for name, array in found.items()}

    def complete(self) -> MeanOfVectors:
        """See `SentenceFeatures.complete`."""
        return replace(self, origin=Origin())

    def row_of(self, word: str) -> int:
        """Return the row of a word; -1 where it has none."""
        known = self.rows.row
        row = known.get(word)
        if row is None:
            lowered = word.lower()
            row = known.get(lowered)
            if row is None:
                row = known.get(self._base_form(lowered), -1)
        return row

    def _base_form(self, form: str) -> str:
        """Return the base form of a form; empty where it has none."""
        place = bisect_left(self._lines, f"{form}\t")
        found, _, base = self._lines[place].partition("\t") if place < len(self._lines) else ("", "", "")
        return base if found == form else ""

    @property
    def bases(self) -> dict[str, str]:
        """The base form of each form that has one."""
        pairs = (line.partition("\t") for line in reversed(self._lines) if "\t" in line)
        return {form: base for form, _, base in pairs}

    @cached_property
    def _lines(self) -> list[str]:
        return sorted(self.baseforms.split("\n"))

    def vectors(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the vectors of words, [n, F]; zero for a word without one."""
        places = np.array([self.row_of(word) for word in words], np.int64)
        found = np.zeros((len(words), self.width))
        known = places >= 0
        codes, scale = self.rows.codes[places[known]], self.rows.scale[places[known]]
        found[known] = codes * scale[:, None].astype(np.float64)
        return found

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """See `SentenceFeatures.of`."""
        made = np.zeros((len(texts), self.width), np.float32)
        for number, words in enumerate(texts):
            total = self.vectors(words).sum(axis=0)
            made[number] = total / (np.linalg.norm(total) or 1.0)
        return made


@lru_cache(maxsize=1)
def _of_package(folder: Path, origin: Origin) -> MeanOfVectors:
    with readable(folder / BASEFORMS):
        forms = (folder / BASEFORMS).read_text(encoding="utf-8")
    return MeanOfVectors(kept_rows(folder / ROWS), forms, origin)


@dataclass(frozen=True, eq=False)
class JoinedFeatures:
    """Several features of a text side by side.

    Attributes:
        parts: the features, in order.
    """

    parts: tuple[SentenceFeatures, ...]

    @property
    def width(self) -> int:
        """See `SentenceFeatures.width`."""
        return sum(part.width for part in self.parts)

    def knows(self, word: str) -> bool:
        """See `SentenceFeatures.knows`."""
        return any(part.knows(word) for part in self.parts)

    @property
    def blocks(self) -> tuple[int, ...]:
        """See `SentenceFeatures.blocks`."""
        return tuple(block for part in self.parts for block in part.blocks)

    def vectors(self, words: Sequence[str]) -> NDArray[np.floating]:
        """See `SentenceFeatures.vectors`: those of the first part."""
        return self.parts[0].vectors(words)

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """See `SentenceFeatures.of`."""
        return np.concatenate([part.of(texts) for part in self.parts], axis=1)

    def table(self) -> dict[str, object]:
        """See `SentenceFeatures.table`."""
        return {"kind": JOINED, "parts": [part.table() for part in self.parts]}

    def tensors(self, prefix: str) -> dict[str, NDArray[Any]]:
        """See `SentenceFeatures.tensors`."""
        return {name: each for part in self.parts for name, each in part.tensors(prefix).items()}

    def complete(self) -> JoinedFeatures:
        """See `SentenceFeatures.complete`."""
        return JoinedFeatures(tuple(part.complete() for part in self.parts))


def text_bytes(text: str) -> NDArray[np.uint8]:
    """Return a text as a tensor of UTF-8."""
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
