from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.errors import UsageError
from heedful.explain import Explanation, render_html, render_text
from heedful.explain.legends import caption
from heedful.explain.word_features import WordFeatures, feature_lines, feature_map, feature_shares
from heedful.models import ModelConfig
from heedful.tasks import TextSettings, build_network, task_named
from heedful.tasks.sentences.network_records import trace_sentence
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "story", "was", "dull", "superb", "glass")
FIRST, SECOND = "the glass was superb", "the dull story was the glass film"


def model(encoder: str = "disan", task: str = "text", **options):
    torch.manual_seed(0)
    config = ModelConfig(task=task, encoder=encoder, width=12, hidden=12, outputs=3, encoder_options=options)
    network = build_network(config, torch.randn(len(WORDS) + 2, 12))
    kind = task_named(task).model_type
    return kind(network, config, Vocabulary(WORDS), ("no", "some", "yes"), TextSettings())


def test_the_features_farthest_from_the_mean_are_kept() -> None:
    rows = np.full((4, 5), 0.25)
    rows[:, 3] = [1, 0, 0, 0]
    rows[:, 1] = [0.5, 0.5, 0, 0]
    kept = feature_map("forward", "features", [rows], 2)
    assert kept.features == (4, 2), "numbers count from 1"
    assert kept.count == 5
    mean = rows.mean(axis=1)
    assert kept.distances == pytest.approx([np.abs(rows[:, k] - mean).sum() / 2 for k in (3, 1)])
    assert kept.weights[0].tolist() == [[1, 0, 0, 0], [0.5, 0.5, 0, 0]]
    assert not kept.alike
    assert feature_map("forward", "features", [np.ones((1, 5))], 2).alike


def test_the_share_that_differs_most_between_sentences_comes_first() -> None:
    both = feature_shares([[0.5, 0.1, 0.9], [0.5, 0.7, 0.8]], 2)
    assert both.features == (2, 3)
    assert both.weights.tolist() == [[0.1, 0.9], [0.7, 0.8]]
    assert feature_shares([[0.5, 0.1, 0.9]], 1).features in ((2,), (3,))
    assert feature_shares([[0.4, 0.1, 0.9]], 1).features == (3,), "the mean is 0.47"


@pytest.mark.parametrize("encoder", ["disan", "mtsa"])
def test_features_are_what_the_network_recorded(encoder: str) -> None:
    made = model(encoder)
    found = made.features_of("Glass", [FIRST, "film", SECOND], 3)
    assert (found.word, found.places) == ("glass", (1, 5)), "a text without the word is left out"
    assert found.maps
    for number, text in enumerate((FIRST, SECOND)):
        words, trace = trace_sentence(made, text)
        assert found.sentences[number] == words
        for each, (place, weights) in zip(found.maps, trace.context.maps.items(), strict=True):
            assert (each.name, each.axis) == (caption(place), place.axis)
            chosen = [k - 1 for k in each.features]
            whole = weights[0, found.places[number]].double().numpy()
            assert np.array_equal(each.weights[number], whole[:, chosen].T)
            assert np.allclose(each.means[number], whole.mean(axis=1))
        assert found.shares is not None
        shares = trace.pooled.weights[0, found.places[number]].double().numpy()
        assert np.allclose(found.shares.weights[number], shares[[k - 1 for k in found.shares.features]])


def test_what_a_model_or_a_text_lacks_is_named() -> None:
    with pytest.raises(UsageError, match=r"no text has the word 'ship'; the first one is read as: the glass"):
        model().features_of("ship", [FIRST])
    with pytest.raises(UsageError, match="count must be a whole number of 1 or more"):
        model().features_of("glass", [FIRST], 0)
    with pytest.raises(UsageError, match="expected at least one attention"):
        WordFeatures("a", (("a",),), (0,))


def test_the_page_and_the_terminal_show_them_and_json_keeps_them() -> None:
    made = model()
    plain = made.explain(FIRST)
    shown = replace(plain, features=made.features_of("glass", [FIRST, SECOND], 4))
    page = render_html(shown)
    assert "feature by feature" not in render_html(plain)
    assert "“glass”, feature by feature" in page
    assert "Sentence 2: <bdi>the dull story was the glass film</bdi>" in page
    assert f"feature {shown.features.maps[0].features[0]}</text>" in page
    assert "<script" not in page
    assert "features of glass" in render_text(shown)
    again = Explanation.from_dict(json.loads(json.dumps(shown.to_dict())))
    assert render_html(again) == page
    assert feature_lines(again.features)[-1].endswith("more on the page (--html)")
    older = {key: value for key, value in plain.to_dict().items() if key != "features"}
    assert Explanation.from_dict(older).features is None


def test_hostile_words_are_shown_and_not_obeyed() -> None:
    word, rows = '<b onclick="x">\x1b[31m', [[0.9, 0.1], [0.1, 0.9]]
    maps = (feature_map("forward", "features", [rows], 2),)
    found = WordFeatures(word, ((word, "</svg><script>"),), (0,), maps)
    page = render_html(replace(model().explain(FIRST), features=found))
    assert "<b onclick" not in page
    assert "<script" not in page
    assert "\x1b" not in "".join(feature_lines(found))


def test_a_long_sentence_is_drawn_by_the_words_with_the_largest_weights() -> None:
    words = tuple(f"word{k}" for k in range(100))
    rows = np.random.default_rng(0).dirichlet(np.ones(100), 5).T
    found = WordFeatures("word0", (words,), (0,), (feature_map("forward", "features", [rows], 2),))
    page = render_html(replace(model().explain(FIRST), features=found))
    assert "The 40 words with the largest weights." in page
