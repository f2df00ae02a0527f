"""Words and rows in the page are those of Python, whatever the text."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from browsing import Opened, asked, folder_of
from heedful.models import Network
from heedful.text.tokenize import TOKENIZERS, tokenizer
from heedful.text.vocabulary import Vocabulary

WRITTEN = (
    *(
        "",
        " ",
        "\u0009\u000a",
        "a",
        "don't",
        "DON'T",
        "o’clock,",
        "3.14,5a",
        "3.,",
        "e.g.",
    ),
    *(
        "E.G. ph.d. U.S.A.",
        "A. I. I'm.",
        "well-known",
        "cannot CANNOT gonna 'tis 'Twas more'n d'ye",
    ),
    *(
        "it's Mr. O'Neil's.",
        "''quoted'' ``so''",
        "'a'",
        "'",
        "wait... no… yes--- – — x—y",
    ),
    *(
        "$5,000.50 (£3) [€4] {¥5} <6>",
        "1:30, a:b ,c 1,a a,1",
        "Hello!?¿¡ & 50% #tag @me",
    ),
    *(
        "snake_case_",
        "(yes)!!",
        "我喜歡電影。",
        "東京タワーへ",
        "한국어를",
        "สวัสดี",
        "ខ្មែរ",
    ),
    *(
        "Привет,мир",
        "العربية",
        'צה"ל',
        "हिन्दी",
        "cafe\u0301s",
        "👩\u200d👩\u200d👧x",
        "👍🏽👍",
    ),
    *(
        "🇩🇪🇫🇷🇮🇹",
        "\u0301",
        "٣,٤ ٣,a",
        "²³½ Ⅷ. 五.七.",
        "𝐀. ẞ ß SS",
        "K. ıt's İT'S ſ.t. 'ſ",
    ),
    *(
        "ΟΔΟΣ ΟΔΟΣ. Σ",
        "İstanbul",
        "a\u00a0b\u2003c\u3000d\u0085e\u001cf\u200bg\ufeffh\u180ei",
    ),
    *(
        "x\u2028y\u2029z",
        "a<b>c</b> <br/> < b > <!-- x --> <x",
    ),
    *("see http://a.b/c?d=e, or (www.x.org/y). ahttp://z ftp://q’ www.x www.ab.c",),
    *(
        "<p class='q w'>don't</p>",
        "http://a<b>c",
        "éhttp://x.y",
        "http://x.y.<b www.x.yz,)<<",
        "1http://x.y _www.a.b",
    ),
    *("<a\u00a0href=x>y</a>",),
)
PIECES = (
    *(
        "a",
        "B",
        "é",
        "ß",
        "İ",
        "ı",
        "ſ",
        "K",
        "Σ",
        "ς",
        "n't",
        "'s",
        "’ll",
        "'",
        "’",
        '"',
        "“",
        "”",
    ),
    *(
        "`",
        "``",
        "''",
        ".",
        "..",
        "…",
        "-",
        "--",
        "—",
        "–",
        "/",
        "~",
        "°",
        ",",
        ":",
        ";",
        "!",
        "?",
    ),
    *(
        "$",
        "%",
        "&",
        "(",
        ")",
        "<",
        ">",
        "1",
        "٣",
        "²",
        "Ⅷ",
        "中",
        "か",
        "タ",
        "ー",
        "ก",
        "ั",
        "א",
    ),
    *(
        "ي",
        "\u0301",
        "\u200d",
        "👍",
        "🏽",
        "🇩",
        "_",
        "\u00a0",
        " ",
        "Mr.",
        "e.g.",
        "U.S.",
        "cannot",
    ),
    *(
        "'tis",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "http://",
        "www.",
        "x.y",
        "\u3000",
        "\u001d",
    ),
)
TOKENS = """async (texts) => { const model = await heedful;
  return texts.map((text) => model.reader.words(text).map(({ word, start, end }) => {
    if (model.text.markup === "keep" && !model.reader.normalizer && text.slice(start, end) !== word)
      throw new Error(`${word} at ${start}`);
    return word; })); }"""
WORDS_AND_PLACES = """async (texts) => { const model = await heedful;
  return texts.map((text) => {
    const found = model.reader.words(text);
    return [found.map(({ word }) => word), found.map(({ start, end }) => text.slice(start, end))]; }); }"""
ROWS = (
    "async (texts) => { const model = await heedful; return texts.map((text) => model.read(text, 0).rows); }"
)


def drawn(count: int) -> list[str]:
    draw = random.Random(7)
    return ["".join(draw.choices(PIECES, k=draw.randint(1, 12))) for _ in range(count)]


def network(vocabulary: Vocabulary) -> Network:
    import torch

    from heedful.models import ModelConfig
    from heedful.tasks import build_network

    model = ModelConfig(width=8, hidden=8, outputs=3, encoder="embedding")
    return build_network(
        model, torch.randn(vocabulary.trainable_rows, 8), torch.randn(vocabulary.frozen_rows, 8)
    )


@pytest.mark.parametrize("markup", ["keep", "drop", "token"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_tokens(name: str, markup: Any, opened: Opened) -> None:
    vocabulary = Vocabulary(("a",))
    made = network(vocabulary)
    page = opened(folder_of(made, vocabulary, tokenizer=name, markup=markup), made)
    texts = [*WRITTEN, *drawn(400)]
    cut = tokenizer(name, markup).words
    for text, words in zip(texts, asked(page, TOKENS, texts), strict=True):
        assert words == cut(text), text


ODD = (
    *(
        "a\0b \0",
        "\ud800",
        "x\udfffy \udc00\ud800z",
        "x" * 20_000,
        "é" * 5_000,
        "👍" * 1_000,
        "😀 👩\u200d👩\u200d👧🇩🇪❤\ufe0f",
    ),
    *(
        "\u202eabc\u202c שלום עולם \u200f!",
        "مرحبا،بالعالم؟",
        "a" + "\u0301" * 1_000,
        "\u0301\u0327 \u20dd",
        "\ufffe\uffff\U0010ffff",
    ),
    *(
        "=HYPERLINK(1)",
        "%00 &#0; &amp;lt;",
        "\r\n\r\n",
        "\x1b[31mred\x07",
        "\u2028\u2029",
        "Ǆ ǅ ǆ ﷺ",
        "\U000e0001\U000e0041",
    ),
)
"""Texts that break programs: surrogates alone, zero bytes, words without an end, marks without a letter."""


@pytest.mark.parametrize("name", TOKENIZERS)
def test_odd_texts(name: str, opened: Opened) -> None:
    vocabulary = Vocabulary(("a", "red", "x"))
    made = network(vocabulary)
    page = opened(folder_of(made, vocabulary, tokenizer=name, normalize=True, max_tokens=200_000), made)
    cut = tokenizer(name, normalize=True)
    for text, (words, places) in zip(ODD, asked(page, WORDS_AND_PLACES, ODD), strict=True):
        assert words == cut.words(text), text[:50]
        assert places == [text[start:end] for start, end in cut.tokens(text).spans], text[:50]


UNEVEN = (
    *(
        "so\u00adft\u200bware",
        "ﬁne ｆｕｌｌ",
        "e\u0301a\u0327\u0301\u0327",
        "1\ufe0f\u20e3x11\ufe0f\u20e3",
        "❤\ufe0f\u200d🔥",
    ),
    *(
        "👩\u200d\u200d👩\u200d",
        "Apple™ m² ¨\u0301 ´ \u1ffd ½",
        "great😀😀👍🏽!🇩🇪🇫🇷🇩",
        "\u1112\u1161\u11ab\u1161\u11ab",
        "か\uff9e ｶﾞ",
    ),
    *(
        "\U0001f3f4\U000e0067\U000e0062\U000e007f \U0001f3f4\U000e0067",
        "a" + "\u0301\u0327" * 40,
        "ŉ ″ ㎏ \u0344\ufb03",
    ),
    *(
        "\ufeffa\u200e\u202eb",
        "می\u200cخواهم",
        "क्\u200dष",
        "↔\u0338 ≠ =\u0338",
        "\u200b",
        "1\u200b\u20e3 １\u20e3",
        "©®‼",
    ),
    *("<!--" * 600 + "x" * 100 + "-->y", "<!--" + "👍" * 1500 + "-->z", "<!-- <!--" + "a" * 1995 + "-->"),
)


@cache
def assigned() -> list[str]:
    """Return every character that Unicode has, but those of private planes."""
    return [
        chr(n) for n in range(0x30000) if not 0xD800 <= n < 0xE000 and unicodedata.category(chr(n)) != "Cn"
    ]


@pytest.mark.parametrize("markup", ["keep", "drop", "token"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_normalized_tokens(name: str, markup: Any, opened: Opened) -> None:
    vocabulary = Vocabulary(("a",))
    made = network(vocabulary)
    page = opened(folder_of(made, vocabulary, tokenizer=name, markup=markup, normalize=True), made)
    draw = random.Random(f"{name} {markup}")  # of all characters there are other ones for each
    parts = (
        *PIECES,
        *UNEVEN,
        "\ufe0f",
        "\u200d",
        "\u20e3",
        "🏳",
        "♀",
        "\u0327",
        "\u1161",
        "ﬀ",
        "\u00ad",
        "\U000e0067",
    )
    mixed = ["".join(draw.choices(parts, k=draw.randint(1, 12))) for _ in range(400)]
    mixed += ["".join(draw.choices(assigned(), k=draw.randint(1, 12))) for _ in range(400)]
    texts = [*WRITTEN, *UNEVEN, *drawn(400), *mixed]
    cut = tokenizer(name, markup, normalize=True)
    for text, (words, places) in zip(texts, asked(page, WORDS_AND_PLACES, texts), strict=True):
        assert words == cut.words(text), text
        assert places == [text[start:end] for start, end in cut.tokens(text).spans], text


@pytest.mark.parametrize(
    "settings",
    [
        {"oov": "unknown", "baseforms": {"films": "film", "gone": "go"}},
        {"oov": "hash", "buckets": 7, "lowercase": False},
        {"oov": "nearest"},
    ],
)
def test_rows(settings: dict[str, Any], opened: Opened) -> None:
    vocabulary = Vocabulary(
        ("film", "story", "straße", "i̇stanbul", "οδος", "ab𝒳cd"), ("meal", "__proto__"), **settings
    )
    made = network(vocabulary)
    page = opened(folder_of(made, vocabulary), made)
    words = ["film", "Film", "films", "flim", "fim", "filmy", "fulm", "storys", "xstory", "STRASSE", "STRAßE"]
    words += [
        "İSTANBUL",
        "ΟΔΟΣ",
        "mael",
        "__proto__",
        "constructor",
        "toString",
        "x" * 300,
        "👍" * 40,
        "go",
        "gone",
        "ab𝒴cd",
        "abc𝒳d",
        "abcd",
        "ab𝒳𝒳cd",
        "sotry",
        "strory",
    ]
    cut = tokenizer("treebank").words
    wanted = [vocabulary.ids(cut(word)).tolist() for word in words]
    assert asked(page, ROWS, words) == wanted


@pytest.mark.study
@pytest.mark.data
@pytest.mark.parametrize("name", TOKENIZERS)
def test_ten_thousand_texts(name: str, opened: Opened, data_dir: Path) -> None:
    files = (
        "trec/train_5500.label",
        "trec/TREC_10.label",
        "cr/custrev.all",
        "mpqa/mpqa.all",
    )
    texts = [line for file in files for line in (data_dir / file).read_text("latin-1").split("\n")]
    texts = random.Random(1).sample(texts, 10_000)
    vocabulary = Vocabulary(tuple(sorted({word.lower() for text in texts[:5000] for word in text.split()})))
    made = network(vocabulary)
    page = opened(folder_of(made, vocabulary, tokenizer=name, max_tokens=10_000), made)
    cut = tokenizer(name).words
    assert asked(page, TOKENS, texts) == [cut(text) for text in texts]
    assert asked(page, ROWS, texts) == [vocabulary.ids(cut(text)).tolist() for text in texts]
