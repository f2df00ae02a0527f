"""Adapters of parsers, with stand-ins for the packages: what is handed over, what comes back, what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heedful.errors import ArtifactError, MissingExtraError, UsageError
from heedful.text.dependency import Parse
from heedful.text.parsers import dependency_parser


@dataclass
class Token:
    """Every word hangs on the word before it; the first is the root."""

    i: int

    @property
    def head(self) -> Token:
        return Token(max(0, self.i - 1))

    @property
    def dep_(self) -> str:
        return "ROOT" if self.i == 0 else "dep"


class Pipeline:
    vocab = "vocab"

    def __init__(self, names: tuple[str, ...] = ("tok2vec", "parser")) -> None:
        self.pipe_names = names
        self.seen: list[list[str]] = []

    def pipe(self, documents: Iterable[list[str]], **_: Any) -> Iterable[list[Token]]:
        for words in documents:
            self.seen.append(words)
            yield [Token(i) for i in range(len(words))]


def fake_spacy(monkeypatch: pytest.MonkeyPatch, pipeline: Pipeline | None) -> list[str]:
    loaded = []

    def load(model: str, **_: Any) -> Pipeline:
        loaded.append(model)
        if pipeline is None:
            raise OSError("no such model")
        return pipeline

    def doc(vocab: str, words: list[str]) -> list[str]:
        assert vocab == "vocab"
        return words

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load, tokens=SimpleNamespace(Doc=doc)))
    return loaded


def test_spacy_parses_our_tokens_and_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline()
    loaded = fake_spacy(monkeypatch, pipeline)
    parser = dependency_parser("spacy:tiny")
    assert not loaded
    assert parser.parse([("do", "n't", "sleep"), (), ["go"]]) == [
        Parse(("do", "n't", "sleep"), (0, 1, 2), ("root", "dep", "dep")),
        Parse((), ()),
        Parse(("go",), (0,), ("root",)),
    ]
    assert pipeline.seen == [["do", "n't", "sleep"], ["go"]]
    parser.parse([("\ud800",)])
    assert pipeline.seen[-1] == ["?"]
    assert loaded == ["tiny"]
    assert parser.name == "spacy:tiny"


def test_a_model_that_spacy_lacks_or_that_has_no_parser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_spacy(monkeypatch, None)
    with pytest.raises(UsageError, match=r"'spacy:tiny': spaCy finds no such model"):
        dependency_parser("spacy:tiny").parse([("a",)])
    fake_spacy(monkeypatch, Pipeline(("ner",)))
    with pytest.raises(UsageError, match="this model has no dependency parser"):
        dependency_parser("spacy:tiny").parse([("a",)])


@pytest.mark.parametrize(
    "problem", [ValueError("Expected object\nor value"), OSError("[E053]"), KeyError("nlp")]
)
def test_a_damaged_model_of_spacy_is_told_from_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, problem: Exception
) -> None:
    def load(model: str, **_: Any) -> None:
        raise problem

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    with pytest.raises(ArtifactError, match=r"cannot load this model \(.*copy or install it again$") as it:
        dependency_parser(f"spacy:{tmp_path}").parse([("a",)])
    assert "\n" not in str(it.value)


def test_stanza_gets_tokens_and_its_trees_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def pipeline(language: str, **settings: Any) -> Any:
        assert settings["tokenize_pretokenized"]
        assert settings["download_method"] is None
        calls.append(language)
        return lambda full: SimpleNamespace(sentences=[sentence(words) for words in full])

    def sentence(words: list[str]) -> Any:
        return SimpleNamespace(
            words=[SimpleNamespace(head=place, deprel="dep") for place in range(len(words))]
        )

    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=pipeline))
    parser = dependency_parser("stanza:en")
    assert parser.parse([(), ("a", "b")]) == [Parse((), ()), Parse(("a", "b"), (0, 1), ("dep", "dep"))]
    assert parser.parse([()]) == [Parse((), ())]
    assert calls == ["en"]


def test_a_language_that_stanza_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipeline(*_: Any, **__: Any) -> None:
        raise FileNotFoundError("resources.json")

    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=pipeline))
    with pytest.raises(
        UsageError, match=r"cannot load it \(resources.json\); get it with stanza.download\('xx'\)"
    ):
        dependency_parser("stanza:xx").parse([("a",)])


@pytest.mark.parametrize("package", ["spacy", "stanza"])
def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'heedful\[{package}\]'"):
        dependency_parser(f"{package}:en").parse([("a",)])


@pytest.mark.parametrize("name", ["", "spacy", "spacy:", "corenlp:en", "en_core_web_sm"])
def test_what_is_no_parser_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is unknown; expected spacy:MODEL"):
        dependency_parser(name)


def test_the_built_in_parser_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.storage.installed.entry_points", list)
    with pytest.raises(MissingExtraError, match="pip install heedful-en"):
        dependency_parser("builtin")


def test_the_identity_of_a_folder_is_its_content(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("1", encoding="utf-8")
    first = dependency_parser(f"spacy:{tmp_path}").identity
    assert first == dependency_parser(f"spacy:{tmp_path}").identity
    (tmp_path / "model").write_text("2", encoding="utf-8")
    assert first != dependency_parser(f"spacy:{tmp_path}").identity
    assert dependency_parser("stanza:en").identity != dependency_parser("stanza:de").identity
