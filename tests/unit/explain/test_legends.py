"""Every system is explained in its own terms, and what a legend says holds for the numbers it stands beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from heedful.attention_names import MapPlace
from heedful.explain import (
    SYSTEMS,
    Explanation,
    SentenceView,
    SystemNames,
    draw,
    explanation_from,
    figure_panels,
    render_html,
    render_text,
)
from heedful.explain.figures import _lines
from heedful.explain.legends import NO_NETWORK, POOLINGS, by_caption, map_note
from heedful.explain.summary import maps_to_draw, opened_against
from heedful.models import ModelConfig
from heedful.models import build as building
from heedful.structures import Batch, NetworkOutput, Sentences
from heedful.tasks import build_network

WORDS = (("Two", "kids", "wash", "hands"), ("They", "wash"))
NETWORKS = sorted({**building.ENCODERS, **building.NETWORKS})
WIDTH = 24


def batch() -> Batch:
    """A pair of sentences with trees that are chains, as the second row of a padded batch."""
    sides = []
    for words in WORDS:
        ids = torch.zeros(2, 6, dtype=torch.long)
        ids[1, : len(words)] = torch.arange(2, 2 + len(words))
        ids[0] = 3
        place = torch.arange(6)
        tree = (place[None] - place[:, None]).abs().to(torch.int16).expand(2, -1, -1)
        sides.append(Sentences(ids, ids > 0, tree))
    return Batch(tuple(sides))


def run(encoder: str, **options: Any) -> tuple[Explanation, NetworkOutput]:
    """Explain the second row with a small untrained network."""
    torch.manual_seed(3)
    settings = {**building.ENCODERS, **building.NETWORKS}[encoder][0]
    if "layers" in settings.__dataclass_fields__:
        options = {"layers": 1, **options}
    config = ModelConfig(
        task="pair", encoder=encoder, encoder_options=options, width=WIDTH, hidden=6, outputs=3
    )
    network = build_network(config, torch.randn(9, WIDTH)).eval()
    views = []
    for name, words in zip(("premise", "hypothesis"), WORDS, strict=True):
        added = network.prefix
        view = SentenceView.from_words(name, words)
        spans = (*((0, 0) for _ in added), *view.spans)
        views.append(SentenceView(name, view.text, (*added, *words), spans))
    given = batch()
    with torch.no_grad():
        output = network(given, need_weights=True)
    explanation = explanation_from(
        output,
        1,
        views,
        labels=("a", "b", "c"),
        system=SYSTEMS[encoder],
        tree_distances=None if network.prefix else [side.tree_distance for side in given.sides],
        chosen=[policy.chosen for policy in output.policies] or None,
        alignments=output.alignments,
    )
    return explanation, output


def test_every_encoder_and_pooling_has_its_terms() -> None:
    assert set(SYSTEMS) == {*building.ENCODERS, *building.NETWORKS, NO_NETWORK}
    assert set(POOLINGS) == set(building.POOLINGS)
    assert all(system.name for system in SYSTEMS.values())
    assert len(SYSTEMS) >= 17


@pytest.mark.parametrize("encoder", NETWORKS)
def test_a_legend_says_what_its_numbers_are(encoder: str) -> None:
    shown, output = run(encoder)
    maps = by_caption(output.traces[0].context.maps) if output.traces else {}
    gates = by_caption(output.traces[0].context.gates) if output.traces else {}
    for name, place in shown.sides[0].places.items():
        note = shown.notes[f"map {name}"]
        raw = maps[name]
        assert ("Averaged over" in note) == (raw.ndim == 4), note
        if raw.ndim == 4:
            check_averaged(raw, place.axis)
            assert f"Averaged over {place.axis}." in note
        check_visible(note, [side.maps[name] for side in shown.sides])
        assert not SYSTEMS[encoder].maps or SYSTEMS[encoder].attention(place.kind) in note
    for name in shown.sides[0].gates:
        note = shown.notes[f"gate {name}"]
        assert "Averaged over features" in note
        assert gates[name].ndim == 3
        assert ("from the map of that name" in note) == (name in maps)
    for name, weights in shown.alignments.items():
        rows = "each row looks at the columns" in shown.notes[f"alignment {name}"]
        np.testing.assert_allclose(weights.sum(axis=1 if rows else 0), 1, atol=1e-5)
    assert set(shown.notes) == parts(shown)


def check_averaged(raw: Tensor, over: str) -> None:
    """The last axis has the length of what the legend says it holds."""
    features = {"features": WIDTH, "features of the head": WIDTH // 8, "heads": 5}
    assert raw.shape[-1] == features[over]


def check_visible(note: str, maps: list[np.ndarray]) -> None:
    """What the legend says a word can see is what has weight."""
    before = any(np.tril(weights, -1).any() for weights in maps)
    after = any(np.triu(weights, 1).any() for weights in maps)
    assert ("earlier word" in note) == (before and not after)
    assert ("later word" in note) == (after and not before)
    if before != after:
        assert ("word itself" in note) == any(np.diagonal(weights).any() for weights in maps)
    sums = np.concatenate([weights.sum(axis=1) for weights in maps])
    assert np.all((np.abs(sums - 1) < 1e-4) | (sums == 0))
    if "has none" in note:
        assert all(weights[0 if before else -1].sum() == 0 for weights in maps)


def parts(shown: Explanation) -> set[str]:
    """Name everything an explanation holds, as the keys of its notes."""
    first = shown.sides[0]
    single = {
        "weights": first.weights is not None,
        "tree_distance": first.tree_distance is not None,
        "chosen": first.chosen is not None,
        "fusion": bool(first.fusion),
    }
    return {
        *(f"map {name}" for name in first.maps),
        *(f"gate {name}" for name in first.gates),
        *(f"alignment {name}" for name in shown.alignments),
        *(name for name, present in single.items() if present),
    }


@pytest.mark.parametrize("encoder", NETWORKS)
def test_every_part_is_rendered(encoder: str, tmp_path: Any) -> None:
    shown, _ = run(encoder)
    page, lines, figure = render_html(shown), render_text(shown), tmp_path / "why.png"
    first = shown.sides[0]
    assert SYSTEMS[encoder].name in page
    for name in first.maps:
        assert f"Attention, {name}</h3>".replace("&", "&amp;") in page
    for name in first.gates:
        assert f">gate {name}</text>" in page
    for name in shown.alignments:
        assert f"{name}</h3>" in page
    for title, present in {
        "Tree distance</h3>": first.tree_distance is not None,
        "Chosen by the mask selector</h3>": first.chosen is not None,
        "Attention fusion</h3>": bool(first.fusion),
        "weight</text>": first.weights is not None,
    }.items():
        assert (title in page) == present
    assert ("chosen  " in lines) == (first.chosen is not None)
    assert ("fusion of the attentions" in lines) == bool(first.fusion)
    assert ("weight" in lines) == (first.weights is not None)
    assert Explanation.from_dict(shown.to_dict()).to_dict() == shown.to_dict()
    draw(shown, figure, dpi=30)
    assert figure.stat().st_size > 1000


def test_mssan_shows_every_head_under_its_priors() -> None:
    shown, output = run("mssan")
    first = shown.sides[0]
    names = list(first.maps)
    assert names[:2] == ["head 1: forward & word", "head 2: forward & dependency"]
    raw = by_caption(output.traces[0].context.maps)[names[1]]
    np.testing.assert_array_equal(first.maps[names[1]], raw[1, :4, :4].double())
    assert "far away in the sentence count less" in shown.notes[f"map {names[0]}"]
    assert "far away in the dependency tree count less" in shown.notes[f"map {names[1]}"]
    assert "no parse" not in shown.notes[f"map {names[1]}"]
    assert "count less" not in shown.notes[f"map {names[2]}"]


def test_of_a_deep_stack_the_last_layer_is_drawn_and_the_page_folds_the_others() -> None:
    shown, _ = run("deep-att", layers=3)
    page = render_html(shown)
    assert page.count("<details>") == 2 * 2
    assert page.count("<summary>layer 2</summary>") == 2
    assert page.index("</details><h3>layer 3</h3>") > page.index("layer 2 head 8</h3>")
    names, left_out = maps_to_draw(shown.sides[0])
    assert names == [f"layer 3 head {k}" for k in range(1, 9)]
    assert left_out == "the maps of layer 3, of 3 layers"
    assert figure_panels.side(shown.sides[0]).heading == "premise  the maps of layer 3, of 3 layers"


@pytest.mark.parametrize("words", [4, 13, 22, 30])
def test_the_heads_of_mssan_stand_forward_above_backward_whatever_the_length(words: int) -> None:
    """As in Figure 4 of the paper: nothing else joins their two lines."""
    shown, _ = run("mssan")
    even = np.full((words, words), 1 / words)
    view = SentenceView.from_words(
        "text", ["elephant"] * words, maps=dict.fromkeys(shown.sides[0].maps, even)
    )
    view = replace(view, tree_distance=np.zeros((words, words)), gates={"fusion": np.full(words, 0.5)})
    above, below, *rest = _lines(figure_panels.side(view))
    assert above[0].title.split()[-3:] == ["forward", "&", "word"]
    assert all("forward" in panel.title for panel in above)
    assert all("backward" in panel.title for panel in below)
    assert len(above) == len(below) == 3
    assert [panel.title for panel in rest[0]] == ["tree distance", "gate fusion"]


def test_the_four_attentions_of_mdman_stand_in_two_lines_or_one() -> None:
    shown, _ = run("mdman")
    lines = _lines(figure_panels.side(shown.sides[0]))
    assert [panel.title.split()[-1] for panel in lines[0]][:4] == ["self", "self", "dot", "dot"]
    long = SentenceView.from_words(
        "text", ["word"] * 13, maps=dict.fromkeys(shown.sides[0].maps, np.full((13, 13), 1 / 13))
    )
    assert [len(line) for line in _lines(figure_panels.side(long))] == [2, 2]


def test_a_dependency_head_without_a_parse_says_so() -> None:
    place = MapPlace("forward & dependency", head=2, distance="dependency")
    note = map_note(place, [np.tri(3) / 3], SYSTEMS["mssan"], averaged="", parsed=False)
    assert "no parse" in note


def test_mdman_names_its_two_attentions_and_shares_sum_to_one() -> None:
    shown, _ = run("mdman")
    assert "Dynamic mask self-attention." in shown.notes["map forward self"]
    assert "Dynamic mask dot attention." in shown.notes["map backward dot"]
    for side in shown.sides:
        assert list(side.fusion) == list(side.maps)
        np.testing.assert_allclose(sum(side.fusion.values()), 1, atol=1e-6)


def test_a_word_alone_is_said_to_see_what_it_may() -> None:
    note = map_note(MapPlace("forward"), [np.zeros((1, 1))], SystemNames("x"), averaged="features")
    assert note == (
        "Each row is a word, each column a word it looks at. A row sums to 1 over the words it may see. "
        "Averaged over features."
    )


def test_cells_are_outlined_where_only_the_selector_opened_them() -> None:
    view = run("mdman")[0].sides[0]
    assert view.chosen is not None
    assert view.chosen.any()
    backward, forward = (opened_against(view, f"{way} self") for way in ("backward", "forward"))
    np.testing.assert_array_equal(backward, np.tril(view.chosen))
    np.testing.assert_array_equal(forward, np.triu(view.chosen))
    assert ((view.maps["backward self"] > 0) & (np.tri(len(view.words)) > 0) == backward).all()


def test_a_selector_that_closes_outlines_nothing() -> None:
    view = run("resan")[0].sides[0]
    assert view.chosen is not None
    assert view.chosen.any()
    assert opened_against(view, "backward") is None
