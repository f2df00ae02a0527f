"""Word boundaries of Unicode (UAX 29), for text of any script.

Python's own data says what a character is; the rules are one regular expression over the classes of the characters. The
standard leaves scripts that write no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) to
dictionaries; without one, each of their characters is a word here, with the marks that belong to it, and a run of
katakana is one word, as the standard has it. tests/unit/text/test_boundaries.py compares the boundaries with those of
the package regex.

The setting `auto` chooses a tokenizer by a look at the scripts of the training texts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_SINGLE = {
    "\u200d": "J",
    "'": "Q",
    '"': "D",
    "\u200b": "O",
    **dict.fromkeys(".\u2018\u2019\u2024\ufe52\uff07\uff0e", "M"),
    **dict.fromkeys(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a", "L"),
    **dict.fromkeys(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", "C"),
    **dict.fromkeys("\u066b", "N"),
    **dict.fromkeys("\uff9e\uff9f\u200c", "X"),
    **dict.fromkeys("\u3031\u3032\u3033\u3034\u3035\u309b\u309c", "K"),
    **dict.fromkeys("\u203c\u2049\u3030\u303d", "P"),
    **dict.fromkeys("\u055a\u055b\u055c\u055e\u058a\u05f3\u070f\ua720\ua721\ua789\ua78a\uab5b", "A"),
}
"""Characters whose class is not that of their category."""

_RANGES = (
    ("R", ((0x1F1E6, 0x1F1FF),)),
    ("X", ((0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F))),
    ("K", ((0x30A0, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE), (0x3300, 0x3357))),
    ("K", ((0xFF66, 0xFF9D), (0x1AFF0, 0x1B000), (0x1B120, 0x1B122), (0x1B164, 0x1B167))),
    ("H", ((0x05D0, 0x05EA), (0x05EF, 0x05F2), (0xFB1D, 0xFB1D), (0xFB1F, 0xFB28), (0xFB2A, 0xFB4F))),
    ("A", ((0x02C2, 0x02C5), (0x02D2, 0x02D7), (0x02DE, 0x02DF), (0x02E5, 0x02EB), (0x02ED, 0x02ED))),
    ("A", ((0x02EF, 0x02FF), (0x24B6, 0x24E9), (0xA708, 0xA716), (0x1F130, 0x1F149), (0x1F150, 0x1F169))),
)
"""Runs of characters of one class; marks among them keep their own."""

UNSPACED = (
    *((0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1F200, 0x1F200)),
    *((0x3006, 0x3007), (0x3021, 0x3029), (0x3038, 0x303A), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xF900, 0xFAD9), (0x17000, 0x18CFF), (0x1B170, 0x1B2FB), (0x20000, 0x323AF)),
    *((0x0E01, 0x0E3A), (0x0E40, 0x0E4E), (0x0E81, 0x0EC6), (0x0EDC, 0x0EDF), (0x1000, 0x103F)),
    *((0x1050, 0x108F), (0x109A, 0x109F), (0x1780, 0x17D3), (0x17D7, 0x17D7), (0x17DC, 0x17DD)),
    *((0x1950, 0x197F), (0x1980, 0x19CA), (0x19DE, 0x19DF), (0x1A20, 0x1A7C), (0x1AA0, 0x1AAD)),
    *((0xA9E0, 0xA9EF), (0xA9FA, 0xA9FE), (0xAA60, 0xAA7F), (0xAA80, 0xAADF), (0x11700, 0x1172B)),
)
"""Letters of scripts that write no spaces between words: hiragana, ideographs, and the scripts of South East Asia."""

UNSPACED_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
"""The same as a regular expression has them between square brackets."""

_RUNS = sorted((first, last, kind) for kind, runs in (*_RANGES, ("", UNSPACED)) for first, last in runs)
"""All of these runs, none of which meets another; the class of letters without spaces is empty here."""
_STARTS = [first for first, _, _ in _RUNS]

_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"))
_MARKS = frozenset(("Mn", "Mc", "Me", "Cf"))


def class_of(character: str) -> str:
    """Return the class of a character for the rules below.

    A letter, H Hebrew letter, N digit, K katakana, U connector, L M C marks between letters, both and digits,
    Q and D quotes, X what belongs to the character before it, J joiner, R half of a flag, P pictograph, O another.
    """
    if character in _SINGLE:
        return _SINGLE[character]
    number, category = ord(character), unicodedata.category(character)
    place = bisect_right(_STARTS, number) - 1
    kind = _RUNS[place][2] if place >= 0 and number <= _RUNS[place][1] else None
    if kind and (category not in _MARKS or kind == "X"):
        return kind
    if category in _MARKS:
        return "X"
    if kind == "" and category != "Nd":
        return "O"
    if category in _LETTERS:
        return "A"
    return {"Nd": "N", "Pc": "U", "So": "P"}.get(category, "O")


class _Classes(dict[int, str]):
    """Code point to class, filled as characters are met."""

    def __missing__(self, number: int) -> str:
        found = self[number] = class_of(chr(number))
        return found


_CLASSES = _Classes()

_E = "[XJ]*+"
_LAST = f"H{_E}Q{_E}(?![AH])"  # WB7a: a quote stays with the Hebrew letter before it, and ends the word
_HEBREW = f"H{_E}(?:D{_E}(?=H)|[LMQ]{_E}(?=[AH]))?"  # WB7b, WB7c
_LETTER = f"A{_E}(?:[LMQ]{_E}(?=[AH]))?"  # WB6, WB7
_DIGIT = f"N{_E}(?:[CMQ]{_E}(?=N))?"  # WB11, WB12
_RUN = f"(?:(?!{_LAST})(?:{_HEBREW}|{_LETTER}|{_DIGIT}))++"  # WB5, WB8 to WB10
_KATAKANA = f"(?:K{_E})++"  # WB13
_JOINTS = f"(?:U{_E})++"  # WB13a, WB13b
_WORD = f"(?=[AHNKU])(?:{_JOINTS})?+(?:(?:{_RUN}|{_KATAKANA}){_JOINTS})*(?:(?:{_RUN})?{_LAST}|{_RUN}|{_KATAKANA})?"
RULES = f"(?:{_WORD}|R{_E}R{_E}|.{_E})(?:(?<=J)P{_E})*"  # WB3c, WB15, WB16, WB999
"""A word, as a regular expression over the classes of its characters."""
_TOKEN = re.compile(RULES, re.DOTALL)


def unicode_words(chunk: str) -> tuple[str, ...]:
    """Cut text without white space at every word boundary of UAX 29.

    Args:
        chunk: the text.

    Returns:
        The words, numbers, marks and signs, whose concatenation is the text.
    """
    if chunk.isascii() and chunk.isalnum():
        return (chunk,)
    classes = chunk.translate(_CLASSES)
    return tuple(chunk[match.start() : match.end()] for match in _TOKEN.finditer(classes))


AUTO = "auto"
"""Name of the setting that asks for the choice."""

_ENOUGH = 1_000_000
"""Characters that are looked at."""
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_FEW, _MANY = 0.01, 0.1


@dataclass(frozen=True)
class TokenizerChoice:
    """The tokenizer that was chosen.

    Attributes:
        name: its key in `heedful.text.tokenize.TOKENIZERS`.
        reason: what was seen, for a note.
    """

    name: str
    reason: str


def choose_tokenizer(texts: Iterable[str]) -> TokenizerChoice:
    """Choose between the rules for text in Latin letters and those of Unicode.

    Args:
        texts: the training texts; the first million characters are looked at.

    Returns:
        "unicode" where 1 % of the letters are of scripts that write no spaces between words, or 10 % are not Latin;
        else "treebank".
    """
    letters = latin = unspaced = seen = 0
    no_spaces = re.compile(f"[{UNSPACED_CLASS}\\u30a1-\\u30fa]")
    for text in texts:
        letters += sum(map(str.isalpha, text))
        latin += len(_LATIN.findall(text))
        unspaced += len(no_spaces.findall(text))
        seen += len(text)
        if seen > _ENOUGH:
            break
    if not letters:
        return TokenizerChoice("treebank", "it has no letters")
    if unspaced >= _FEW * letters:
        share = f"{unspaced / letters:.0%} of its letters are of scripts that write no spaces between words"
        return TokenizerChoice("unicode", share)
    name = "treebank" if letters - latin < _MANY * letters else "unicode"
    return TokenizerChoice(name, f"{latin / letters:.0%} of its letters are Latin")
