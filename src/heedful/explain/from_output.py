"""From a network's output to an explanation: crop the padding, average over features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.explain.explanation import Array, Explanation, SentenceView
from heedful.explain.faithfulness import DeletionScore
from heedful.explain.legends import default_notes
from heedful.explain.systems import System

if TYPE_CHECKING:
    from torch import Tensor

    from heedful.structures import NetworkOutput, SideTrace


def explanation_from(
    output: NetworkOutput,
    index: int,
    sides: Sequence[SentenceView],
    *,
    labels: Sequence[str] = (),
    probabilities: Sequence[float] | None = None,
    score: float | None = None,
    score_range: tuple[float, float] | None = None,
    system: System | None = None,
    pooling: str = "source2token",
    notes: Mapping[str, str] | None = None,
    tree_distances: Sequence[Tensor | None] | None = None,
    chosen: Sequence[Tensor | None] | None = None,
    alignments: Mapping[str, Tensor] | None = None,
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
        score: predicted score of a pair, if that is what the network predicts.
        score_range: smallest and largest possible score.
        system: how the network's paper speaks of it; see `heedful.explain.systems.SYSTEMS`.
        pooling: what made the sentence vectors.
        notes: further or other notes than `heedful.explain.legends` gives.
        tree_distances: for each side [B, L, L], or None.
        chosen: for each side the pairs a mask selector opened, [B, L, L] bool, or None.
        alignments: attention between the sides by name, [B, L1, L2]; rows are words of the first side.
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
    averaged = frozenset(
        name for trace in output.traces for name, weights in trace.context.maps.items() if weights.ndim > 3
    )
    system = system or System("")
    sizes = [len(view.words) for view in views]
    between = {
        name: _cropped(weights, index, tuple(sizes), f"alignment {name!r}")
        for name, weights in (alignments or {}).items()
    }
    return Explanation(
        sides=views,
        labels=tuple(labels),
        probabilities=tuple(probabilities or ()),
        score=score,
        score_range=score_range,
        alignments=between,
        method=system.name,
        notes={**default_notes(views, between, system, averaged=averaged, pooling=pooling), **(notes or {})},
        faithfulness=faithfulness,
    )


def _view(
    view: SentenceView, trace: SideTrace, index: int, tree: Tensor | None, chosen: Tensor | None
) -> SentenceView:
    n, what = len(view.words), f"side {view.name!r}: "
    weights = trace.pooled.weights
    return replace(
        view,
        maps={k: _cropped(v, index, (n, n), f"{what}map {k!r}") for k, v in trace.context.maps.items()},
        gates={k: _cropped(v, index, (n,), f"{what}gate {k!r}") for k, v in trace.context.gates.items()},
        fusion={k: _cropped(v, index, (n,), f"{what}fusion {k!r}") for k, v in trace.context.fusion.items()},
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
