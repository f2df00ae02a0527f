"""Semantic roles of files: their predicates, cut or split, and columns that can be read back."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from heedful.data.examples import Corpus
from heedful.data.readers.role_files import read_roles
from heedful.errors import DataError, UsageError
from heedful.models import ModelConfig, TaggerConfig
from heedful.tasks import PredicateAnswer, RoleAnswer, RolePredictor, TextSettings, build_network
from heedful.text.bio import bio_tags
from heedful.text.vocabulary import Vocabulary

TAGS = bio_tags(["ARG1", "V"])
PROPS = """\
The - (ARG1* (ARG1*
lamp - *) *
glows glow.01 (V*) *
and - * *)
warms warm.01 * (V*)
"""
WORDS = ["the", "lamp", "glows", "and", "warms"]


def predictor(**text: object) -> RolePredictor:
    """Build one that has learned nothing."""
    torch.manual_seed(0)
    tagger = TaggerConfig(flag_width=4, finder_hidden=6)
    model = ModelConfig("roles", "cnn", {"filters": 4}, width=8, outputs=len(TAGS), tagger=tagger)
    vocabulary = Vocabulary.build(dict.fromkeys(WORDS, 1))
    network = build_network(model, torch.randn(len(WORDS) + 2, 8))
    return RolePredictor(network, model, vocabulary, TAGS, TextSettings(**text))  # type: ignore[arg-type]


def corpus(tmp_path: Path, text: str = PROPS, name: str = "a.props") -> Corpus:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read_roles(file)


def places(answer: RoleAnswer) -> list[int]:
    return [predicate.place for predicate in answer.predicates]


def test_predicates_of_a_file_behind_the_cut_are_left_out(tmp_path: Path) -> None:
    given = corpus(tmp_path)
    (whole,) = predictor().answer(given)
    (cut,) = predictor(max_tokens=3, truncate="head").answer(given)
    (none,) = predictor(max_tokens=2, truncate="head").answer(given)
    assert [places(each) for each in (whole, cut, none)] == [[2, 4], [2], []]
    assert cut.truncated
    assert none.remarks == "no predicate found, cut to 2 words"
    explained = predictor(max_tokens=3, truncate="head").explain(given)
    assert explained.sides[0].words == ("The", "lamp", "glows")


def test_a_place_that_a_caller_gives_is_not_left_out(tmp_path: Path) -> None:
    cut = predictor(max_tokens=3, truncate="head")
    with pytest.raises(
        UsageError, match="text 1: there is no word 5 to be a predicate; 3 words of it are read"
    ):
        cut.answer(corpus(tmp_path), [[4]])
    with pytest.raises(UsageError, match="there is no word 6"):
        predictor().answer(corpus(tmp_path), [[5]])


def test_a_predicate_whose_spans_nest_is_answered(tmp_path: Path) -> None:
    (answer,) = predictor().answer(corpus(tmp_path, PROPS.replace("The - (ARG1*", "The - (ARG1(ARG1*)")))
    assert places(answer) == [2, 4]


def test_predicates_of_a_file_do_not_move_where_words_are_split(tmp_path: Path) -> None:
    given = corpus(tmp_path, "A -\nbare -\n\n" + PROPS.replace("The -", "well-lit -"))
    assert places(predictor(tokenizer="whitespace").answer(given)[1]) == [2, 4]
    split = predictor(tokenizer="whitespace_split_hyphens")
    with pytest.raises(
        DataError, match=r"a\.props: row 4: .*'well-lit' as 3 words.*name them with --predicates"
    ):
        split.answer(given)
    assert places(split.answer(given, [[], [4]])[1]) == [4]
    assert (
        split.answer(given, [[], [4]])[1].predicates[0].sense == ""
    )  # the file's numbers are not the model's
    assert places(split.answer(corpus(tmp_path, PROPS))[0]) == [2, 4]  # no word is split here


def test_columns_keep_what_the_file_calls_its_predicates(tmp_path: Path) -> None:
    given = corpus(tmp_path)
    (answer,) = predictor().answer(given)
    assert [predicate.sense for predicate in answer.predicates] == ["glow.01", "warm.01"]
    assert answer.as_dict()["predicates"][0]["sense"] == "glow.01"
    (again,) = corpus(tmp_path, answer.columns(), "b.props").examples
    assert [(frame.predicate, frame.sense) for frame in again.target] == [(2, "glow.01"), (4, "warm.01")]
    (raw,) = predictor().answer(["The lamp glows"], [[2]])
    assert raw.columns().splitlines()[2].split()[:2] == ["glows", "glows"]


def answered(words: tuple[str, ...], place: int, sense: str = "") -> RoleAnswer:
    """Answer that one word is a predicate without arguments."""
    tags = tuple("B-V" if number == place else "O" for number in range(len(words)))
    return RoleAnswer(words, (), (PredicateAnswer(place, words[place], 1.0, tags, (), sense),), 0, False)


@pytest.mark.parametrize(
    ("words", "sense", "read", "found"),
    [
        (("he", "-", "ran"), "", ("he", "-", "ran"), "_"),
        (("he", "-", "ran"), "run.02", ("he", "-", "ran"), "run.02"),
        (("5 000", "5 000", "x\ty"), "", ("5_000", "5_000", "x_y"), "5_000"),
        (("a", "go", "b"), "go on", ("a", "go", "b"), "go_on"),
        (("5\u00a0000", "go", "#end"), "", ("5\u00a0000", "go", "#end"), "go"),
        (("#begin", "go", "#endless"), "document", ("#begin", "go", "#endless"), "document"),
        (("#begin", "go"), "", ("#begin", "go"), "go"),
    ],
)
def test_any_word_can_be_read_back(
    tmp_path: Path, words: tuple[str, ...], sense: str, read: tuple[str, ...], found: str
) -> None:
    answer = answered(words, 1, sense)
    (example,) = corpus(tmp_path, answer.columns()).examples
    assert example.words == (read,)
    (frame,) = example.target
    assert (frame.predicate, frame.tags, frame.sense) == (1, answer.predicates[0].tags, found)


def test_a_first_word_that_looks_like_the_start_of_a_document_can_be_read_back(tmp_path: Path) -> None:
    answer = answered(("#begin", "it"), 0, "document")
    (example,) = corpus(tmp_path, answer.columns()).examples
    assert (example.words, example.target[0].sense) == ((("#begin", "it"),), "document")
