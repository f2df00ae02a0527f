"""Parses on their way from examples to batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.data.batching import collate
from heedful.data.cache import PreparedData, load_or_prepare
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.gold import class_targets
from heedful.data.tokens import tokenize_corpus
from heedful.errors import DataError
from heedful.text.dependency import tree_distances
from heedful.text.vocabulary import Vocabulary

PARSED = [
    Example(("A dog runs .", "Cats sleep"), "no", row=2, heads=((2, 3, 0, 3), None)),
    Example(("It sleeps", "Big dogs sleep"), "yes", row=3),
    Example(("Birds sing", ""), "yes", row=4, heads=((2, 0), ())),
]


def encoded(
    examples: list[Example] = PARSED, tokenizer: str = "treebank", **settings: object
) -> EncodedDataset:
    corpus = tokenize_corpus(examples, tokenizer, Path("pairs.tsv"))
    return encode(
        corpus,
        Vocabulary.build(corpus.counts()),
        class_targets(corpus, ("no", "yes")),
        labels=("no", "yes"),
        **settings,
    )  # type: ignore[arg-type]


def rows(dataset: EncodedDataset, side: int) -> list[list[int]]:
    return [dataset.heads[side][row].tolist() for row in range(len(dataset))]


def test_heads_lie_beside_the_words_and_unknown_ones_are_minus_one() -> None:
    dataset = encoded()
    assert rows(dataset, 0) == [[2, 3, 0, 3], [-1, -1], [2, 0]]
    assert rows(dataset, 1) == [[-1, -1], [-1, -1, -1], []]
    for side, heads in zip(dataset.sides, dataset.heads, strict=True):
        assert np.array_equal(side.offsets, heads.offsets)


def test_without_any_parse_there_is_nothing() -> None:
    dataset = encoded([Example(("A dog", "a cat"), "no"), Example(("It", "is"), "yes", heads=(None, None))])
    assert dataset.heads == ()
    assert collate(dataset, np.array([0, 1])).sides[0].tree_distance is None


def test_a_batch_holds_the_distances_of_its_own_sentences() -> None:
    batch = collate(encoded(), np.array([2, 0, 1]))
    first, second = batch.sides
    assert first.tree_distance is not None
    assert first.tree_distance.shape == (3, 4, 4)
    assert first.tree_distance[1].tolist() == tree_distances([2, 3, 0, 3]).tolist()
    assert first.tree_distance[0, :2, :2].tolist() == [[0, 1], [1, 0]]
    assert (first.tree_distance[0, 2:] == -1).all()
    assert first.tree_distance[2, :2, :2].tolist() == [[0, -1], [-1, 0]]
    assert second.tree_distance is not None
    assert second.tree_distance.dtype == first.tree_distance.dtype
    assert str(first.tree_distance.dtype) == "torch.int16"


def test_a_batch_names_the_head_of_every_word_by_its_position() -> None:
    batch = collate(encoded(), np.array([2, 0, 1]))
    first, second = batch.sides
    assert first.heads is not None
    assert second.heads is not None
    assert first.heads.tolist() == [[1, -1, -1, -1], [1, 2, -1, 2], [-1, -1, -1, -1]]
    assert second.heads.tolist() == [[-1, -1, -1]] * 3
    assert batch.to("meta").sides[0].heads.is_meta  # type: ignore[union-attr]


def test_selection_and_missing_gold_keep_words_and_heads_together() -> None:
    dataset = encoded([*PARSED, Example(("x y", "z"), None, heads=((0, 1), (0,)))])
    assert len(dataset) == 3
    chosen = dataset.select(np.array([2, 0]))
    assert rows(chosen, 0) == [[2, 0], [2, 3, 0, 3]]
    assert rows(chosen, 1) == [[], [-1, -1]]


def test_what_is_cut_off_is_no_head_any_more() -> None:
    dataset = encoded(max_tokens=2, truncate="head")
    assert rows(dataset, 0) == [[2, 0], [-1, -1], [2, 0]]
    assert dataset.lengths()[:, 0].tolist() == [2, 2, 2]


def test_ready_words_that_the_tokenizer_splits_carry_their_heads_over() -> None:
    ready = Example(("a well-known dog",), "no", (("a", "well-known", "dog"),), heads=((3, 3, 0),))
    dataset = encoded([ready], "treebank_split_hyphens")
    count = int(dataset.lengths()[0, 0])
    assert count > 3
    heads = rows(dataset, 0)[0]
    assert heads[:2] == [count, count]
    assert heads[2:-1] == [2] * (count - 3)
    assert heads[-1] == 0


MISTAKES = [
    ((2, 1), "word 1: head 2 leads round in a circle"),
    ((0, 3), "word 2: head 3 is outside 0 (root) to 2"),
    ((0,), "heads must be as many as there are words; got 1 for 2 words"),
    ((0, "1"), "heads must be whole numbers, 0 for a root; got [0, '1']"),
]


@pytest.mark.parametrize(("heads", "message"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_what_is_no_parse_names_file_row_and_text(heads: tuple[int, ...], message: str) -> None:
    with pytest.raises(DataError) as caught:
        tokenize_corpus([Example(("A dog", "a cat"), row=7, heads=(None, heads))], source=Path("p.tsv"))
    assert str(caught.value) == f"p.tsv: row 7, text 2: {message}"


def test_the_cache_keeps_heads(tmp_path: Path) -> None:
    vocabulary = Vocabulary.build({"a": 1})

    def build() -> PreparedData:
        plain = encoded([Example(("A dog", "a cat"), "no")])
        return PreparedData(vocabulary, {"parsed": encoded(), "plain": plain})

    load_or_prepare("k", build, tmp_path, dataset=EncodedDataset)
    read = load_or_prepare("k", lambda: pytest.fail("not cached"), tmp_path, dataset=EncodedDataset).datasets
    assert [rows(read["parsed"], side) for side in (0, 1)] == [rows(encoded(), side) for side in (0, 1)]
    assert read["parsed"].heads[0].values.dtype == np.int32
    assert read["plain"].heads == ()
