"""What a model of words knows before it is trained: its vocabulary, and the vectors or the encoder it begins with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from heedful.data.cache import load_or_read_vectors
from heedful.data.readers.class_folders import find_named
from heedful.errors import DataError, UsageError
from heedful.models import Network
from heedful.models.config import NO_NETWORK
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.storage.hugging_face import PieceRules, find_encoder, read_piece_rules
from heedful.storage.installed import kept
from heedful.storage.shared_rows import BASEFORMS, ROWS, SharedRows, packaged_rows
from heedful.tasks.prepared import DataFolders
from heedful.text.english import package_of
from heedful.text.normalization import normalize
from heedful.text.unknown_words import NgramRule
from heedful.text.vectors import (
    InitialTables,
    WordVectors,
    files_of,
    find_vectors,
    initial_table,
    read_baseforms,
)
from heedful.text.vectors.initial import normalized_vectors
from heedful.text.vocabulary import AnyVocabulary, PieceVocabulary, Vocabulary

if TYPE_CHECKING:
    from heedful.run.run_config import RunConfig, TextConfig


@dataclass(frozen=True)
class EncoderFiles:
    """A pretrained encoder on disk.

    Attributes:
        path: its folder.
        rules: how it cuts words into pieces.
    """

    path: Path
    rules: PieceRules


@dataclass(frozen=True)
class Lexicon:
    """What turns words into numbers, and what these begin as.

    Attributes:
        vocabulary: words to ids, or to pieces.
        table: initial word vectors and how many words they cover; None with a pretrained encoder.
        encoder: the pretrained encoder in the place of word vectors, if any.
        tokenizer: name of the tokenizer, also where the settings leave the choice open.
        vectors: the vectors of a file that linear parts read; None for none.
    """

    vocabulary: AnyVocabulary
    table: InitialTables | None
    encoder: EncoderFiles | None = None
    tokenizer: str = "treebank"
    vectors: MeanOfVectors | None = None

    def note(self) -> str:
        """Return what the vocabulary holds, without a final stop."""
        vocabulary = self.vocabulary
        if isinstance(vocabulary, PieceVocabulary):
            return f"the pretrained encoder reads words in pieces, at most {vocabulary.rules.limit:,} a text"
        seen, further = vocabulary.trainable_rows - 2, vocabulary.frozen_rows
        return f"{seen:,} words seen in training, {further:,} further words with a frozen vector"

    def limits(self, network: nn.Module) -> str:
        """Return what a user of a model with these words should know, in whole sentences."""
        vocabulary, prefix = self.vocabulary, network.prefix if isinstance(network, Network) else ()
        knows, empty = "the words and the kind of sentence of its training data", "is the zero vector"
        if prefix:
            empty = f"is read as {' '.join(prefix)} alone, which stands in front of every text"
        if isinstance(vocabulary, PieceVocabulary):
            knows = "the kind of sentence of its training data, and what its pretrained encoder read before"
            unknown = "A word that it cannot spell is its unknown piece"
        elif vocabulary.ngrams is not None:
            unknown = "An unknown word has the vector of its character n-grams"
        elif vocabulary.oov == "hash":
            unknown = f"An unknown word has one of {vocabulary.buckets} fixed random vectors, chosen by its spelling"
        elif vocabulary.oov == "nearest":
            unknown = (
                "An unknown word is read as the known word that is one edit away, else as the zero vector"
            )
        else:
            unknown = "An unknown word is the zero vector"
        without = f"a text without words {empty}"
        return f"The model knows {knows}. {unknown}, and {without}; both are flagged in every answer."


@dataclass(frozen=True)
class Pretrained:
    """Pretrained vectors as read, and the files they came from; or a pretrained encoder.

    Attributes:
        vectors: the vectors; None for none.
        baseforms: word to base form, whose vector it takes.
        files: what was read.
        encoder: the encoder; None for none.
        part: the vectors of a file that linear parts read; None for none.
    """

    vectors: WordVectors | None = None
    baseforms: Mapping[str, str] | None = None
    files: tuple[Path, ...] = ()
    encoder: EncoderFiles | None = None
    part: WordVectors | None = None

    def vocabulary(self, text: TextConfig, counts: Mapping[str, int], *, masked: bool) -> AnyVocabulary:
        """Make the vocabulary of training words, and of further words with a vector.

        Args:
            text: the settings.
            counts: word to how often the training part holds it.
            masked: whether a masked word has a row of its own.

        Returns:
            The vocabulary.

        Raises:
            UsageError: if words are to be masked before a pretrained encoder.
        """
        if self.encoder is not None:
            if masked:
                raise UsageError(
                    "train.word_mask: a pretrained encoder has no row of ours for a masked word; set train.word_mask=0"
                )
            return PieceVocabulary(self.encoder.rules)
        return Vocabulary.build(
            counts,
            min_count=text.min_count,
            lowercase=text.lowercase,
            pretrained=self.vectors.words if self.vectors and text.extra_words else (),
            baseforms=self.baseforms,
            oov=text.oov,
            ngrams=NgramRule(text.subwords, cased=text.subword_case) if text.subwords else None,
            masked=masked,
        )

    def found(self, vocabulary: AnyVocabulary) -> tuple[str, ...]:
        """Return how many words of the training part have a pretrained vector; nothing where no vectors are read."""
        if self.vectors is None or not isinstance(vocabulary, Vocabulary) or not vocabulary.trainable:
            return ()
        words, bases = set(vocabulary.trainable), self.baseforms or {}
        direct = words.intersection(self.vectors.words)
        other = {word: base for word in words - direct if (base := bases.get(word))}
        reached = set(other.values()).intersection(self.vectors.words)
        by_base = sum(base in reached for base in other.values())
        more = f", {by_base:,} of them by their base form" if by_base else ""
        spelled = "; the others are spelled" if self.vectors.speller is not None else ""
        count = len(direct) + by_base
        return (f"train: {count:,} of {len(words):,} words have a word vector{more}{spelled}",)

    def words(self, config: RunConfig, vocabulary: AnyVocabulary, tokenizer: str) -> Lexicon:
        """Return a vocabulary with the vectors that its words begin with.

        Args:
            config: the settings.
            vocabulary: from `vocabulary`.
            tokenizer: what the words were cut with.

        Returns:
            The lexicon of a run.
        """
        if isinstance(vocabulary, PieceVocabulary):
            return Lexicon(vocabulary, None, self.encoder, tokenizer)
        own = None if self.part is None else mean_of_file(self.part, self.baseforms, vocabulary.trainable)
        if config.model.encoder == NO_NETWORK:
            trained = np.zeros((vocabulary.trainable_rows, config.model.width), np.float32)
            frozen = np.zeros((vocabulary.frozen_rows, config.model.width), np.float16)
            return Lexicon(vocabulary, InitialTables(trained, frozen, {}), None, tokenizer, own)
        table = initial_table(
            vocabulary,
            self.vectors,
            baseforms=self.baseforms,
            seed=config.train.seed,
            random=config.text.random,
            width=config.model.width,
            vector_norm=config.text.vector_norm,
            unit_norm=config.text.unit_norm,
        )
        return Lexicon(vocabulary, table, self.encoder, tokenizer, own)


def read_pretrained(config: RunConfig, place: DataFolders) -> Pretrained:
    """Read what the settings name to begin with: word vectors, an encoder, or neither.

    Args:
        config: the settings.
        place: where files are found and kept.

    Returns:
        What was read.

    Raises:
        UsageError: if both are named.
        DataError: if a file is missing, or its vectors are of another width.
    """
    text, encoder = config.text, config.model.pretrained
    alone = config.model.encoder == NO_NETWORK
    part = (
        bool(text.vectors)
        and not package_of(text.vectors)
        and config.model.sentence not in ("none", "overlap")
    )
    if alone and not part:
        if text.vectors:
            _find_vectors(text.vectors, place.root)  # a wrong name is refused, whatever reads the vectors
        return Pretrained()
    if encoder.name and text.vectors:
        raise UsageError(
            "text.vectors and model.pretrained.name: a model has word vectors or an encoder; name one"
        )
    if encoder.name:
        path = find_encoder(encoder.name, download=encoder.download, folder=place.root)
        return Pretrained(encoder=EncoderFiles(path, read_piece_rules(path)))
    if not text.vectors:
        return Pretrained()
    file = _find_vectors(text.vectors, place.root)
    vectors = load_or_read_vectors(file, place.cache, lowercase=text.lowercase)
    if text.normalize:
        vectors = normalized_vectors(vectors, lowercase=text.lowercase)
    if vectors.width != config.model.width and not alone:
        raise DataError(
            f"{file}: the vectors have {vectors.width} numbers, but model.width is {config.model.width}; "
            f"set model.width={vectors.width} or name another file"
        )
    if not text.baseforms:
        return Pretrained(None if alone else vectors, None, files_of(file), None, vectors if part else None)
    forms = _packaged(text.baseforms, BASEFORMS, place.root) or _find_or_advise(text.baseforms, place.root)
    bases = _normalized_baseforms(forms) if text.normalize else _baseforms(forms)
    kept = None if alone else vectors
    return Pretrained(kept, bases, (*files_of(file), forms), None, vectors if part else None)


def _read_normalized(path: Path) -> dict[str, str]:
    return {normalize(form): normalize(base) for form, base in read_baseforms(path).items()}


_baseforms, _normalized_baseforms = kept(read_baseforms), kept(_read_normalized)


def _find_vectors(name: str, root: Path | None) -> Path:
    """Find the file or the folder of vectors that the settings name; see `find_named` and `packaged_rows`."""
    for path in (Path(name),) if root is None else (root / name, Path(name)):
        if path.is_dir():
            return find_vectors(path)
    return _packaged(name, ROWS, root) or _find_or_advise(name, root)


def _find_or_advise(name: str, root: Path | None) -> Path:
    """Find a file that the settings name; where a bare name finds none, say that a package may have it."""
    try:
        return find_named(name, root)
    except DataError as error:
        if Path(name).name != name or Path(name).suffix:
            raise
        raise DataError(
            f"{error}; nor does an installed package have word vectors of this name. To install heedful-en, in a clone "
            "of Heedful: pip install ./packages/heedful-en"
        ) from error


def _packaged(name: str, file: str, root: Path | None) -> Path | None:
    """Return a file of the word vectors of an installed package; None where the name is no bare one, or a file's."""
    if (
        Path(name).name != name
        or Path(name).suffix
        or Path(name).exists()
        or (root is not None and (root / name).exists())
    ):
        return None
    folder = packaged_rows(name)
    return None if folder is None else folder / file


MOST_ROWS = 50_000
"""Rows of a file that a model keeps, the first ones, which are those of frequent words; and those of training words."""
_MOST = 127


def mean_of_file(
    vectors: WordVectors, baseforms: Mapping[str, str] | None, training: Collection[str]
) -> MeanOfVectors:
    """Return the mean of the vectors of a file.

    Args:
        vectors: as read.
        baseforms: word to base form, whose vector it takes.
        training: the words of the training texts, whose vectors are kept wherever they are in the file.

    Returns:
        The features; a vector is a row of whole numbers from -127 to 127 times a factor of its own.
    """
    bases = baseforms or {}
    wanted = {*training, *(bases[word] for word in training if word in bases)}
    places = [n for n, word in enumerate(vectors.words) if n < MOST_ROWS or word in wanted]
    rows = vectors.matrix[places].astype(np.float64)
    scale = np.maximum(np.abs(rows).max(axis=1, initial=0) / _MOST, np.finfo(np.float32).tiny)
    words = tuple(vectors.words[place] for place in places)
    kept = set(words)
    lines = [f"{form}\t{base}" for form, base in bases.items() if base in kept and form not in kept]
    codes = np.rint(rows / scale[:, None]).astype(np.int8)
    return MeanOfVectors(SharedRows(words, codes, scale.astype(np.float32)), "\n".join(lines))
