from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.attention_names import MapPlace
from heedful.errors import UsageError
from heedful.explain import SYSTEMS, SentenceView, explanation_from
from heedful.structures import ContextStates, NetworkOutput, Pooled, SideTrace

FORWARD, BACKWARD = MapPlace("forward"), MapPlace("backward")


def trace(lengths, width, features=3, seed=0):
    """Random feature-wise weights over the first words of each row; garbage nowhere, zeros at padding."""
    generator = torch.Generator().manual_seed(seed)
    batch = len(lengths)
    valid = torch.arange(width)[None] < torch.tensor(lengths)[:, None]
    keep = valid[:, None, :, None] & valid[:, :, None, None]
    raw = torch.rand(batch, width, width, features, generator=generator) * keep
    maps = {FORWARD: raw / raw.sum(2, keepdim=True).clamp_min(1e-9), BACKWARD: raw.mean(-1)}
    gates = {FORWARD: torch.rand(batch, width, features, generator=generator) * valid[:, :, None]}
    weights = torch.rand(batch, width, features, generator=generator) * valid[:, :, None]
    pooled = Pooled(torch.zeros(batch, features), weights / weights.sum(1, keepdim=True))
    return SideTrace(ContextStates(torch.zeros(batch, width, features), maps, gates), pooled)


def output(*traces, logits=None):
    return NetworkOutput(torch.tensor([[0.0, 1.0], [2.0, 0.0]]) if logits is None else logits, (), traces)


def view(*words, name="text"):
    return SentenceView.from_words(name, words)


def test_padding_is_cropped_and_features_are_averaged():
    side = trace([4, 2], 4)
    explanation = explanation_from(
        output(side), 1, [view("a", "b")], labels=["no", "yes"], system=SYSTEMS["disan"]
    )
    seen = explanation.sides[0]
    expected = side.context.maps[FORWARD][1, :2, :2].double().mean(-1).numpy()
    np.testing.assert_allclose(seen.maps["forward"], expected, atol=1e-7)
    np.testing.assert_allclose(seen.maps["forward"].sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(seen.maps["backward"], side.context.maps[BACKWARD][1, :2, :2], atol=1e-7)
    np.testing.assert_allclose(seen.gates["forward"], side.context.gates[FORWARD][1, :2].mean(-1), atol=1e-6)
    assert seen.weights is not None
    np.testing.assert_allclose(seen.weights.sum(), 1, atol=1e-6)
    assert explanation.predicted == "no"
    np.testing.assert_allclose(explanation.probabilities, torch.tensor([2.0, 0.0]).softmax(-1), atol=1e-7)
    assert explanation.method == "DiSAN"


def test_notes_say_what_every_picture_means():
    notes = explanation_from(output(trace([2], 2)), 0, [view("a", "b")], labels=["x", "y"]).notes
    assert set(notes) == {"map forward", "map backward", "gate forward", "weights"}
    assert "Averaged over features" in notes["map forward"]
    assert "Averaged" not in notes["map backward"]  # one number a pair
    assert "averaged over features" in notes["gate forward"].lower()
    mine = explanation_from(
        output(trace([2], 2)), 0, [view("a", "b")], labels="xy", notes={"weights": "mine"}
    ).notes
    assert mine["weights"] == "mine"


def test_trees_chosen_pairs_and_alignments_are_cropped_too():
    tree = torch.arange(16).reshape(1, 4, 4).to(torch.int16)
    chosen = torch.eye(4, dtype=torch.bool)[None]
    between = torch.full((1, 4, 4), 0.5)
    explanation = explanation_from(
        output(trace([2], 4), trace([2], 4)),
        0,
        [view("a", "b", name="premise"), view("c", "d", name="hypothesis")],
        score=3.0,
        score_range=(1, 5),
        tree_distances=[tree, None],
        chosen=[None, chosen],
        alignments={MapPlace(kind="a to b"): between},
    )
    first, second = explanation.sides
    assert first.tree_distance is not None
    assert first.tree_distance.tolist() == [[0, 1], [4, 5]]
    assert second.tree_distance is None
    assert second.chosen is not None
    assert second.chosen.tolist() == [[True, False], [False, True]]
    assert explanation.alignments["a to b"].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert "each column" in explanation.notes["alignment a to b"]
    assert explanation.labels == ()


def test_half_precision_and_gradients_are_taken():
    side = trace([3], 3)
    maps = {FORWARD: side.context.maps[FORWARD].bfloat16().requires_grad_()}
    half = SideTrace(ContextStates(side.context.states, maps), Pooled(side.pooled.vector))
    seen = explanation_from(output(half), 0, [view("a", "b", "c")], labels=["x", "y"]).sides[0]
    np.testing.assert_allclose(seen.maps["forward"].sum(1), 1, atol=0.02)
    assert seen.weights is None


def test_an_empty_sentence_gives_empty_arrays():
    side = trace([0, 2], 2)
    nothing = SideTrace(side.context, Pooled(side.pooled.vector, torch.zeros(2, 2, 3)))
    seen = explanation_from(output(nothing), 0, [view()], labels=["x", "y"]).sides[0]
    assert seen.maps["forward"].shape == (0, 0)
    assert seen.weights is not None
    assert seen.weights.shape == (0,)


@pytest.mark.parametrize(
    ("index", "words", "traces", "more", "message"),
    [
        (0, ["a", "b"], 0, {}, "must carry one trace a side"),
        (5, ["a", "b"], 1, {}, "index must be a row of the batch, 0 to 1"),
        (0, ["a", "b", "c"], 1, {}, "Were these words cut differently"),
        (0, ["a"], 1, {}, "weights must sum to 1"),
        (0, ["a", "b"], 1, {"chosen": []}, "chosen must have one entry a side"),
    ],
)
def test_what_does_not_fit_is_refused(index, words, traces, more, message):
    result = output(*[trace([2, 2], 2)] * traces)
    with pytest.raises(UsageError, match=message):
        explanation_from(result, index, [view(*words)], labels=["x", "y"], **more)
