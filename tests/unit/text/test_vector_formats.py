"""Every format of vectors: written here by hand, read back, damaged; and read as its own library reads it."""

from __future__ import annotations

import gzip
import importlib.util
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from heedful.errors import DataError
from heedful.text.vectors import Speller, WordVectors, initial_table, read_vectors, vector_format
from heedful.text.vectors.fasttext import ngram_buckets
from heedful.text.vectors.floret import murmur3
from heedful.text.vocabulary import Vocabulary
from vector_files import WORDS, fasttext_file, floret_file, model2vec_folder, word2vec_file

DRAW = np.random.default_rng(0)
needs = pytest.mark.skipif


def available(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def fnv(content: bytes) -> int:
    """FNV-1a as fastText computes it: bytes count as signed."""
    value = 2166136261
    for byte in content:
        value = ((value ^ (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF) * 16777619 & 0xFFFFFFFF
    return value


def plain_ngrams(word: str, shortest: int, longest: int) -> list[str]:
    marked = f"<{word}>"
    return [
        marked[start : start + length]
        for start in range(len(marked))
        for length in range(shortest, longest + 1)
        if start + length <= len(marked)
        and not (length == 1 and (start == 0 or start + length == len(marked)))
    ]


@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 2), (5, 5)])
def test_ngrams_are_hashed_as_one_by_one(shortest: int, longest: int) -> None:
    words = ["where", "a", "", "naïve", "\u4e2d\u6587", "🙂x", "ab"]
    buckets, counts = ngram_buckets(words, shortest, longest, 1013)
    ends = np.cumsum(counts)
    for word, start, end in zip(words, ends - counts, ends, strict=True):
        expected = sorted(fnv(ngram.encode()) % 1013 for ngram in plain_ngrams(word, shortest, longest))
        assert sorted(buckets[start:end].tolist()) == expected


def test_fasttext_words_are_means_of_their_row_and_their_ngrams(tmp_path: Path) -> None:
    rows = DRAW.normal(size=(len(WORDS) + 50, 4)).astype(np.float32)
    file = tmp_path / "any.name"
    file.write_bytes(fasttext_file(WORDS, rows, bucket=50, minn=3, maxn=4))
    vectors = read_vectors(file)
    assert vector_format(file) == "fasttext"
    assert vectors.words == WORDS
    for number, word in enumerate(WORDS):
        ngrams = [] if word == "</s>" else plain_ngrams(word, 3, 4)
        own = [rows[number], *(rows[len(WORDS) + fnv(ngram.encode()) % 50] for ngram in ngrams)]
        np.testing.assert_allclose(vectors.matrix[number], np.mean(own, axis=0), rtol=1e-5, atol=1e-6)
    assert isinstance(vectors.speller, Speller)
    spelled, found = vectors.speller.spell(["unlisted", ""])
    expected = np.mean(
        [rows[len(WORDS) + fnv(n.encode()) % 50] for n in plain_ngrams("unlisted", 3, 4)], axis=0
    )
    np.testing.assert_allclose(spelled[0], expected, rtol=1e-5, atol=1e-6)
    assert found.tolist() == [True, False]
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert np.array_equal(read_vectors(packed, {"the"}).matrix[0], vectors.matrix[WORDS.index("the")])


def test_a_fasttext_file_without_ngrams_has_no_speller(tmp_path: Path) -> None:
    rows = np.ones((len(WORDS), 3), np.float32)
    (tmp_path / "f").write_bytes(fasttext_file(WORDS, rows, bucket=0, minn=0, maxn=0))
    vectors = read_vectors(tmp_path / "f")
    assert vectors.speller is None
    assert np.array_equal(vectors.matrix, rows)


def test_lower_case_rows_win_over_others(tmp_path: Path) -> None:
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    (tmp_path / "w").write_bytes(word2vec_file(("Dog", "dog", "CAT", "Cat"), rows))
    vectors = read_vectors(tmp_path / "w", lowercase=True)
    assert dict(zip(vectors.words, vectors.matrix.tolist(), strict=True)) == {"dog": [2, 3], "cat": [4, 5]}


@pytest.mark.parametrize("line_feed", [b"", b"\n"])
def test_word2vec_binary(tmp_path: Path, line_feed: bytes) -> None:
    rows = DRAW.normal(size=(len(WORDS), 5)).astype(np.float32)
    (tmp_path / "v.txt").write_bytes(word2vec_file(WORDS, rows, line_feed))
    assert vector_format(tmp_path / "v.txt") == "word2vec"
    vectors = read_vectors(tmp_path / "v.txt")
    assert vectors.words == WORDS
    assert np.array_equal(vectors.matrix, rows)
    assert read_vectors(tmp_path / "v.txt", {"naïve"}).words == ("naïve",)


def test_text_with_a_header_is_no_binary(tmp_path: Path) -> None:
    for content in ("1 3\nfine 0.5 1e-3 -2\n", "2 1\na 1\nb 2\n", "1 3\nfine 1 x 3\n", "1 2\nné 1 2\n"):
        (tmp_path / "v.bin").write_text(content, encoding="utf-8")
        assert vector_format(tmp_path / "v.bin") == "text"


def test_floret_rows_are_means_of_hashed_ngrams(tmp_path: Path) -> None:
    rows = DRAW.normal(size=(31, 3)).round(4).astype(np.float32)
    (tmp_path / "v.vec").write_bytes(floret_file(rows, shortest=2, longest=3, hashes=2, seed=7))
    assert vector_format(tmp_path / "v.vec") == "floret"
    vectors = read_vectors(tmp_path / "v.vec")
    assert vectors.words == ()
    assert vectors.speller is not None
    spelled, found = vectors.speller.spell(["naïve", ""])
    ngrams = ["<naïve>", *("<naïve>"[i : i + n] for n in (2, 3) for i in range(8 - n))]
    buckets = []
    for ngram in ngrams:
        low, _ = murmur3(ngram.encode(), 7)
        buckets += [(low & 0xFFFFFFFF) % 31, (low >> 32) % 31]
    np.testing.assert_allclose(spelled[0], rows[buckets].mean(axis=0), rtol=1e-5, atol=1e-6)
    assert found.tolist() == [True, False]


@pytest.mark.parametrize(
    ("content", "seed", "expected"),
    [
        (b"", 0, (0, 0)),
        (b"hello", 0, (0xCBD8A7B341BD9B02, 0x5B1E906A48AE1D19)),
        (b"hello, world", 0, (0x342FAC623A5EBC8E, 0x4CDCBC079642414D)),
        (b"The quick brown fox jumps over the lazy dog.", 0, (0xCD99481F9EE902C9, 0x695DA1A38987B6E7)),
    ],
)
def test_murmur_has_the_published_values(content: bytes, seed: int, expected: tuple[int, int]) -> None:
    assert murmur3(content, seed) == expected


def test_model2vec_folder(tmp_path: Path) -> None:
    rows = model2vec_folder(tmp_path / "m")
    vectors = read_vectors(tmp_path / "m")
    listed = dict(zip(vectors.words, vectors.matrix, strict=True))
    assert set(listed) == {"good", "film", "."}
    assert np.array_equal(listed["film"], rows[3])
    assert vectors.speller is not None
    spelled, found = vectors.speller.spell(["films", "xyz"])
    np.testing.assert_allclose(spelled[0], (rows[3] + rows[4]) / 2, rtol=1e-6)
    assert found.tolist() == [True, False]


def test_model2vec_weights_and_shared_rows(tmp_path: Path) -> None:
    model2vec_folder(tmp_path / "m")
    table = np.float32([[1, 1], [2, 4]])
    weights = np.float32([1, 1, 0.5, 1, 1, 1])
    tensors = {"embeddings": table, "mapping": np.int64([0, 0, 1, 0, 1, 0]), "weights": weights}
    save_file(tensors, tmp_path / "m" / "model.safetensors")
    vectors = read_vectors(tmp_path / "m", {"good"})
    assert vectors.words == ("good",)
    assert vectors.matrix.tolist() == [[1, 2]]


def test_spelled_words_fill_the_table() -> None:
    class Made(Speller):
        def spell(self, words):
            return np.full((len(words), 2), 3, np.float32), np.array([w != "random" for w in words])

    vectors = WordVectors(("dog",), np.float32([[1, 2]]), Made())
    vocabulary = Vocabulary.build({"dog": 3, "dags": 2, "random": 1}, pretrained=vectors.words)
    table = initial_table(vocabulary, vectors)
    assert table.trainable[2:4].tolist() == [[1, 2], [3, 3]]
    assert abs(table.trainable[4]).max() <= 0.05
    assert table.coverage == {
        "direct": 1,
        "baseform": 0,
        "spelled": 1,
        "random": 1,
        "frozen": 0,
        "buckets": 0,
    }


ROWS = np.ones((len(WORDS) + 50, 4), np.float32)
SOUND = fasttext_file(WORDS, ROWS, bucket=50, minn=3, maxn=4)


@pytest.mark.parametrize("size", [4, 7, 40, 60, 85, 100, len(SOUND) // 2, len(SOUND) - 20])
def test_a_truncated_fasttext_file_names_the_byte(tmp_path: Path, size: int) -> None:
    (tmp_path / "f.bin").write_bytes(SOUND[:size])
    with pytest.raises(DataError, match=r"f\.bin: byte [\d,]+: "):
        read_vectors(tmp_path / "f.bin")


@pytest.mark.parametrize(
    "changed",
    [
        {"version": 13},
        {"dim": 5},
        {"dim": -1},
        {"buckets": 2**31 - 1},
        {"longest": 2**31 - 1},
        {"size": 2**31 - 1, "nwords": 2**31 - 1},
        {"nwords": 2},
        {"nlabels": -1},
        {"pruned": 10},
        {"quantized": 1},
        {"count": 2**62},
        {"columns": 2**62},
    ],
)
def test_hostile_sizes_of_a_fasttext_file_are_refused(tmp_path: Path, changed: dict[str, int]) -> None:
    (tmp_path / "f").write_bytes(fasttext_file(WORDS, ROWS, bucket=50, minn=3, maxn=4, **changed))
    with pytest.raises(DataError, match="byte"):
        read_vectors(tmp_path / "f")


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    rows = np.ones((len(WORDS), 2), np.float32)
    rows[1, 1] = np.inf
    (tmp_path / "w").write_bytes(word2vec_file(WORDS, rows))
    with pytest.raises(DataError, match=repr(WORDS[1])):
        read_vectors(tmp_path / "w")
    rows = ROWS.copy()
    rows[len(WORDS) :] = np.nan
    (tmp_path / "f").write_bytes(fasttext_file(WORDS, rows, bucket=50, minn=3, maxn=4))
    with pytest.raises(DataError, match="n-gram"):
        read_vectors(tmp_path / "f")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"9999999999 4\nthe " + bytes(16), "byte 34: the file ends inside word 2"),
        (b"1 999999999\nthe " + bytes(16), "ends inside vector 1"),
        (b"1 4\nthe " + bytes(16) + b"more", "goes on"),
        (b"2 4\nthe " + bytes(16) + b"\1" * 20_000, "more than 10,000 bytes"),
        (b"1 4\na " + bytes(16) * 2 + b"\1" * 20_000, "goes on"),
    ],
)
def test_a_wrong_word2vec_file_names_the_byte(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_vectors(tmp_path / "w")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2 3 4 1 0 < >\n0 1 2\n", "announces 2 buckets, the file holds 1"),
        (b"2 2 3 4 1 0 < >\n0 1 2\n2 1 2\n", "line 3: expected bucket 1, got '2'"),
        (b"2 2 4 3 1 0 < >\n0 1 2\n1 1 2\n", "line 1"),
        (b"2 2 3 4 1 0 < >\n0 1 2\n1 1 x\n", "line 3: expected a finite number"),
        (b"2 2 3 4 1 0 < >\n0 1 2\n1 1\n", "line 3: expected 2 numbers"),
    ],
)
def test_a_wrong_floret_file_names_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_vectors(tmp_path / "f")


def test_a_wrong_model2vec_folder_names_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    model2vec_folder(folder)
    weights = folder / "model.safetensors"
    sound = weights.read_bytes()
    table = np.ones((6, 2), np.float32)
    weights.write_bytes(sound[:-1])
    with pytest.raises(DataError, match=r"model\.safetensors"):
        read_vectors(folder)
    for tensors in (
        {"other": table},
        {"embeddings": table[:5]},
        {"embeddings": table[0]},
        {"embeddings": table.astype(np.int64)},
        {"embeddings": table * np.nan},
        {"embeddings": table, "mapping": np.int64([9] * 6)},
        {"embeddings": table, "weights": table[:3, 0]},
    ):
        save_file(tensors, weights)
        with pytest.raises(DataError, match=r"model\.safetensors"):
            read_vectors(folder)
    weights.write_bytes(sound)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "other"}}))
    with pytest.raises(DataError, match=r"tokenizer\.json"):
        read_vectors(folder)
    weights.unlink()
    with pytest.raises(DataError, match="is a folder"):
        read_vectors(folder)


TEXTS = "the lovely film was lovely .\nthe naïve dog saw the film\na dog was lovely\n" * 60


@needs(not available("fasttext"), reason="needs the package fasttext")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("minn", [0, 2])
def test_rows_equal_those_of_fasttext(tmp_path: Path, minn: int) -> None:
    import fasttext

    (tmp_path / "t.txt").write_text(TEXTS, encoding="utf-8")
    try:
        model = fasttext.train_unsupervised(
            str(tmp_path / "t.txt"),
            dim=10,
            minn=minn,
            maxn=2 * minn,
            bucket=1000,
            epoch=2,
            thread=1,
            verbose=0,
        )
    except RuntimeError as error:
        pytest.skip(f"fastText itself fails on this machine: {error}")
    if not np.isfinite(model.get_input_matrix()).all():
        pytest.skip("fastText itself learns vectors that are not finite on this machine")
    model.save_model(str(tmp_path / "m.bin"))
    vectors = read_vectors(tmp_path / "m.bin")
    assert list(vectors.words) == model.get_words()
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        np.testing.assert_allclose(row, model.get_word_vector(word), rtol=1e-4, atol=1e-6)
    if minn:
        assert vectors.speller is not None
        unlisted = ["naïvety", "dogs", "\u4e2d\u6587", "x"]
        for word, row in zip(unlisted, vectors.speller.spell(unlisted)[0], strict=True):
            np.testing.assert_allclose(row, model.get_word_vector(word), rtol=1e-4, atol=1e-6)


@needs(not available("floret"), reason="needs the package floret")
@pytest.mark.filterwarnings("ignore")
def test_rows_equal_those_of_floret(tmp_path: Path) -> None:
    import floret

    (tmp_path / "t.txt").write_text(TEXTS, encoding="utf-8")
    model = floret.train_unsupervised(
        str(tmp_path / "t.txt"),
        mode="floret",
        hashCount=2,
        dim=10,
        minn=3,
        maxn=4,
        bucket=500,
        epoch=2,
        thread=1,
    )
    model.save_floret_vectors(str(tmp_path / "v.floret"))
    speller = read_vectors(tmp_path / "v.floret").speller
    assert speller is not None
    words = ["film", "lovely", "naïvety", "unlisted", "\u4e2d\u6587"]
    for word, row in zip(words, speller.spell(words)[0], strict=True):
        np.testing.assert_allclose(row, model.get_word_vector(word), rtol=1e-3, atol=1e-4)
    model.save_model(str(tmp_path / "m.bin"))
    with pytest.raises(DataError, match=r"m\.bin: byte"):
        read_vectors(tmp_path / "m.bin")


@needs(not available("spacy"), reason="needs the package spacy")
def test_rows_equal_those_that_spacy_makes_of_floret(tmp_path: Path) -> None:
    from spacy.strings import StringStore
    from spacy.vectors import Vectors

    rows = DRAW.normal(size=(97, 6)).round(4).astype(np.float32)
    (tmp_path / "v").write_bytes(floret_file(rows, shortest=3, longest=5, hashes=4, seed=2166136261))
    speller = read_vectors(tmp_path / "v").speller
    assert speller is not None
    words = ["film", "naïvety", "a", "\u4e2d\u6587"]
    strings = StringStore(words)
    theirs = Vectors(
        strings=strings,
        data=rows,
        mode="floret",
        minn=3,
        maxn=5,
        hash_count=4,
        hash_seed=2166136261,
        bow="<",
        eow=">",
    )
    np.testing.assert_allclose(speller.spell(words)[0], theirs.get_batch(words), rtol=1e-4, atol=1e-5)


def test_the_header_of_a_written_file_is_what_the_format_says() -> None:
    assert struct.unpack("<2i", SOUND[:8]) == (793712314, 12)
