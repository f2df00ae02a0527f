"""Sentences whose words have a teacher's answers: padded, chosen, cut; and the loss on both."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.data.encoding import encode
from heedful.data.examples import Example
from heedful.data.taught_tags import TaughtTags, collate_taught_tags, taught_tags
from heedful.data.tokens import tokenize_corpus
from heedful.nn.losses import divergence, tag_loss, taught_tag_loss
from heedful.text.vocabulary import Vocabulary

TEXTS = ("a b c", "", "b", "c a")
SHARES = [np.full((n, 2), 0.5, np.float32) for n in (3, 0, 1, 2)]


def dataset(longest: int = 9) -> TaughtTags:
    corpus = tokenize_corpus([Example((text,)) for text in TEXTS], "whitespace")
    read = encode(corpus, Vocabulary.build(corpus.counts()), max_tokens=longest, truncate="head")
    rows = [each.copy() for each in SHARES]
    rows[3][:] = [[0.9, 0.1], [0.0, 0.0]]  # the last word has no answer
    gold = [np.array([0, 1, 0], np.int32), np.zeros(0, np.int32)]
    return taught_tags(read, gold, rows, ("O", "X"))


def test_a_batch_has_gold_and_answers() -> None:
    targets = collate_taught_tags(dataset(), np.array([3, 0, 1])).targets
    assert targets is not None
    assert targets.shape == (3, 3, 3)
    assert targets[0].tolist() == [
        pytest.approx([-1, 0.9, 0.1]),
        [-1, 0, 0],
        [-1, 0, 0],
    ]
    assert targets[1, :, 0].tolist() == [0, 1, 0]
    assert targets[2].tolist() == [[-1, 0, 0]] * 3


def test_a_text_that_is_cut_keeps_the_answers_to_its_first_words() -> None:
    cut = dataset(longest=2)
    assert len(cut.taught) == 5
    assert cut.tags is not None
    assert cut.tags.values.tolist() == [0, 1, -1, -1, -1]
    assert cut.select(np.array([3])).taught[0].tolist() == pytest.approx([0.9, 0.1])


def test_the_loss_is_that_of_gold_and_of_answers() -> None:
    targets = collate_taught_tags(dataset(), np.arange(4)).targets
    assert targets is not None
    logits = torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(0))
    found = taught_tag_loss(logits, targets, weight=0.3, temperature=2.0)
    words = 5 / 4  # counted words an example: the one without gold and answer is none
    by_hand = 0.7 * divergence(logits, targets[..., 1:], 2.0).sum(dim=1) / words
    by_hand[0] += 0.3 * tag_loss(logits[:1], targets[:1, :, 0].long())[0] * 3 / words
    assert torch.allclose(found, by_hand, atol=1e-6)
    alone = taught_tag_loss(logits, targets, weight=1.0, temperature=2.0)
    assert alone[1:].tolist() == [0, 0, 0]
