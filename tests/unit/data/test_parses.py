"""Trees for a corpus: each sentence once, kept by content, looked up in files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from heedful.data.examples import Example
from heedful.data.parses import conllu_text, find_parser, parse_corpus, parse_if_possible, sentences_of
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.errors import DataError, UsageError
from heedful.text.dependency import Parse
from heedful.text.parsers import DependencyParser, SpacyParser

EXAMPLES = [
    Example(("A dog runs", "Cats sleep")),
    Example(("Cats sleep", "")),
    Example(("A dog runs", "It is"), heads=(None, (0, 1))),
]


class Chain(DependencyParser):
    """Every word hangs on the next one."""

    def __init__(self, identity: str = "chain 1") -> None:
        self.name, self._identity = "chain", identity
        self.seen: list[tuple[str, ...]] = []

    @property
    def identity(self) -> str:
        return self._identity

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        self.seen += map(tuple, sentences)
        return [Parse(tuple(s), (*range(2, len(s) + 1), 0)[: len(s)]) for s in sentences]


def corpus() -> TokenizedCorpus:
    return tokenize_corpus(EXAMPLES, source=Path("x.tsv"))


def rows(parsed: TokenizedCorpus, side: int) -> list[list[int]]:
    return [parsed.heads[side][row].tolist() for row in range(len(parsed))]


def test_each_sentence_is_parsed_once_and_given_heads_stay(tmp_path: Path) -> None:
    parser = Chain()
    parsed = parse_corpus(corpus(), parser, tmp_path)
    assert rows(parsed, 0) == [[2, 3, 0], [2, 0], [2, 3, 0]]
    assert rows(parsed, 1) == [[2, 0], [], [0, 1]]
    assert sorted(parser.seen) == [("A", "dog", "runs"), ("Cats", "sleep"), ("It", "is")]
    assert sorted(sentences_of(corpus())) == sorted(parser.seen)


def test_what_is_kept_depends_on_parser_and_words(tmp_path: Path) -> None:
    first, again, newer = Chain(), Chain(), Chain("chain 2")
    wanted = rows(parse_corpus(corpus(), first, tmp_path), 0)
    assert rows(parse_corpus(corpus(), again, tmp_path), 0) == wanted
    assert not again.seen
    parse_corpus(corpus(), newer, tmp_path)
    assert newer.seen
    parse_corpus(tokenize_corpus([Example(("A dog",))]), again, tmp_path)
    assert again.seen == [("A", "dog")]
    passing = Chain("chain 3")
    for _ in range(2):
        parse_corpus(corpus(), passing, tmp_path, keep=False)
    assert len(passing.seen) == 6


def test_a_file_is_looked_up_by_words_and_what_it_lacks_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "trees.conllu"
    file.write_text("".join(conllu_text([Parse(("Cats", "sleep"), (2, 0))])), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        parsed = parse_corpus(corpus(), find_parser("trees.conllu", tmp_path), tmp_path)
    assert rows(parsed, 0) == [[-1, -1, -1], [2, 0], [-1, -1, -1]]
    assert rows(parsed, 1) == [[2, 0], [], [0, 1]]
    assert f"x.tsv: 2 of 5 texts have no parse in {file}" in caplog.text
    assert find_parser(str(file)).identity == find_parser("trees.conllu", tmp_path).identity


def test_parsers_by_name(tmp_path: Path) -> None:
    assert isinstance(find_parser("spacy:tiny", tmp_path), SpacyParser)
    with pytest.raises(DataError, match=r"none\.conllu: no such file"):
        find_parser("none.conllu", tmp_path)
    with pytest.raises(UsageError, match="expected spacy:MODEL"):
        find_parser("trees.txt", tmp_path)


def test_a_corpus_without_texts_is_nothing() -> None:
    parsed = parse_corpus(tokenize_corpus([]), Chain(), keep=False)
    assert parsed.heads == ()


def test_a_request_does_without_a_file_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    plain = tokenize_corpus([Example(("Go on",))])
    with caplog.at_level(logging.WARNING):
        assert parse_if_possible(plain, "later.conllu") is plain
    assert "texts are read without a parse" in caplog.text
    tree = "".join(conllu_text([Parse(("Go", "on"), (0, 1))]))
    (tmp_path / "later.conllu").write_text(tree, encoding="utf-8")
    assert rows(parse_if_possible(plain, "later.conllu"), 0) == [[0, 1]]
    with pytest.raises(UsageError, match="expected spacy:MODEL"):
        parse_if_possible(plain, "later")
