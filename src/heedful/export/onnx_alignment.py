"""How the words of two texts find each other, in an ONNX graph; how alike they are written goes in."""

from __future__ import annotations

from heedful.export.onnx_graph import Graph
from heedful.export.onnx_inputs import ALIGNED, ALIGNED_NGRAMS, EQUAL, SPELLING, of_side
from heedful.export.onnx_network import word_values
from heedful.export.onnx_vectors import vectors_of
from heedful.runtime.encoder_states import EncoderStates
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SentencePart

_LOWEST, _HIGHEST = -2.0, 2.0
"""Beyond every cosine, and every share."""


def aligned_words(graph: Graph, part: SentencePart, *, symmetric: bool) -> str:
    """Add what `heedful.runtime.word_alignment.aligned` computes.

    Args:
        graph: gets the nodes; `SPELLING` must be an input, and the words of both texts where they have vectors.
        part: whose first features give the vectors.
        symmetric: whether the order of the texts shall not count.

    Returns:
        The name of the numbers, [B, 6].
    """
    alike = graph.node("Min", SPELLING, graph.constant(1))
    vectors = [_vectors(graph, part, side) for side in (0, 1)]
    lengths = [graph.node("ReduceL2", each, graph.axes(2), keepdims=1) for each in vectors if each]
    if lengths:
        units = [_divided(graph, x, n) for x, n in zip(vectors, lengths, strict=True)]
        cosine = graph.node("MatMul", units[0], graph.node("Transpose", units[1], perm=[0, 2, 1]))
        one, other = (_is_zero(graph, n) for n in lengths)
        without = graph.node("Or", one, graph.node("Transpose", other, perm=[0, 2, 1]))
        equal = graph.node("Equal", SPELLING, graph.constant(EQUAL))
        alike = graph.node("Where", graph.node("Or", without, equal), alike, cosine)
    there = graph.node("GreaterOrEqual", SPELLING, graph.constant(0))  # of a pair of two words
    alike = graph.node("Where", there, alike, graph.constant(_LOWEST))
    sides = []
    for side, axis in ((0, 2), (1, 1)):
        best = graph.node("ReduceMax", alike, graph.axes(axis), keepdims=0)
        length = graph.node("Squeeze", lengths[side], graph.axes(2)) if lengths else ""
        sides.append(_summarized(graph, best, length))
    rows = [graph.node("Concat", one, other, axis=1) for one, other in zip(*sides, strict=True)]
    if symmetric:
        rows = [
            graph.node(operator, row, graph.axes(1), keepdims=1)
            for row in rows
            for operator in ("ReduceMin", "ReduceMax")
        ]
    return graph.node("Concat", *rows, axis=1)


def _vectors(graph: Graph, part: SentencePart, side: int) -> str:
    """Return the vectors of the words of a text, [B, P, D]; empty where no word has one."""
    kind, name = part.kinds[0], of_side(ALIGNED, side, 2)
    if isinstance(kind, EncoderStates):
        program, ngrams = kind.model.program, of_side(ALIGNED_NGRAMS, side, 2)
        return word_values(graph, program.description["words"], program.weights, name, ngrams).name
    assert isinstance(kind, MeanOfVectors)  # other features have no ONNX operators
    if not kind.rows.codes.any():
        return ""
    rows, factors = vectors_of(graph, kind.rows, kind.rows.scale, name)
    return graph.node("Mul", rows, graph.node("Unsqueeze", factors, graph.axes(2)))


def _summarized(graph: Graph, best: str, lengths: str) -> tuple[str, str, str]:
    """Return of the words of a text the mean, the least, and the mean weighted by length, [B, 1] each; or zeros."""
    words = graph.node("Greater", best, graph.constant(_LOWEST))
    real = graph.node("Cast", words, to=1)
    own = graph.node("Mul", best, real)

    def total(x: str) -> str:
        return graph.node("ReduceSum", x, graph.axes(1), keepdims=1)

    mean = _divided(graph, total(own), total(real))
    shown = graph.node("Where", words, best, graph.constant(_HIGHEST))
    least = graph.node("ReduceMin", shown, graph.axes(1), keepdims=1)
    least = graph.node("Where", _is_zero(graph, total(real)), graph.constant(0), least)
    if not lengths:
        return mean, least, graph.node("Mul", mean, graph.constant(0))
    sizes = graph.node("Mul", lengths, real)
    return mean, least, _divided(graph, total(graph.node("Mul", own, sizes)), total(sizes))


def _divided(graph: Graph, x: str, by: str) -> str:
    return graph.node("Div", x, graph.node("Where", _is_zero(graph, by), graph.constant(1), by))


def _is_zero(graph: Graph, x: str) -> str:
    return graph.node("Equal", x, graph.constant(0))
