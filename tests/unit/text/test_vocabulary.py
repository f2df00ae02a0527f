from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import ArtifactError, UsageError
from heedful.text.vocabulary import PADDING, UNKNOWN, Vocabulary

COUNTS = Counter(["The", "dog", "runs", "the", "cat", "runs", "a", "Dog"])


def example(**settings: object) -> Vocabulary:
    given = {
        "pretrained": ["horse", "dog", "zebra"],
        "baseforms": {"horses": "horse", "dogs": "dog", "x": "y"},
    }
    return Vocabulary.build(COUNTS, **{**given, **settings})  # type: ignore[arg-type]


def test_rows_are_padding_unknown_then_trained_by_count_then_frozen() -> None:
    vocabulary = example()
    assert vocabulary.trainable == ("dog", "runs", "the", "a", "cat")
    assert vocabulary.extra == ("horse", "zebra")
    assert (vocabulary.trainable_rows, vocabulary.frozen_rows, len(vocabulary)) == (7, 2, 9)
    assert vocabulary.ids(["dog", "DOG", "horse", "nothing"]).tolist() == [2, 2, 7, UNKNOWN]
    assert [vocabulary.word(row) for row in (PADDING, UNKNOWN, 2, 8)] == [
        "<padding>",
        "<unknown>",
        "dog",
        "zebra",
    ]
    with pytest.raises(UsageError, match="0 to 8, got 9"):
        vocabulary.word(9)


def test_order_of_the_counts_does_not_matter() -> None:
    turned = dict(reversed(list(COUNTS.items())))
    assert Vocabulary.build(turned).to_json() == Vocabulary.build(COUNTS).to_json()


def test_absent_word_is_looked_up_through_its_base_form_only_then() -> None:
    vocabulary = example()
    assert vocabulary.id("Horses") == vocabulary.id("horse")
    assert vocabulary.id("dogs") == vocabulary.id("dog")
    assert vocabulary.id("x") == UNKNOWN
    assert dict(vocabulary.baseforms) == {"horses": "horse", "dogs": "dog"}
    assert not vocabulary.knows("x")
    assert vocabulary.knows("DOGS")
    own_row = Vocabulary.build({"horses": 1, "horse": 1}, baseforms={"horses": "horse"})
    assert own_row.id("horses") != own_row.id("horse")


def test_case_is_kept_on_request() -> None:
    vocabulary = example(lowercase=False)
    assert {"The", "the", "Dog", "dog"} <= set(vocabulary.trainable)
    assert vocabulary.id("CAT") == UNKNOWN


def test_rare_word_with_a_pretrained_vector_is_frozen_not_unknown() -> None:
    vocabulary = example(min_count=2, pretrained=["cat"])
    assert vocabulary.trainable == ("dog", "runs", "the")
    assert vocabulary.id("cat") == vocabulary.trainable_rows
    assert vocabulary.id("a") == UNKNOWN


def test_hash_policy_gives_shared_frozen_rows_that_never_change() -> None:
    vocabulary = example(oov="hash", buckets=100)
    ids = vocabulary.ids(f"word{n}" for n in range(2000))
    assert ids.min() >= len(vocabulary) - 100
    assert ids.max() < len(vocabulary)
    assert len(set(ids.tolist())) == 100
    assert vocabulary.word(len(vocabulary) - 1) == "<bucket 99>"
    code = "from heedful.text.vocabulary import Vocabulary as V; print(V.build({}, oov='hash').id('odd \\ud800'))"
    here = Vocabulary.build({}, oov="hash").id("odd \ud800")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == here


@given(
    counts=st.dictionaries(st.text(), st.integers(1, 9), max_size=20),
    extra=st.lists(st.text(), max_size=5),
    bases=st.dictionaries(st.text(), st.text(), max_size=5),
    lowercase=st.booleans(),
    oov=st.sampled_from(["unknown", "hash"]),
    words=st.lists(st.text(), max_size=20),
)
def test_saved_and_loaded_is_identical(counts, extra, bases, lowercase, oov, words) -> None:  # type: ignore[no-untyped-def]
    vocabulary = Vocabulary.build(counts, lowercase=lowercase, pretrained=extra, baseforms=bases, oov=oov)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again == vocabulary
    assert again.to_json() == vocabulary.to_json()
    assert again.sha256() == vocabulary.sha256()
    ids = vocabulary.ids(words)
    assert len(ids) == len(words)
    assert np.array_equal(again.ids(words), ids)
    assert ((ids > 0) & (ids < len(vocabulary))).all()


def test_sha_is_stable_across_versions_of_the_code() -> None:
    assert Vocabulary.build({"b": 1, "a": 1}).sha256() == (
        "02d2b387538f698501939c5f3161eb476e51fdb53591fa84a9596cc1a4723562"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("extra"),
        lambda c: c.update(format=2),
        lambda c: c.update(trainable="abc"),
        lambda c: c.update(trainable=["a", 1]),
        lambda c: c.update(trainable=["a", "a"]),
        lambda c: c.update(buckets=3),
        lambda c: c.update(oov="nothing"),
        lambda c: c.update(lowercase=1),
    ],
)
def test_altered_file_is_refused(change) -> None:  # type: ignore[no-untyped-def]
    content = json.loads(example().to_json())
    change(content)
    with pytest.raises(ArtifactError, match=r"vocabulary\.json"):
        Vocabulary.from_json(json.dumps(content), "vocabulary.json")


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ArtifactError, match="vocabulary"):
        Vocabulary.from_json(text)


@pytest.mark.parametrize("settings", [{"min_count": 0}, {"oov": "hsh"}, {"oov": "hash", "buckets": 0}])
def test_wrong_settings_are_told(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(reversed(settings))):
        example(**settings)
