"""The linear model over frozen features of a text in an ONNX graph.

It reads the mean of the words' vectors, the states of a sentence encoder, and of a pair how both texts relate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from heedful.errors import UsageError
from heedful.export.onnx_alignment import aligned_words
from heedful.export.onnx_graph import Graph
from heedful.export.onnx_inputs import OVERLAP, ROWS, SENTENCE_IDS, SENTENCE_NGRAMS, of_side
from heedful.export.onnx_network import reading, run_steps
from heedful.export.onnx_vectors import vectors_of
from heedful.runtime.encoder_states import EncoderStates
from heedful.runtime.pair_features import POWERS, SCALE
from heedful.runtime.program import SIDES
from heedful.runtime.sentence_features import MeanOfVectors, SentenceFeatures
from heedful.runtime.sentence_part import SentencePart

_DOUBLE = 11


def sentence_logits(graph: Graph, part: SentencePart) -> str:
    """Add what computes the logits of a sentence part; see `heedful.runtime.sentence_part.SentencePart`.

    Args:
        graph: gets the nodes; the inputs of the part must be inputs of it.
        part: the linear model.

    Returns:
        The name of the logits, [B, Y].
    """
    own = graph.within("sentence.")
    sides = [
        [_features(own, kind, side, part.features.sides) for kind in part.kinds]
        for side in range(part.features.sides)
    ]
    texts = [graph.node("Concat", *each, axis=1) if len(each) > 1 else each[0] for each in sides]
    read = texts[0] if part.features.pairing == "none" else _related(own, part, texts)
    weights, bias = part.exact
    wide = graph.node("Cast", read, to=_DOUBLE)
    total = graph.node("MatMul", wide, own.constant(part.weight * weights, np.float64, name="weights"))
    return graph.node("Cast", graph.node("Add", total, graph.constant(part.weight * bias, np.float64)), to=1)


def _features(graph: Graph, kind: SentenceFeatures, side: int, sides: int) -> str:
    """Return the features of a text, [B, F]."""
    if isinstance(kind, MeanOfVectors):
        if not kind.rows.codes.any():  # of a pair of which only the overlap is read
            first = graph.node("Slice", OVERLAP, graph.axes(0), graph.axes(1), graph.axes(1))
            return graph.node("Mul", first, graph.constant(np.zeros(kind.width)))
        rows, factors = vectors_of(graph, kind.rows, kind.rows.scale, of_side(ROWS, side, sides))
        total = graph.node("MatMul", graph.node("Unsqueeze", factors, graph.axes(1)), rows)
        return _unit(graph, graph.node("Squeeze", total, graph.axes(1)))
    if not isinstance(kind, EncoderStates):
        raise UsageError(f"sentence: features of the kind {type(kind).__name__} have no ONNX operators")
    program = kind.model.program
    inputs = (of_side(name, side, sides) for name in (SENTENCE_IDS, SENTENCE_NGRAMS))
    read = reading(graph, program.description, program.weights, *inputs)
    given = {f"{SIDES[0]}.{name}": value for name, value in read.items()}
    answer = run_steps(graph, program.description["answer"], program.weights, given)
    both = (read[str(program.description["vector"])], answer[str(program.description["logits"])])
    joined = graph.node("Concat", *(each.name for each in both), axis=-1)
    return graph.node("Squeeze", joined, graph.axes(1))


def _unit(graph: Graph, x: str) -> str:
    """Return rows of unit length; those of zeros stay."""
    return _divided(graph, x, _norm(graph, x))


def _divided(graph: Graph, x: str, by: str) -> str:
    """Return a quotient, and the number itself where it is divided by 0."""
    none = graph.node("Equal", by, graph.constant(0))
    return graph.node("Div", x, graph.node("Where", none, graph.constant(1), by))


def _norm(graph: Graph, x: str) -> str:
    return graph.node("ReduceL2", x, graph.axes(1), keepdims=1)


def _related(graph: Graph, part: SentencePart, texts: Sequence[str]) -> str:
    """Return what is read of a pair, [B, F]; see `heedful.runtime.pair_features.ExampleFeatures`."""
    u, v = texts
    symmetric, blocks = part.features.pairing == "symmetric", part.features.texts.blocks
    sizes = np.repeat(np.sqrt(np.array(blocks, np.float32)), blocks)
    product = graph.node("Mul", u, v)
    compared = [
        *([] if symmetric else [u, v]),
        graph.node("Abs", graph.node("Sub", u, v)),
        graph.node("Mul", product, graph.constant(sizes)),
    ]
    scaled = graph.node("Mul", graph.node("Concat", *compared, axis=1), graph.constant(SCALE))
    powers = []
    for start, end in pairwise(accumulate(blocks, initial=0)):
        one, other, both = (
            graph.node("Slice", each, graph.axes(start), graph.axes(end), graph.axes(1))
            for each in (u, v, product)
        )
        norms = graph.node("Mul", _norm(graph, one), _norm(graph, other))
        cosine = _divided(graph, graph.node("ReduceSum", both, graph.axes(1), keepdims=1), norms)
        powers += [graph.node("Pow", cosine, graph.constant(power)) for power in range(1, POWERS + 1)]
    near = _in_no_order(graph) if symmetric else OVERLAP
    aligned = aligned_words(graph, part, symmetric=symmetric)
    return graph.node("Concat", scaled, *powers, near, aligned, axis=1)


def _in_no_order(graph: Graph) -> str:
    """Return the overlap of two texts, [B, 7], the same in either order."""
    place = [
        graph.node("Slice", OVERLAP, graph.axes(start), graph.axes(end), graph.axes(1))
        for start, end in ((0, 1), (1, 2), (2, 3), (3, 6), (6, 7))
    ]
    ordered = [graph.node(which, place[1], place[2]) for which in ("Min", "Max")]
    return graph.node("Concat", place[0], *ordered, place[3], graph.node("Abs", place[4]), axis=1)
