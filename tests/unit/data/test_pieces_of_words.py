"""Encoding in word pieces: places, distances, limits."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example, Ragged
from heedful.data.tokens import PieceTable, TokenizedCorpus, between_pieces, tokenize_corpus, words_of
from heedful.errors import DataError
from heedful.storage.hugging_face import read_piece_rules
from heedful.text.vocabulary import PieceVocabulary
from tiny_encoder import LIMIT, ids, write_encoder

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> PieceVocabulary:
    return PieceVocabulary(read_piece_rules(write_encoder(tmp_path_factory.mktemp("data") / "encoder")))


def ragged(*rows: list[int]) -> Ragged:
    return Ragged(
        np.array([value for row in rows for value in row], np.int32), np.cumsum([0, *map(len, rows)])
    )


def rows(side: Ragged) -> list[list[int]]:
    return [side[row].tolist() for row in range(len(side))]


def corpus(*texts: str, heads: tuple[tuple[int, ...], ...] = ()) -> TokenizedCorpus:
    examples = [
        Example((text,), heads=(heads[number],) if heads else ()) for number, text in enumerate(texts)
    ]
    return tokenize_corpus(examples, "whitespace")


def encoded(vocabulary: PieceVocabulary, *texts: str, **options: object) -> EncodedDataset:
    return encode(corpus(*texts), vocabulary, **options)


# Word 0 has one piece, word 1 three and word 2 two.
TABLE = PieceTable(ragged([7], [1, 2, 3], [4, 5]), 4)


def test_pieces_know_the_place_of_their_word() -> None:
    pieces, places = TABLE.cut(ragged([1, 0], [], [2, 2, 0]))
    assert rows(pieces) == [[1, 2, 3, 7], [], [4, 5, 4, 5, 7]]
    assert rows(places) == [[0, 0, 0, 1], [], [0, 0, 1, 1, 2]]
    assert words_of(places).tolist() == [2, 0, 3]


def test_whole_words_fit_a_limit_or_not_at_all() -> None:
    sides = ragged([1, 0, 0], [], [2, 1], [2, 2, 0], [0, 0, 0, 0, 0])
    longest = TABLE.words_that_fit(sides)
    assert np.minimum(longest, sides.lengths()).tolist() == [2, 0, 1, 2, 4]


def test_distances_of_pieces_are_those_of_their_words() -> None:
    words = np.array([[[0, 1, 2], [1, 0, -1], [2, -1, 0]]], np.int16)
    places = np.array([[0, 1, 1, 2, 0]])
    valid = np.array([[True, True, True, True, False]])
    assert between_pieces(words, places, valid).tolist() == [
        [
            [0, 1, 1, 2, -1],
            [1, 0, 0, -1, -1],
            [1, 0, 0, -1, -1],
            [2, -1, -1, 0, -1],
            [-1, -1, -1, -1, -1],
        ]
    ]


def test_a_text_becomes_pieces_words_and_tree_in_a_batch(vocabulary: PieceVocabulary) -> None:
    texts = corpus("good", "the unknown film", heads=((0,), (3, 3, 0)))
    dataset = encode(texts, vocabulary)
    assert dataset.lengths().tolist() == [[1], [4]]
    assert dataset.words().tolist() == [[1], [3]]
    batch = collate(dataset, np.array([1, 0])).sides[0]
    assert batch.ids.tolist() == [[*ids("the", "un", "##known", "film")], [*ids("good"), 0, 0, 0]]
    assert batch.words is not None
    assert batch.tree_distance is not None
    assert batch.words.tolist() == [[0, 1, 1, 2], [0, 0, 0, 0]]
    assert batch.valid.tolist() == [[True] * 4, [True, False, False, False]]
    assert batch.tree_distance[0].tolist() == [[0, 2, 2, 1], [2, 0, 0, 1], [2, 0, 0, 1], [1, 1, 1, 0]]
    assert batch.tree_distance[1].tolist() == [[0, -1, -1, -1], *[[-1] * 4] * 3]
    moved = batch.to("cpu")
    assert torch.equal(moved.words, batch.words)


def test_chosen_examples_keep_their_places(vocabulary: PieceVocabulary) -> None:
    dataset = encoded(vocabulary, "unknown films", "", "dog")
    chosen = dataset.select(np.array([2, 0]))
    assert rows(chosen.places[0]) == [[0], [0, 0, 1, 1]]
    assert chosen.words().tolist() == [[1], [2]]
    assert dataset.words().tolist() == [[2], [0], [1]]


def test_the_report_counts_words(vocabulary: PieceVocabulary) -> None:
    report = encoded(vocabulary, "unknown telescope", "actings").report
    assert (report.tokens, report.unknown) == (3, 1)


def test_more_pieces_than_the_encoder_reads_are_never_cut_in_silence(vocabulary: PieceVocabulary) -> None:
    text = " ".join(["actings"] * 11)  # 33 pieces
    with pytest.raises(
        DataError, match=r"row 1, text: 11 tokens, of which the first 10 fill the word pieces"
    ):
        encoded(vocabulary, text)
    with pytest.raises(DataError, match=r"11 tokens, at most max_tokens = 5 allowed"):
        encoded(vocabulary, text, max_tokens=5)
    cut = encoded(vocabulary, text, "dog", truncate="head")
    assert cut.lengths().tolist() == [[LIMIT], [1]]
    assert (cut.report.truncated, cut.report.tokens_cut) == (1, 1)
    both = encoded(vocabulary, text, max_tokens=5, truncate="head")
    assert both.words().tolist() == [[5]]
    assert len(encoded(vocabulary, text, "dog", truncate="drop")) == 1


def test_a_tree_is_cut_with_its_text(vocabulary: PieceVocabulary) -> None:
    words = ["actings"] * 11
    heads = (*range(2, 12), 0)  # each word hangs on the next
    dataset = encode(corpus(" ".join(words), heads=(heads,)), vocabulary, truncate="head")
    assert dataset.heads[0].lengths().tolist() == [10]
    tree = collate(dataset, np.array([0])).sides[0].tree_distance
    assert tree is not None
    assert tree.shape == (1, LIMIT, LIMIT)
