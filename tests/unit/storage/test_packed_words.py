"""The compressed vocabulary of an exported folder: equal when it is read, and never more than it says."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from heedful.errors import ArtifactError
from heedful.storage.manifest import MOST_TIMES, VOCABULARY, packed, read_words
from heedful.text.vocabulary import Vocabulary

WORDS = tuple(f"{first}{second}ing" for first in "abcdefghijklmnopqrst" for second in "aeiou")
PLAIN = json.loads(
    Vocabulary(WORDS, ("naïve", "\ud800", "日本"), {"sings": WORDS[3], "sung": WORDS[3]}).to_json()
)


def written(folder: Path, content: Any) -> Path:
    path = folder / VOCABULARY
    path.write_text(json.dumps(content))
    return path


def small(whole: bytes, **other: Any) -> dict[str, Any]:
    text = base64.b64encode(zlib.compress(whole)).decode()
    return {"bytes": len(whole), "zlib": text, **other}


def test_words_are_read_as_they_were(tmp_path: Path) -> None:
    content = packed(PLAIN)
    assert content.keys() == {"bytes", "zlib"}
    path = written(tmp_path, content)
    assert path.stat().st_size < 0.7 * len(json.dumps(PLAIN))
    assert Vocabulary.from_plain(read_words(path)) == Vocabulary.from_plain(PLAIN)


def test_a_plain_vocabulary_is_still_read(tmp_path: Path) -> None:
    assert read_words(written(tmp_path, PLAIN)) == PLAIN


@pytest.mark.parametrize("words", [("a",), ("a" * 100_000,)])
def test_what_would_not_become_smaller_or_would_be_refused_stays_plain(words: tuple[str, ...]) -> None:
    plain = Vocabulary(words).to_plain()
    assert packed(plain) == plain


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (small(b"{}", bytes=3), "3 bytes"),
        (small(b"{}", bytes=1), "1 bytes"),
        (small(b"{}", bytes=True), "whole number"),
        (small(b"{}", bytes=2.0), "whole number"),
        (small(b"{}", bytes=0), "cannot be"),
        (small(b"{}", bytes=-1), "cannot be"),
        (small(b"{}", bytes=10**300), "cannot be"),
        (small(b"{}", zlib=None), "zlib must be a string"),
        (small(b"{}", zlib="=="), "damaged"),
        (small(b"{}", zlib="e\u00e9=="), "damaged"),
        (small(b"{}", zlib=base64.b64encode(b"no zlib").decode()), "damaged"),
        (small(b"{}", zlib=base64.b64encode(zlib.compress(b"{}")[:-3]).decode()), "unpack"),
        (small(b"{}", zlib=base64.b64encode(zlib.compress(b"{}") + b"x").decode()), "unpack"),
        (small(b"\xff\xfe{}"), "damaged"),
        (small(b"[]"), "dict"),
        (small(b"{"), "JSON"),
        (small(b"[" * 3000 + b"]" * 3000), "cannot be"),
        (small(b'{"a": NaN}'), "JSON"),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(tmp_path: Path, content: Any, named: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ArtifactError) as caught:
        read_words(path)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = zlib.compress(b" " * 50_000_000, 9)
    text = base64.b64encode(bomb).decode()
    for length in (50_000_000, MOST_TIMES * len(bomb)):
        with pytest.raises(ArtifactError, match="unpack"):
            read_words(written(tmp_path, {"bytes": length, "zlib": text}))
