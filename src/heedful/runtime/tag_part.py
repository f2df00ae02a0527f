"""The linear part of a model of tags: what it reads of a word and its neighbors, and a chain of tags on top.

A folder keeps its tables of weights as the tensors ``shapes.weights`` and ``shapes.vectors``, everything else under
``tagging.``, and in config.json under "tagging" what it reads. The rows of word vectors are those of an installed
package, or in the folder as `heedful.runtime.sentence_part` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.model.decisions.tag_paths import TagChain
from heedful.model.decisions.tags import TagsDecision
from heedful.runtime.kernels import Floats
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import read_vectors
from heedful.storage.fields import Fields
from heedful.text.word_shapes import Numbers, WordShapes

TAGGING = "tagging"
"""Key of config.json, and what the names of the tensors begin with that no export rounds."""
SHAPES = "shapes"
"""What the names of the tables of weights begin with, which an export may round."""
VECTOR_REACH, VECTOR_LENGTH = 1, 3.0
"""Words on each side whose vectors are read too, and the length that every vector is given."""
Array = NDArray[Any]
_CHAIN = ("follows", "first", "last")


@dataclass(frozen=True, eq=False)
class NeighborVectors:
    """The vectors of a word and its next neighbors, side by side, each of the same length.

    Attributes:
        rows: words and their vectors.
        reach: words on each side; beyond the text and for a word without a vector stand zeros.
    """

    rows: MeanOfVectors
    reach: int = VECTOR_REACH

    def each(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the vector of each word by itself, [L, D]."""
        found = self.rows.vectors(words)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        scaled: NDArray[np.float64] = found * (VECTOR_LENGTH / np.where(norms == 0, 1, norms))
        return scaled

    def of(self, words: Sequence[str]) -> Floats:
        """Return what is read at each word of a text, [L, (2 reach + 1) D]."""
        own = self.each(words)
        edge = np.zeros((self.reach, own.shape[1]))
        around = np.concatenate([edge, own, edge])
        windows = [around[k : k + len(words)] for k in range(2 * self.reach + 1)]
        return np.concatenate(windows, axis=1).astype(np.float32)

    @property
    def width(self) -> int:
        """Numbers of a word."""
        return (2 * self.reach + 1) * self.rows.width


@dataclass(frozen=True, eq=False)
class TagPart:
    """A fitted linear model of tags: ``bias + sum of weights of a word's features + vectors · weights``, and a chain.

    Attributes:
        shapes: which features a word has.
        numbers: the known features, [n] int32, ascending.
        weights: [n, Y] float32.
        bias: [Y] float32.
        chain: what tags side by side score, without what may not be, float32.
        vectors: word vectors that are read too; None for none.
        vector_weights: of their numbers, [D, Y] float32; D is 0 without vectors.
        outside: what is taken from the score of O when tags are chosen, so that spans are found that are less probable
            than none; probabilities are those without it.

    Raises:
        UsageError: if shapes contradict each other, or numbers are not ascending or not finite.
    """

    shapes: WordShapes
    numbers: Numbers
    weights: Floats
    bias: Floats
    chain: TagChain
    vectors: NeighborVectors | None
    vector_weights: Floats
    outside: float = 0.0

    def __post_init__(self) -> None:
        count, tags = len(self.numbers), len(self.bias)
        width = 0 if self.vectors is None else self.vectors.width
        wanted = ((count, tags), (width, tags), (tags, tags), (tags,), (tags,))
        chain = (self.chain.follows, self.chain.first, self.chain.last)
        found = (self.weights, self.vector_weights, *chain)
        if self.numbers.ndim != 1 or tuple(each.shape for each in found) != wanted:
            shapes = ", ".join(str(list(each.shape)) for each in found)
            raise UsageError(f"tagging: {count} features and {tags} tags do not fit tensors of {shapes}")
        if count and (np.diff(self.numbers) <= 0).any():
            raise UsageError("tagging: the features must be ascending")
        if not all(np.isfinite(each).all() for each in (*found, self.bias)):
            raise UsageError("tagging: a tensor holds numbers that are not finite")

    @property
    def outputs(self) -> int:
        """Tags Y."""
        return len(self.bias)

    def rows(self, numbers: Numbers) -> NDArray[np.int64]:
        """Return the rows of those features that are known."""
        places = np.searchsorted(self.numbers, numbers)
        inside = np.minimum(places, max(len(self.numbers) - 1, 0))
        known = self.numbers[inside] == numbers if len(self.numbers) else np.zeros(len(numbers), bool)
        return inside[known]

    def emissions(self, words: Sequence[str]) -> Floats:
        """Return what each tag of each word of a text scores by itself.

        Args:
            words: of the text, as they are written.

        Returns:
            [L, Y] float32; it depends on this text alone, to the last bit.
        """
        found = np.zeros((len(words), self.outputs))
        for own, numbers in zip(found, self.shapes.numbers(words), strict=True):
            own[:] = self._exact_bias + self.weights[self.rows(numbers)].sum(axis=0, dtype=np.float64)
        if self.vectors is not None:
            for own, read in zip(found, self.vectors.of(words), strict=True):
                own += read.astype(np.float64) @ self.exact_vector_weights
        return found.astype(np.float32)

    @cached_property
    def _exact_bias(self) -> NDArray[np.float64]:
        return self.bias.astype(np.float64)

    @cached_property
    def exact_vector_weights(self) -> NDArray[np.float64]:
        """The weights of the vectors in double precision."""
        return self.vector_weights.astype(np.float64)

    def scaled(self, words: float, chain: float) -> TagPart:
        """Return the same part with other weights.

        Args:
            words: what the scores of words are multiplied by.
            chain: what the scores of tags side by side are multiplied by.

        Returns:
            The part.
        """
        own = self.chain
        times = TagChain(*(np.float32(chain) * each for each in (own.follows, own.first, own.last)))
        by = np.float32(words)
        return replace(
            self,
            weights=by * self.weights,
            bias=by * self.bias,
            vector_weights=by * self.vector_weights,
            chain=times,
        )

    def complete(self) -> TagPart:
        """Return the same part with everything that it reads in the folder, and nothing left to a package."""
        if self.vectors is None:
            return self
        return replace(self, vectors=replace(self.vectors, rows=self.vectors.rows.complete()))

    def table(self) -> dict[str, object]:
        """Return what config.json says of the part, under `TAGGING`."""
        vectors: dict[str, object] = {}
        if self.vectors is not None:
            vectors = {"reach": self.vectors.reach, "rows": self.vectors.rows.table()}
        return {"shapes": asdict(self.shapes), "vectors": vectors, "outside": self.outside}

    def tensors(self) -> dict[str, Array]:
        """Return the tensors of a folder; rows of a package are left to the package."""
        found: dict[str, Array] = {
            f"{SHAPES}.weights": self.weights,
            f"{TAGGING}.numbers": self.numbers,
            f"{TAGGING}.bias": self.bias,
            **{f"{TAGGING}.{name}": getattr(self.chain, name) for name in _CHAIN},
        }
        if self.vectors is not None:
            found[f"{SHAPES}.vectors"] = self.vector_weights
            found |= self.vectors.rows.tensors(TAGGING)
        return {name: np.ascontiguousarray(array) for name, array in found.items()}


def tags_decision(tags: Sequence[str], part: TagPart | None) -> TagsDecision:
    """Return what chooses the tags of a model.

    Args:
        tags: in the order of the logits.
        part: the linear part with its chain; None for the network alone.

    Returns:
        The decision.
    """
    return TagsDecision(tuple(tags)) if part is None else TagsDecision(tuple(tags), part.chain, part.outside)


def read_tag_part(
    table: Mapping[str, object],
    tensor: Callable[[str], Array],
    floats: Callable[[str], Floats],
    outputs: int,
) -> TagPart:
    """Read what `TagPart.table` and `TagPart.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its name; raises UsageError where there is none.
        floats: likewise as float32, whatever an export made of it.
        outputs: tags of the model.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing, of another kind, or does not fit the model, or the package that has the
            rows of word vectors is not installed or has others.
    """
    fields = Fields(table, "", f"{TAGGING}.", UsageError)
    fields.only("shapes", "vectors", "outside")
    shapes, vectors, outside = fields.part("shapes"), fields.part("vectors"), fields.number("outside")
    if not 0 <= outside < 100:
        raise fields.wrong("outside", f"must be from 0 to below 100; got {outside!r:.80}")
    shapes.only("affixes", "reach")
    read, weights = None, np.zeros((0, outputs), np.float32)
    if vectors.record:
        vectors.only("reach", "rows")
        reach = vectors.whole("reach")
        if not 0 <= reach <= 16:
            raise vectors.wrong("reach", f"must be from 0 to 16; got {reach!r:.80}")
        read = NeighborVectors(read_vectors(vectors.table("rows"), tensor, TAGGING), reach)
        weights = floats(f"{SHAPES}.vectors")
    numbers = tensor(f"{TAGGING}.numbers")
    if numbers.dtype != np.int32:
        raise UsageError(f"tensor '{TAGGING}.numbers' holds {numbers.dtype}, expected int32")
    bias, *chain = (floats(f"{TAGGING}.{name}") for name in ("bias", *_CHAIN))
    if bias.shape != (outputs,):
        raise UsageError(f"the linear part of tags has {bias.shape} outputs, the model {outputs}")
    made = WordShapes(shapes.whole("affixes"), shapes.whole("reach"))
    own = (made, numbers, floats(f"{SHAPES}.weights"), bias, TagChain(*chain))
    return TagPart(*own, read, weights, float(outside))
