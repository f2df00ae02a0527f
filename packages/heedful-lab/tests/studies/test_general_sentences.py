"""Sentences of many sources: each once, of the lengths that are promised, and the same ones each time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heedful.data import catalog
from heedful.data.examples import Corpus, Example
from heedful_lab.studies import general_sentences

TEXTS = {
    "trec": ["Who wrote it , and why ?", "Too short", "Who wrote it , and why ?", "Name the river there"],
    "cr": ["the battery lasts long", "what a waste of money", " ".join(["word"] * 61)],
    "subj": ["a tale of two   cities"],
}


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, split: str, root: Path) -> Corpus:
        return Corpus([Example((text,), "a") for text in TEXTS[name]])

    monkeypatch.setattr(catalog, "load", load)
    monkeypatch.setattr(general_sentences, "SETS", dict.fromkeys(TEXTS, "train"))


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {*TEXTS["trec"][::3], *TEXTS["cr"][:2], "a tale of two cities"}),
        (["--without", "cr", "--without", "subj"], {*TEXTS["trec"][::3]}),
        (["--questions"], {*TEXTS["trec"][::3], "what a waste of money"}),
    ],
)
def test_distinct_sentences_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], expected: set[str]
) -> None:
    written = list[str]()
    for file in (tmp_path / "one.txt", tmp_path / "two.txt"):
        monkeypatch.setattr(sys, "argv", ["x", "--data", str(tmp_path), "--out", str(file), *options])
        general_sentences.main()
        written.append(file.read_text(encoding="utf-8"))
    assert written[0] == written[1]
    lines = written[0].splitlines()
    assert set(lines) == expected
    assert len(lines) == len(expected)


@pytest.mark.usefixtures("sources")
def test_no_source_has_more_than_is_asked(tmp_path: Path) -> None:
    assert len(general_sentences.drawn(["trec", "cr"], tmp_path, 1, questions=False)) == 2
