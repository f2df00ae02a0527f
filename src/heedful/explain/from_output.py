"""Turn a network's output into an explanation: remove the padding, and average over features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.explain.assembling import assembled
from heedful.explain.explanation import Array, Explanation, SentenceView
from heedful.explain.faithfulness import DeletionScore
from heedful.explain.legends import System, by_caption, caption
from heedful.model.answers import Shown

if TYPE_CHECKING:
    from torch import Tensor

    from heedful.structures import Maps, NetworkOutput, SideTrace


def explanation_from(
    output: NetworkOutput,
    index: int,
    sides: Sequence[SentenceView],
    *,
    labels: Sequence[str] = (),
    probabilities: Sequence[float] | None = None,
    answered: int | None = None,
    score: float | None = None,
    score_range: tuple[float, float] | None = None,
    system: System | None = None,
    pooling: str = "source2token",
    notes: Mapping[str, str] | None = None,
    tree_distances: Sequence[Tensor | None] | None = None,
    chosen: Sequence[Tensor | None] | None = None,
    alignments: Maps | None = None,
    faithfulness: DeletionScore | None = None,
) -> Explanation:
    """Explain one example of a batch.

    Feature-wise attention [B, Q, K, D] is averaged over D, as in Figures 6 to 8 of DiSAN and appendix E of MTSA.

    Args:
        output: what the network returned, with traces.
        index: row of the example in the batch.
        sides: for each side the words that were encoded (after truncation), with their text and spans. Their number
            says where the padding begins.
        labels: class names in the order of the logits.
        probabilities: one a label; by default the softmax of the logits where labels are given.
        answered: the number of the label that is answered; None for the most probable one.
        score: predicted score of a pair, if that is what the network predicts.
        score_range: smallest and largest possible score.
        system: how the network's paper speaks of it; see `heedful.explain.legends.SYSTEMS`.
        pooling: what made the sentence vectors.
        notes: further or other notes than `heedful.explain.legends` gives.
        tree_distances: for each side [B, L, L], or None.
        chosen: for each side the pairs a mask selector opened, [B, L, L] bool, or None.
        alignments: attention between the sides, [B, L1, L2]; rows are words of the first side.
        faithfulness: the deletion score, if it was computed.

    Returns:
        The explanation.

    Raises:
        UsageError: if the output has no traces, or something differs in number or size.
    """
    if len(output.traces) != len(sides):
        raise UsageError(
            f"output must carry one trace a side ({len(sides)}); got {len(output.traces)}. Ask the network for its "
            "weights when you call it."
        )
    if labels and probabilities is None:
        probabilities = _example(output.logits.softmax(-1), index, "logits").tolist()
    trees = _per_side(tree_distances, len(sides), "tree_distances")
    opened = _per_side(chosen, len(sides), "chosen")
    views = tuple(
        _view(view, trace, index, tree, choice)
        for view, trace, tree, choice in zip(sides, output.traces, trees, opened, strict=True)
    )
    averaged = {
        caption(place): place.axis or "features"
        for trace in output.traces
        for place, weights in trace.context.maps.items()
        if weights.ndim > 3
    }
    system = system or System("")
    sizes = [len(view.words) for view in views]
    between = {
        name: _cropped(weights, index, tuple(sizes), f"alignment {name!r}")
        for name, weights in by_caption(alignments or {}).items()
    }
    explanation = assembled(
        views,
        Shown(
            tuple(labels),
            tuple(probabilities or ()),
            score,
            score_range,
            answered,
            kind="class" if score is None else "number",
        ),
        system,
        pooling,
        alignments=between,
        averaged=averaged,
        notes=notes,
    )
    return replace(explanation, faithfulness=faithfulness)


def _view(
    view: SentenceView, trace: SideTrace, index: int, tree: Tensor | None, chosen: Tensor | None
) -> SentenceView:
    n, what = len(view.words), f"side {view.name!r}: "
    weights, context = trace.pooled.weights, trace.context
    maps, gates, fusion = (by_caption(values) for values in (context.maps, context.gates, context.fusion))
    return replace(
        view,
        maps={k: _cropped(v, index, (n, n), f"{what}map {k!r}") for k, v in maps.items()},
        gates={k: _cropped(v, index, (n,), f"{what}gate {k!r}") for k, v in gates.items()},
        fusion={k: _cropped(v, index, (n,), f"{what}fusion {k!r}") for k, v in fusion.items()},
        places={caption(place): place for place in context.maps},
        weights=None if weights is None else _cropped(weights, index, (n,), f"{what}weights"),
        tree_distance=None if tree is None else _cropped(tree, index, (n, n), f"{what}tree_distance"),
        chosen=None if chosen is None else _cropped(chosen, index, (n, n), f"{what}chosen"),
    )


def _cropped(values: Tensor, index: int, shape: tuple[int, ...], what: str) -> Array:
    """Take one example, cut it to ``shape`` and average over features if there is one axis more."""
    array = _example(values, index, what)
    if array.ndim not in (len(shape), len(shape) + 1) or any(
        have < need for have, need in zip(array.shape, shape, strict=False)
    ):
        raise UsageError(
            f"{what}: one example of it must be at least {list(shape)}, with or without features; got "
            f"{list(array.shape)}. Were these words cut differently from the batch?"
        )
    array = array[tuple(slice(size) for size in shape)]
    return array.mean(axis=-1) if array.ndim > len(shape) else array


def _example(values: Tensor, index: int, what: str) -> Array:
    if not 0 <= index < values.shape[0]:
        raise UsageError(
            f"index must be a row of the batch, 0 to {values.shape[0] - 1}; got {index} ({what})."
        )
    example = values[index].detach().cpu()
    array: Array = (example.double() if example.is_floating_point() else example).numpy()
    return array


def _per_side(values: Sequence[Tensor | None] | None, count: int, what: str) -> Sequence[Tensor | None]:
    if values is None:
        return [None] * count
    if len(values) != count:
        raise UsageError(f"{what} must have one entry a side ({count}); got {len(values)}.")
    return values


_MAP = " A word looks with the mean of its word pieces and is looked at with their sum."
_MEAN = " Of a word in pieces it is their mean."
_SUM = " A word's weight is the sum of those of its word pieces."
_SUMMARY = (
    " The other part of the sentence vector is the pretrained encoder's own summary ([CLS]), "
    "which is no single word's."
)


def on_words(
    explanation: Explanation,
    views: Sequence[SentenceView],
    places: Sequence[NDArray[np.int64]],
    *,
    summary: bool = False,
) -> Explanation:
    """Tell an explanation of word pieces of their words.

    Attention from a word is the mean over its pieces and attention to a word the sum over its pieces, so that rows
    still sum to 1. A word's weight is the sum over its pieces, its gate their mean; the distance of two words is that
    of their pieces; a pair of words was opened if any pair of their pieces was.

    Args:
        explanation: of pieces: the words of its sides are pieces.
        views: the words of each side, with nothing that was looked at.
        places: for each side the place of each piece's word among these words, [L] int64; every word has a piece.
        summary: whether the sentence vector has a part that is no word's, the encoder's [CLS].

    Returns:
        The explanation of words, its notes saying how pieces were joined.
    """
    joins = [
        (np.arange(len(view.words))[:, None] == place).astype(np.float64)
        for view, place in zip(views, places, strict=True)
    ]
    sides = tuple(
        _joined(of_pieces, view, join)
        for of_pieces, view, join in zip(explanation.sides, views, joins, strict=True)
    )
    alignments = {name: _between(values, *joins) for name, values in explanation.alignments.items()}
    notes = explanation.notes
    if any(len(place) > len(view.words) for view, place in zip(views, places, strict=True)):
        notes = {name: note + _remark(name) for name, note in notes.items()}
    if summary and "weights" in notes:
        notes = {**notes, "weights": notes["weights"] + _SUMMARY}
    return replace(explanation, sides=sides, alignments=alignments, notes=notes)


def _joined(of_pieces: SentenceView, view: SentenceView, join: Array) -> SentenceView:
    mean = _mean(join)
    first = join.argmax(axis=1) if join.size else np.zeros(0, np.int64)
    tree, chosen, weights = of_pieces.tree_distance, of_pieces.chosen, of_pieces.weights
    return replace(
        view,
        maps={name: mean @ values @ join.T for name, values in of_pieces.maps.items()},
        gates={name: mean @ values for name, values in of_pieces.gates.items()},
        fusion={name: mean @ values for name, values in of_pieces.fusion.items()},
        places=of_pieces.places,
        weights=None if weights is None else join @ weights,
        tree_distance=None if tree is None else tree[np.ix_(first, first)],
        chosen=None if chosen is None else (join @ chosen @ join.T) > 0,
    )


def _between(values: Array, first: Array, second: Array) -> Array:
    """Join an alignment; whichever side looks, which is the one whose sums are 1, is averaged."""
    second_looks = values.size and np.allclose(values.sum(axis=0), 1, atol=0.02)
    rows, columns = (first, _mean(second)) if second_looks else (_mean(first), second)
    joined: Array = rows @ values @ columns.T
    return joined


def _mean(join: Array) -> Array:
    mean: Array = join / np.maximum(join.sum(axis=1, keepdims=True), 1)
    return mean


def _remark(name: str) -> str:
    kind = name.partition(" ")[0]
    return {"map": _MAP, "alignment": _MAP, "gate": _MEAN, "fusion": _MEAN, "weights": _SUM}.get(kind, "")
