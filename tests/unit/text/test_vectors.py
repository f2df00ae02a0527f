from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import DataError
from heedful.text.vectors import read_baseforms, read_vectors
from heedful.text.vectors.initial import WordVectors, normalized_vectors

GLOVE = "the 0.1 -2 3e-1\nDog 1 2 3\n. . 4 5 6\ndog 7 8 9\n"
HEADED = "4 3\n" + GLOVE


def compress(folder: Path, name: str, content: bytes) -> Path:
    file = folder / name
    packers = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inner/vectors.txt", content)
    else:
        file.write_bytes(packers.get(file.suffix, bytes)(content))
    return file


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zip"])
@pytest.mark.parametrize("text", [GLOVE, HEADED, HEADED.replace("\n", " \r\n"), "\ufeff" + HEADED])
def test_both_formats_plain_and_compressed(tmp_path: Path, suffix: str, text: str) -> None:
    file = compress(tmp_path, "v.txt" + suffix, text.encode())
    vectors = read_vectors(file)
    assert vectors.words == ("the", "Dog", ". .", "dog")
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.tolist() == np.float32([[0.1, -2, 0.3], [1, 2, 3], [4, 5, 6], [7, 8, 9]]).tolist()
    assert read_vectors(tmp_path / "v.txt").words == vectors.words


def test_only_wanted_words_are_kept_and_the_last_of_equals_wins(tmp_path: Path) -> None:
    file = compress(tmp_path, "v.txt", GLOVE.encode())
    kept = read_vectors(file, {"dog", "cat"}, lowercase=True)
    assert kept.words == ("dog",)
    assert kept.matrix.tolist() == [[7, 8, 9]]
    none = read_vectors(file, ())
    assert none.words == ()
    assert none.matrix.shape == (0, 3)


def test_odd_spacing_is_read(tmp_path: Path) -> None:
    file = compress(tmp_path, "v.txt", b"2 3\na\t1\t2\t3\nb  1 2   3\n\n")
    assert read_vectors(file).matrix.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_many_blocks_keep_their_order(tmp_path: Path) -> None:
    rows = [f"w{n} {n} {-n}" for n in range(3000)]
    vectors = read_vectors(compress(tmp_path, "v.txt", "\n".join(rows).encode()))
    assert vectors.words == tuple(f"w{n}" for n in range(3000))
    assert vectors.matrix[:, 0].tolist() == list(range(3000))


def test_a_file_that_head_cut_or_that_has_a_bad_byte_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.vec").write_bytes(b"3 2\na 1 2\nn\xe9 3 4\n")
    found = read_vectors(tmp_path / "a.vec")
    assert found.words == ("a", "n\udce9")
    assert found.matrix.tolist() == [[1, 2], [3, 4]]
    assert "the header announces 3 vectors, and the file holds 2" in caplog.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"empty"),
        (b"\n\n", r"empty"),
        (b"word\n", r"line 1: expected a word and its vector"),
        (b"a 1 2 3\nb 1 2\n", r"line 2: expected 3 numbers after the word, got 2"),
        (b"1 3\nb 1 2\n", r"line 2: expected 3 numbers after the word, got 2"),
        (b"a 1 2 3\nb 1 2 3 4 5\n", r"line 2: expected 3 numbers after the word, got 5"),
        (b"a 1 2 3\nb 1  2\n", r"line 2: expected 3 numbers after the word, got 2"),
        (b"a 1 2 3\nb 1 x 3\n", r"line 2: expected a finite number, got 'x'"),
        (b"a 1 2 3\nb 1 nan 3\n", r"line 2: expected a finite number, got 'nan'"),
        (b"a 1 2 3\nb 1 1e99 3\n", r"line 2: expected a finite number, got '1e99'"),
        (b"1 2\na 1 2\nb 1 2\n", r"announces 1 vectors, the file holds 2"),
    ],
)
def test_bad_file_is_told_by_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = compress(tmp_path, "v.txt", content)
    with pytest.raises(DataError, match=message) as raised:
        read_vectors(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zip"])
def test_truncated_or_altered_archive_is_told(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    text = "".join(f"w{n} {a} {b}\n" for n, (a, b) in enumerate(rng.normal(size=(5000, 2))))
    whole = compress(tmp_path, "v.txt" + suffix, text.encode()).read_bytes()
    line = (
        "" if suffix == ".zip" else r"line \d+: "
    )  # the table of a zip archive is at its end: it cannot be opened
    for content in (whole[: len(whole) // 2], whole[:-3], b"plain text, not an archive"):
        file = tmp_path / f"cut.txt{suffix}"
        file.write_bytes(content)
        with pytest.raises(
            DataError, match=rf"cut\.txt{suffix}: {line}the compressed file is cut short or damaged"
        ):
            read_vectors(file)


def test_zip_with_several_files_and_missing_files_are_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
        archive.writestr("a.txt", "a 1")
        archive.writestr("b.txt", "a 1")
    with pytest.raises(DataError, match="one file, got 2"):
        read_vectors(tmp_path / "v.zip")
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "none.txt")
    with pytest.raises(DataError, match="is a folder"):
        read_vectors(tmp_path)


def test_base_forms(tmp_path: Path) -> None:
    file = compress(tmp_path, "forms.tsv.xz", b"horses\thorse\nran\trun\n")
    assert read_baseforms(file) == {"horses": "horse", "ran": "run"}
    for content, message in (
        (b"a b\n", "line 1: expected form"),
        (b"", "empty"),
        (b"a\t\xff\n", "line 1: not UTF-8"),
    ):
        with pytest.raises(DataError, match=message):
            read_baseforms(compress(tmp_path, "bad.tsv", content))


@pytest.mark.data
def test_numberbatch_is_read_whole(data_dir: Path) -> None:
    vectors = read_vectors(data_dir / "numberbatch" / "numberbatch-en-41k-300d.txt")
    assert vectors.matrix.shape == (41_353, 300)
    assert np.abs(np.linalg.norm(vectors.matrix, axis=1) - 1).max() < 0.005
    assert len(read_baseforms(data_dir / "numberbatch" / "baseforms.tsv")) == 36_156


def test_words_of_vectors_are_spelled_as_normalized_text() -> None:
    words = ("don’t", "don't", "ﬁne", "\u200b", "cafe\u0301", "ok", "ℌ")
    found = normalized_vectors(WordVectors(words, np.arange(7, dtype=np.float32)[:, None]), lowercase=True)
    assert found.words == ("don't", "fine", "café", "ok", "h")
    assert found.matrix[:, 0].tolist() == [1, 2, 4, 5, 6]
    plain = WordVectors(("a", "b"), np.zeros((2, 1), np.float32))
    assert normalized_vectors(plain, lowercase=False) is plain
