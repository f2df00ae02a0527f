from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.text.normalization import MARK, kind_of, normalize, normalized
from heedful.text.tokenize import TOKENIZERS, as_written, tokenize, tokenizer

UNEVEN = (
    "ﬁｆé\u0301\u0327\u0344\u00ad\u200b\u200d\ufe0f’“´¨½m²👩👍🏽🇩1\u20e3\u1112\u1161\u11ab か\uff9e\u00a0"
    "\u2028\ud800.n't"
)
TEXTS = st.text() | st.text(alphabet=UNEVEN + "\U0001f3f4\U000e0067\U000e007f\u2194\u0338\u1ffd\u2033\u0149")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("so\u00adft\u200bware \ufeffok\u200e", "software ok"),
        ("ﬁne ｆｕｌｌ－ｗｉｄｔｈ Ⅷ m² ½", "fine full-width VIII m2 1⁄2"),
        ("cafe\u0301 Å \u1112\u1161\u11ab", "café Å 한"),
        ("don’t it´s ‘so’ “yes” ‚low‘", "do n't it 's ' so ' \" yes \" ' low '"),
        ("10\u00a0000\u202f€", "10 000 €"),
        ("great😀😀👍🏽!❤\ufe0f", "great 😀 😀 👍🏽 ! ❤"),
        ("👩\u200d👩\u200d👧x ❤\ufe0f\u200d🔥 a\u200db", "👩\u200d👩\u200d👧 x ❤\u200d🔥 ab"),
        ("🇩🇪🇫🇷 1\ufe0f\u20e32\ufe0f\u20e3 Apple™", "🇩🇪 🇫🇷 1\u20e3 2\u20e3 Apple ™"),
        ("¨ ¯ ﷺ", "¨ ¯ ﷺ"),
    ],
)
def test_known_words_are_known_however_they_are_typed(text: str, words: str) -> None:
    assert list(tokenize(text, normalize=True).words) == words.split(" ")


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_places_rise_in_the_text_and_words_are_those_of_the_normalized_text(name: str, text: str) -> None:
    tokens = tokenize(text, name, normalize=True)
    assert all(tokens.words)
    assert all(0 <= start <= end <= len(text) for start, end in tokens.spans)
    assert all(a[1] <= b[0] for a, b in zip(tokens.spans, tokens.spans[1:], strict=False))
    assert tokenizer(name, normalize=True).words(text) == list(tokens.words)
    assert tuple(tokenizer(name, normalize=True).words(normalize(text))) == tokens.words
    for word, written in zip(tokens.words, as_written(tokens, text), strict=True):
        assert word in normalize(written) or normalize(written) in word or written == word
    chunks = [tokenizer(name, normalize=True).split(chunk) for chunk in text.split()]
    assert [word for words in chunks for word in words] == list(tokens.words)


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert re.findall(r"\s", once) == re.findall(r"\s", text)


@given(text=st.text())
@settings(max_examples=200, deadline=None)
def test_without_hidden_characters_pictographs_and_quotes_it_is_nfkc(text: str) -> None:
    kept = "".join(c for c in text if normalize(c) == unicodedata.normalize("NFKC", c) and kind_of(c) != "k")
    plain = "".join(kept.split())
    assert normalize(plain) == unicodedata.normalize("NFKC", plain)


def test_each_character_is_stable_and_what_composes_is_a_mark() -> None:
    for number in range(0x80, sys.maxunicode + 1, 61):
        once = normalize(chr(number))
        assert normalize(once) == once
    for number in (*range(0x80, 0x3200), *range(0xF900, 0xFB50), *range(0x11000, 0x12000), 0xAC00, 0xAC01):
        parts = unicodedata.decomposition(chr(number)).split()
        if (
            len(parts) == 2
            and "<" not in parts[0]
            and unicodedata.normalize("NFC", chr(number)) == chr(number)
        ):
            assert kind_of(chr(int(parts[1], 16))) == MARK


def test_ready_made_words_stay_as_many() -> None:
    cut = tokenizer("treebank", normalize=True)
    assert [cut.split_ready(word) for word in ("ﬁn", "\u200b", "don’t", "a\u00a0b", "😀x")] == [
        *(("fin",), ("\u200b",), ("don't",), ("a\u00a0b",), ("😀x",)),
    ]
    placed = tokenizer("treebank_split_hyphens", normalize=True).placed(("ﬁn", "t’ｓ"))
    assert placed.words == ("fin", "t", "'", "s")
    assert placed.written == ("ﬁn", "t", "’", "ｓ")
    assert [placed.text[start:end] for start, end in placed.spans] == list(placed.written)


def test_the_place_of_a_ligature_that_is_cut_apart_is_that_of_its_first_word() -> None:
    found = normalized("aﬁb")
    assert found.text == "afib"
    assert list(found.spans(("af", "ib"))) == [(0, 2), (2, 3)]
    assert list(found.spans(("a", "f", "i", "b"))) == [(0, 1), (1, 2), (2, 2), (2, 3)]


HOSTILE = {
    "marks": "a" + "\u0301\u0327" * 30_000,
    "vowels": "\u1161" * 60_000,
    "hidden": "a\u200b" * 30_000,
    "joiners": "👩\u200d" * 30_000,
    "tags": "🏴" + "\U000e0061" * 60_000,
    "ligatures": "ﬁ" * 60_000,
    "expanding": "㍿ﷺ" * 30_000,
}


@pytest.mark.parametrize("name", ["treebank", "unicode"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_takes_much_longer_than_another(kind: str, name: str) -> None:
    cut = tokenizer(name, normalize=True)

    def seconds(text: str) -> float:
        start = time.process_time()
        cut.words(text)
        return time.process_time() - start

    ordinary = seconds(" ".join(f"{kind}é{name}{number}’s –" for number in range(4_200)))
    assert seconds(HOSTILE[kind]) < 10 * ordinary
