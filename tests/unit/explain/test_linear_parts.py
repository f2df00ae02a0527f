"""What each word adds in the linear parts: everything adds up to the parts' logits."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.explain.linear_parts import linear_shares, nothing
from heedful.runtime.model_parts import ModelParts
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.shared_rows import SharedRows
from heedful.text.wide_part import WIDE, PhraseRule, WidePart

RULE = PhraseRule(*WIDE)
TEXT, OTHER = ["not", "good", "but", "not", "good", "at", "all"], ["good", "film"]
CODES = np.random.default_rng(4).integers(-127, 128, (4, 6)).astype(np.int8)
MEAN = MeanOfVectors(SharedRows(("not", "good", "film", "all"), CODES, np.full(4, 0.01, np.float32)))


def wide_part(sides: list[list[str]]) -> WidePart:
    numbers = np.unique(np.concatenate([RULE.numbers(words, side) for side, words in enumerate(sides)]))[::2]
    made = np.random.default_rng(5)
    weights = made.standard_normal((len(numbers), 3)).astype(np.float32)
    rarity = (1 + made.random(len(numbers))).astype(np.float32)
    return WidePart(RULE, numbers, rarity, weights, np.array([0.5, -1, 2], np.float32), 0.8)


def sentence_part(pairing: str) -> SentencePart:
    features = ExampleFeatures(MEAN, pairing)  # type: ignore[arg-type]
    weights = np.random.default_rng(6).standard_normal((features.width, 3)).astype(np.float32)
    return SentencePart(features, weights, np.array([1, 0, -1], np.float32), 1.5)


@pytest.mark.parametrize("sides", [[TEXT], [TEXT, OTHER], [[]], [OTHER, []]])
def test_wide_and_mean_add_up_to_their_logits(sides: list[list[str]]) -> None:
    pairing = "none" if len(sides) == 1 else "ordered"
    parts = ModelParts(wide_part([TEXT, OTHER]), sentence_part(pairing))
    found, others = linear_shares(parts, sides, 3)
    left = others.added(np.zeros(3, np.float32), sides)
    assert found.total + left == pytest.approx(parts.added(np.zeros(3, np.float32), sides), abs=1e-5)
    assert (others.sentence is None) == (len(sides) == 1), (
        "the features of a pair are not linear in its words"
    )
    assert [len(side) for side in found.words] == [len(words) for words in sides]


def test_a_phrase_is_shared_among_its_words_and_kept_beside() -> None:
    words = ["not", "good"]
    number = next(p.number for p in RULE.phrases(words) if p.text == "not good")
    part = WidePart(RULE, np.array([number], np.int32), np.ones(1, np.float32), np.array([[3.0]], np.float32),
                    np.zeros(1, np.float32))  # fmt: skip
    found, _ = linear_shares(ModelParts(part), [words], 1)
    assert found.words[0].tolist() == [[1.5], [1.5]]
    (joint,) = found.joint
    assert (joint.side, joint.start, joint.end, joint.values.tolist()) == (0, 0, 2, [3.0])


def test_a_model_without_parts_has_nothing_to_share() -> None:
    found, others = linear_shares(ModelParts(), [TEXT], 2)
    assert not found.total.any()
    assert (others.wide, others.sentence) == (None, None)
    assert nothing([TEXT], 2).words[0].shape == (7, 2)
