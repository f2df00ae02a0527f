"""Files of semantic roles: brackets and CoNLL-U Plus say the same, mistakes are named with their row; BIO and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.data.bio import Span, bio_tags, mistake_in, spans_of, tags_of
from heedful.data.encode import encode
from heedful.data.examples import Corpus, Example
from heedful.data.frame import Frame
from heedful.data.frames import ask, collate_frames, encode_frames
from heedful.data.readers.role_columns import brackets
from heedful.data.readers.roles import is_role_file, read_roles, read_roles_like
from heedful.data.tokens import tokenise_corpus
from heedful.errors import DataError, UsageError
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
CONLLU = """\
# global.columns = ID FORM UP:PRED UP:ARGSPANS
1\tThe\t_\t_
2\tlamp\t_\t_
3\tglows\tglow.01\tARG1:1-2|ARGM-TMP:4
4\tnow\t_\t_

"""


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


def test_spans_of_conllu_become_tags_and_the_predicate_is_v(tmp_path: Path) -> None:
    (example,) = read(tmp_path, "a.conllu", CONLLU).examples
    assert example.target == (Frame(2, ("B-ARG1", "I-ARG1", "B-V", "B-ARGM-TMP"), "glow.01"),)
    bare = CONLLU.replace(" UP:ARGSPANS", "").replace("\tARG1:1-2|ARGM-TMP:4", "").replace("\t_\t_", "\t_")
    (example,) = read(tmp_path, "b.conllu", bare).examples
    assert example.target == (Frame(2, (), "glow.01"),)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.props", PROPS.replace("us - * (ARG1*)", "us - *"), "row 6: expected 4 columns"),
        ("a.props", PROPS.replace("lamp - *)", "lamp - *"), r"row 1: the bracket \(ARG1 is never closed"),
        ("a.props", PROPS.replace("and - *", "and - *)"), "row 4: a bracket closes that was never opened"),
        ("a.props", PROPS.replace("and - *", "and - )*("), "row 4: expected brackets such as"),
        ("a.props", PROPS.replace("keeps keep", "keeps -"), r"row 1: the sentence has 1 predicate\(s\)"),
        ("a.conllu", CONLLU.replace("1-2", "1-9"), "row 4.*expected ROLE:FIRST-LAST with words from 1 to 4"),
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


def test_overlapping_spans_are_left_out_and_counted(tmp_path: Path) -> None:
    nested = PROPS.replace("(ARG1* *\n", "(ARG1(ARG0*) *\n", 1)
    corpus = read(tmp_path, "a.props", nested)
    assert [frame.predicate for frame in corpus.examples[0].target] == [4]
    assert corpus.skipped == {"predicate whose spans nest or overlap": 1}


def test_other_names_are_no_role_files(tmp_path: Path) -> None:
    assert is_role_file("x.props.xz")
    assert not is_role_file("x.csv")
    with pytest.raises(UsageError, match="the name must end in one of"):
        read(tmp_path, "a.txt", PROPS)
    with pytest.raises(UsageError, match="names its columns itself"):
        read(tmp_path, "a.conllu", CONLLU, layout="conll2005")
    with pytest.raises(UsageError, match="layout 'conll2006' is unknown; did you mean 'conll2005'"):
        read(tmp_path, "a.props", PROPS, layout="conll2006")


def test_tags_and_brackets_are_the_spans() -> None:
    spans = [Span(0, 2, "A0"), Span(2, 3, "V"), Span(3, 4, "A0"), Span(4, 6, "A1")]
    tags = tags_of(spans, 7)
    assert tags == ("B-A0", "I-A0", "B-V", "B-A0", "B-A1", "I-A1", "O")
    assert spans_of(tags) == spans
    assert brackets(spans, 7) == ["(A0*", "*)", "(V*)", "(A0*)", "(A1*", "*)", "*"]
    assert bio_tags(["V", "A0", "V"]) == ("O", "B-A0", "I-A0", "B-V", "I-V")
    with pytest.raises(ValueError, match="two spans hold word 2"):
        tags_of([Span(0, 2, "A"), Span(1, 3, "B")], 3)


@pytest.mark.parametrize(
    ("tags", "mistake"),
    [
        (("B-A", "I-A", "O"), None),
        (("I-A",), "word 1: I-A must follow B-A or I-A; it follows O"),
        (("B-A", "I-B"), "word 2: I-B must follow B-B or I-B; it follows B-A"),
        (("B-",), "word 1: a tag is O, B-ROLE or I-ROLE; got 'B-'"),
        (("O", None), "word 2: a tag is O, B-ROLE or I-ROLE; got None"),
    ],
)
def test_mistakes_in_tags(tags: tuple[object, ...], mistake: str | None) -> None:
    assert mistake_in(tags) == mistake


TAGS = bio_tags(["ARG1", "C-ARG1", "V"])


def encoded(tmp_path: Path, text: str = PROPS):
    corpus = tokenise_corpus(read(tmp_path, "a.props", text).examples, "whitespace")
    return encode_frames(corpus, Vocabulary.build({"the": 1, "lamp": 1, "glows": 1}), TAGS)


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


def test_a_role_the_model_lacks_is_gold_all_the_same(tmp_path: Path) -> None:
    dataset = encoded(tmp_path, PROPS.replace("(C-ARG1*)", "(ARG7*)"))
    assert dataset.labels == (*TAGS, "B-ARG7")


def test_frames_that_do_not_fit_are_refused() -> None:
    words = ("a", "b")

    def corpus(frame: Frame):
        example = Example(("a b",), (frame,), (words,), 3)
        return tokenise_corpus([example], "whitespace", Path("file"))

    vocabulary = Vocabulary.build({"a": 1})
    for frame, message in (
        (Frame(5, ("O", "O")), "file: row 3: a predicate at word 6, but the sentence has 2 words"),
        (Frame(0, ("O",)), "file: row 3: 1 tags for 2 words"),
        (Frame(0, ("O", "I-A")), "row 3, predicate 1: word 2: I-A must follow"),
    ):
        with pytest.raises(DataError, match=message):
            encode_frames(corpus(frame), vocabulary, TAGS)


def test_asking_needs_no_gold() -> None:
    corpus = tokenise_corpus([Example(("a b c",)), Example(("a",))], "whitespace")
    asked = ask(encode(corpus, Vocabulary.build({"a": 1}), kind="none"), [[0, 2], []])
    assert (asked.predicates.tolist(), asked.sentences.tolist()) == ([0, 2, -1], [0, 0, 1])
    assert asked.tags is None
