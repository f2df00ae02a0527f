"""From word pieces back to words, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.explain import Explanation, SentenceView
from heedful.explain.word_pieces import on_words

PLACES = np.array([0, 1, 1])
"""Two words, the second in two pieces."""


def pieces(**more: object) -> SentenceView:
    return SentenceView.from_words("pieces", ["0", "1", "2"], **more)


def words(name: str = "text") -> SentenceView:
    return SentenceView.from_words(name, ["good", "films"], unknown=(False, True))


def explained(*sides: SentenceView, **more: object) -> Explanation:
    return Explanation(sides, ("yes", "no"), (0.75, 0.25), **more)


def test_attention_is_the_mean_of_rows_and_the_sum_of_columns() -> None:
    seen = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]
    found = on_words(explained(pieces(maps={"forward": seen})), [words()], [PLACES])
    np.testing.assert_allclose(found.sides[0].maps["forward"], [[0.5, 0.5], [0.25, 0.75]])
    assert (found.sides[0].words, found.sides[0].unknown) == (("good", "films"), (False, True))
    assert (found.labels, found.probabilities) == (("yes", "no"), (0.75, 0.25))


def test_weights_are_added_and_gates_are_averaged() -> None:
    of_pieces = pieces(
        weights=[0.2, 0.3, 0.5], gates={"fusion": [1.0, 0.2, 0.6]}, fusion={"forward": [0.1, 0, 1]}
    )
    side = on_words(explained(of_pieces), [words()], [PLACES]).sides[0]
    np.testing.assert_allclose(side.weights, [0.2, 0.8])
    np.testing.assert_allclose(side.gates["fusion"], [1.0, 0.4])
    np.testing.assert_allclose(side.fusion["forward"], [0.1, 0.5])


def test_distances_are_those_of_the_words_and_any_opened_pair_counts() -> None:
    tree = [[0, 2, 2], [2, 0, 0], [2, 0, 0]]
    chosen = [[False, False, True], [False] * 3, [False] * 3]
    side = on_words(explained(pieces(tree_distance=tree, chosen=chosen)), [words()], [PLACES]).sides[0]
    assert side.tree_distance is not None
    assert side.chosen is not None
    assert side.tree_distance.tolist() == [[0, 2], [2, 0]]
    assert side.chosen.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("looking", [0, 1])
def test_the_side_that_looks_is_averaged(looking: int) -> None:
    # Two pieces of two words on the first side, three pieces of two words on the second.
    rows = np.array([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])
    columns = np.array([[0.5, 1.0, 0.25], [0.5, 0.0, 0.75]])
    first = SentenceView.from_words("pieces", ["0", "1"])
    given = explained(first, pieces(), alignments={"align": columns if looking else rows})
    found = on_words(given, [words("premise"), words("hypothesis")], [np.array([0, 1]), PLACES])
    expected = [[0.5, 0.625], [0.5, 0.375]] if looking else [[0.5, 0.5], [0.0, 1.0]]
    np.testing.assert_allclose(found.alignments["align"], expected)


def test_notes_say_how_pieces_were_joined_where_they_were() -> None:
    notes = {
        "weights": "Weights.",
        "map forward": "A map.",
        "gate fusion": "A gate.",
        "tree_distance": "Steps.",
    }
    joined = on_words(explained(pieces(), notes=notes), [words()], [PLACES]).notes
    assert joined["weights"] == "Weights. A word's weight is the sum of those of its word pieces."
    assert joined["map forward"].startswith("A map. A word looks with the mean")
    assert joined["gate fusion"] == "A gate. Of a word in pieces it is their mean."
    assert joined["tree_distance"] == "Steps."
    whole = SentenceView.from_words("pieces", ["0", "1"])
    plain = on_words(explained(whole, notes=notes), [words()], [np.array([0, 1])])
    assert plain.notes == notes
    summarized = on_words(explained(whole, notes=notes), [words()], [np.array([0, 1])], summary=True)
    assert "[CLS]" in summarized.notes["weights"]


def test_a_text_without_words_has_none() -> None:
    empty = SentenceView.from_words("text", [])
    of_pieces = SentenceView.from_words("pieces", [], weights=[], maps={"forward": []}, tree_distance=[])
    side = on_words(explained(of_pieces), [empty], [np.zeros(0, np.int64)]).sides[0]
    assert side.words == ()
    assert side.maps["forward"].shape == (0, 0)
