"""Tags from logits: one decision for both engines, whatever is decided beside a text."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.model.answers import ReadWords
from heedful.model.decisions import TagsDecision
from heedful.model.decisions.tag_paths import TagChain
from heedful.text.bio import bio_tags
from heedful.text.tokenize import Placed

TAGS = bio_tags(["X"])
ZERO = TagChain(np.zeros((3, 3), np.float32), *np.zeros((2, 3), np.float32))


def read(count: int) -> ReadWords:
    words = tuple("abcdefgh"[:count])
    return ReadWords.of(
        Placed(words, tuple((k, k + 1) for k in range(count)), "".join(words), words), 1, truncated=False
    )


def test_a_text_has_tags_their_odds_and_spans() -> None:
    logits = np.array([[0, 4, 0], [0, 0, 3], [5, 0, 0]], np.float32)
    (answer,) = TagsDecision(TAGS).answers([logits], [read(3)])
    assert answer.tags == ("B-X", "I-X", "O")
    assert answer.probabilities[0] == pytest.approx(np.exp(4) / (np.exp(4) + 2), rel=1e-6)
    ((role, text),) = [(span.role, span.text) for span in answer.spans]
    assert (role, text, answer.words, answer.unknown) == ("X", "ab", ("a", "b", "c"), 1)


@pytest.mark.parametrize("chain", [None, ZERO])
def test_a_text_is_answered_as_if_it_were_alone(chain: TagChain | None) -> None:
    decision, draw = TagsDecision(TAGS, chain, 0.5), np.random.default_rng(0)
    texts = [draw.normal(size=(count, 3)).astype(np.float32) for count in (3, 0, 8, 1)]
    ways = [read(len(logits)) for logits in texts]
    together = list(decision.answers(texts, ways))
    assert together == [next(decision.answers([own], [how])) for own, how in zip(texts, ways, strict=True)]
    chosen = [tuple(TAGS[k] for k in numbers) for numbers in decision.chosen(texts)]
    assert chosen == [answer.tags for answer in together]
    assert list(decision.answers([], [])) == []


def test_a_lower_score_of_outside_finds_spans_and_leaves_probabilities() -> None:
    logits = np.array([[1.0, 0.8, 0.0]], np.float32)
    plain, lower = (next(TagsDecision(TAGS, ZERO, by).answers([logits], [read(1)])) for by in (0.0, 0.5))
    assert (plain.tags, lower.tags) == (("O",), ("B-X",))
    shares = TagsDecision(TAGS, ZERO, 0.5).probabilities(logits)[0]
    assert (plain.probabilities[0], lower.probabilities[0]) == (shares[0], shares[1])
    assert shares[2] == 0  # I-X cannot begin a text


def test_the_odds_of_one_word_are_shown() -> None:
    shown = TagsDecision(TAGS).shown(np.array([0.0, 1.0, 2.0], np.float32))
    assert (shown.labels, shown.best) == (TAGS, 2)
    assert sum(shown.probabilities) == pytest.approx(1)
