"""Files of tagged words: columns and CoNLL-U, recognized by content; broken tags named with their row, or repaired."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.data.examples import Corpus, Example, WordTags
from heedful.data.readers.tag_files import read_tags
from heedful.data.tokens import tokenise_corpus
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

# 0 is a word here, not a comment
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
    with pytest.raises(DataError, match=r"row 8: expected 4 columns as in the first line of words, got 9"):
        read(tmp_path, CONLL)
    corpus = read(tmp_path, CONLL.rpartition("#")[0])
    assert pairs(corpus) == [[("Ada", "B-PER"), ("Lovelace", "I-PER"), ("wrote", "O")]]
    assert corpus.examples[0].row == 4
    assert pairs(read(tmp_path, CONLL.rpartition("#")[0], tag=1))[0][2] == ("wrote", "VBD")
    assert pairs(read(tmp_path, TWO)) == [[("Ada", "B-PER"), ("#", "O")], [("in", "O"), ("Paris", "B-LOC")]]


def test_conllu_is_recognised_by_content(tmp_path: Path) -> None:
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
    corpus = tokenise_corpus(examples)
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
