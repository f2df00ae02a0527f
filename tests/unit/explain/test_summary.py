from __future__ import annotations

import numpy as np

from heedful.explain import SentenceView, strongest_alignments, strongest_links
from heedful.explain.summary import KEPT, LONG, cell_number, focus, importance, shade


def test_a_link_counts_by_how_far_it_stands_above_an_even_spread():
    forward = np.array([[0, 0, 0], [1, 0, 0], [0.2, 0.8, 0]])
    view = SentenceView.from_words("text", ["a", "b", "c"], maps={"forward": forward})
    links = strongest_links(view)
    assert [(link.word, link.seen, link.weight, link.map) for link in links] == [("c", "b", 0.8, "forward")]


def test_a_word_that_carries_the_sentence_comes_first():
    even = np.array([[0, 0.9, 0.1], [0.8, 0, 0.2], [0.5, 0.5, 0]])
    view = SentenceView.from_words("text", ["a", "b", "c"], maps={"all": even}, weights=[0.1, 0.8, 0.1])
    assert [(link.word, link.seen) for link in strongest_links(view, 2)] == [("b", "a"), ("a", "b")]


def test_tokens_outside_the_text_are_never_evidence(aligned):
    links = strongest_alignments(aligned)
    assert [(link.word, link.seen) for link in links[:2]] == [("sleep", "rest"), ("Kids", "They")]
    assert all("NULL" not in (link.word, link.seen) for link in links)
    weights = np.array([[0, 0.4, 0.3, 0.3], [0.9, 0, 0.05, 0.05], [0.1, 0.8, 0, 0.1], [0.1, 0.2, 0.7, 0]])
    spans = ((0, 0), (0, 1), (2, 3), (4, 5))
    special = SentenceView("x", "a b c", ("[CLS]", "a", "b", "c"), spans, maps={"m": weights})
    assert [(link.word, link.seen) for link in strongest_links(special)] == [("b", "a"), ("c", "b")]


def test_a_long_text_is_reduced_to_its_heaviest_words_in_order(long):
    view = long.sides[0]
    short, kept = focus(view)
    assert len(kept) == len(short.words) == KEPT
    assert list(kept) == sorted(kept)
    assert set(kept) == set(np.argsort(-view.weights)[:KEPT].tolist())
    assert short.words == tuple(view.words[i] for i in kept)
    assert short.maps["forward"][3, 1] == view.maps["forward"][kept[3], kept[1]]


def test_a_text_at_the_limit_is_shown_whole(make_view):
    view = make_view("text", " ".join(["w"] * LONG))
    assert focus(view) == (view, tuple(range(LONG)))


def test_without_weights_the_attention_received_decides():
    view = SentenceView.from_words("text", ["a", "b"], maps={"m": [[0, 1], [0.2, 0]]})
    assert importance(view).tolist() == [0.2, 1.0]
    assert importance(SentenceView.from_words("text", ["a", "b"])).tolist() == [0, 0]


def test_shades_grow_with_the_weight_and_stay_in_range():
    weights = np.linspace(-0.1, 1.1, 50)
    drawn = [shade(weight) for weight in weights]
    assert drawn == sorted(drawn)
    assert drawn[0] == 0
    assert drawn[-1] == 1
    assert shade(0.25) == 0.5


def test_an_even_spread_has_no_link_to_name():
    even = np.full((4, 4), 0.25) + np.diag([0.01, 0, 0, 0])
    assert strongest_links(SentenceView.from_words("text", list("abcd"), maps={"m": even})) == []


def test_a_word_that_looks_at_itself_is_no_link():
    view = SentenceView.from_words("text", ["a", "b"], maps={"m": [[0.9, 0.1], [0.7, 0.3]]})
    assert [(link.word, link.seen) for link in strongest_links(view)] == [("b", "a")]


def test_the_number_of_a_cell_is_short_and_rounds_to_one_and_to_nothing():
    assert [cell_number(weight) for weight in (0.0049, 0.005, 0.25, 0.994, 0.995)] == [
        "",
        ".01",
        ".25",
        ".99",
        "1",
    ]
