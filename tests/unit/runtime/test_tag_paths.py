"""Paths of tags without torch: the best sequence and the odds are those that torch gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.attention.crf import crf_decode, crf_expected
from heedful.runtime.tag_paths import TagChain, TagPaths
from heedful.tasks.words.tag_sequences import chain_of
from heedful.text.bio import bio_tags, mistake_in

TAGS = {"plain": ("NOUN", "O", "VERB"), "bio": bio_tags(["X", "Y"]), "bioes": bio_tags(["X"], "bioes")}


def drawn(count: int, seed: int = 0) -> TagChain:
    generator = np.random.default_rng(seed)
    return TagChain(
        *(generator.normal(size=shape).astype(np.float32) for shape in ((count,) * 2, count, count))
    )


@pytest.mark.parametrize("scheme", TAGS)
@pytest.mark.parametrize("length", [1, 2, 9])
def test_the_paths_are_torchs_and_valid(scheme: str, length: int) -> None:
    tags = TAGS[scheme]
    chain = drawn(len(tags))
    scores = np.random.default_rng(length).normal(size=(length, len(tags))).astype(np.float32) * 3
    paths, theirs = TagPaths(tags, chain), chain_of(tags, chain)
    one, valid = torch.from_numpy(scores).double()[None], torch.ones(1, length, dtype=torch.bool)
    found = paths.of(scores)
    assert found.tolist() == crf_decode(one, valid, theirs)[0].tolist()
    marginals = crf_expected(one, valid, theirs).marginals[0].numpy()
    np.testing.assert_allclose(np.exp(paths.log_shares(scores)), marginals, atol=1e-12)
    if scheme != "plain":
        assert mistake_in([tags[number] for number in found], scheme) is None  # type: ignore[arg-type]


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
