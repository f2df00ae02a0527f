"""Whether texts are English: by how many of their words are English function words, or words of the English package."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

ENGLISH = "heedful-en"
"""The package of English word vectors."""
_OURS = (
    "the of and to in is it that for on with as are be at this have from not you i we they he she what who how "
    "which when where why an was were has had will would can could should do does did my your his her our their "
    "there been if or but so than then them me us its about into by all no any some more very just up out"
)
_THEIRS = (
    "der die das und ist nicht ein eine zu den mit von auf für im dem sich auch es ich wir sie er le la les des et un "
    "une est que qui dans pour pas sur du au avec ce il elle nous vous de en el los las y por con para se del al lo "
    "como más su una è di che non per sono si da gli ma het een van niet op te dat zijn ik je o os um uma não com "
    "em na och att det som på är av för inte jag og til ikke"
)
_FUNCTION = frozenset(_OURS.split())
_ELSEWHERE = frozenset(_THEIRS.split()) - _FUNCTION
_WORD = re.compile(r"[^\W\d_]+")
_MOST = 20_000
_LEAST_KNOWN, _LONG = 0.6, 3


def is_english(texts: Iterable[str]) -> bool:
    """Return whether texts are English.

    English function words must outnumber those of other languages, and be a tenth of all words. Of texts without
    function words, such as names of products, the rows of the English package decide, where it is installed: six of ten
    words of three letters or more must have one. Those of one and two, as codes have, mean nothing.

    Args:
        texts: some texts; the first 20,000 words are looked at.

    Returns:
        Whether they are. Texts without words are not.
    """
    words: list[str] = []
    for text in texts:
        words += [word.lower() for word in _WORD.findall(text)]
        if len(words) > _MOST:
            break
    if not words:
        return False
    ours = sum(word in _FUNCTION for word in words) / len(words)
    others = sum(word in _ELSEWHERE for word in words) / len(words)
    if ours >= 0.1:
        return ours > 1.5 * others
    if others > ours or not (known := _known_words()):
        return False
    long = [word for word in words if len(word) >= _LONG]
    return bool(long) and sum(word in known for word in long) / len(long) >= _LEAST_KNOWN


def package_of(name: str) -> str:
    """Return the name of an installed package of word vectors; empty where there is none of this name."""
    from heedful.storage.shared_rows import packaged_rows

    return name if name and packaged_rows(name) is not None else ""


def _known_words() -> frozenset[str]:
    """Return the words and forms that the package knows; none where it is not installed."""
    from heedful.storage.shared_rows import packaged_rows

    folder = packaged_rows(ENGLISH)
    return frozenset() if folder is None else _words_in(folder)


@lru_cache(1)
def _words_in(folder: Path) -> frozenset[str]:
    """Read the words and forms of the package."""
    from heedful.storage.shared_rows import BASEFORMS, ROWS, kept_rows

    lines = (folder / BASEFORMS).read_text(encoding="utf-8").splitlines()
    return frozenset(kept_rows(folder / ROWS).words) | {line.split("\t", 1)[0] for line in lines}
