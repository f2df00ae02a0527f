"""The tags that are chosen are the best of all that fit together, and their odds are those that torch gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from heedful.attention.crf import crf_expected
from heedful.model.decisions.tag_paths import TagChain, TagPaths
from heedful.tasks.words.tag_sequences import chain_of
from heedful.text.bio import bio_tags, mistake_in

TAGS = {"plain": ("NOUN", "O", "VERB"), "bio": bio_tags(["X", "Y"]), "bioes": bio_tags(["X"], "bioes")}
MANY = bio_tags([f"R{number}" for number in range(20)])
"""So many tags that those of BIO are decoded without a table of all pairs."""


def drawn(count: int, seed: int = 0) -> TagChain:
    generator = np.random.default_rng(seed)
    return TagChain(
        *(generator.normal(size=shape).astype(np.float32) for shape in ((count,) * 2, count, count))
    )


def total(scores: np.ndarray, chain: TagChain, path: tuple[int, ...]) -> float:
    """Return the score of a sequence, added up by hand."""
    own = sum(float(scores[place, tag]) for place, tag in enumerate(path))
    steps = sum(float(chain.follows[tag, before]) for before, tag in itertools.pairwise(path))
    return own + steps + float(chain.first[path[0]] + chain.last[path[-1]])


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_best_of_all_sequences_is_found(scheme: str, length: int, chained: bool) -> None:
    tags = TAGS[scheme]
    paths = TagPaths(tags, drawn(len(tags)) if chained else None)
    scores = np.random.default_rng(length).normal(size=(length, len(tags))).astype(np.float32) * 3
    every = itertools.product(range(len(tags)), repeat=length)
    wanted = max(every, key=lambda path: total(scores, paths.chain, path))
    assert tuple(paths.of(scores)) == wanted
    if scheme != "plain":
        assert mistake_in([tags[number] for number in wanted], scheme) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("length", [1, 2, 9])
def test_the_odds_are_torchs(scheme: str, length: int) -> None:
    tags = TAGS[scheme]
    chain = drawn(len(tags))
    scores = np.random.default_rng(length).normal(size=(length, len(tags))).astype(np.float32) * 3
    one, valid = torch.from_numpy(scores).double()[None], torch.ones(1, length, dtype=torch.bool)
    marginals = crf_expected(one, valid, chain_of(tags, chain)).marginals[0].numpy()
    np.testing.assert_allclose(np.exp(TagPaths(tags, chain).log_shares(scores)), marginals, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tags", [*TAGS.values(), MANY])
def test_texts_beside_one_another_change_nothing(tags: tuple[str, ...], seed: int) -> None:
    generator = np.random.default_rng(seed)
    # whole numbers, so that many sequences are equal
    texts = [
        generator.integers(-3, 2, (length, len(tags))).astype(np.float32) for length in (4, 0, 9, 1, 4, 300)
    ]
    for paths in (TagPaths(tags), TagPaths(tags, drawn(len(tags), seed))):
        together = paths.of_each(texts)
        assert [found.tolist() for found in together] == [paths.of(scores).tolist() for scores in texts]
    assert TagPaths(tags).of_each([]) == []


@pytest.mark.parametrize("seed", range(6))
def test_many_tags_are_decoded_as_by_the_table(seed: int) -> None:
    paths, table = TagPaths(MANY), TagPaths(MANY, TagChain.allowed(MANY))  # the same, but asks for the table
    assert paths._begins is not None
    assert table._begins is None
    generator = np.random.default_rng(seed)
    texts = [generator.integers(-2, 2, (length, len(MANY))).astype(np.float32) for length in (7, 1, 30, 3)]
    texts += [generator.normal(size=(25, len(MANY))).astype(np.float32)]
    assert [x.tolist() for x in paths.of_each(texts)] == [x.tolist() for x in table.of_each(texts)]


def test_an_invalid_best_tag_gives_way_to_the_cheapest_repair() -> None:
    tags = TAGS["bio"]
    scores = np.zeros((2, len(tags)), np.float32)
    scores[:, tags.index("I-X")] = 1.0  # cannot begin, and may follow B-X
    assert [tags[number] for number in TagPaths(tags).of(scores)] == ["B-X", "I-X"]


def test_among_equals_the_smallest_number_wins() -> None:
    tags = TAGS["bio"]
    scores = np.zeros((3, len(tags)), np.float32)
    assert TagPaths(tags).of(scores).tolist() == [tags.index("O")] * 3
    scores[0, tags.index("B-X")] = scores[2, tags.index("I-X")] = 1.0  # which B-X and I-X may both go before
    assert [tags[number] for number in TagPaths(tags).of(scores)] == ["B-X", "B-X", "I-X"]


def test_without_a_chain_each_word_is_by_itself() -> None:
    scores = np.array([[0.0, 2.0, 1.0]], np.float32)
    paths = TagPaths(TAGS["plain"])
    assert not paths.has_chain
    assert paths.of(scores).tolist() == [1]
    assert np.exp(paths.log_shares(scores)).sum() == pytest.approx(1, abs=1e-6)


def test_a_text_without_words_has_no_tags() -> None:
    paths = TagPaths(TAGS["bio"], drawn(5))
    assert paths.of(np.zeros((0, 5), np.float32)).tolist() == []
    assert paths.log_shares(np.zeros((0, 5), np.float32)).shape == (0, 5)


def test_very_large_scores_give_probabilities() -> None:
    scores = np.zeros((3, 5), np.float32)
    scores[:, 2] = 3_000
    shares = np.exp(TagPaths(TAGS["bio"], drawn(5)).log_shares(scores))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
