"""The linear part of tags without a model around it: what it adds, how it is shared, and what a folder keeps of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.explain.linear_parts import of_tagging
from heedful.model.decisions.tag_paths import TagChain
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.tag_part import NeighborVectors, TagPart, read_tag_part
from heedful.storage.shared_rows import SharedRows
from heedful.tasks.words.tag_rows import TagReading
from heedful.text.word_shapes import WordShapes


def drawn_part(seed: int = 0) -> TagPart:
    generator = np.random.default_rng(seed)
    rows = SharedRows(("anna", "sees"), np.array([[3, 4], [1, 0]], np.int8), np.ones(2, np.float32))
    numbers = np.unique(np.concatenate(WordShapes().numbers(["Anna", "sees"])))

    def draw(*shape: int) -> NDArray[np.float32]:
        return generator.standard_normal(shape, np.float32)

    chain = TagChain(draw(3, 3), draw(3), draw(3))
    vectors = NeighborVectors(MeanOfVectors(rows))
    return TagPart(WordShapes(), numbers, draw(len(numbers), 3), draw(3), chain, vectors, draw(6, 3))


def test_emissions_are_the_sum_of_what_is_read() -> None:
    part = drawn_part()
    words = ["Anna", "sees", "X"]
    found = part.emissions(words)
    vectors = np.array([[0, 0, 1.8, 2.4, 3, 0], [1.8, 2.4, 3, 0, 0, 0], [3, 0, 0, 0, 0, 0]])
    for place, own in enumerate(WordShapes().numbers(words)):
        wanted = part.bias + part.weights[np.isin(part.numbers, own)].sum(axis=0)
        np.testing.assert_allclose(found[place], wanted + vectors[place] @ part.vector_weights, rtol=1e-5)
    twice = part.scaled(2.0, 0.5)
    np.testing.assert_allclose(twice.emissions(words), 2 * found, rtol=1e-5)
    np.testing.assert_allclose(twice.chain.follows, 0.5 * part.chain.follows)


def test_a_part_that_does_not_fit_is_refused() -> None:
    part = drawn_part()
    with pytest.raises(UsageError, match="do not fit"):
        replace(part, weights=part.weights[:1])
    with pytest.raises(UsageError, match="ascending"):
        replace(part, numbers=part.numbers[::-1])
    with pytest.raises(UsageError, match="finite"):
        replace(part, bias=np.full(3, np.nan, np.float32))


def test_the_shares_of_the_linear_part_are_exact() -> None:
    part, words = drawn_part(), ["Anna", "sees", "X"]
    for place in range(3):
        shares = of_tagging(part, words, place)
        np.testing.assert_allclose(shares.total, part.emissions(words)[place], atol=1e-5)


def test_vectors_are_read_in_training_as_in_answers() -> None:
    part = drawn_part()
    texts = [["Anna", "sees", "X"], [], ["sees"]]
    rows = TagReading(part.shapes, part.numbers, part.vectors).rows(texts)
    assert part.vectors is not None
    wanted = np.concatenate([part.vectors.of(text) for text in texts if text])
    np.testing.assert_allclose(rows.vectors(np.arange(4)), wanted)


def test_a_folder_keeps_everything_and_says_what_is_missing() -> None:
    part, words = drawn_part(), ["Anna", "sees", "X"]
    tensors = part.complete().tensors()

    def tensor(name: str) -> np.ndarray:
        if name not in tensors:
            raise UsageError(f"tensor {name!r} is missing")
        return tensors[name]

    again = read_tag_part(part.table(), tensor, tensor, 3)
    np.testing.assert_array_equal(again.emissions(words), part.emissions(words))
    np.testing.assert_array_equal(again.chain.follows, part.chain.follows)
    with pytest.raises(UsageError, match="outputs, the model 4"):
        read_tag_part(part.table(), tensor, tensor, 4)
    for name in list(tensors):
        kept = tensors.pop(name)
        with pytest.raises(UsageError, match="missing"):
            read_tag_part(part.table(), tensor, tensor, 3)
        tensors[name] = kept
    for change, said in (
        ({"further": 1}, "tagging.further is unknown; known: shapes, vectors, outside"),
        ({"outside": "0"}, "tagging.outside must be a number; got '0'"),
        ({"shapes": {"affixes": 4, "reach": 2, "depth": 1}}, "tagging.shapes.depth is unknown"),
        ({"shapes": {"affixes": 4}}, "tagging.shapes.reach is missing"),
        ({"vectors": {"reach": 99, "rows": {}}}, "tagging.vectors.reach must be from 0 to 16; got 99"),
    ):
        with pytest.raises(UsageError, match=said):
            read_tag_part({**part.table(), **change}, tensor, tensor, 3)
    tensors["tagging.numbers"] = tensors["tagging.numbers"].astype(np.int64)
    with pytest.raises(UsageError, match="expected int32"):
        read_tag_part(part.table(), tensor, tensor, 3)
