"""fastText's own binary files (``.bin``): words, and the n-grams that make the vector of any other word.

Layout (little-endian), as fastText 0.2 and later write it: the magic number, the version, the settings, the dictionary,
whether the matrices are quantized, the input matrix. What follows, the output matrix, is not read. The first rows of
the input matrix belong to the words, the others to the buckets that n-grams are hashed to. A word's vector is the mean
of its own row and those of its n-grams (Bojanowski et al., 2017).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.text.text_files import COMPRESSED, open_bytes
from heedful.text.vectors.binary import ByteReader, check_finite, decoded
from heedful.text.vectors.initial import Matrix, Speller, WordVectors, chosen_rows

MAGIC = (793712314).to_bytes(4, "little")
_SETTINGS = ("dim", "ws", "epoch", "minCount", "neg", "wordNgrams", "loss", "model", "bucket", "minn", "maxn")
_VERSIONS = (11, 12)
_SUPERVISED = 3
_END = "</s>"
"""The end of a sentence, whose row has no n-grams."""
_MOST = 1 << 31
_CHUNK = 1024
"""Words whose n-grams are looked up together: about 25 MB at 300 features."""


@dataclass(frozen=True, eq=False)
class FastTextSpeller(Speller):
    """The n-grams of a fastText file.

    Attributes:
        rows: a vector a bucket, [buckets, D] float32; may be a view of the file.
        shortest: characters of the shortest n-gram.
        longest: characters of the longest; 0 for no n-grams.
        file: where they were read, for messages.
    """

    rows: Matrix
    shortest: int
    longest: int
    file: Path

    def spell(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """See `Speller.spell`."""
        sums, counts = self.sums(words)
        return _means(sums, counts), counts > 0

    def sums(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.int64]]:
        """Return the sum of the rows of each word's n-grams, [n, D], and how many they are, [n]."""
        sums = np.zeros((len(words), self.rows.shape[1]), np.float32)
        counts = np.zeros(len(words), np.int64)
        if not self.longest or not len(self.rows):
            return sums, counts
        for start in range(0, len(words), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            buckets, counts[chunk] = ngram_buckets(words[chunk], self.shortest, self.longest, len(self.rows))
            if not len(buckets):
                continue
            vectors = np.asarray(self.rows[buckets])
            check_finite(vectors, self.file)
            filled = counts[chunk] > 0
            starts = np.concatenate([[0], np.cumsum(counts[chunk][filled])[:-1]])
            sums[chunk][filled] = np.add.reduceat(vectors, starts)
        return sums, counts


def ngram_buckets(
    words: Sequence[str], shortest: int, longest: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hash the n-grams of words as fastText does, all words at once.

    An n-gram is a run of characters of ``<word>``; of single characters only those of the word itself count. The hash
    is 32-bit FNV-1a over the bytes of UTF-8, each extended with its sign, as the compilers of the published files do.

    Args:
        words: the words.
        shortest: characters of the shortest n-gram, 1 or more.
        longest: characters of the longest.
        buckets: number of buckets.

    Returns:
        The buckets of all words end to end, and how many each word has, [n].
    """
    marked = [f"<{word}>".encode("utf-8", "surrogateescape") for word in words]
    text = np.frombuffer(b"".join(marked), np.uint8)
    word_of_byte = np.repeat(np.arange(len(marked)), [len(word) for word in marked])
    starts = np.flatnonzero((text & 0xC0) != 0x80)
    ends = np.append(starts[1:], len(text))
    word = word_of_byte[starts]
    last = np.append(word[1:] != word[:-1], True)
    first = np.append(True, word[1:] != word[:-1])
    hashes = np.full(len(starts), 2166136261, np.uint32)
    found, owners = [], []
    begun = np.arange(len(starts))
    for length in range(1, longest + 1):
        reached = begun + length - 1
        inside = reached < len(starts)
        begun, reached = begun[inside], reached[inside]
        inside = word[reached] == word[begun]
        begun, reached = begun[inside], reached[inside]
        _feed(hashes, begun, text, starts[reached], ends[reached])
        if length >= shortest:
            counted = ~(first[begun] | last[reached]) if length == 1 else np.ones(len(begun), bool)
            found.append(hashes[begun[counted]].astype(np.int64) % buckets)
            owners.append(word[begun[counted]])
    if not found:
        return np.zeros(0, np.int64), np.zeros(len(marked), np.int64)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(found)[order], np.bincount(owner, minlength=len(marked))


def _feed(
    hashes: NDArray[np.uint32],
    which: NDArray[np.int64],
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None:
    """Go on with some hashes over one more character each, byte by byte."""
    position = starts
    while len(which):
        signed = text[position].astype(np.int8).astype(np.int32).view(np.uint32)
        hashes[which] = (hashes[which] ^ signed) * np.uint32(16777619)
        more = position + 1 < ends
        which, position, ends = which[more], position[more] + 1, ends[more]


def read_fasttext(file: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read a binary file of fastText.

    Args:
        file: the file, plain or compressed. Of a plain one, the rows of n-grams stay on disk until they are needed.
        wanted: list only these words; None lists all.
        lowercase: see `heedful.text.vectors.initial.chosen_rows`.

    Returns:
        The words of the dictionary with their vectors, labels left out; the speller has the n-grams.

    Raises:
        DataError: naming the byte or the vector: another version, quantized, sizes that contradict each other, cut
            short, not finite.
    """
    with open_bytes(file) as stream:
        reader = ByteReader(stream, file)
        reader.take(len(MAGIC), "the header")
        settings = _read_settings(reader)
        names, words = _read_dictionary(reader)
        rows, width = _read_sizes(reader, words + settings["bucket"], settings["dim"])
        matrix = _matrix(reader, rows, width)
    speller = FastTextSpeller(matrix[words:], settings["minn"], settings["maxn"], file)
    chosen = chosen_rows(names, wanted, lowercase=lowercase)
    own = np.asarray(matrix[np.fromiter(chosen.values(), np.int64, len(chosen))])
    spelled = [names[row] for row in chosen.values()]
    check_finite(own, file, spelled)
    sums, counts = speller.sums([name if name != _END else "" for name in spelled])
    ended = np.array([name == _END for name in spelled], bool)
    sums[ended], counts[ended] = 0, 0
    vectors = _means(own + sums, counts + 1)
    return WordVectors(tuple(chosen), vectors, speller if len(speller.rows) and speller.longest else None)


def _means(sums: Matrix, counts: NDArray[np.int64]) -> Matrix:
    return np.divide(sums, np.maximum(counts, 1)[:, None], dtype=np.float32)


def _read_settings(reader: ByteReader) -> dict[str, int]:
    (version,) = reader.values("<i", "the header")
    if version not in _VERSIONS:
        raise reader.refused(f"a fastText file of version {version}; versions 11 and 12 are read")
    settings = dict(zip(_SETTINGS, reader.values("<11i", "the settings"), strict=True))
    reader.take(4 + 8, "the settings")  # the rate of updates and the threshold of sampling
    if version == 11 and settings["model"] == _SUPERVISED:
        settings["maxn"] = 0
    if settings["dim"] < 1 or min(settings["bucket"], settings["minn"], settings["maxn"]) < 0:
        raise reader.refused(f"the settings of the file cannot be: {settings}")
    if settings["maxn"] > 100 or (settings["maxn"] and not settings["bucket"]):
        raise reader.refused(
            f"n-grams of {settings['maxn']} characters in {settings['bucket']} buckets cannot be"
        )
    settings["minn"] = max(settings["minn"], 1)
    return settings


def _read_dictionary(reader: ByteReader) -> tuple[list[str], int]:
    """Return the words in the order of their rows, and how many they are; labels stand behind them and have none."""
    size, words, labels, _, pruned = reader.values("<3i2q", "the dictionary's header")
    if min(size, words, labels) < 0 or size != words + labels:
        raise reader.refused(
            f"a dictionary of {size} entries with {words} words and {labels} labels cannot be"
        )
    if pruned > 0:
        raise reader.refused("a pruned file, which holds only a part of the n-grams, is not read")
    names = []
    for number in range(size):
        name = reader.until(b"\0", f"entry {number + 1:,} of the dictionary")
        kind = reader.take(9, f"entry {number + 1:,} of the dictionary")[8]
        if kind != (number >= words):
            raise reader.refused(
                f"entry {number + 1:,} of the dictionary should be a {'word' if kind else 'label'}"
            )
        names.append(decoded(name))
    return names[:words], words


def _read_sizes(reader: ByteReader, rows: int, width: int) -> tuple[int, int]:
    (quantized,) = reader.take(1, "the matrix' header")
    if quantized:
        raise reader.refused("a quantized file (.ftz) is not read; use the .bin file that it was made from")
    found = reader.values("<2q", "the matrix' header")
    if found != (rows, width) or rows * width >= _MOST * 64:
        raise reader.refused(f"expected a matrix of {rows} x {width} numbers, found {found[0]} x {found[1]}")
    return rows, width


def _matrix(reader: ByteReader, rows: int, width: int) -> Matrix:
    """Return the input matrix: a view of a plain file, the numbers of a compressed one."""
    if reader.file.suffix.lower() in COMPRESSED:
        matrix = reader.floats(rows, width, "the vectors")
        reader.drain()
        return matrix
    missing = reader.position + 4 * rows * width - reader.file.stat().st_size
    if missing > 0:
        raise reader.refused(f"the file ends inside the vectors: {missing:,} bytes are missing")
    if not rows:
        return np.zeros((0, width), np.float32)
    return np.memmap(reader.file, "<f4", "r", reader.position, (rows, width))
