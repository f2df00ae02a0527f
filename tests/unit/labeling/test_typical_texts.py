"""Typical texts: each is like many that no labeled one is like."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.data.examples import Corpus, Example
from heedful.labeling import typical_texts
from heedful.labeling.pool import Pool
from heedful.labeling.typical_texts import TypicalTexts, by_meaning, by_words

LARGE = [f"red apple tree number{k}" for k in range(9)]
MIDDLE = [f"blue water wave number{k}" for k in range(20, 26)]
SMALL = [f"green grass field number{k}" for k in range(40, 44)]
ODD = [f"alone{k} by{k} itself{k}" for k in range(6)]
FORMS = (
    "where is my parcel",
    "my parcel has not come",
    "the bread is good",
    "I love the bread",
    "no money came back",
)


def pool_of(texts: list[str] | list[tuple[str, ...]]) -> Pool:
    tuples = [each if isinstance(each, tuple) else (each,) for each in texts]
    return Pool(Corpus([Example(each, row=k) for k, each in enumerate(tuples, 1)]))


def first(pool: Pool, count: int, labeled: frozenset[str] = frozenset()) -> list[str]:
    typical, taken = TypicalTexts(pool), set(labeled)
    assert typical.wait(60)
    for key in labeled:
        typical.saw(key)
    found = list[str]()
    while len(found) < count:
        place = typical.choose(lambda key: key not in taken)
        assert place is not None
        taken.add(pool.keys[place])
        typical.saw(pool.keys[place])
        found.append(pool.texts[place][0])
    return found


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.storage.named_models.packaged_models", lambda: [])


@pytest.mark.usefixtures("no_encoder")
def test_each_stands_for_the_largest_group_that_has_none() -> None:
    found = first(pool_of([*ODD, *SMALL, *LARGE, *MIDDLE]), 3)
    assert [found[0] in LARGE, found[1] in MIDDLE, found[2] in SMALL] == [True, True, True]


@pytest.mark.usefixtures("no_encoder")
def test_what_others_have_labeled_counts() -> None:
    pool = pool_of([*ODD, *SMALL, *LARGE, *MIDDLE])
    assert (
        first(
            pool,
            1,
            frozenset(key for key, each in zip(pool.keys, pool.texts, strict=True) if each[0] in LARGE[:1]),
        )[0]
        in MIDDLE
    )


@pytest.mark.usefixtures("no_encoder")
def test_the_gain_is_that_of_the_definition() -> None:
    texts = [*ODD, *SMALL, *LARGE, *MIDDLE]
    pool = pool_of(texts)
    alike = by_words([pool.texts[place] for place in pool.order])
    chosen: list[int] = []
    for _ in range(8):
        covered = [
            alike[:, [*chosen, k]].max(1).sum() if k not in chosen else -1.0 for k in range(len(texts))
        ]
        chosen.append(int(np.argmax(np.round(covered, 4))))
    found = first(pool, 8)
    reached = [pool.order[k] for k in chosen]
    place = {pool.texts[k][0]: k for k in range(len(texts))}
    ours = alike[:, [pool.order.index(place[text]) for text in found]].max(1).sum()
    assert ours == pytest.approx(alike[:, chosen].max(1).sum(), rel=1e-5)
    assert len(reached) == len({place[text] for text in found}) == 8


def test_texts_are_compared_by_meaning_where_there_is_an_encoder() -> None:
    pytest.importorskip("heedful_en")
    alike = by_meaning([(text,) for text in FORMS])
    assert alike.shape == (5, 5)
    assert np.allclose(alike, alike.T)
    assert np.allclose(alike.diagonal(), 1, atol=1e-5)
    assert alike[0].argsort()[-2] == 1
    assert alike[2].argsort()[-2] == 3
    assert by_meaning([(text, "a b c") for text in FORMS]).shape == (5, 5)


def test_an_encoder_that_cannot_be_read_leaves_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from heedful.errors import ArtifactError

    def broken(*_: object, **__: object) -> None:
        raise ArtifactError("weights: altered")

    monkeypatch.setattr("heedful.opening.open_model", broken)
    texts = [(text,) for text in FORMS]
    assert np.array_equal(by_meaning(texts), by_words(texts))


@pytest.mark.usefixtures("no_encoder")
def test_nothing_is_chosen_before_the_texts_are_compared_or_when_none_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = pool_of([*SMALL, *LARGE])
    typical = TypicalTexts(pool)
    assert typical.wait(60)
    assert typical.choose(lambda key: False) is None
    monkeypatch.setattr(TypicalTexts, "_compare", lambda self: None)
    assert TypicalTexts(pool).choose(lambda key: True) is None


@pytest.mark.usefixtures("no_encoder")
def test_of_a_large_pool_a_fair_sample_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typical_texts, "_SAMPLE", 5)
    pool = pool_of([*SMALL, *LARGE])
    typical = TypicalTexts(pool)
    assert typical.wait(60)
    typical.saw(pool.keys[pool.order[-1]])
    assert typical.choose(lambda key: True) in pool.order[:5]


def test_pairs_and_words_of_one_text_alone() -> None:
    alike = by_words([("a b", "c"), ("a b", "d"), ("", "!")])
    assert 0 < alike[0, 1] < 1
    assert alike[2, :2].tolist() == [0, 0]
