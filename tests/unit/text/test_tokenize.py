from __future__ import annotations

import copy
import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import UsageError
from heedful.text.tokenize import TOKENIZERS, binary_parse_words, tokenize, tokenizer

NAMES = tuple(TOKENIZERS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A dog doesn't bark.", "A dog does n't bark ."),
        ("The dog's tail, John’s hat", "The dog 's tail , John ’s hat"),
        ("I cannot; we're gonna", "I can not ; we 're gon na"),
        ('He said "no" (twice)...', 'He said " no " ( twice ) ...'),
        ("Mr. Smith of the U.S. paid $1,000.50!", "Mr. Smith of the U.S. paid $ 1,000.50 !"),
        ("a well-known T-shirt -- blue", "a well-known T-shirt -- blue"),
        ("It ended.\" 'Yes,' she said.", "It ended . \" ' Yes , ' she said ."),
        ("the dogs' bowls at 10:30, ok?", "the dogs ' bowls at 10:30 , ok ?"),
        ("does n't 's '' ``", "does n't 's '' ``"),
        ("o'clock rock'n'roll", "o'clock rock'n'roll"),
        ("CAN'T Cannot 'tis", "CA N'T Can not 't is"),
        ("50% of AT&T… “so”", "50 % of AT & T … “ so ”"),
        ("the end.' 'the end'.", "the end . ' ' the end ' ."),
        (". ' ’ .'. ''''", ". ' ’ . ' . '' ''"),
    ],
)
def test_treebank_cuts_as_written_by_hand(text: str, words: str) -> None:
    assert list(tokenize(text).words) == words.split(" ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a t-shirt's 20°/30~", "a t - shirt ' s 20 ° / 30 ~"),
        ("''", "' '"),
        ("− — – “x” ‘y’", "− — – “ x ” ‘ y ’"),
    ],
)
def test_second_split_keeps_separators_and_makes_no_empty_words(text: str, words: str) -> None:
    assert list(tokenize(text, "whitespace_split_hyphens").words) == words.split(" ")
    assert list(tokenize(text, "treebank_split_hyphens").words) == words.split(" ")


def test_second_split_also_cuts_ready_made_words() -> None:
    assert tokenizer("treebank_split_hyphens").split_word("n't") == ("n", "'", "t")
    assert tokenizer("treebank").split_word("can't") == ("can't",)
    assert all(TOKENIZERS[name].split_word("") == () for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text() | st.text(alphabet="ab.'’\"-n't,:1$ \n\x00\x1c\u00a0\ud800"))
@settings(max_examples=300, deadline=None)
def test_spans_slice_back_to_the_words_and_lose_only_white_space(name: str, text: str) -> None:
    tokens = tokenize(text, name)
    assert [text[start:end] for start, end in tokens.spans] == list(tokens.words)
    assert all(tokens.words)
    assert "".join(tokens.words) == "".join(text.split())
    assert all(a[1] <= b[0] for a, b in zip(tokens.spans, tokens.spans[1:], strict=False))
    assert tokenizer(name).words(text) == list(tokens.words)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", " ", "\t\n\u3000"])
def test_text_without_words_is_valid(name: str, text: str) -> None:
    assert tokenize(text, name).words == ()
    assert tokenize(text, name).spans == ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["word ", "'", ".", "a.'", "n't", "-", "a", '"', "1,"])
def test_hundred_thousand_pieces_in_one_line_take_linear_time(name: str, unit: str) -> None:
    start = time.process_time()
    tokens = tokenize(unit * 100_000, name)
    assert time.process_time() - start < 2.0
    assert len(tokens.words) >= 1


def test_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'treebank'"):
        tokenize("x", "trebank")


def test_binary_parse_gives_its_leaves_as_plain_text_has_them() -> None:
    parse = "( ( A ( dog -LRB- ) ) ( ( `` sleeps '' ) . ) )"
    assert binary_parse_words(parse) == ("A", "dog", "(", '"', "sleeps", '"', ".")
    assert binary_parse_words("") == ()


@pytest.mark.data
def test_treebank_agrees_with_the_parses_of_snli(data_dir) -> None:  # type: ignore[no-untyped-def]
    import json
    import lzma

    same = total = 0
    with lzma.open(data_dir / "snli" / "snli_1.0_dev.jsonl.xz", "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            for side in ("sentence1", "sentence2"):
                total += 1
                gold = binary_parse_words(row[f"{side}_binary_parse"])
                same += tokenize(row[side].replace("''", '"')).words == gold
    assert total == 20_000
    assert same / total > 0.99


@pytest.mark.parametrize("name", TOKENIZERS)
def test_copies_and_pickles_are_found_by_name(name: str) -> None:
    """A trained model holds its tokenizer, and scikit-learn's users copy and pickle models."""
    for one in (tokenizer(name), tokenizer(name, "token", normalize=True)):
        for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert (other.markup, other.normalize) == (one.markup, one.normalize)
            assert other.words("don’t <b>go</b>") == one.words("don’t <b>go</b>")
