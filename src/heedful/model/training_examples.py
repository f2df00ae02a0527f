"""Training examples that a model keeps, to show which of them a text resembles: vectors, gold, rows, perhaps texts.

A folder has them as the tensors ``examples.codes``, ``examples.gold``, ``examples.rows`` and, where texts are kept,
``examples.texts`` (UTF-8, one text behind the other) with ``examples.ends``, and where they do not count alike
``examples.weights``; config.json says under "examples" how many there are, whether their texts and weights are kept,
and how much the vector of the network counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

EXAMPLES = "examples"
"""Key of config.json, and what the names of the tensors begin with."""
WIDTH = 256
"""Numbers of the vector of an example."""
MOST_KEPT = 100_000
"""Examples that are kept at most."""
_MOST_CODE = 127
_BLOCK = 4096
_COLUMNS = ("codes", "gold", "rows")
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class KeptExamples:
    """Training examples with their vectors.

    Attributes:
        codes: the vectors, each on a scale of its own, [N, 256] int8; a row of zeros for a text without words.
        gold: as the task encodes it, [N] int32 for classes, [N] float32 for numbers, [N, Y] uint8 for labels.
        rows: row of each example in its file, or its place in the list that it came from, [N] int64, from 1.
        texts: the texts of each example, each a string, or two for a pair; None where they are not kept.
        network: how much the vector of the network counts beside what the linear parts read; 0 for not at all.
        weights: how much each counts when a model learns on, [N] float32, 0 or more; None where all count alike.

    Raises:
        UsageError: if the shapes do not belong together.
    """

    codes: NDArray[np.int8]
    gold: Array
    rows: NDArray[np.int64]
    texts: tuple[tuple[str, ...], ...] | None = None
    network: float = 0.0
    weights: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        count = len(self.rows)
        lengths = {len(self.codes), len(self.gold), count if self.texts is None else len(self.texts)}
        if self.codes.shape != (count, WIDTH) or self.rows.ndim != 1 or lengths != {count}:
            raise UsageError(
                f"examples: {count} rows, and vectors of the shape {self.codes.shape}, gold of {self.gold.shape}"
            )
        if self.weights is not None and (
            self.weights.shape != (count,) or not (np.isfinite(self.weights) & (self.weights >= 0)).all()
        ):
            raise UsageError(f"examples: expected {count} weights, finite and 0 or more")
        if not (math.isfinite(self.network) and self.network >= 0):
            raise UsageError(f"examples: network must be 0 or more; got {self.network!r}")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors at length 1, [N, 256] float32."""
        return unit(self.codes.astype(np.float32))

    def beside(self, other: KeptExamples) -> KeptExamples:
        """Return these examples and further ones of the same model behind them."""
        both = [self, other]
        weights = None
        if any(each.weights is not None for each in both):
            own = [np.ones(len(each), np.float32) if each.weights is None else each.weights for each in both]
            weights = np.concatenate(own)
        texts = None if self.texts is None or other.texts is None else self.texts + other.texts
        codes, gold, rows = (np.concatenate([getattr(each, name) for each in both]) for name in _COLUMNS)
        return KeptExamples(codes, gold, rows, texts, self.network, weights)

    def nearest(
        self, vectors: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the examples whose vectors are most alike to others.

        Args:
            vectors: of length 1, [Q, 256].
            count: how many, k.

        Returns:
            Their places, [Q, k], the most alike first, and their cosines, [Q, k]; as many as there are, if fewer.
            Of equally alike ones the first come first.
        """
        count = min(count, len(self))
        places, cosines = (
            np.zeros((len(vectors), count), np.int64),
            np.zeros((len(vectors), count), np.float32),
        )
        for number, vector in enumerate(vectors):
            found = self.vectors @ vector  # one at a time: no row depends on the others
            best = (
                np.flatnonzero(found >= np.partition(found, -count)[-count])
                if count
                else np.zeros(0, np.int64)
            )
            order = best[np.argsort(-found[best], kind="stable")][:count]
            places[number], cosines[number] = order, found[order].clip(-1, 1)
        return places, cosines

    def table(self) -> dict[str, object]:
        """Return what config.json says of the examples, under `EXAMPLES`."""
        sides = 0 if self.texts is None else len(self.texts[0]) if self.texts else 1
        weighted: dict[str, object] = {} if self.weights is None else {"weights": True}
        return {"count": len(self), "texts": sides, "network": self.network, **weighted}

    def tensors(self) -> dict[str, Array]:
        """Return the tensors of a folder."""
        # flat, since a matrix of whole numbers is one of the network
        found: dict[str, Array] = {"codes": self.codes.ravel(), "gold": self.gold.ravel(), "rows": self.rows}
        if self.weights is not None:
            found["weights"] = self.weights
        if self.texts is not None:
            pieces = [text.encode("utf-8", "surrogatepass") for texts in self.texts for text in texts]
            found["texts"] = np.frombuffer(b"".join(pieces) + b"\n", np.uint8)  # which is never empty
            found["ends"] = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
        return {f"{EXAMPLES}.{name}": np.ascontiguousarray(each) for name, each in found.items()}


def read_kept_examples(
    table: Mapping[str, object], tensor: Callable[[str], Array], texts: int, outputs: int
) -> KeptExamples:
    """Read what `KeptExamples.table` and `KeptExamples.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        texts: of an example of the model, 1 or 2.
        outputs: logits of the model.

    Returns:
        The examples.

    Raises:
        UsageError: if something is missing, of another kind, or does not fit the model.
    """
    count, sides, network = (table.get(name) for name in ("count", "texts", "network"))
    if (
        table.keys() - {"weights"} != {"count", "texts", "network"}
        or table.get("weights", True) is not True
        or type(count) is not int
        or sides not in (0, texts)
        or type(network) is not float
    ):
        raise UsageError(
            f"examples: expected count, texts and network of a model of {texts} text(s); got {dict(table)!r:.200}"
        )
    codes, rows = (_tensor(tensor, *each) for each in (("codes", np.int8), ("rows", np.int64)))
    gold = tensor(f"{EXAMPLES}.gold")
    kinds: dict[object, tuple[int, ...]] = {
        np.int32: (count,),
        np.float32: (count,),
        np.uint8: (count, outputs),
    }
    shape = kinds.get(gold.dtype.type, (-1,))
    sizes = (gold.size, codes.size, rows.size)
    if count < 0 or sizes != (math.prod(shape), count * WIDTH, count):
        raise UsageError(
            f"examples: {sizes} numbers of gold, vectors and rows, and {count} examples do not fit"
        )
    gold = gold.reshape(shape)
    is_class = gold.dtype.kind == "i"
    if is_class and count and not (int(gold.min()) >= 0 and int(gold.max()) < outputs):
        raise UsageError(
            f"examples: gold names classes from {gold.min()} to {gold.max()}, and there are {outputs}"
        )
    if gold.dtype.kind == "f" and not np.isfinite(gold).all():
        raise UsageError("examples: gold holds numbers that are not finite")
    kept_texts = _texts(tensor, count, texts) if sides else None
    weights = _tensor(tensor, "weights", np.float32) if "weights" in table else None
    return KeptExamples(codes.reshape(count, WIDTH), gold, rows, kept_texts, network, weights)


def _texts(tensor: Callable[[str], Array], count: int, sides: int) -> tuple[tuple[str, ...], ...]:
    content, ends = _tensor(tensor, "texts", np.uint8).tobytes(), _tensor(tensor, "ends", np.int64)
    bounds = [0, *ends.tolist()]
    if len(ends) != count * sides or bounds != sorted(bounds) or bounds[-1] + 1 != len(content):
        raise UsageError("examples: the texts do not fit their ends")
    try:
        pieces = [content[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise UsageError(f"examples: the texts are no UTF-8: {error}") from error
    return tuple(tuple(pieces[start : start + sides]) for start in range(0, len(pieces), sides))


def _tensor(tensor: Callable[[str], Array], name: str, kind: type[np.generic]) -> Array:
    found = tensor(f"{EXAMPLES}.{name}")
    if found.dtype != kind:
        raise UsageError(f"tensor '{EXAMPLES}.{name}' holds {found.dtype}, expected {np.dtype(kind)}")
    return found


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors, [N, D], at length 1; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def coded(vectors: NDArray[np.floating]) -> NDArray[np.int8]:
    """Return vectors, [N, D], as whole numbers of 8 bits, the largest of each row at 127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    return np.rint(vectors / np.where(largest == 0, 1, largest) * _MOST_CODE).astype(np.int8)


def projected(
    features: Sequence[tuple[NDArray[np.int64], NDArray[np.floating]]],
    dense: NDArray[np.floating] | None = None,
) -> NDArray[np.float32]:
    """Return `WIDTH` sums of the features of each example, each with a sign of its own in each sum.

    Cosines of such sums are those of the features, up to about 1/16 (Achlioptas, 2003). The signs follow from the
    numbers of the features, so that nothing has to be kept.

    Args:
        features: of each example the numbers of its features, [k] from 0 to 2^62, and their values, [k].
        dense: values of the features 0 to n - 1 of each example, [N, n], beside them; None for none.

    Returns:
        [N, 256] float32; a row does not depend on the others.
    """
    made = np.zeros((len(features), WIDTH), np.float64)
    for row, (numbers, values) in zip(made, features, strict=True):
        for start in range(0, len(numbers), _BLOCK):
            own = slice(start, start + _BLOCK)
            row += values[own].astype(np.float64) @ _signs(numbers[own])
    if dense is not None:
        signs = _first_signs(dense.shape[1])
        for row, values in zip(made, dense, strict=True):  # one at a time: no row depends on the others
            row += values.astype(np.float64) @ signs
    return made.astype(np.float32)


@lru_cache(maxsize=2)
def _first_signs(count: int) -> NDArray[np.float64]:
    """Return the signs of the features 0 to n - 1, which every text has, [n, 256]."""
    found = _signs(np.arange(count))
    found.setflags(write=False)
    return found


_WORDS = WIDTH // 64


def _signs(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 256 signs of each number, [k, 256], from the bits of four mixtures of it (SplitMix64)."""
    seeds = np.arange(1, _WORDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = numbers.astype(np.uint64)[:, None] * np.uint64(0xD1342543DE82EF95) + seeds
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    bits = np.unpackbits(mixed.astype("<u8").view(np.uint8).reshape(len(numbers), -1), axis=1)
    return bits.astype(np.float64) * 2 - 1
