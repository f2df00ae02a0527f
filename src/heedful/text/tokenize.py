"""From a string to words, each with its place in the string.

Every tokenizer first cuts at white space and then cuts each piece on its own, without looking at its neighbors. So a
piece need be cut only once however often it occurs, and no character other than white space is lost or altered.
HTML tags and links are kept as they are, dropped, or read as one word each.

A tokenizer may normalize each piece first (`heedful.text.normalization`). Its words are then those of the normalized
text, their places are still those of the text as it was written, and emoji are words of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

from heedful.errors import check_known
from heedful.text.boundaries import unicode_words
from heedful.text.emoji import split_emoji
from heedful.text.markup import LINK, TAG, Markup, pieces
from heedful.text.normalization import normalized

WordSplitter = Callable[[str], tuple[str, ...]]
"""Cuts one word into parts whose concatenation is the word; the empty word gives no parts."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of one text.

    Attributes:
        words: the words, unaltered unless the tokenizer normalizes them.
        spans: for each word its first character and the one after its last, never overlapping: ``text[start:end] ==
            word``, but for normalized words and those that stand for a tag or a link.
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Placed(NamedTuple):
    """The words of a text, or of ready-made words.

    Attributes:
        words: as the vocabulary reads them.
        spans: their places in the text; see `Tokens`.
        text: the text; of ready-made words these with single spaces between them.
        written: the words as they were written.
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: str
    written: tuple[str, ...]

    def head(self, length: int) -> Placed:
        """Return the first words."""
        return Placed(self.words[:length], self.spans[:length], self.text, self.written[:length])


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way of cutting text into words.

    Attributes:
        name: key in `TOKENIZERS`, as stored with a model.
        split_chunk: cuts one piece of text without white space.
        split_word: cuts a word that a file gives ready-made (a leaf of a parse); leaves it whole unless the tokenizer
            has a second split.
        emoji: whether emoji are words of their own where text is normalized.
        markup: what becomes of HTML tags and links; see `heedful.text.markup`.
        normalize: whether text is normalized first; see `heedful.text.normalization`.
    """

    name: str
    split_chunk: WordSplitter
    split_word: WordSplitter
    emoji: bool = True
    markup: Markup = "keep"
    normalize: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        """Let copies and pickles of a model find it by its name: what remembers words cannot be copied."""
        return partial(tokenizer, normalize=self.normalize), (self.name, self.markup)

    def chunks(self, text: str) -> list[str]:
        """Return the pieces of a text between white space; a tag or a link may be one, or none (`markup`)."""
        if self.markup == "keep" or ("<" not in text and "://" not in text and "www." not in text):
            return text.split()
        found: list[str] = []
        for start, end, kind in pieces(text):
            if not kind:
                found += text[start:end].split()
            elif self.markup == "token":
                found.append(kind)
        return found

    def split(self, chunk: str) -> tuple[str, ...]:
        """Cut one of `chunks` into words."""
        if chunk in (TAG, LINK) and self.markup == "token":
            return (chunk,)
        if not self.normalize or chunk.isascii():
            return self.split_chunk(chunk)
        cut = _normalized_words if len(chunk) <= _LONGEST_REMEMBERED else _normalized_words.__wrapped__
        return cut(self.split_chunk, self.emoji, chunk)

    def split_ready(self, word: str) -> tuple[str, ...]:
        """Cut a ready-made word: see `split_word`; one that is normalized to nothing stays as it is."""
        if not self.normalize or word.isascii():
            return self.split_word(word)
        return self.split_word(normalized(word).text) or self.split_word(word)

    def words(self, text: str) -> list[str]:
        """Return the words of a text, without their places."""
        plain = self.markup != "token" and (not self.normalize or text.isascii())
        cut = self.split_chunk if plain else self.split
        return [word for chunk in self.chunks(text) for word in cut(chunk)]

    def tokens(self, text: str) -> Tokens:
        """Return the words of a text and their places."""
        words: list[str] = []
        spans: list[tuple[int, int]] = []
        for first, last, kind in [(0, len(text), "")] if self.markup == "keep" else pieces(text):
            if kind:
                if self.markup == "token":
                    words.append(kind)
                    spans.append((first, last))
                continue
            for match in _CHUNK.finditer(text, first, last):
                start, chunk = match.start(), match.group()
                if self.normalize and not chunk.isascii():
                    found = normalized(chunk)
                    own = _words_of_normalized(self.split_chunk, self.emoji, found.text)
                    words += own
                    spans += [(start + a, start + b) for a, b in found.spans(own)]
                    continue
                for word in self.split_chunk(chunk):
                    words.append(word)
                    spans.append((start, start + len(word)))
                    start += len(word)
        return Tokens(tuple(words), tuple(spans))

    def placed(self, text: str | Sequence[str]) -> Placed:
        """Return the words of a text, or of ready-made words, with their places and as they were written."""
        if isinstance(text, str):
            tokens = self.tokens(text)
            return Placed(tokens.words, tokens.spans, text, as_written(tokens, text))
        words, written = list[str](), list[str]()
        for word in text:
            pieces = self.split_ready(word)
            words += pieces
            if len(pieces) == 1:
                written.append(word)
            elif self.normalize:
                places = zip(pieces, normalized(word).spans(pieces), strict=True)
                written += [word[start:end] or piece for piece, (start, end) in places]
            else:
                written += pieces
        ends = tuple(accumulate(len(word) + 1 for word in written))
        spans = tuple((end - 1 - len(word), end - 1) for word, end in zip(written, ends, strict=True))
        return Placed(tuple(words), spans, " ".join(written), tuple(written))


def as_written(tokens: Tokens, text: str) -> tuple[str, ...]:
    """Return words as the text has them, before they were normalized; a tag or a link as the word that stands for it.

    Args:
        tokens: of the text.
        text: the text.

    Returns:
        One string a word, never empty.
    """
    return tuple(
        word if word in (TAG, LINK) else text[start:end] or word
        for word, (start, end) in zip(tokens.words, tokens.spans, strict=True)
    )


def _words_of_normalized(split: WordSplitter, emoji: bool, text: str) -> tuple[str, ...]:
    """Cut a normalized piece into words."""
    if not emoji:
        return split(text)
    parts = split_emoji(text)
    return tuple(word for k, part in enumerate(parts) for word in ((part,) if k % 2 else split(part)))


@lru_cache(1 << 16)
def _normalized_words(split: WordSplitter, emoji: bool, chunk: str) -> tuple[str, ...]:
    """Normalize a piece and cut it into words."""
    return _words_of_normalized(split, emoji, normalized(chunk).text)


def tokenizer(name: str, markup: Markup = "keep", *, normalize: bool = False) -> Tokenizer:
    """Return the tokenizer of a name.

    Args:
        name: a key of `TOKENIZERS`.
        markup: what becomes of HTML tags and links.
        normalize: whether text is normalized first; see `heedful.text.normalization`.

    Returns:
        The tokenizer.

    Raises:
        UsageError: if there is none of this name.
    """
    check_known(name, TOKENIZERS, f"tokenizer: unknown name {name!r}")
    found = TOKENIZERS[name]
    return replace(found, markup=markup, normalize=normalize) if markup != "keep" or normalize else found


def tokenize(
    text: str, name: str = "treebank", markup: Markup = "keep", *, normalize: bool = False
) -> Tokens:
    """Cut a text into words with character offsets.

    Args:
        text: any string; empty and white space alone give no words.
        name: a key of `TOKENIZERS`.
        markup: what becomes of HTML tags and links.
        normalize: whether the text is normalized first; see `heedful.text.normalization`.

    Returns:
        The words in order, with their places.

    Raises:
        UsageError: if there is no tokenizer of this name.
    """
    return tokenizer(name, markup, normalize=normalize).tokens(text)


def binary_parse_words(parse: str) -> tuple[str, ...]:
    """Return the leaves of a binary parse as SNLI writes it: ``( ( A dog ) ( sleeps . ) )``.

    Brackets and quotes that the parser escaped come back as plain text has them (``-LRB-`` as ``(``, two backquotes
    as ``"``), so that the same sentence read as plain text gives the same words. The published SNLI code keeps the
    escapes.

    Args:
        parse: the parse.

    Returns:
        The words in order.
    """
    return tuple(PENN_ESCAPES.get(leaf, leaf) for leaf in parse.split() if leaf != "(" and leaf != ")")


_CHUNK = re.compile(r"\S+")
PENN_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}
"""What the Penn Treebank writes for brackets and quotation marks, to the character itself."""

# Marks that are words of their own wherever they stand. A comma or colon between two digits belongs to the number.
MARK = re.compile(
    r"""(
      \.{2,} | … | -{2,} | [–—]+
    | `` | '' | ["“”„«»‹›‘`]
    | [][(){}<>]
    | [;@#$£€¥%&?!¿¡]
    | (?<!\d)[,:] | [,:](?!\d)
    )""",
    re.VERBOSE,
)
CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|ll|re|ve))$", re.IGNORECASE)
SEVERAL_WORDS = {
    "cannot": 3,
    "gonna": 3,
    "gotta": 3,
    "wanna": 3,
    "gimme": 3,
    "lemme": 3,
    "d'ye": 2,
    "more'n": 4,
    "'tis": 2,
    "'twas": 2,
}
"""Words that the Penn Treebank writes as two, with the length of the first."""

INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}|[A-HJ-Z]\.")
ABBREVIATION = re.compile(
    r"(mr|mrs|ms|dr|prof|st|mt|jr|sr|rev|gen|col|capt|lt|sgt|gov|sen|hon|messrs|vs|etc|inc|ltd|co|corp|bros|ave|blvd"
    r"|rd|dept|vol|pp|ft|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ph\.d|e\.g|i\.e|a\.m|p\.m)\.",
    re.IGNORECASE,
)
_APOSTROPHES = "'’"
_LONGEST_REMEMBERED = 40
SECOND_SPLIT = re.compile(r"""([-−—–/~"'“’”‘°])""")


def _whole(word: str) -> tuple[str, ...]:
    return (word,) if word else ()


def _second_split(word: str) -> tuple[str, ...]:
    return tuple(part for part in SECOND_SPLIT.split(word) if part)


def _treebank(chunk: str) -> tuple[str, ...]:
    if chunk.isalpha() and chunk.lower() not in SEVERAL_WORDS:
        return (chunk,)
    parts: list[str] = []
    for number, part in enumerate(MARK.split(chunk)):
        if number % 2:
            parts.append(part)
        elif part:
            parts += _unmarked(part)
    return tuple(parts)


def _unmarked(part: str) -> list[str]:
    """Cut a piece that holds no mark: apostrophes around it, its full stop, its clitic."""
    if part.lower() in SEVERAL_WORDS or CLITIC.fullmatch(part):
        return _word_and_clitic(part)
    bare = part.lstrip(_APOSTROPHES)
    before = list(part[: len(part) - len(bare)])
    word = bare.rstrip(_APOSTROPHES)
    after = list(bare[len(word) :])
    if word.endswith(".") and not _keeps_full_stop(word):
        word = word[:-1]
        after.insert(0, ".")
        quoted = word.rstrip(_APOSTROPHES)
        after[:0] = word[len(quoted) :]
        word = quoted
    return before + (_word_and_clitic(word) if word else []) + after


def _keeps_full_stop(word: str) -> bool:
    return bool(ABBREVIATION.fullmatch(word) or INITIALS.fullmatch(word))


def _word_and_clitic(word: str) -> list[str]:
    cut = SEVERAL_WORDS.get(word.lower())
    if cut is None:
        clitic = CLITIC.search(word)
        cut = clitic.start() if clitic else 0
    return [word[:cut], word[cut:]] if cut else [word]


def _treebank_twice(chunk: str) -> tuple[str, ...]:
    return tuple(part for word in _treebank(chunk) for part in _second_split(word))


def _remembered(split: WordSplitter) -> WordSplitter:
    """Remember the most recent pieces; long ones are cut afresh so that they cannot fill the memory."""
    recall = lru_cache(maxsize=1 << 14)(split)
    return lambda chunk: recall(chunk) if len(chunk) <= _LONGEST_REMEMBERED else split(chunk)


TOKENIZERS: dict[str, Tokenizer] = {
    each.name: each
    for each in (
        Tokenizer("treebank", _remembered(_treebank), _whole),
        Tokenizer("unicode", _remembered(unicode_words), _whole),
        Tokenizer("whitespace", _whole, _whole, emoji=False),
        Tokenizer("treebank_split_hyphens", _remembered(_treebank_twice), _second_split),
        Tokenizer("whitespace_split_hyphens", _second_split, _second_split, emoji=False),
    )
}
"""Every tokenizer by name.

`treebank`: own rules after the Penn Treebank: punctuation, brackets, quotes, currency signs and ellipses are words;
``n't`` and ``'s`` are cut off; hyphens stay. Quotes keep their form, and a full stop is cut off anywhere but after
initials and common abbreviations, not only at the end of the text.
`unicode`: the word boundaries of Unicode, for any script; scripts without spaces are cut into characters.
`whitespace`: for text that is already tokenized; emoji stay where the text has them.
`…_split_hyphens`: the same, then cut at each of ``- − — – / ~ " ' “ ’ ” ‘ °`` with the separator kept as a word, as in
the published code for SNLI, CR, MPQA and SUBJ. That code's regular expression also yields an empty word between two
separators and beside one at the edge; those are not words here.
"""
