"""A model2vec folder: a tokenizer, and a vector for each of its pieces; a word's vector is the mean of its pieces'."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError, needing
from heedful.text.pieces import tokenizer_errors
from heedful.text.vectors.binary import check_finite
from heedful.text.vectors.initial import Matrix, Speller, WordVectors, chosen_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
_NAMES = ("embeddings", "embedding.weight")
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class PieceSpeller(Speller):
    """The pieces of a model2vec folder.

    Attributes:
        rows: a vector a piece, [pieces, D] float32.
        tokenizer: of the package tokenizers.
        unknown: id of the unknown piece, which has no vector; -1 where there is none.
    """

    rows: Matrix
    tokenizer: Tokenizer
    unknown: int

    def pieces(self, words: Sequence[str]) -> list[list[int]]:
        """Return the pieces of each word without unknown ones."""
        clean = [word.encode("utf-8", "replace").decode("utf-8") for word in words]
        found = self.tokenizer.encode_batch(clean, add_special_tokens=False)
        return [[piece for piece in each.ids if piece != self.unknown] for each in found]

    def spell(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """See `Speller.spell`; a word without a known piece has none."""
        vectors = np.zeros((len(words), self.rows.shape[1]), np.float32)
        found = np.zeros(len(words), bool)
        for start in range(0, len(words), _CHUNK):
            for number, pieces in enumerate(self.pieces(words[start : start + _CHUNK]), start=start):
                if pieces:
                    vectors[number] = self.rows[pieces].mean(axis=0, dtype=np.float64)
                    found[number] = True
        return vectors, found


def is_model2vec(path: Path) -> bool:
    """Return whether a folder holds the files of model2vec."""
    return (path / WEIGHTS).is_file() and (path / TOKENIZER).is_file()


def read_model2vec(path: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read a model2vec folder.

    Args:
        path: the folder.
        wanted: list only these words; None lists all that are one piece.
        lowercase: see `heedful.text.vectors.initial.chosen_rows`.

    Returns:
        The words that are one piece of the tokenizer, and a speller for the others.

    Raises:
        DataError: naming the file: tensors that are missing, of the wrong shape or not finite, or no tokenizer.
        MissingExtraError: without the package tokenizers.
    """
    tokenizer, unknown = _read_tokenizer(path / TOKENIZER)
    rows = _read_rows(path / WEIGHTS)
    names = tokenizer.get_vocab()
    if names and max(names.values()) >= len(rows):
        raise DataError(
            f"{path / WEIGHTS}: {len(rows):,} vectors for {max(names.values()) + 1:,} pieces of {TOKENIZER}. "
            "Copy the folder again."
        )
    speller = PieceSpeller(rows, tokenizer, unknown)
    bare = {_bare(name): row for name, row in sorted(names.items(), key=lambda item: item[1])}
    words = [word for word in bare if word and not word.isspace()]
    whole = [word for word, pieces in zip(words, speller.pieces(words), strict=True) if len(pieces) == 1]
    chosen = chosen_rows(whole, wanted, lowercase=lowercase)
    vectors, _ = speller.spell([whole[row] for row in chosen.values()])
    return WordVectors(tuple(chosen), vectors, speller)


def _bare(name: str) -> str:
    """Return a piece without the mark that says where in a word it stands."""
    return name.lstrip("\u2581\u0120")


def _read_tokenizer(file: Path) -> tuple[Tokenizer, int]:
    with needing("tokenizers", "model2vec", "reading a model2vec folder"):
        from tokenizers import Tokenizer
    with tokenizer_errors(
        lambda reason: DataError(f"{file}: not a tokenizer: {reason}. Copy the folder again.")
    ):
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # what looks like a special token in a text is text
        tokenizer.encode("a")
        unknown = getattr(tokenizer.model, "unk_token", None)
        number = None if unknown is None else tokenizer.token_to_id(unknown)
    return tokenizer, -1 if number is None else number


def _read_rows(file: Path) -> Matrix:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(file)
    except (SafetensorError, OSError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"{file}: expected a safetensors file: {error}. Copy the folder again.") from error
    name = next((name for name in _NAMES if name in tensors), "")
    table = tensors.get(name)
    if table is None or table.ndim != 2 or table.dtype.kind != "f" or not table.size:
        raise DataError(f"{file}: expected the tensor {_NAMES[0]!r}, a matrix of real numbers, a row a piece")
    rows = _placed(table.astype(np.float32), tensors, file)
    check_finite(rows, file)
    return rows


def _placed(table: Matrix, tensors: Mapping[str, NDArray[np.generic]], file: Path) -> Matrix:
    """Return a row a piece: several pieces may share one (`mapping`), and each may have its weight (`weights`)."""
    mapping, weights = tensors.get("mapping"), tensors.get("weights")
    if mapping is not None:
        if mapping.ndim != 1 or mapping.dtype.kind not in "iu" or not len(mapping):
            raise DataError(f"{file}: expected the tensor 'mapping' to be a list of whole numbers")
        if mapping.min() < 0 or mapping.max() >= len(table):
            raise DataError(f"{file}: the tensor 'mapping' names rows outside 0 to {len(table) - 1}")
        table = table[mapping]
    if weights is not None:
        if weights.shape != (len(table),) or weights.dtype.kind != "f":
            raise DataError(
                f"{file}: expected the tensor 'weights' to be {len(table)} real numbers, one a piece"
            )
        table = table * weights.astype(np.float32)[:, None]
    return table
