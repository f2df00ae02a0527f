"""``heedful parse`` with a file in the place of a parser: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.cli.main import run
from heedful.data.parses import conllu_text, read_conllu
from heedful.text.dependency import Parse

TREES = [
    Parse(("Dogs", "sleep", "."), (2, 0, 2), ("nsubj", "root", "punct")),
    Parse(("Go",), (0,), ("root",)),
]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    file = tmp_path / "trees.conllu"
    file.write_text("".join(conllu_text(TREES)), encoding="utf-8")
    return file


def test_texts_are_printed_once_each(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["--text", "Go", "--text", "Dogs sleep.", "--text", "Go", "--text", ""]
    assert run(["parse", "--parser", str(trees), *texts]) == 0
    assert capsys.readouterr().out == "".join(conllu_text([TREES[1], TREES[0]]))


def test_a_file_of_pairs_gives_a_file_of_trees(
    trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, output = tmp_path / "pairs.csv", tmp_path / "out.conllu"
    pairs.write_text("premise,hypothesis\nDogs sleep.,Go\n", encoding="utf-8")
    columns = ["--column", "premise=premise", "--column", "hypothesis=hypothesis"]
    options = ["--input", str(pairs), *columns, "--output", str(output)]
    assert run(["parse", "--parser", str(trees), *options]) == 0
    assert list(read_conllu(output)) == TREES
    assert "2 sentences" in capsys.readouterr().err


def test_an_unknown_parser_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--parser", "corenlp", "--text", "Go"]) == 2
    assert "parser 'corenlp' is unknown" in capsys.readouterr().err
