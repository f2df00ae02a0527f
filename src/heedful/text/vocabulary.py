"""Which row of the embedding tables a word has.

Row 0 is padding and row 1 the unknown word. Then come the words of the training data, whose vectors are trained, then
the words known only from pretrained vectors, then the shared rows of the `hash` policy; these last two are frozen.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError, UsageError, check_known, checked_whole
from heedful.storage.fields import Fields, damaged, is_table, parsed
from heedful.text.pieces import PIECES_KIND, PieceVocabulary
from heedful.text.unknown_words import Nearest, NgramRule

PADDING = 0
UNKNOWN = 1
FORMAT = 1

MASK = "[MASK]"
"""Stands for a word that was taken away. A vocabulary knows it if its network was trained with masked words."""

OutOfVocabulary = Literal["unknown", "hash", "nearest"]


@dataclass(frozen=True)
class Vocabulary:
    """Words to rows, fixed once built.

    Attributes:
        trainable: words of the training data, most frequent first, equals in alphabetical order.
        extra: words with a pretrained vector that the training data lacks, in alphabetical order.
        baseforms: inflected form to base form, for forms that have no row of their own and whose base has one.
        lowercase: whether words are lower-cased before they are looked up.
        oov: what a word without row becomes: `unknown` (row 1, a zero vector, still visible to attention), `hash` (one
            of `buckets` frozen random rows, chosen by the word's BLAKE2 hash and so the same on every machine) or
            `nearest` (the row of the most frequent trainable word that is one edit away, see
            `heedful.text.unknown_words`, else row 1).
        buckets: number of shared rows of the `hash` policy; 0 for the others.
        ngrams: the rows of a word's n-grams, which every word has, or every one without a row; None where a word is its
            own row alone.
    """

    trainable: tuple[str, ...]
    extra: tuple[str, ...] = ()
    baseforms: Mapping[str, str] = field(default_factory=dict, hash=False)
    lowercase: bool = True
    oov: OutOfVocabulary = "unknown"
    buckets: int = 0
    ngrams: NgramRule | None = None
    _rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_known(self.oov, get_args(OutOfVocabulary), f"oov: unknown policy {self.oov!r}")
        if (self.buckets > 0) != (self.oov == "hash"):
            raise UsageError(
                f"buckets: expected at least 1 for oov='hash' and 0 for any other, got {self.buckets} for {self.oov!r}"
            )
        words = self.trainable + self.extra
        rows = dict(zip(words, range(2, len(words) + 2), strict=True))
        if len(rows) != len(words):
            twice = next(word for word, count in Counter(words).items() if count > 1)
            raise UsageError(f"vocabulary: the word {twice!r} has two rows; give each word once")
        object.__setattr__(self, "_rows", rows)

    @classmethod
    def build(
        cls,
        counts: Mapping[str, int],
        *,
        min_count: int = 1,
        lowercase: bool = True,
        pretrained: Iterable[str] = (),
        baseforms: Mapping[str, str] | None = None,
        oov: OutOfVocabulary = "unknown",
        buckets: int = 100,
        ngrams: NgramRule | None = None,
        masked: bool = False,
    ) -> Vocabulary:
        """Build from the word counts of the training data.

        Args:
            counts: occurrences of each surface form in the training data (and in nothing else).
            min_count: a word seen less often gets no trained row (it may still have a frozen one).
            lowercase: lower-case everything first; counts of forms that fall together are added.
            pretrained: words that have a pretrained vector.
            baseforms: inflected form to base form; None for no such look-up.
            oov: see the class.
            buckets: see the class; read by `hash` alone.
            ngrams: see the class.
            masked: whether `MASK` gets a trained row, after the words of the training data.

        Returns:
            The vocabulary; equal input gives an equal one whatever its order.

        Raises:
            UsageError: if a setting is out of range.
        """
        checked_whole("min_count", min_count, 1)
        folded: Counter[str] = Counter()
        for word, count in counts.items():
            folded[word.lower() if lowercase else word] += count
        frequent = [word for word, count in folded.items() if count >= min_count]
        trainable = sorted(frequent, key=lambda word: (-folded[word], word))
        mask = MASK.lower() if lowercase else MASK
        if masked and mask not in frequent:
            trainable.append(mask)
        extra = {word.lower() if lowercase else word for word in pretrained}.difference(trainable)
        known = extra.union(trainable)
        bases = {
            form.lower() if lowercase else form: base.lower() if lowercase else base
            for form, base in (baseforms or {}).items()
        }
        usable = {form: bases[form] for form in sorted(bases) if form not in known and bases[form] in known}
        shared = buckets if oov == "hash" else 0
        return cls(tuple(trainable), tuple(sorted(extra)), usable, lowercase, oov, shared, ngrams)

    def __len__(self) -> int:
        return self.trainable_rows + self.frozen_rows

    @property
    def trainable_rows(self) -> int:
        """Rows of the trained table: padding, unknown and the words of the training data."""
        return 2 + len(self.trainable)

    @property
    def frozen_rows(self) -> int:
        """Rows of the frozen table: words with a pretrained vector only, then the shared rows of `hash`."""
        return len(self.extra) + self.buckets

    @property
    def ngram_rows(self) -> int:
        """Rows of the table of n-grams; 0 where there is none."""
        return 0 if self.ngrams is None else self.ngrams.rows

    @property
    def mask_row(self) -> int | None:
        """Row of `MASK`; None where it has none, because no words were masked in training."""
        return self._rows.get(self._fold(MASK))

    def rows_of_ngrams(self, word: str) -> NDArray[np.int32]:
        """Return the rows of a word's n-grams; none of `MASK`, and none where there is no table or it is for others."""
        if self.ngrams is None or word == MASK:
            return np.zeros(0, np.int32)
        if self.ngrams.unknown_alone and self.id(word) != UNKNOWN:
            return np.zeros(0, np.int32)
        return self.ngrams.rows_of(word if self.ngrams.cased else self._fold(word))

    def without_ngrams(self, words: Iterable[str]) -> tuple[str, ...]:
        """Return words with `MASK` for those without a row if only these have n-grams, so that no word has any."""
        if self.ngrams is None or not self.ngrams.unknown_alone:
            return tuple(words)
        return tuple(MASK if self.id(word) == UNKNOWN else word for word in words)

    def knows(self, word: str) -> bool:
        """Return whether a word has a row, its own or its base form's."""
        return self._row(self._fold(word)) is not None

    def id(self, word: str) -> int:
        """Return the row of a word; never 0."""
        word = self._fold(word)
        row = self._row(word)
        if row is not None:
            return row
        if self.oov == "hash":
            return len(self) - self.buckets + _bucket(word, self.buckets)
        return UNKNOWN if self.oov == "unknown" else self._rows.get(self._nearest.word(word), UNKNOWN)

    def _row(self, folded: str) -> int | None:
        """Return the row of a word as it is looked up, its own or its base form's; None where it has neither."""
        row = self._rows.get(folded)
        return row if row is not None else self._rows.get(self.baseforms.get(folded, ""))

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.trainable, self._rows)

    def ids(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the row of each word, [L] int32."""
        return np.fromiter((self.id(word) for word in words), dtype=np.int32)

    def word(self, row: int) -> str:
        """Return the word of a row, or a name in angle brackets where the row has no word."""
        own = row - 2
        if 0 <= own < len(self.trainable):
            return self.trainable[own]
        if 0 <= own - len(self.trainable) < len(self.extra):
            return self.extra[own - len(self.trainable)]
        bucket = row - (len(self) - self.buckets)
        if 0 <= bucket < self.buckets:
            return f"<bucket {bucket}>"
        if row in (PADDING, UNKNOWN):
            return "<padding>" if row == PADDING else "<unknown>"
        raise UsageError(f"row: expected 0 to {len(self) - 1}, got {row}")

    def to_plain(self) -> dict[str, object]:
        """Return plain values for JSON; `vocabulary_from_plain` gives an equal vocabulary."""
        content: dict[str, object] = {
            "format": FORMAT,
            "lowercase": self.lowercase,
            "oov": self.oov,
            "buckets": self.buckets,
            "trainable": self.trainable,
            "extra": self.extra,
            "baseforms": dict(sorted(self.baseforms.items())),
        }
        if self.ngrams is not None:
            names = (*_NGRAMS, *(name for name in _NGRAM_FLAGS if getattr(self.ngrams, name)))
            content["ngrams"] = {name: getattr(self.ngrams, name) for name in names}
        return content

    def to_json(self) -> str:
        """Write as JSON; `from_json` gives an equal vocabulary, and equal ones give equal text."""
        # ASCII escapes: a lone surrogate in a word could not be written as UTF-8.
        return json.dumps(self.to_plain(), ensure_ascii=True, indent=0) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "vocabulary") -> Vocabulary:
        """Read what `to_json` wrote; see `vocabulary_from_json`, which reads either kind of vocabulary."""
        return cls.from_plain(parsed(text, source, dict, _DAMAGED), source)

    @classmethod
    def from_plain(cls, content: object, source: str = "vocabulary") -> Vocabulary:
        """Read what `to_plain` gave; see `from_json`."""
        fields = Fields(content, source, error=_DAMAGED)
        fields.only(*_FIELDS, "ngrams")
        if fields.whole("format") != FORMAT:
            raise fields.wrong(
                "format", f"is {fields.whole('format')}, and this version of Heedful reads {FORMAT}"
            )
        try:
            return cls(
                trainable=fields.texts("trainable"),
                extra=fields.texts("extra"),
                baseforms=fields.texts_by_name("baseforms"),
                lowercase=fields.flag("lowercase"),
                oov=fields.one_of("oov", get_args(OutOfVocabulary)),
                buckets=fields.whole("buckets"),
                ngrams=_ngrams_of(fields.part("ngrams")) if "ngrams" in fields else None,
            )
        except UsageError as error:
            raise ArtifactError(f"{source}: {error}") from error

    def sha256(self) -> str:
        """Return the SHA-256 of the JSON form in hexadecimal."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    def _fold(self, word: str) -> str:
        return word.lower() if self.lowercase else word


_DAMAGED = damaged("Save the model again.")
_FIELDS = ("format", "lowercase", "oov", "buckets", "trainable", "extra", "baseforms")
_NGRAMS = ("rows", "shortest", "longest", "hashes")
"""What is kept of the rule of n-grams, where there is one."""
_NGRAM_FLAGS = ("cased", "unknown_alone")
"""What is kept of it where it is true."""


def _ngrams_of(fields: Fields) -> NgramRule:
    """Read the rule of n-grams, which checks the ranges of its numbers."""
    fields.only(*_NGRAMS, *_NGRAM_FLAGS)
    rows, shortest, longest, hashes = map(fields.whole, _NGRAMS)
    cased, unknown_alone = (fields.flag(name, False) for name in _NGRAM_FLAGS)
    return NgramRule(rows, shortest, longest, hashes, cased, unknown_alone)


def _bucket(word: str, buckets: int) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % buckets


AnyVocabulary = Vocabulary | PieceVocabulary


def mask_of(vocabulary: AnyVocabulary) -> str | None:
    """Return what stands for a word that is taken away, or None where the network was not trained with masked words."""
    return MASK if isinstance(vocabulary, Vocabulary) and vocabulary.mask_row is not None else None


def vocabulary_from_json(text: str, source: str = "vocabulary") -> AnyVocabulary:
    """Read what either kind of vocabulary wrote.

    Args:
        text: the JSON.
        source: name for error messages, usually the file.

    Returns:
        The vocabulary.

    Raises:
        ArtifactError: if the text is not such a JSON or of another format version.
    """
    return vocabulary_from_plain(parsed(text, source, dict, _DAMAGED), source)


def vocabulary_from_plain(content: object, source: str = "vocabulary") -> AnyVocabulary:
    """Read the plain values that either kind of vocabulary gave; see `vocabulary_from_json`."""
    if not is_table(content) or content.get("kind") != PIECES_KIND:
        return Vocabulary.from_plain(content, source)
    return PieceVocabulary.from_plain(content, source)
