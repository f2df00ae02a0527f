from __future__ import annotations

import time

import pytest

from heedful.data.examples import Example
from heedful.data.tokens import tokenize_corpus
from heedful.text.boundaries import choose_tokenizer
from heedful.text.markup import LINK, TAG
from heedful.text.tokenize import TOKENIZERS, tokenize, tokenizer

TEXT = 'Good<br/>film , see <a href="http://x.org/a b">http://x.org/a?b=1.</a> or www.y.org ! <!-- no --> 1 < 2 > 0 <3'
PLAIN = "Good film , see . or ! 1 < 2 > 0 <3"
TOKEN = f"Good {TAG} film , see {TAG} {LINK} . {TAG} or {LINK} ! {TAG} 1 < 2 > 0 <3"


@pytest.mark.parametrize("name", TOKENIZERS)
def test_tags_and_links_are_dropped_or_one_word_each(name: str) -> None:
    split = tokenizer(name).words
    assert tokenizer(name, "drop").words(TEXT) == split(PLAIN)
    expected = [
        word for piece in TOKEN.split() for word in ([piece] if piece in (TAG, LINK) else split(piece))
    ]
    assert tokenizer(name, "token").words(TEXT) == expected
    assert tokenizer(name, "keep").words(TEXT) == split(TEXT)


@pytest.mark.parametrize("markup", ["keep", "drop", "token"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_words_stand_where_their_places_say(name: str, markup: str) -> None:
    found = tokenize(TEXT, name, markup)  # type: ignore[arg-type]
    assert list(found.words) == tokenizer(name, markup).words(TEXT)  # type: ignore[arg-type]
    for word, (start, end) in zip(found.words, found.spans, strict=True):
        said = TEXT[start:end]
        assert said == word or (word == TAG and said[0] == "<") or (word == LINK and "." in said)
    corpus = tokenize_corpus([Example((TEXT,))], tokenizer(name, markup))  # type: ignore[arg-type]
    assert tuple(corpus.words[number] for number in corpus.sides[0][0]) == found.words


def test_a_word_that_looks_like_a_tag_is_text_where_tags_are_kept() -> None:
    assert tokenizer("whitespace").words("a <tag> b") == ["a", "<tag>", "b"]
    assert tokenizer("treebank").words("a <tag> b") == ["a", "<", "tag", ">", "b"]


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["A lovely film .", "El niño comió"], "treebank"),
        (["42 !", ""], "treebank"),
        (["我喜歡這部電影", "很好"], "unicode"),
        (["とても良い"], "unicode"),
        (["สวัสดี"], "unicode"),
        (["Очень хороший фильм"], "unicode"),
        (["A film", "with one row of another script among many " * 5, "我喜歡這部電影"], "unicode"),
        (["One word of Greek, λόγος, in a long sentence of English as it is often met"], "treebank"),
    ],
)
def test_the_tokenizer_is_chosen_by_the_letters(texts: list[str], name: str) -> None:
    choice = choose_tokenizer(texts)
    assert choice.name == name
    assert choice.reason


@pytest.mark.parametrize(
    "text", ["<!--" * 50_000, "<!-- -" * 30_000, "<a " * 60_000, "www." * 50_000, "<!--" * 40_000 + "-->"]
)
def test_unclosed_markup_costs_no_more_than_other_text(text: str) -> None:
    def seconds(given: str) -> float:
        start = time.process_time()
        tokenizer("whitespace", "drop").words(given)
        return time.process_time() - start

    assert seconds(text) < 20 * max(seconds("a <b>bold</b> word of http://x.org " * 6_000), 0.02)


def test_a_comment_is_one_up_to_2000_characters() -> None:
    words = tokenizer("whitespace", "token").words
    assert words("<!--" + "x" * 2000 + "-->") == [TAG]
    assert len(words("<!--" + "x" * 2001 + "-->")) == 1
    assert words("<!--" + "x" * 2001 + "-->") != [TAG]
    assert words("<!--<!-- a --> b --> c") == [TAG, "b", "-->", "c"]
    assert words("<!--" * 600 + "-->y")[-2:] == [TAG, "y"]
