"""What pictures call the maps of every kind of network."""

from __future__ import annotations

import pytest

from heedful.attention_names import MapPlace
from heedful.explain import SentenceView
from heedful.explain.legends import by_caption, caption


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (MapPlace("forward"), "forward"),
        (MapPlace("not_self", number=3), "not_self 3"),
        (MapPlace("backward", kind="dot"), "backward dot"),
        (MapPlace("forward", kind="in blocks", number=2), "forward 2 in blocks"),
        (MapPlace(kind="intra-sentence"), "intra-sentence"),
        (MapPlace(head=4), "head 4"),
        (MapPlace(layer=2, head=4), "layer 2 head 4"),
        (MapPlace("forward", layer=2, number=1), "layer 2 forward 1"),
        (MapPlace("forward & word", head=1), "head 1: forward & word"),
        (MapPlace("none", layer=2, head=7), "layer 2, head 7: none"),
        (MapPlace(encoder=1, layer=2), "encoder 1, layer 2"),
        (MapPlace(layer=1), "layer 1"),
        (MapPlace(), "fusion"),
    ],
)
def test_a_caption_says_layer_head_and_rule(place: MapPlace, expected: str) -> None:
    assert caption(place) == expected


def test_a_place_does_not_depend_on_the_last_axis() -> None:
    assert MapPlace("forward", axis="features") == MapPlace("forward")
    assert by_caption({MapPlace("a"): 1, MapPlace("b"): 2}) == {"a": 1, "b": 2}


def test_a_view_takes_places_as_json_gives_them() -> None:
    view = SentenceView.from_words(
        "text", ["a"], maps={"layer 2 head 1": [[1]]}, places={"layer 2 head 1": {"layer": 2, "head": 1}}
    )
    assert view.places == {"layer 2 head 1": MapPlace(layer=2, head=1)}
