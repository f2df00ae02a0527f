"""One scene of attention, which a page and a figure draw alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from heedful.attention_names import MapPlace
from heedful.explain import Explanation, SentenceView, render_html
from heedful.explain.attention_scene import alignments_of, keys_of, maps_of, squares_of

WORDS = ("a", "dull", "film")
FORWARD = np.tril(np.full((3, 3), 0.5), -1)


def view(**values: object) -> SentenceView:
    made = SentenceView.from_words("text", list(WORDS))
    return replace(made, **values)  # type: ignore[arg-type]


def full() -> SentenceView:
    chosen = np.zeros((3, 3), bool)
    chosen[0, 2] = True
    maps = {"forward": FORWARD + 0.2 * chosen, "everything": np.full((3, 3), 1 / 3)}
    return view(
        maps=maps,
        places={"forward": MapPlace("forward"), "everything": MapPlace("everything")},
        gates={"forward": np.array([0.1, 0.2, 0.3])},
        fusion={"forward": np.array([0.4, 0.5, 0.6]), "everything": np.array([0.6, 0.5, 0.4])},
        tree_distance=np.array([[0, 1, -1], [1, 0, 1], [-1, 1, 0]]),
        chosen=chosen,
    )


def test_what_is_shown_in_which_order() -> None:
    shown = full()
    squares = [*maps_of(shown, shown.maps), *squares_of(shown)]
    assert [(square.key, square.kind) for square in squares] == [
        ("map forward", "weights"),
        ("map everything", "weights"),
        ("tree_distance", "distances"),
        ("chosen", "choice"),
        ("fusion", "weights"),
    ]
    assert list(squares_of(view())) == list(maps_of(view(), ())) == []
    forward, _, _, choice, fusion = squares
    assert forward.tip(1, 0) == "dull ← a: 0.500"
    assert choice.tip(0, 2) == "a may look at film"
    assert fusion.tip(2, 1) == "film from everything: 0.400"
    assert fusion.grid.columns == ("forward", "everything")
    assert forward.grid.outlined is not None
    assert np.argwhere(forward.grid.outlined).tolist() == [[0, 2]], "open against the direction of the map"


def test_the_legend_names_what_is_there() -> None:
    assert keys_of([view()]) == ()
    assert keys_of([view(), view(gates={"forward": np.zeros(3)})]) == ("own meaning", "context")
    assert keys_of([full()]) == ("own meaning", "context", "opened by the mask selector")


def test_alignments_are_between_both_sides() -> None:
    first, second = view(), SentenceView.from_words("other", ["film"])
    between = {"words": np.array([[0.2], [0.3], [0.5]])}
    pair = Explanation(sides=(first, second), labels=("x",), probabilities=(1.0,), alignments=between)
    sides, (square,) = alignments_of(pair)
    assert [side.name for side in sides] == ["text", "other"]
    assert square.tip(2, 0) == "film ↔ film: 0.500"


def test_both_pens_draw_every_square(tmp_path: Path) -> None:
    made = Explanation(sides=(full(),), labels=("x",), probabilities=(1.0,))
    page = render_html(made).lower()
    figure = made.to_figure(tmp_path / "figure.svg", attention=True).read_text(encoding="utf-8").lower()
    for square in (*maps_of(full(), full().maps), *squares_of(full())):
        assert square.title in page
        assert f"<!-- {square.title} -->" in figure
    for name in keys_of([full()]):
        assert name in page
        assert f"<!-- {name} -->" in figure
