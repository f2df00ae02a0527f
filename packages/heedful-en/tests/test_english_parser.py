"""The English parser: trees over our own tokens, whatever they are, the same alone and in a batch."""

from __future__ import annotations

import io
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import ArtifactError
from heedful.text.dependency import ROOT, Parse, mistake_in, tree_distances
from heedful.text.parsers import BUILTIN, PARSER_FILES, dependency_parser
from heedful_en import parser_folder

srsly = pytest.importorskip("srsly", reason="the parser needs spaCy")
PARSER = dependency_parser(BUILTIN)
ODD = [
    (),
    ("word",),
    ("a",) * 200,
    tuple("the dog ran and the cat sat . " * 25)[:200],
    ("", " ", "\t", "\n", "\u200b"),
    ("\ud800", "\U0010ffff", "👩‍👩‍👧", "é", "मानक", "x" * 5000),
    ("can", "n't", "-LRB-", "''", "…", "…", "!", "?", "."),
]


def trees(sentences: list[tuple[str, ...]]) -> list[Parse]:
    parses = PARSER.parse(sentences)
    assert [parse.words for parse in parses] == sentences
    for parse in parses:
        assert len(parse.heads) == len(parse.relations) == len(parse.words)
        assert mistake_in(np.array(parse.heads, np.int64), np.array([0, len(parse.heads)])) is None
        assert [head == ROOT for head in parse.heads] == [relation == "root" for relation in parse.relations]
        if parse.words:
            assert ROOT in parse.heads
    return parses


def test_odd_tokens_are_kept_and_get_trees() -> None:
    trees(ODD)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.text(max_size=6), max_size=12).map(tuple), max_size=5))
def test_any_tokens_are_kept_and_get_trees(sentences: list[tuple[str, ...]]) -> None:
    trees(sentences)


def test_every_file_of_the_parser_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = parser_folder()
    assert {str(file.relative_to(here)) for file in here.rglob("*") if file.is_file()} == {
        *PARSER_FILES,
        "manifest.json",
    }
    copy = shutil.copytree(here, tmp_path / "parser")
    monkeypatch.setattr("heedful_en.parser_folder", lambda: copy)
    for name in PARSER_FILES:
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ArtifactError, match=f"{name}: was altered.* install that again$"):
            dependency_parser(BUILTIN)
        (copy / name).write_bytes(content)
    assert dependency_parser(BUILTIN).identity == PARSER.identity


def test_a_tree_does_not_depend_on_the_other_sentences() -> None:
    sentences = [tuple(f"two dogs {'very ' * n}quickly chase a ball .".split()) for n in range(40)]
    assert trees(sentences) == [trees([sentence])[0] for sentence in sentences]


@pytest.mark.parametrize(
    ("sentence", "heads"),
    [
        ("A man is playing a guitar .", (2, 4, 4, 0, 6, 4, 4)),
        ("two dogs play in the snow", (2, 3, 0, 6, 6, 3)),
        ("The woman bought a red car .", (2, 3, 0, 6, 6, 3, 3)),
        ("Who wrote the book ?", (2, 0, 4, 2, 2)),
    ],
)
def test_plain_sentences_by_hand(sentence: str, heads: tuple[int, ...]) -> None:
    assert trees([tuple(sentence.split())])[0].heads == heads


def test_distances_follow_the_tree() -> None:
    parse = trees([("A", "man", "is", "playing", "a", "guitar", ".")])[0]
    # From "playing": its subject, auxiliary, object and full stop are one step away, the two articles two.
    assert tree_distances(parse.heads)[3].tolist() == [2, 1, 1, 0, 2, 1, 1]


def test_nothing_in_the_model_is_pickled() -> None:
    folder = parser_folder()
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 10_000_000
    texts = {".cfg", ".json", ""}
    assert {file.suffix for file in files} <= texts | {".bin"}
    with pytest.raises((pickle.UnpicklingError, ValueError, EOFError, KeyError, IndexError)):
        pickle.load(io.BytesIO((folder / "parser" / "model").read_bytes()))
    for content in plain_values(srsly.read_msgpack(folder / "parser" / "model")):
        assert isinstance(content, (str, int, float, bool, bytes, np.ndarray, type(None))), type(content)
        assert not (isinstance(content, np.ndarray) and content.dtype.hasobject)


def plain_values(content: Any) -> Iterator[Any]:
    if isinstance(content, dict):
        for key, value in content.items():
            yield from plain_values(key)
            yield from plain_values(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from plain_values(value)
    else:
        yield content


def test_the_license_of_the_treebank_is_beside_the_model() -> None:
    notice = (parser_folder() / "NOTICE").read_text(encoding="utf-8")
    assert "English Web Treebank" in notice
    assert "CC BY-SA 4.0" in notice
    words = srsly.read_json(parser_folder() / "vocab" / "strings.json")
    assert "guitar" not in words  # no words of the treebank: what a word is, is hashed
