"""Files of semantic roles: brackets and CoNLL-U Plus say the same, mistakes are named with their row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heedful.data.encoding import encode
from heedful.data.examples import Corpus, Example, Frame
from heedful.data.readers.role_files import read_roles, read_roles_like
from heedful.data.role_frames import TaggedDataset, collate_frames, encode_frames, examples_of_predicates
from heedful.data.tokens import tokenize_corpus
from heedful.errors import DataError, UsageError
from heedful.text.bio import bio_tags
from heedful.text.vocabulary import Vocabulary

PROPS = """\
The - (ARG1* *
lamp - *) *
glows glow (V*) *
and - * *
keeps keep * (V*)
us - * (ARG1*)
warm - * (C-ARG1*)

Rain -
"""
PROPBANK = """\
#begin document (x)
web/a/b 0 0 The DT - - - (ARG1*
web/a/b 0 1 lamp NN - - - *)
web/a/b 0 2 glows VBZ - - glow.01 (V*)
#end document
"""
CONLL2012 = """\
#begin document (bc/cnn/00); part 000
bc/cnn/00 0 0 Rain NN (TOP* - - - - * (ARG1*) (0)
bc/cnn/00 0 1 falls VBZ *) fall fall.01 1 - * (V*) -

#end document
"""
CONLLU = """\
# global.columns = ID FORM UP:PRED UP:ARGSPANS
1\tThe\t_\t_
2\tlamp\t_\t_
3\tglows\tglow.01\tARG1:1-2|ARGM-TMP:4
4\tnow\t_\t_

"""
NESTED = "predicate whose spans nest or overlap"


def conllu_line(number: str, word: str, sense: str = "_", heads: str = "_", spans: str = "_") -> str:
    """Write a line of the usual columns: those of CoNLL-U, then the predicate and its arguments."""
    return "\t".join([number, word, *["_"] * 8, sense, heads, spans]) + "\n"


def read(tmp_path: Path, name: str, text: str, **options: object) -> Corpus:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read_roles(file, **options)


def test_brackets_become_tags(tmp_path: Path) -> None:
    first, second = read(tmp_path, "a.props", PROPS).examples
    assert first.words == (("The", "lamp", "glows", "and", "keeps", "us", "warm"),)
    assert first.texts == ("The lamp glows and keeps us warm",)
    assert first.target == (
        Frame(2, ("B-ARG1", "I-ARG1", "B-V", "O", "O", "O", "O"), "glow"),
        Frame(4, ("O", "O", "O", "O", "B-V", "B-ARG1", "B-C-ARG1"), "keep"),
    )
    assert (second.target, second.row) == ((), 9)


def test_propbank_columns_have_their_own_places_and_genres(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.gold_conll", PROPBANK, genre=0).examples
    assert example.target == (Frame(2, ("B-ARG1", "I-ARG1", "B-V"), "glow.01"),)
    assert example.group == "web"
    (example,) = read(tmp_path, "b.gold_conll", PROPS.split("\n\n")[0] + "\n", layout="conll2005").examples
    assert len(example.target) == 2


def test_columns_of_conll2012(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.conll", CONLL2012, layout="conll2012", genre=0).examples
    assert (example.texts, example.group) == (("Rain falls",), "bc")
    assert example.target == (Frame(1, ("B-ARG1", "B-V"), "fall.01"),)


def test_columns_of_a_layout_can_be_named(tmp_path: Path) -> None:
    lemmas = {"layout": "conll2012", "predicate": 6}
    (example,) = read(tmp_path, "a.conll", CONLL2012, **lemmas).examples
    assert example.target == (Frame(1, ("B-ARG1", "B-V"), "fall"),)
    bare = CONLL2012.replace("(ARG1*) (0)", "(ARG1*)").replace("(V*) -", "(V*)")
    (example,) = read(tmp_path, "b.conll", bare, word=1, **lemmas, after=0).examples
    assert (example.texts, example.target[0].tags) == (("0 0",), ("B-ARG1", "B-V"))
    (example,) = read(tmp_path, "c.conll", bare, layout="propbank", roles=11).examples
    assert example.target == (Frame(1, ("B-ARG1", "B-V"), "fall.01"),)


def test_a_genre_beyond_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 2: genre = 3, but the path 'web/a/b' has 3 parts"):
        read(tmp_path, "a.gold_conll", PROPBANK, genre=3)


def test_a_word_may_begin_like_a_comment(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.props", "#1 - (A1*)\nis be (V*)\n").examples
    assert example.words == (("#1", "is"),)


@pytest.mark.parametrize(
    ("row", "tag"),
    [
        ("#begin - (A1*)", "B-A1"),
        ("#end - (A1*)", "B-A1"),
        ("#endviolence - (A1*)", "B-A1"),
        ("#beginning - (A1*)", "B-A1"),
        ("#begin document (V*)", "B-V"),
        ("#end document (V*)", "B-V"),
    ],
)
def test_a_word_may_begin_like_a_line_around_a_document(tmp_path: Path, row: str, tag: str) -> None:
    verb = "stop stop *" if tag == "B-A1" else "stop - *"
    (example,) = read(tmp_path, "a.props", f"{row}\n{verb}\nnow - *\n").examples
    assert example.words == ((row.split()[0], "stop", "now"),)
    assert example.target[0].tags == (tag, "O", "O")


def test_lines_around_a_document_are_passed_over_in_any_layout(tmp_path: Path) -> None:
    text = f"#begin document (a/b); part 000\n{PROPS}#end document\n"
    assert (
        read(tmp_path, "a.props", text).examples[0].target
        == read(tmp_path, "b.props", PROPS).examples[0].target
    )
    trailing = PROPBANK.replace("#end document", "#end document  ")
    assert len(read(tmp_path, "a.gold_conll", trailing).examples) == 1


def test_only_blanks_and_tabs_set_columns_apart(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.props", " 5\u00a0000\t -  (A1*)\nare be\t(V*) \n").examples
    assert example.words == (("5\u00a0000", "are"),)
    assert example.target == (Frame(1, ("B-A1", "B-V"), "be"),)


def test_spans_of_conllu_become_tags_and_the_predicate_is_v(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.conllu", CONLLU).examples
    assert example.target == (Frame(2, ("B-ARG1", "I-ARG1", "B-V", "B-ARGM-TMP"), "glow.01"),)
    bare = CONLLU.replace(" UP:ARGSPANS", "").replace("\tARG1:1-2|ARGM-TMP:4", "").replace("\t_\t_", "\t_")
    (example,) = read(tmp_path, "b.conllu", bare).examples
    assert example.target == (Frame(2, (), "glow.01"),)


def test_a_span_over_the_predicate_stands_for_v(tmp_path: Path) -> None:
    text = conllu_line("1", "go", "go.01", spans="V:1-2") + conllu_line("2", "on")
    (example,) = read(tmp_path, "a.conllup", text).examples
    assert example.target == (Frame(0, ("B-V", "I-V"), "go.01"),)


def test_the_usual_columns_need_no_line_that_names_them(tmp_path: Path) -> None:
    text = conllu_line("1", "Go", "go.01", heads="ARGM:2", spans="ARGM:2-3")
    text += conllu_line("2", "right") + conllu_line("3", "there")
    (example,) = read(tmp_path, "a.conllup", text).examples
    assert example.target == (Frame(0, ("B-V", "B-ARGM", "I-ARGM"), "go.01"),)


def test_a_span_of_one_word_is_its_place(tmp_path: Path) -> None:
    text = conllu_line("1", "Go", "go.01", spans="ARGM:2") + conllu_line("2", "there") + conllu_line("3", "!")
    (example,) = read(tmp_path, "a.conllup", text).examples
    assert example.target == (Frame(0, ("B-V", "B-ARGM", "O"), "go.01"),)


def test_a_multiword_line_is_no_word(tmp_path: Path) -> None:
    text = conllu_line("1-2", "don't") + conllu_line("1", "do") + conllu_line("2", "n't")
    (example,) = read(tmp_path, "a.conllup", text).examples
    assert example.words == (("do", "n't"),)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.props", PROPS.replace("us - * (ARG1*)", "us - *"), "row 6: expected 4 columns"),
        ("a.props", PROPS.replace("lamp - *)", "lamp - *"), r"row 1: the bracket \(ARG1 is never closed"),
        ("a.props", PROPS.replace("and - *", "and - *)"), "row 4: a bracket closes that was never opened"),
        ("a.props", PROPS.replace("and - *", "and - )*("), "row 4: expected brackets such as"),
        ("a.props", PROPS.replace("keeps keep", "keeps -"), r"row 1: the sentence has 1 predicate\(s\)"),
        ("a.conllu", CONLLU.replace("1-2", "1-9"), "row 4.*expected ROLE:FIRST-LAST with words from 1 to 4"),
        ("a.conllu", CONLLU.replace("1-2", "2-1"), "row 4.*expected ROLE:FIRST-LAST.* got 'ARG1:2-1'"),
        ("a.conllu", CONLLU.replace("UP:PRED", "PRED"), "row 1: the columns must hold UP:PRED"),
        ("a.conllu", CONLLU.replace("4\tnow\t_", "4\tnow"), "row 5: expected 4 fields"),
    ],
)
def test_mistakes_are_named_with_their_row(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, name, text)


def test_options_of_one_file_read_those_with_its_columns(tmp_path: Path) -> None:
    propbank = tmp_path / "a.gold_conll"
    propbank.write_text(PROPBANK, encoding="utf-8")
    (tmp_path / "a.props").write_text(PROPS, encoding="utf-8")
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    assert read_roles_like(propbank, "train.conll.xz", {"genre": 1}).examples[0].group == "a"
    for other in ("a.props", "a.conllu"):
        assert read_roles_like(tmp_path / other, "train.conll", {"genre": 1}).examples[0].group == ""
    for other in ("", "train.props"):  # a known set, or other columns
        assert read_roles_like(propbank, other, {"genre": 1}).examples[0].group == ""


ONE_NESTED = PROPS.replace("(ARG1* *\n", "(ARG1(ARG0*) *\n", 1)


def test_overlapping_spans_are_left_out_and_counted(tmp_path: Path) -> None:
    corpus = read(tmp_path, "a.props", ONE_NESTED)
    assert [(frame.predicate, len(frame.tags)) for frame in corpus.examples[0].target] == [(2, 0), (4, 7)]
    assert corpus.skipped == {NESTED: 1}
    corpus = read(tmp_path, "b.conllu", CONLLU.replace("ARG1:1-2", "ARG1:1-2|ARG0:2"))
    assert (corpus.examples[0].target, corpus.skipped) == ((Frame(2, (), "glow.01"),), {NESTED: 1})


def test_other_names_are_no_role_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the name must end in one of"):
        read(tmp_path, "a.txt", PROPS)
    with pytest.raises(UsageError, match="names its columns itself"):
        read(tmp_path, "a.conllu", CONLLU, layout="conll2005")
    with pytest.raises(UsageError, match="layout 'conll2006' is unknown; did you mean 'conll2005'"):
        read(tmp_path, "a.props", PROPS, layout="conll2006")


TAGS = bio_tags(["ARG1", "C-ARG1", "V"])


def encoded(tmp_path: Path, text: str = PROPS, **cut: Any) -> TaggedDataset:
    corpus = tokenize_corpus(read(tmp_path, "a.props", text).examples, "whitespace")
    return encode_frames(corpus, Vocabulary.build({"the": 1, "lamp": 1, "glows": 1}), TAGS, **cut)


def test_a_predicate_is_an_example_and_a_sentence_without_one_too(tmp_path: Path) -> None:
    dataset = encoded(tmp_path)
    assert dataset.predicates.tolist() == [2, 4, -1]
    assert dataset.sentences.tolist() == [0, 0, 1]
    batch = collate_frames(dataset, dataset.predicates.argsort())  # the one without a predicate first
    assert batch.flags is not None
    assert batch.targets is not None
    assert batch.flags.sum(dim=1).tolist() == [0, 1, 1]
    tags, found = batch.targets.unbind(-1)
    assert [TAGS[tag] for tag in tags[1]] == ["B-ARG1", "I-ARG1", "B-V", "O", "O", "O", "O"]
    assert tags[0].tolist() == [-1] * 7  # no predicate, no tags; its one word is looked at for predicates
    assert found.tolist() == [[0] + [-1] * 6, [0, 0, 1, 0, 1, 0, 0], [-1] * 7]


def test_a_predicate_whose_spans_nest_is_neither_asked_about_nor_no_predicate(tmp_path: Path) -> None:
    dataset = encoded(tmp_path, ONE_NESTED)
    assert dataset.predicates.tolist() == [4, -1]
    assert dataset.found is not None
    assert dataset.found[0].tolist() == [0, 0, -1, 0, 1, 0, 0]
    dataset = encoded(tmp_path, "A - (ARG1(ARG0*)\nlamp - *)\nglows glow (V*)\n\n" + PROPS)
    assert dataset.predicates.tolist() == [-1, 2, 4, -1]
    assert dataset.found is not None
    assert [row.tolist() for row in (dataset.found[0], dataset.found[1])] == [
        [0, 0, -1],
        [0, 0, 1, 0, 1, 0, 0],
    ]


def test_a_file_of_predicates_alone_is_no_gold(tmp_path: Path) -> None:
    bare = CONLLU.replace(" UP:ARGSPANS", "").replace("\tARG1:1-2|ARGM-TMP:4", "").replace("\t_\t_", "\t_")
    corpus = tokenize_corpus(read(tmp_path, "a.conllu", bare).examples, "whitespace", Path("file"))
    message = "file: row 2: the file names predicates but no arguments .* UP:ARGSPANS"
    with pytest.raises(DataError, match=message):
        encode_frames(corpus, Vocabulary.build({"the": 1}), TAGS)


def test_a_role_the_model_lacks_is_gold_all_the_same(tmp_path: Path) -> None:
    dataset = encoded(tmp_path, PROPS.replace("(ARG1*)\nwarm - * (C-ARG1*)", "(ARG7*\nwarm - * *)"))
    assert dataset.labels == (*TAGS, "B-ARG7", "I-ARG7")


def test_a_cut_sentence_loses_the_predicates_that_were_cut_off(tmp_path: Path) -> None:
    cut = encoded(tmp_path, max_tokens=3, truncate="head")
    assert cut.predicates.tolist() == [2, -1]
    assert cut.tags is not None
    assert [TAGS[tag] for tag in cut.tags[0]] == ["B-ARG1", "I-ARG1", "B-V"]


def test_frames_that_do_not_fit_are_refused() -> None:
    words = ("a", "b")

    def corpus(frame: Frame):
        example = Example(("a b",), (frame,), (words,), 3)
        return tokenize_corpus([example], "whitespace", Path("file"))

    vocabulary = Vocabulary.build({"a": 1})
    for frame, message in (
        (Frame(5, ("O", "O")), "file: row 3: a predicate at word 6, but the sentence has 2 words"),
        (Frame(0, ("O",)), "file: row 3: 1 tags for 2 words"),
        (Frame(0, ("O", "I-A")), "row 3, predicate 1: word 2: I-A must follow"),
    ):
        with pytest.raises(DataError, match=message):
            encode_frames(corpus(frame), vocabulary, TAGS)


def test_asking_needs_no_gold() -> None:
    corpus = tokenize_corpus([Example(("a b c",)), Example(("a",))], "whitespace")
    asked = examples_of_predicates(encode(corpus, Vocabulary.build({"a": 1})), [[0, 2], []])
    assert (asked.predicates.tolist(), asked.sentences.tolist()) == ([0, 2, -1], [0, 0, 1])
    assert asked.tags is None
