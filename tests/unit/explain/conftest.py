"""Invented explanations that the tests of the renderers share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from heedful.attention_names import MapPlace
from heedful.explain import SYSTEMS, DeletionScore, Explanation, SentenceView
from heedful.explain.legends import default_notes

HOSTILE = '<script>alert(1)</script> "it\'s" & ‮evil‬ שלום 😀 $x^2$ 日本語 \x1b[31mred \ud800 end'


def _view(name: str, text: str, seed: int = 0, **more: Any) -> SentenceView:
    spans = tuple(match.span() for match in re.finditer(r"\w+|[^\w\s]", text))
    n = len(spans)
    generator = np.random.default_rng(seed)
    order = np.arange(n)
    maps, gates = {}, {}
    for direction, keep in (
        ("forward", order[None] < order[:, None]),
        ("backward", order[None] > order[:, None]),
    ):
        raw = np.exp(generator.normal(size=(n, n))) * keep
        maps[direction] = raw / np.maximum(raw.sum(1, keepdims=True), 1e-9)
        gates[direction] = generator.random(n)
    weights = generator.dirichlet(np.ones(n)) if n else np.zeros(0)
    places = {direction: MapPlace(direction) for direction in maps}
    fields = {"maps": maps, "gates": gates, "weights": weights, "places": places, **more}
    return SentenceView(name, text, tuple(text[a:b] for a, b in spans), spans, **fields)


def _notes(*views: SentenceView) -> dict[str, str]:
    averaged = {name: "features" for view in views for name in view.maps}
    return default_notes(views, {}, SYSTEMS["disan"], averaged=averaged)


@pytest.fixture
def make_view() -> Callable[..., SentenceView]:
    """Build a view of a text with random forward and backward maps, gates and weights."""
    return _view


@pytest.fixture
def pair() -> Explanation:
    """A pair of sentences with everything DiSAN gives."""
    sides = (
        _view("premise", "A man plays a guitar on stage."),
        _view("hypothesis", "A man performs music.", 1),
    )
    return Explanation(
        sides,
        ("entailment", "neutral", "contradiction"),
        (0.87, 0.10, 0.03),
        method="DiSAN",
        notes=_notes(*sides),
        faithfulness=DeletionScore(
            3, 5, 0, 0.87, 0.34, 0.79, ("performs", "music", "guitar"), (0.75, 0.70, 0.86, 0.80, 0.84)
        ),
    )


@pytest.fixture
def aligned() -> Explanation:
    """A pair as decomposable attention explains it: a NULL token in front, alignments, nothing else."""
    first = SentenceView("premise", "Kids sleep", ("NULL", "Kids", "sleep"), ((0, 0), (0, 4), (5, 10)))
    second = SentenceView("hypothesis", "They rest", ("NULL", "They", "rest"), ((0, 0), (0, 4), (5, 9)))
    weights = np.array([[0.9, 0.05, 0.05], [0.1, 0.7, 0.2], [0.1, 0.1, 0.8]])
    return Explanation(
        (first, second), ("yes", "no"), (0.6, 0.4), alignments={"premise to hypothesis": weights}
    )


@pytest.fixture
def hostile() -> Explanation:
    """A text and labels full of markup, controls, direction overrides and a lone surrogate."""
    view = _view("text", HOSTILE, 2, unknown=())
    return Explanation((view,), ("<b>bold</b>", "plain"), (0.6, 0.4), method="<i>&", notes=_notes(view))


@pytest.fixture
def empty() -> Explanation:
    """A text without words."""
    return Explanation((_view("text", ""),), ("a", "b"), (0.5, 0.5))


@pytest.fixture
def long() -> Explanation:
    """A text of 150 words, cut."""
    view = _view("text", " ".join(f"word{i}" for i in range(150)), 3)
    cut = SentenceView(
        **{
            **{f: getattr(view, f) for f in view.__dataclass_fields__},
            "truncated": True,
            "text": view.text + " unread",
        }
    )
    return Explanation((cut,), ("a", "b"), (0.5, 0.5), notes=_notes(cut))


@pytest.fixture
def every(
    pair: Explanation, aligned: Explanation, hostile: Explanation, empty: Explanation, long: Explanation
) -> dict[str, Explanation]:
    """All of the above, and one with tree distances, chosen pairs, a fusion of attentions and a score."""
    view = _view("first", "Two kids wash their hands", 4)
    n = len(view.words)
    tree = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    tree[0, 1] = tree[1, 0] = -1
    chosen = np.eye(n, k=1, dtype=bool)
    fusion = {name: np.full(n, 0.5) for name in view.maps}
    opened = {name: np.where(chosen, 0.5, weights / 2) for name, weights in view.maps.items()}
    full = _view("first", view.text, 4, tree_distance=tree, chosen=chosen, fusion=fusion, maps=opened)
    scored = Explanation((full, full), score=3.5, score_range=(1.0, 5.0), method="MDMAN")
    return {
        "pair": pair,
        "aligned": aligned,
        "hostile": hostile,
        "empty": empty,
        "long": long,
        "scored": scored,
    }
