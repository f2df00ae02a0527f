"""Turn a network's output into an explanation: remove the padding, and average over features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.explain.explanation import Explanation
from heedful.explain.explanation_parts import assembled, averages, with_looked
from heedful.explain.explanation_record import Array, SentenceView
from heedful.explain.faithfulness import DeletionScore
from heedful.explain.legends import SystemNames, by_caption, caption
from heedful.model.answers import ShownAnswer
from heedful.model.attention_records import Looked, Sight

if TYPE_CHECKING:
    from torch import Tensor

    from heedful.attention_names import MapPlace
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
    system: SystemNames | None = None,
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
    if labels and probabilities is None:
        probabilities = _example(output.logits.softmax(-1), index, "logits").tolist()
    sight = sight_of(
        output,
        index,
        [len(view.words) for view in sides],
        names=[view.name for view in sides],
        tree_distances=tree_distances,
        chosen=chosen,
        alignments=alignments or {},
    )
    explanation = assembled(
        [with_looked(view, looked) for view, looked in zip(sides, sight.texts, strict=True)],
        ShownAnswer(
            tuple(labels),
            tuple(probabilities or ()),
            score,
            score_range,
            answered,
            kind="class" if score is None else "number",
        ),
        system or SystemNames(""),
        pooling,
        alignments=by_caption(sight.alignments),
        averaged=averages(sight),
        notes=notes,
    )
    return replace(explanation, faithfulness=faithfulness)


def sight_of(
    output: NetworkOutput,
    index: int,
    lengths: Sequence[int],
    *,
    names: Sequence[str] = (),
    tree_distances: Sequence[Tensor | None] | None = None,
    chosen: Sequence[Tensor | None] | None = None,
    alignments: Maps | None = None,
) -> Sight:
    """Return what a network of torch looked at in one example of a batch, as the runtime returns it of its own.

    Args:
        output: what the network returned, with traces.
        index: row of the example in the batch.
        lengths: tokens of each side, which says where the padding begins.
        names: of the sides, for messages.
        tree_distances: for each side [B, L, L], or None.
        chosen: for each side the pairs a mask selector opened, [B, L, L] bool, or None.
        alignments: attention between the sides, [B, L1, L2]; by default those of the output.

    Returns:
        The record, without padding.

    Raises:
        UsageError: if the output has no traces, or something differs in number or size.
    """
    count = len(lengths)
    if len(output.traces) != count:
        raise UsageError(
            f"output must carry one trace a side ({count}); got {len(output.traces)}. Ask the network for its "
            "weights when you call it."
        )
    named = names or [f"text {number}" for number in range(1, count + 1)]
    trees = _per_side(tree_distances, count, "tree_distances")
    opened = _per_side(chosen, count, "chosen")
    sides = zip(named, lengths, output.traces, trees, opened, strict=True)
    texts = tuple(_looked(name, n, trace, index, tree, choice) for name, n, trace, tree, choice in sides)
    between = output.alignments if alignments is None else alignments
    return Sight(
        _example(output.logits, index, "logits"),
        texts,
        {
            place: _cropped(weights, index, tuple(lengths), f"alignment {caption(place)!r}")
            for place, weights in between.items()
        },
        frozenset(
            place
            for trace in output.traces
            for place, weights in trace.context.maps.items()
            if weights.ndim > 3
        ),
    )


def _looked(
    name: str, n: int, trace: SideTrace, index: int, tree: Tensor | None, chosen: Tensor | None
) -> Looked:
    what, context = f"side {name!r}: ", trace.context
    weights = trace.pooled.weights

    def cropped(values: Maps, kind: str, shape: tuple[int, ...]) -> dict[MapPlace, Array]:
        return {
            place: _cropped(value, index, shape, f"{what}{kind} {caption(place)!r}")
            for place, value in values.items()
        }

    return Looked(
        cropped(context.maps, "map", (n, n)),
        cropped(context.gates, "gate", (n,)),
        cropped(context.fusion, "fusion", (n,)),
        None if weights is None else _cropped(weights, index, (n,), f"{what}weights"),
        None if chosen is None else _cropped(chosen, index, (n, n), f"{what}chosen"),
        None if tree is None else _cropped(tree, index, (n, n), f"{what}tree_distance"),
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
