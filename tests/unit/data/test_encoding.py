from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoded_texts import encode_texts
from heedful.data.batching import BucketSampler
from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.gold import class_targets, collect_labels, score_targets
from heedful.data.tokens import tokenize_corpus
from heedful.errors import DataError, UsageError
from heedful.text.tokenize import tokenize
from heedful.text.vocabulary import UNKNOWN, Vocabulary
from heedful.text.wide_part import PhraseRule

PAIRS = [
    Example(("A dog runs.", "A cat sleeps"), "no", row=2, group="x"),
    Example(("The dog doesn't run", ""), "yes", row=3, group="y"),
    Example(("A dog", "A dog"), None, row=4, group="x"),
    Example(("A dog runs far away.", "run"), "yes", (("A", "dog"), None), row=5, group="x"),
]
LABELS = ("no", "yes")


def words_of(dataset: EncodedDataset, vocabulary: Vocabulary, side: int) -> list[list[str]]:
    return [[vocabulary.word(int(n)) for n in dataset.sides[side][row]] for row in range(len(dataset))]


def both(
    examples: Sequence[Example] = PAIRS, gold: str = "class", **settings: object
) -> tuple[EncodedDataset, Vocabulary]:
    corpus = tokenize_corpus(examples, source=Path("pairs.tsv"))
    vocabulary = Vocabulary.build(corpus.counts())
    labels = LABELS if gold == "class" else ()
    encoders = {"class": lambda: class_targets(corpus, labels), "score": lambda: score_targets(corpus)}
    targets = encoders[gold]() if gold else None
    return encode(corpus, vocabulary, targets, labels=labels, **settings), vocabulary  # type: ignore[arg-type]


def test_words_targets_rows_and_groups_by_hand() -> None:
    dataset, vocabulary = both()
    assert words_of(dataset, vocabulary, 0) == [
        ["a", "dog", "runs", "."],
        ["the", "dog", "does", "n't", "run"],
        ["a", "dog"],
    ]
    assert words_of(dataset, vocabulary, 1) == [["a", "cat", "sleeps"], [], ["run"]]
    assert dataset.targets is not None
    assert dataset.targets.tolist() == [0, 1, 1]
    assert dataset.targets.dtype == np.int64
    assert dataset.rows.tolist() == [2, 3, 5]
    assert [dataset.group_names[n] for n in dataset.groups] == ["x", "y", "x"]
    assert dataset.lengths().tolist() == [[4, 3], [5, 0], [2, 1]]
    assert dataset.labels == LABELS
    report = dataset.report
    assert (report.examples, report.without_gold, report.empty, report.tokens, report.unknown) == (
        3,
        1,
        1,
        15,
        0,
    )


def test_order_of_labels_is_the_given_one() -> None:
    targets = class_targets(tokenize_corpus(PAIRS), ("yes", "maybe", "no"))
    assert targets.values[targets.present].tolist() == [2, 0, 0]


def test_corpus_counts_equal_a_plain_count() -> None:
    texts = ["the dog's dog", "", "THE end."]
    corpus = tokenize_corpus([Example((text,)) for text in texts])
    assert corpus.counts() == Counter(word for text in texts for word in tokenize(text).words)
    assert corpus.rows.tolist() == [1, 2, 3]
    assert corpus.lengths().tolist() == [[4], [0], [3]]


def test_length_quantile_is_the_smallest_that_covers_the_share() -> None:
    corpus = tokenize_corpus([Example((" ".join("w" * n), "w")) for n in range(1, 11)], "whitespace")
    assert [corpus.length_quantile(share) for share in (0.5, 0.55, 0.56, 0.97, 1.0)] == [1, 1, 2, 10, 10]


def test_second_split_reaches_ready_made_words() -> None:
    examples = [Example(("x",), None, (("t-shirt", "n't"),))]
    assert tokenize_corpus(examples, "treebank_split_hyphens").words == ("t", "-", "shirt", "n", "'")
    assert tokenize_corpus(examples).words == ("t-shirt", "n't")


def test_scores_stay_numbers() -> None:
    examples = [Example(("a", "b"), 1.5), Example(("a", "b"), None), Example(("c", "d"), 3)]
    dataset, _ = both(examples, "score")
    assert dataset.targets is not None
    assert dataset.targets.tolist() == [1.5, 3.0]
    assert dataset.targets.dtype == np.float32
    assert dataset.labels == ()


def test_without_gold_nothing_is_left_out() -> None:
    dataset, _ = both(gold="")
    assert dataset.targets is None
    assert len(dataset) == 4


@pytest.mark.parametrize(
    ("target", "kind", "message"),
    [
        (1.0, "class", r"pairs\.tsv: row 7: expected a label as a string, got 1\.0"),
        ("1.0", "score", r"pairs\.tsv: row 7: expected a finite number as score, got '1\.0'"),
        (float("nan"), "score", r"pairs\.tsv: row 7: expected a finite number as score, got nan"),
    ],
)
def test_wrong_gold_names_file_and_row(target: str | float, kind: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        both([Example(("a", "b"), target, row=7)], kind)


def test_labels_are_collected_sorted_and_checked() -> None:
    assert collect_labels(PAIRS) == ("no", "yes")
    with pytest.raises(DataError, match=r"at least two different labels, got \['yes'\]"):
        collect_labels(PAIRS[1:])
    with pytest.raises(DataError, match=r"row 9: expected a label as a string, got 2"):
        collect_labels([*PAIRS, Example(("a", "b"), 2, row=9)])


@pytest.mark.parametrize("truncate", ["error", "head", "drop"])
def test_long_texts_are_never_cut_in_silence(truncate: str, caplog: pytest.LogCaptureFixture) -> None:
    if truncate == "error":
        with pytest.raises(
            DataError, match=r"pairs\.tsv: row 3, text 1: 5 tokens, at most max_tokens = 4 allowed"
        ):
            both(max_tokens=4)
        return
    with caplog.at_level(logging.WARNING):
        dataset, vocabulary = both(max_tokens=3, truncate=truncate)
    if truncate == "head":
        assert words_of(dataset, vocabulary, 0) == [
            ["a", "dog", "runs"],
            ["the", "dog", "does"],
            ["a", "dog"],
        ]
        assert (dataset.report.truncated, dataset.report.tokens_cut, dataset.report.tokens) == (2, 3, 12)
        assert "texts truncated to 3 tokens: 2 (3 tokens removed)" in caplog.text
    else:
        assert dataset.rows.tolist() == [5]
        assert (dataset.report.dropped_long, dataset.report.without_gold) == (2, 1)
        assert "2 examples longer than 3 tokens" in caplog.text


def test_limit_that_is_not_exceeded_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    dataset, vocabulary = both(max_tokens=5)
    assert words_of(dataset, vocabulary, 0) == words_of(both()[0], vocabulary, 0)
    assert caplog.text == ""


@pytest.mark.parametrize(
    "settings",
    [{"truncate": "tail"}, {"max_tokens": 0}],
)
def test_wrong_settings_are_told(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(settings))):
        both(**settings)


@pytest.mark.parametrize("labels", [(), ("a", "a")])
def test_class_names_are_some_and_each_once(labels: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="labels"):
        class_targets(tokenize_corpus(PAIRS), labels)


@pytest.mark.parametrize("wrong", [None, 1.5, float("nan"), b"bytes"])
def test_what_is_no_string_names_row_and_field(wrong: object) -> None:
    with pytest.raises(DataError, match=r"row 2, text: expected a string, got"):
        tokenize_corpus([Example(("a",)), Example((wrong,))])  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"f\.tsv: row 8, text 2: expected a string, got"):
        tokenize_corpus([Example(("a", wrong), row=8)], source=Path("f.tsv"))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"row 1, text: expected a string, got"):
        tokenize_corpus([Example(("a",), None, (("a", wrong),))])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="row 2, text 2"):
        encode_texts([("a", "b"), ("a", wrong)], Vocabulary.build({}))


def test_texts_and_pairs_do_not_mix() -> None:
    with pytest.raises(DataError, match="row 2: expected 1 texts, got 2"):
        encode_texts(["a", ("a", "b")], Vocabulary.build({}))


@given(texts=st.lists(st.text(), max_size=8), oov=st.sampled_from(["unknown", "hash"]))
@settings(max_examples=200, deadline=None)
def test_any_list_of_strings_gives_as_many_examples(texts: list[str], oov: str) -> None:
    vocabulary = Vocabulary.build({"a": 1}, oov=oov)  # type: ignore[arg-type]
    dataset = encode_texts(texts, vocabulary)
    assert len(dataset) == len(texts)
    for side in dataset.sides:
        assert len(side) == len(texts)
        assert ((side.values >= 1) & (side.values < len(vocabulary))).all()
        assert side.lengths().tolist() == [len(tokenize(text).words) for text in texts]


def test_no_texts_give_no_examples() -> None:
    dataset = encode_texts([], Vocabulary.build({}), max_tokens=3)
    assert len(dataset) == 0
    assert dataset.lengths().shape == (0, 0)
    assert BucketSampler(dataset.lengths(), max_tokens=10).batches(0) == []


def test_unknown_words_stay_visible_and_are_counted() -> None:
    dataset = encode_texts(["xx yy"], Vocabulary.build({"a": 1}))
    assert dataset.sides[0].values.tolist() == [UNKNOWN, UNKNOWN]
    assert dataset.report.unknown == 2
    hashed = encode_texts(["xx a"], Vocabulary.build({"a": 1}, oov="hash"))
    assert hashed.report.unknown == 1


def test_selection_keeps_examples_whole() -> None:
    dataset, vocabulary = both()
    part = dataset.select(np.array([2, 0]))
    assert part.rows.tolist() == [5, 2]
    assert part.targets is not None
    assert part.targets.tolist() == [1, 0]
    assert words_of(part, vocabulary, 1) == [["run"], ["a", "cat", "sleeps"]]
    assert len(dataset.select(np.array([], dtype=np.int64))) == 0


def test_hundred_thousand_tokens_in_one_line_are_quick() -> None:
    start = time.process_time()
    dataset = encode_texts(["word's " * 50_000], Vocabulary.build({"word": 1}))
    assert dataset.lengths().tolist() == [[100_000]]
    with pytest.raises(DataError, match="row 1, text: 100000 tokens, at most max_tokens = 512"):
        encode_texts(["word's " * 50_000], Vocabulary.build({"word": 1}), max_tokens=512)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "texts", [[("A dog runs",), ("",), ("dog dog",)], [("A dog", "runs"), ("", "a b"), ("c", "")]]
)
@pytest.mark.parametrize("at_once", [1, 2, 4096])
def test_features_are_those_of_each_text_however_many_are_read_at_once(
    texts: list[tuple[str, ...]], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.data.encoding._AT_ONCE", at_once)
    rule = PhraseRule(2, 2, 3)
    corpus = tokenize_corpus([Example(each) for each in texts])
    phrases = encode(corpus, Vocabulary.build(corpus.counts()), phrases=rule).phrases
    assert phrases is not None
    for row, each in enumerate(texts):
        sides = [rule.numbers(text.split(), side) for side, text in enumerate(each)]
        assert phrases[row].tolist() == sorted({number for side in sides for number in side.tolist()})
