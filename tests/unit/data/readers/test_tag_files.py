"""Files of tagged words: columns and CoNLL-U, recognized by content; broken tags named with their row, or repaired."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.data.examples import Corpus, Example, WordTags
from heedful.data.readers.tag_files import read_tags
from heedful.data.tokens import tokenize_corpus
from heedful.data.word_tags import WordTagDataset, collate_word_tags, encode_word_tags
from heedful.errors import DataError, UsageError
from heedful.text.bio import bio_tags, mistake_in, scheme_of, spans_of, tags_of
from heedful.text.vocabulary import Vocabulary

CONLL = """\
-DOCSTART- -X- O O

# sent_id = 1
Ada NNP B-NP B-PER
Lovelace NNP I-NP I-PER
wrote VBD B-VP O

# a comment of an annotator, with more fields than the words have
"""
TWO = "Ada\tB-PER\n#\tO\n\nin\tO\nParis\tB-LOC\n"
CONLLU = """\
# text = It's here
1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_
1\tIt\tit\tPRON\tPRP\t_\t0\troot\t_\t_
2\t's\tbe\tAUX\tVBZ\t_\t1\tcop\t_\t_
2.1\tnot\t_\tPART\tRB\t_\t_\t_\t_\t_
3\there\there\tADV\tRB\t_\t1\tadvmod\t_\t_
"""
BROKEN = "Ada\tB-PER\nwrote\tO\n\nin\tO\nNew\tI-LOC\nYork\tI-LOC\n"
SPLIT = "New\tB-LOC\nYork\tE-LOC\nand\tO\nParis\tS-LOC\n"


def read(folder: Path, text: str, **options: object) -> Corpus:
    (folder / "a.txt").write_text(text, encoding="utf-8")
    return read_tags(folder / "a.txt", **options)  # type: ignore[arg-type]


def pairs(corpus: Corpus) -> list[list[tuple[str, str]]]:
    return [
        list(zip(example.words[0] or (), example.target.tags, strict=True))
        for example in corpus.examples
        if isinstance(example.target, WordTags)
    ]


def test_the_first_column_is_the_word_and_the_last_its_tag(tmp_path: Path) -> None:
    corpus = read(tmp_path, CONLL)
    assert pairs(corpus) == [[("Ada", "B-PER"), ("Lovelace", "I-PER"), ("wrote", "O")]]
    assert corpus.examples[0].row == 4
    assert pairs(read(tmp_path, CONLL, tag=1))[0][2] == ("wrote", "VBD")
    assert pairs(read(tmp_path, TWO)) == [[("Ada", "B-PER"), ("#", "O")], [("in", "O"), ("Paris", "B-LOC")]]


def test_conllu_is_recognized_by_content(tmp_path: Path) -> None:
    assert pairs(read(tmp_path, CONLLU)) == [[("It", "PRON"), ("'s", "AUX"), ("here", "ADV")]]
    assert pairs(read(tmp_path, CONLLU, conllu="xpos")) == [[("It", "PRP"), ("'s", "VBZ"), ("here", "RB")]]
    bare = "1\tOh\t_\t_\t_\t_\t_\t_\t_\t_\n"
    assert read(tmp_path, bare).examples[0].target is None


def test_words_alone_are_read_without_gold(tmp_path: Path) -> None:
    corpus = read(tmp_path, "Ada\nwrote\n\nOh\n", gold=False)
    assert [example.words for example in corpus.examples] == [(("Ada", "wrote"),), (("Oh",),)]
    with pytest.raises(DataError, match=r"row 1: expected a word and its tag in two columns, got 1"):
        read(tmp_path, "Ada\nwrote\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (BROKEN, "row 5: I-LOC must follow B-LOC or I-LOC; it follows O"),
        ("a\tB-X\nb\tI-Y\n", "row 2: I-Y must follow B-Y or I-Y; it follows B-X"),
        ("a\tB-X\nb\tPER\nc\tO\n", "row 2: a tag is O, B-ROLE or I-ROLE; got 'PER'"),
        ("a\tB-X\nb\tO\nc\tS-X\n", "row 2: O follows B-X, which needs I-X or E-X behind it"),
        ("c\tS-X\na\tB-X\n", "row 2: the sentence ends with B-X, which needs I-X or E-X behind it"),
        ("a\tX\n\tY\n", "row 2: the word is empty"),
        ("a\tX\nb\t\n", "row 2: the tag is empty"),
        ("a X\nb\n", "row 2: expected 2 columns"),
        ("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n", "row 2: the tag is not known"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_row(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert f"{tmp_path / 'a.txt'}: {part}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data.options.tag = 5"):
        read(tmp_path, TWO, tag=5)
    with pytest.raises(UsageError, match="two columns"):
        read(tmp_path, TWO, word=1, tag=1)


def test_a_setting_repairs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    repaired = pairs(read(tmp_path, BROKEN, repair=True))
    assert repaired[1] == [("in", "O"), ("New", "B-LOC"), ("York", "I-LOC")]
    assert "the tags of 1 sentences were repaired" in caplog.text
    ends = pairs(read(tmp_path, SPLIT + "and\tI-LOC\n", repair=True))
    assert [tag for _, tag in ends[0]] == ["B-LOC", "E-LOC", "O", "S-LOC", "S-LOC"]
    with pytest.raises(DataError, match="got 'PER'"):
        read(tmp_path, "a\tB-X\nb\tPER\nc\tO\n", repair=True)


def test_schemes_are_told_by_the_tags() -> None:
    assert scheme_of(["NOUN", "VERB", "O"]) == "plain"
    assert scheme_of(["O"]) == "plain"
    assert scheme_of(["O", "I-PER"]) == "bio"
    assert scheme_of(["O", "S-PER", "B-LOC"]) == "bioes"
    assert bio_tags(["B"], "bioes") == ("O", "B-B", "I-B", "E-B", "S-B")


def test_spans_and_bioes_are_the_same(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        tags = random.choice(["O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-Y"], random.integers(1, 9)).tolist()
        spans = spans_of(tags)
        for scheme in ("bio", "bioes"):
            again = tags_of(spans, len(tags), scheme)
            assert spans_of(again) == spans
            assert mistake_in(again, scheme) is None


def encoded(
    *sentences: tuple[tuple[str, ...], tuple[str, ...] | None], tags: tuple[str, ...]
) -> WordTagDataset:
    examples = [
        Example((" ".join(words),), None if own is None else WordTags(own), (words,))
        for words, own in sentences
    ]
    corpus = tokenize_corpus(examples)
    return encode_word_tags(corpus, Vocabulary.build(corpus.counts()), tags)


def test_tags_become_numbers_and_batches() -> None:
    dataset = encoded((("a", "b"), ("X", "Y")), (("c",), ("Z",)), (("d",), None), tags=("X", "Y"))
    assert dataset.labels == ("X", "Y", "Z")
    assert dataset.report.without_gold == 1
    batch = collate_word_tags(dataset, np.array([0, 1]))
    assert batch.targets is not None
    assert batch.targets.tolist() == [[0, 1], [2, -1]]
    chosen = dataset.select(np.array([1]))
    assert chosen.tags is not None
    assert chosen.tags.values.tolist() == [2]


@pytest.mark.parametrize(
    ("own", "known", "part"),
    [
        (("X",), ("X", "Y"), "row 1: 1 tags for 2 words"),
        (("O", "I-X"), ("O", "B-X", "I-X"), "row 1, word 2: I-X must follow"),
        (("O", "X"), ("O", "B-X", "I-X"), "row 1, word 2: a tag is O"),
    ],
)
def test_tags_that_do_not_fit_their_words_are_named(
    own: tuple[str, ...], known: tuple[str, ...], part: str
) -> None:
    with pytest.raises(DataError) as caught:
        encoded((("a", "b"), own), tags=known)
    assert part in str(caught.value)


WORDS = [[("Ada", "B-PER"), ("Lovelace", "I-PER"), ("wrote", "O")], [("in", "O"), ("Paris", "B-LOC")]]


@pytest.mark.parametrize(
    "start",
    [
        "-DOCSTART- O\n\n",
        "-DOCSTART-\n\n",
        "-DOCSTART- -X- -X- -X- O\n\n",
        "-DOCSTART-\t(1 Ada)\tO\n\n",
        "-DOCSTART- O\n",
    ],
)
def test_a_line_before_a_document_decides_nothing(tmp_path: Path, start: str) -> None:
    text = f"{start}Ada\tB-PER\nLovelace\tI-PER\nwrote\tO\n\n{start}in\tO\nParis\tB-LOC\n"
    assert pairs(read(tmp_path, text)) == WORDS


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#\thttp://example.org/a\t[2001-01-01]\n", ""),  # GermEval
        ("#begin document (bc/made/00/made_0001); part 000\n", "\n#end document\n"),  # OntoNotes
        ("# newdoc id = 1\n# sent_id = 2\n", ""),
        ("# checked\n", ""),
        ("# id 1\n", ""),
    ],
)
@pytest.mark.parametrize("numbered", [False, True])
def test_comments_of_any_corpus(tmp_path: Path, before: str, after: str, numbered: bool) -> None:
    lines = [
        "\n".join(
            f"{f'{k}{chr(9)}' if numbered else ''}{word}\t{tag}" for k, (word, tag) in enumerate(own, start=1)
        )
        for own in WORDS
    ]
    corpus = read(tmp_path, f"{before}{lines[0]}\n\n{before}{lines[1]}\n{after}")
    assert pairs(corpus) == WORDS
    assert bool(corpus.notes) == numbered


def test_a_number_sign_that_is_a_word_stays_one(tmp_path: Path) -> None:
    for text in ("# O\nAda B-PER\n\nAda B-PER\n# O\n", "#tag\tO\nAda\tB-PER\n\n#\tO\n"):
        found = pairs(read(tmp_path, text))
        assert sum(word.startswith("#") for sentence in found for word, _ in sentence) == text.count("#")


def test_words_that_are_numbers_stay_words(tmp_path: Path) -> None:
    corpus = read(tmp_path, "1\tB-NUM\n2\tB-NUM\n\n1984\tB-NUM\nwas\tO\n")
    assert pairs(corpus)[0] == [("1", "B-NUM"), ("2", "B-NUM")]
    assert not corpus.notes


@pytest.mark.parametrize(
    "first", ["0.1\tshe\t_\tPRON\tPRP\t_\t_\t_\t_\t_\n", "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n"]
)
def test_conllu_may_begin_with_what_is_no_word(tmp_path: Path, first: str) -> None:
    rest = CONLLU.split("\n", 2)[2]
    assert pairs(read(tmp_path, first + rest)) == [[("It", "PRON"), ("'s", "AUX"), ("here", "ADV")]]


def test_a_line_that_differs_from_most_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 1: expected 2 columns as in most lines, got 3"):
        read(tmp_path, "Ada x B-PER\nLovelace I-PER\nwrote O\n")


def test_bilou_is_read_as_spans_of_its_own(tmp_path: Path) -> None:
    text = "New\tB-LOC\nYork\tL-LOC\nand\tO\nParis\tU-LOC\n"
    corpus = read(tmp_path, text)
    assert pairs(corpus) == [[("New", "B-LOC"), ("York", "L-LOC"), ("and", "O"), ("Paris", "U-LOC")]]
    tags = [tag for _, tag in pairs(corpus)[0]]
    assert scheme_of(tags) == "bilou"
    assert [tuple(span) for span in spans_of(tags)] == [(0, 2, "LOC"), (3, 4, "LOC")]
    assert tags_of(spans_of(tags), 4, "bilou") == tuple(tags)
    assert bio_tags(["LOC"], "bilou") == ("O", "B-LOC", "I-LOC", "L-LOC", "U-LOC")
    with pytest.raises(DataError, match="the sentence ends with B-LOC, which needs I-LOC or L-LOC behind it"):
        read(tmp_path, "New\tB-LOC\n\nYork\tU-LOC\nto\tO\nLos\tB-LOC\nAngeles\tL-LOC\n")
    repaired = read(tmp_path, "New\tB-LOC\n\nYork\tU-LOC\nto\tO\nLos\tI-LOC\nAngeles\tL-LOC\n", repair=True)
    assert pairs(repaired)[1][2:] == [("Los", "B-LOC"), ("Angeles", "L-LOC")]


@pytest.mark.parametrize(
    ("tags", "part"),
    [
        (("B", "I", "O"), "mark spans without a kind"),
        (("B-", "I-", "O"), "mark spans without a kind"),
        (("B_PER", "I_PER", "O"), "in a form that is not read; write B-PER and I-PER"),
        (("b-per", "i-per", "o"), "in small letters; write B-PER, I-PER and O"),
        (("PER-B", "PER-I", "O"), "in a form that is not read"),
        (("B_PER", "O"), "in a form that is not read"),  # every span is one word
        (("PER-B", "LOC-B", "O"), "in a form that is not read"),
        (("b-per", "o"), "in small letters"),
        (("B:PER", "I:PER", "O"), "in a form that is not read"),
        (("B-PER", "M-PER", "E-PER"), "a tag is O, B-ROLE"),
        (("B-PER", "L-PER", "S-PER"), "a tag is O, B-ROLE"),
    ],
)
def test_spans_in_a_form_that_is_not_read_are_no_plain_tags(
    tmp_path: Path, tags: tuple[str, ...], part: str
) -> None:
    with pytest.raises(DataError, match=part):
        read(tmp_path, "".join(f"w{k}\t{tag}\n" for k, tag in enumerate(tags)))


def test_parts_of_speech_stay_plain(tmp_path: Path) -> None:
    for tags in (("NN", "I", "B"), ("B", "O"), ("N_B", "N_C"), ("X-I", "Y-B", "Z")):
        assert len(pairs(read(tmp_path, "".join(f"w{k}\t{tag}\n" for k, tag in enumerate(tags))))) == 1


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.parquet"])
def test_a_table_of_words_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("word,tag\nAda,B-PER\n")
    with pytest.raises(
        DataError, match=r"is a table, and tags are read from .* \.jsonl file with the fields tokens"
    ):
        read_tags(tmp_path / name)
