"""Every text of a data set once, and batches made of the distinct texts."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.batching import collate, collate_shared, cut_by_length, distinct_texts
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.gold import class_targets
from heedful.data.tokens import tokenize_corpus
from heedful.run import prepare
from heedful.run.recipe_files import load_config, override
from heedful.text.vocabulary import Vocabulary

WORDS = ("a", "b", "c", "d")


def encoded(
    pairs: list[tuple[str, str]], heads: list[tuple[tuple[int, ...], ...]] | None = None
) -> EncodedDataset:
    trees = heads or [()] * len(pairs)
    examples = [
        Example(pair, "yes", row=row, heads=tree)
        for row, (pair, tree) in enumerate(zip(pairs, trees, strict=True), start=1)
    ]
    corpus = tokenize_corpus(examples, "whitespace")
    return encode(corpus, Vocabulary(WORDS), class_targets(corpus, ("yes", "no")), labels=("yes", "no"))


PAIRS = [("a b c", "d"), ("a b c", ""), ("d", "a b c"), ("b", "d d"), ("a b c", "d")]


def test_equal_texts_are_one_on_whichever_side_they_stand() -> None:
    distinct = distinct_texts(encoded(PAIRS))
    # in order of first occurrence, all first texts before all second ones
    assert distinct.places.tolist() == [[0, 1], [0, 3], [1, 0], [2, 4], [0, 1]]
    assert distinct.texts.lengths()[:, 0].tolist() == [3, 1, 1, 0, 2]


def test_the_same_words_under_another_tree_are_another_text() -> None:
    trees = [((0, 1, 1), (0,)), ((0, 1, 2), (0,)), ((0, 1, 1), (0,))]
    distinct = distinct_texts(encoded([("a b c", "d")] * 3, trees))
    assert distinct.places[:, 0].tolist()[0] == distinct.places[2, 0] != distinct.places[1, 0]
    assert len(set(distinct.places[:, 1].tolist())) == 1
    assert len(distinct.texts.heads[0]) == len(distinct.texts) == 3


def test_groups_are_those_of_the_side_with_fewer_texts() -> None:
    groups = distinct_texts(encoded([("a", "b"), ("c", "b"), ("d", "b"), ("a", "c")])).groups()
    assert groups[0] == groups[1] == groups[2] != groups[3]


def test_a_shared_batch_holds_the_texts_of_every_example() -> None:
    dataset = encoded(PAIRS)
    rows = np.array([4, 2, 0, 3])
    batch, apart = collate_shared(dataset, distinct_texts(dataset), rows), collate(dataset, rows)
    texts = [
        ids[valid].tolist()
        for column in batch.sides
        for ids, valid in zip(column.ids, column.valid, strict=True)
    ]
    assert len(texts) == 4  # one text of these rows stands three times, one twice
    for number, side in enumerate(apart.sides):
        wanted = [ids[valid].tolist() for ids, valid in zip(side.ids, side.valid, strict=True)]
        assert [texts[place] for place in batch.places[:, number].tolist()] == wanted
    assert batch.rows == apart.rows
    assert apart.targets is not None
    assert batch.targets is not None
    assert batch.targets.tolist() == apart.targets.tolist()
    assert batch.to("cpu").places.tolist() == batch.places.tolist()


def cost(lengths: list[int], ends: tuple[int, ...], call: int) -> int:
    pieces = [lengths[start:end] for start, end in zip((0, *ends), (*ends, len(lengths)), strict=True)]
    return sum(len(piece) * max(piece) + call for piece in pieces)


@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=8), call=st.integers(0, 12))
@settings(deadline=None)
def test_columns_cost_least_and_hold_every_text_once(lengths: list[int], call: int) -> None:
    columns = cut_by_length(np.array(lengths), call)
    assert sorted(np.concatenate(columns).tolist()) == list(range(len(lengths)))
    ordered = sorted(max(length, 1) for length in lengths)  # an empty text takes a place too
    assert [max(lengths[place], 1) for column in columns for place in column] == ordered
    ends = tuple(np.cumsum([len(column) for column in columns])[:-1].tolist())
    every = (cut for count in range(len(lengths)) for cut in combinations(range(1, len(lengths)), count))
    assert cost(ordered, ends, call) == min(cost(ordered, cut, call) for cut in every)


def test_no_texts_make_no_columns() -> None:
    assert cut_by_length(np.zeros(0, np.int64)) == []


def test_how_often_snli_repeats_its_texts(data_dir: Path) -> None:
    plain = {"text.vectors": "", "text.baseforms": "", "data.train": "train-part"}
    datasets = prepare(override(load_config("disan-snli"), plain), data_dir).datasets
    for part, ratio in {"test": 1.76, "train": 1.53}.items():
        once = distinct_texts(datasets[part]).texts
        assert round(datasets[part].lengths().sum() / once.lengths().sum(), 2) == ratio
