"""Labels known by their names: what decides, and what examples change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.model.decisions.named_labels import NamedLabels

PLACES = {
    "money back": [1.0, 0.0, 0.0],
    "praise": [0.0, 1.0, 0.0],
    "where is it": [0.0, 0.0, 1.0],
    "": [0.0, 0.0, 0.0],
}


def encode(texts: Sequence[str]) -> np.ndarray:
    return np.array([PLACES[text] for text in texts], np.float32)


def test_the_name_that_is_most_like_the_text_is_likeliest() -> None:
    made = NamedLabels.of(["money_back", "praise"], [], encode, 0.1)
    shares = made.probabilities(np.array([[0.8, 0.6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], np.float32))
    assert shares.sum(axis=1) == pytest.approx([1, 1, 1])
    assert shares[0, 0] == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)
    assert shares[1].argmax() == 1
    assert shares[2] == pytest.approx([0.5, 0.5])
    assert made.names == ("money_back", "praise")
    assert made.probabilities(np.zeros((0, 3), np.float32)).shape == (0, 2)


def test_examples_refine_a_name() -> None:
    plain = NamedLabels.of(["money back", "praise"], [], encode, 0.1)
    refined = NamedLabels.of(["money back", "praise"], [("where is it", "money back")], encode, 0.1)
    asked = np.array([[0.0, 0.0, 1.0]], np.float32)
    assert plain.probabilities(asked)[0] == pytest.approx([0.5, 0.5])
    assert refined.probabilities(asked)[0, 0] > 0.99
    assert np.linalg.norm(refined.rows, axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("names", "examples", "said"),
    [
        ([], [], "two names"),
        (["praise"], [], "two names"),
        ("praise", [], "list of labels"),
        (None, [], "list of labels"),
        ({"praise", "money back"}, [], "list of labels"),
        (["praise", None], [], "names as texts"),
        (["money back", "Money_Back"], [], "twice"),
        (["praise", "money back"], None, "list of examples"),
        (["praise", "money back"], ["where is it"], "pairs of a text and its label"),
        (["praise", "money back"], [("where is it", ["praise"])], "not one of the names"),
        (["praise", " "], [], "empty"),
        (["praise", "praise"], [], "twice"),
        (["praise", "money back"], [("where is it", "other")], "other"),
    ],
)
def test_what_cannot_decide_is_refused(names: Any, examples: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        NamedLabels.of(names, examples, encode, 0.1)
