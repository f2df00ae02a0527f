"""From a string to words, each with its place in the string.

Every tokenizer first cuts at white space and then cuts each piece on its own, without looking at its neighbours. So a
piece need be cut only once however often it occurs, and no character other than white space is lost or altered.
HTML tags and links are kept as they are, dropped, or read as one word each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from heedful.errors import check_known
from heedful.text.boundaries import unicode_words

Markup = Literal["keep", "drop", "token"]
"""`keep`: tags and links are text like any other. `drop`: they separate words and are none. `token`: each is one word,
`TAG` or `LINK`, whatever it says."""

TAG, LINK = "<tag>", "<link>"

_MARKUP = re.compile(
    r"""
      (?P<tag> <!--.{0,2000}?--> | </?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:\s[^<>]{0,2000})?/?> )
    | (?P<link> \b(?:https?|ftp)://[^\s<>"]+ | \bwww\.[^\s<>"]+\.[^\s<>"]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_AFTER_LINK = ".,;:!?)]}'\u2019\u201d"


def pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Cut a text at its tags and links.

    Args:
        text: any string.

    Yields:
        Start and end of each piece, and `TAG`, `LINK` or, for the text between them, nothing. Marks at the end of a
        link, such as a full stop, are no part of it.
    """
    reached = 0
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["link"]:
            end = start + len(match["link"].rstrip(_AFTER_LINK))
        yield reached, start, ""
        yield start, end, TAG if match["tag"] else LINK
        reached = end
    yield reached, len(text), ""


WordSplitter = Callable[[str], tuple[str, ...]]
"""Cuts one word into parts whose concatenation is the word; the empty word gives no parts."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of one text.

    Attributes:
        words: the surface forms, unaltered.
        spans: for each word its first character and the one after its last: ``text[start:end] == word``, but for words
            that stand for a tag or a link.
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way of cutting text into words.

    Attributes:
        name: key in `TOKENIZERS`, as stored with a model.
        split_chunk: cuts one piece of text without white space.
        split_word: cuts a word that a file gives ready-made (a leaf of a parse); leaves it whole unless the tokenizer
            has a second split.
        markup: what becomes of HTML tags and links; see `heedful.text.tokenize`.
    """

    name: str
    split_chunk: WordSplitter
    split_word: WordSplitter
    markup: Markup = "keep"

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
        return (chunk,) if chunk in (TAG, LINK) and self.markup == "token" else self.split_chunk(chunk)

    def words(self, text: str) -> list[str]:
        """Return the words of a text, without their places."""
        return [word for chunk in self.chunks(text) for word in self.split(chunk)]

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
                start = match.start()
                for word in self.split_chunk(match.group()):
                    words.append(word)
                    spans.append((start, start + len(word)))
                    start += len(word)
        return Tokens(tuple(words), tuple(spans))


def tokenizer(name: str, markup: Markup = "keep") -> Tokenizer:
    """Return the tokenizer of a name.

    Args:
        name: a key of `TOKENIZERS`.
        markup: what becomes of HTML tags and links.

    Returns:
        The tokenizer.

    Raises:
        UsageError: if there is none of this name.
    """
    check_known(name, TOKENIZERS, f"tokenizer: unknown name {name!r}")
    return TOKENIZERS[name] if markup == "keep" else replace(TOKENIZERS[name], markup=markup)


def tokenize(text: str, name: str = "treebank", markup: Markup = "keep") -> Tokens:
    """Cut a text into words with character offsets.

    Args:
        text: any string; empty and white space alone give no words.
        name: a key of `TOKENIZERS`.
        markup: what becomes of HTML tags and links.

    Returns:
        The words in order, with their places.

    Raises:
        UsageError: if there is no tokenizer of this name.
    """
    return tokenizer(name, markup).tokens(text)


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
_MARK = re.compile(
    r"""(
      \.{2,} | … | -{2,} | [–—]+
    | `` | '' | ["“”„«»‹›‘`]
    | [][(){}<>]
    | [;@#$£€¥%&?!¿¡]
    | (?<!\d)[,:] | [,:](?!\d)
    )""",
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|ll|re|ve))$", re.IGNORECASE)
_SEVERAL_WORDS = {
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

_INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}|[A-HJ-Z]\.")
_ABBREVIATION = re.compile(
    r"(mr|mrs|ms|dr|prof|st|mt|jr|sr|rev|gen|col|capt|lt|sgt|gov|sen|hon|messrs|vs|etc|inc|ltd|co|corp|bros|ave|blvd"
    r"|rd|dept|vol|pp|ft|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ph\.d|e\.g|i\.e|a\.m|p\.m)\.",
    re.IGNORECASE,
)
_APOSTROPHES = "'’"
_SECOND_SPLIT = re.compile(r"""([-−—–/~"'“’”‘°])""")


def _whole(word: str) -> tuple[str, ...]:
    return (word,) if word else ()


def _second_split(word: str) -> tuple[str, ...]:
    return tuple(part for part in _SECOND_SPLIT.split(word) if part)


def _treebank(chunk: str) -> tuple[str, ...]:
    if chunk.isalpha() and chunk.lower() not in _SEVERAL_WORDS:
        return (chunk,)
    parts: list[str] = []
    for number, part in enumerate(_MARK.split(chunk)):
        if number % 2:
            parts.append(part)
        elif part:
            parts += _unmarked(part)
    return tuple(parts)


def _unmarked(part: str) -> list[str]:
    """Cut a piece that holds no mark: apostrophes around it, its full stop, its clitic."""
    if part.lower() in _SEVERAL_WORDS or _CLITIC.fullmatch(part):
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
    return bool(_ABBREVIATION.fullmatch(word) or _INITIALS.fullmatch(word))


def _word_and_clitic(word: str) -> list[str]:
    cut = _SEVERAL_WORDS.get(word.lower())
    if cut is None:
        clitic = _CLITIC.search(word)
        cut = clitic.start() if clitic else 0
    return [word[:cut], word[cut:]] if cut else [word]


def _treebank_twice(chunk: str) -> tuple[str, ...]:
    return tuple(part for word in _treebank(chunk) for part in _second_split(word))


def _remembered(split: WordSplitter) -> WordSplitter:
    """Remember the most recent pieces; long ones are cut afresh so that they cannot fill the memory."""
    recall = lru_cache(maxsize=1 << 16)(split)
    return lambda chunk: recall(chunk) if len(chunk) <= 40 else split(chunk)


TOKENIZERS: dict[str, Tokenizer] = {
    each.name: each
    for each in (
        Tokenizer("treebank", _remembered(_treebank), _whole),
        Tokenizer("unicode", _remembered(unicode_words), _whole),
        Tokenizer("whitespace", _whole, _whole),
        Tokenizer("treebank_split_hyphens", _remembered(_treebank_twice), _second_split),
        Tokenizer("whitespace_split_hyphens", _second_split, _second_split),
    )
}
"""Every tokenizer by name.

`treebank`: own rules after the Penn Treebank: punctuation, brackets, quotes, currency signs and ellipses are words;
``n't`` and ``'s`` are cut off; hyphens stay. Quotes keep their form, and a full stop is cut off anywhere but after
initials and common abbreviations, not only at the end of the text.
`unicode`: the word boundaries of Unicode, for any script; scripts without spaces are cut into characters.
`whitespace`: for text that is already tokenised.
`…_split_hyphens`: the same, then cut at each of ``- − — – / ~ " ' “ ’ ” ‘ °`` with the separator kept as a word, as in
the published code for SNLI, CR, MPQA and SUBJ. That code's regular expression also yields an empty word between two
separators and beside one at the edge; those are not words here.
"""
