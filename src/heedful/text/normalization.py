"""Normalize text before it is cut into words, so that one word has one spelling; every character keeps its place.

A text is cut at white space first, and each chunk is normalized on its own, in three steps:

1. Characters that show nothing are removed: soft hyphens, zero-width characters, variation selectors, direction marks
   (`IGNORABLE`, Unicode's Default_Ignorable_Code_Point). The joiner between two pictographs stays, and so do the tag
   characters of a flag (`heedful.text.emoji`).
2. Each character, with the marks that follow it, becomes its NFKC form (UAX 15). A pictograph stays as it is. A
   character that NFKC would turn into white space and more, such as a diaeresis by itself, stays, and only its marks
   change. Marks beyond 30 decomposed characters are removed, as in UAX 15's stream-safe text, so that no text takes
   quadratic time.
3. Curly apostrophes and quotation marks become straight ones (`QUOTES`).

Normalizing twice changes nothing more (tests/unit/text/test_normalization.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise, repeat

from heedful.text.emoji import PICTOGRAPH, SKIN_TONES, TAG_FLAG

_SHOWS_NOTHING = (
    "\xad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
"""Code points that show nothing and ranges of them, without the tags; see `PICTOGRAPH`."""
QUOTES = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
}
"""Apostrophes and quotation marks to the straight ones."""
MOST_MARKS = 30
"""Decomposed characters of a character and its marks, beyond the character's own first."""

_JOINER = "\u200d"
_IN_EMOJI = f"{PICTOGRAPH}{SKIN_TONES}"
HIDDEN_FIRST = f"(?!{_JOINER})[{_SHOWS_NOTHING}\U000e0000-\U000e001f\U000e0080-\U000e0fff]"
HIDDEN_TAGS = f"({TAG_FLAG})|[\U000e0020-\U000e007f]"
HIDDEN_JOINERS = f"(?<![{_IN_EMOJI}]){_JOINER}|{_JOINER}(?![{PICTOGRAPH}])"
"""The three searches of step 1, one after the other; what group 1 of the second holds stays."""
_HIDDEN = tuple(map(re.compile, (HIDDEN_FIRST, HIDDEN_TAGS, HIDDEN_JOINERS)))
_MAY_HIDE = re.compile(f"[{_SHOWS_NOTHING}\U000e0000-\U000e0fff]")

PLAIN, MARK, CHANGED, KEPT = ".", "m", "c", "k"
"""Kinds of characters: `PLAIN` is its own NFKC form, `MARK` belongs to the character before it, `CHANGED` has another
form, `KEPT` is a pictograph."""
UNIT = f"[^{MARK}]{MARK}*|{MARK}+"
"""What is normalized together, as a regular expression over the kinds of characters: a character and its marks."""
_UNIT = re.compile(UNIT)
_PICTOGRAPH = re.compile(f"[{PICTOGRAPH}]")
_LATE_VOWELS = range(0x16D67, 0x16D69)
_JAMO = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))


def kind_of(character: str) -> str:
    """Return the kind of a character for `UNIT`."""
    if character.isascii() or unicodedata.category(character) in ("Cn", "Cs"):
        return PLAIN
    first = unicodedata.normalize("NFKD", character)[0]
    number = ord(first)
    composes = number >= _JAMO[0].start and (
        number in _JAMO[0] or number in _JAMO[1] or number in _LATE_VOWELS
    )
    if composes or unicodedata.category(first)[0] == "M":
        return MARK
    if _PICTOGRAPH.match(character):
        return KEPT
    return CHANGED if unicodedata.normalize("NFKC", character) != character or character in QUOTES else PLAIN


class _Kinds(dict[int, str]):
    """Code point to kind, filled as characters are met."""

    def __missing__(self, number: int) -> str:
        found = self[number] = kind_of(chr(number))
        return found


_KINDS = _Kinds()
_STRAIGHT = str.maketrans(QUOTES)


@dataclass(frozen=True, slots=True)
class Normalized:
    """A normalized chunk, and where its characters come from.

    Attributes:
        text: the normalized chunk.
        starts: for each of its characters the place in the chunk of the first character that it comes from.
        ends: for each the place after the last, hidden characters behind it included.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def spans(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the place of each word in the chunk as it was written.

        Args:
            words: whose concatenation is the normalized chunk.

        Yields:
            [start, end), never overlapping. Where one character becomes several that are cut apart (a ligature), the
            first word has its place and the next begins behind it, so that it may have an empty one.
        """
        reached = place = 0
        for word in words:
            start, last = max(reached, self.starts[place]), place + len(word) - 1
            reached = max(start, self.ends[last])
            yield start, reached
            place = last + 1


def normalized(chunk: str) -> Normalized:
    """Normalize a chunk of text and keep the places of its characters.

    Args:
        chunk: text without white space.

    Returns:
        The normalized chunk, which has no white space either and may be empty.
    """
    if chunk.isascii():
        return Normalized(chunk, range(len(chunk)), range(1, len(chunk) + 1))
    shown, places = _without_hidden(chunk)
    kinds = shown.translate(_KINDS)
    if MARK not in kinds and CHANGED not in kinds:
        return Normalized(shown, places[:-1], places[1:])
    bounds = [*(match.start() for match in _UNIT.finditer(kinds)), len(shown)]
    forms = [_unit(shown[first:last]) for first, last in pairwise(bounds)]
    lengths = list(map(len, forms))
    borders = [places[bound] for bound in bounds]
    starts = chain.from_iterable(map(repeat, borders, lengths))
    ends = chain.from_iterable(map(repeat, borders[1:], lengths))
    return Normalized("".join(forms), tuple(starts), tuple(ends))


def normalize(text: str) -> str:
    """Normalize a text of any length, white space included; see `normalized`.

    Args:
        text: any string.

    Returns:
        The normalized text, with its white space as it was.
    """
    if text.isascii():
        return text
    return "".join(part if part.isspace() else normalized(part).text for part in _SPACES.split(text))


_SPACES = re.compile(r"(\s+)")


def _without_hidden(chunk: str) -> tuple[str, Sequence[int]]:
    """Return the characters that show, and the place of each with the end of the chunk behind them."""
    places: Sequence[int] = range(len(chunk) + 1)
    if not _MAY_HIDE.search(chunk):
        return chunk, places
    for pattern in _HIDDEN:
        hidden = [match.start() for match in pattern.finditer(chunk) if not (match.lastindex)]
        if hidden:
            gone = set(hidden)
            kept = [place for place in range(len(chunk)) if place not in gone]
            chunk = "".join([chunk[place] for place in kept])
            places = [*(places[place] for place in kept), places[-1]]
    return chunk, places


def _unit(unit: str) -> str:
    """Normalize one character with its marks, however many."""
    return _short_unit(unit[: MOST_MARKS + 2])


@lru_cache(1 << 14)
def _short_unit(unit: str) -> str:
    """Normalize one character with its marks, those beyond `MOST_MARKS` left out."""
    kinds = unit.translate(_KINDS)
    base = int(kinds[0] != MARK)
    room = MOST_MARKS + 1 - len(unicodedata.normalize("NFKD", unit[:base]))
    end = base
    for mark in unit[base:]:
        room -= len(unicodedata.normalize("NFKD", mark))
        if room < 0:
            break
        end += 1
    unit = unit[:end]
    if kinds[0] == KEPT:
        return unit
    found = unicodedata.normalize("NFKC", unit)
    if any(map(str.isspace, found)):
        marks = unicodedata.normalize("NFKC", unit[base:])
        found = unicodedata.normalize("NFC", unit[:base] + marks)
    return found.translate(_STRAIGHT)
