"""Inflected English forms and their base forms, for words that the word vectors lack.

The word vectors list base forms almost alone. A form such as "abandoned" takes the vector of "abandon": the lemmas of
the training split of a treebank say so for the forms that it has, and plain rules of spelling for the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

_VOWELS = "aeiou"
_SIBILANTS = ("s", "x", "z", "ch", "sh")
_NO_VERB = (
    *(
        "ness",
        "tion",
        "sion",
        "ment",
        "ity",
        "ism",
        "ist",
        "ly",
        "ship",
        "hood",
        "ful",
        "less",
        "ous",
        "able",
        "ible",
    ),
    *("ical", "ial", "ian", "ology", "ography", "ette", "dom", "ery", "acy", "ary", "ative", "ster", "ier"),
)
"""Endings of words that are hardly ever verbs."""
_NOUNS_ALONE = ("ly", "ed", "ful", "less", "ous", "able", "ible", "ical", "s")
"""Endings of words that hardly ever have a plural."""


def lemmas(rows: Iterable[str]) -> dict[str, str]:
    """Read the lemma of each inflected form of a CoNLL-U file.

    Args:
        rows: the lines of the file.

    Returns:
        Lower-cased form to its most frequent lower-cased lemma, where the two differ and are plain letters.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        fields = row.rstrip("\n").split("\t")
        if len(fields) != 10 or fields[3] in ("PROPN", "PRON", "X", "PUNCT", "SYM", "NUM"):
            continue
        form, lemma = fields[1].lower(), fields[2].lower()
        if _is_plain(form) and _is_plain(lemma):
            counts[form][lemma] += 1
    chosen = {form: max(sorted(found), key=found.__getitem__) for form, found in sorted(counts.items())}
    return {form: lemma for form, lemma in chosen.items() if form != lemma}


def base_forms(words: Collection[str], known: dict[str, str]) -> dict[str, str]:
    """Map inflected forms to words of a list.

    Args:
        words: the words with a vector.
        known: form to lemma, which goes before the rules.

    Returns:
        Form to word, sorted; no form is itself a word of the list.
    """
    listed = frozenset(words)
    found: dict[str, str] = {}
    for word in sorted(filter(_is_plain, listed), key=lambda word: (-len(word), word)):
        for form in regular_forms(word):
            found.setdefault(form, word)
    found.update({form: lemma for form, lemma in known.items() if lemma in listed})
    return {form: found[form] for form in sorted(found) if form not in listed}


def regular_forms(word: str) -> Iterator[str]:
    """Yield the regular plural, verb and comparative forms of a word, whether or not they are in use.

    Args:
        word: of small letters.

    Yields:
        The forms.
    """
    if len(word) < 3:
        return
    if not word.endswith(_NOUNS_ALONE) or word.endswith("ss"):
        yield _with_s(word)
    is_form = len(word) > 6 and word.endswith(("ing", "ed"))
    if not is_form and not word.endswith(_NO_VERB):
        for stem in _stems(word):
            yield stem + "ing"
            yield _with_e(stem if not word.endswith("e") else word, word) + "d"
    if len(word) <= 5:
        for stem in list(_stems(word))[-1:]:
            for ending in ("r", "st"):
                yield _with_e(stem if not word.endswith("e") else word, word) + ending


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(_SIBILANTS) else "s")


def _with_e(stem: str, word: str) -> str:
    """Return what "d", "r" and "st" are added to."""
    if stem.endswith("e"):
        return stem
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ie"
    return stem + "e"


def _stems(word: str) -> Iterator[str]:
    """Yield what "ing" is added to; a long word that ends in one consonant may double it or not."""
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        yield word[:-1]
        return
    last, before = word[-1], word[-2]
    closed = last not in _VOWELS + "wxy" and before in _VOWELS and word[-3] not in _VOWELS
    groups = sum(
        letter in _VOWELS + "y" and (place == 0 or word[place - 1] not in _VOWELS + "y")
        for place, letter in enumerate(word)
    )
    if not closed or groups > 1:
        yield word
    if closed and (groups == 1 or (last in "lprt" and before + last != "er")):
        yield word + last


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()
