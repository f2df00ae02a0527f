"""The linear model of tags in an ONNX graph: the numbers of each word's features go in, scores of its tags come out."""

from __future__ import annotations

import numpy as np

from heedful.export.onnx_graph import Graph
from heedful.export.onnx_inputs import ROWS
from heedful.export.onnx_vectors import vectors_of
from heedful.export.onnx_wide import FEATURES, places_of
from heedful.runtime.tag_part import VECTOR_LENGTH, NeighborVectors, TagPart


def tag_scores(graph: Graph, part: TagPart) -> str:
    """Add what computes the scores of a linear model of tags; see `heedful.runtime.tag_part.TagPart`.

    Args:
        graph: gets the nodes; `FEATURES` must be an input, and `ROWS` where the part reads word vectors.
        part: the linear model.

    Returns:
        The name of the scores, [B, L, Y].
    """
    if len(part.numbers):
        row, known = places_of(graph, part.numbers)
        weights = graph.node("Gather", graph.constant(part.weights, name="shapes.weights"), row)
        total = graph.node("MatMul", graph.node("Unsqueeze", known, graph.axes(2)), weights)
        scores = graph.node("Squeeze", total, graph.axes(2))
    else:
        none = graph.node("Cast", graph.node("Mul", FEATURES, graph.constant(0, np.int64)), to=1)
        scores = graph.node("ReduceSum", none, graph.axes(2), keepdims=1)
    scores = graph.node("Add", scores, graph.constant(part.bias))
    if part.vectors is None:
        return scores
    return graph.node("Add", scores, _of_vectors(graph, part.vectors, part))


def _of_vectors(graph: Graph, vectors: NeighborVectors, part: TagPart) -> str:
    """Return what the vectors of each word and of its neighbors add, [B, L, Y]."""
    rows, reach = vectors.rows.rows, vectors.reach
    lengths = np.linalg.norm(rows.codes.astype(np.float64), axis=1)
    scale = np.where(rows.scale > 0, VECTOR_LENGTH, 0) / np.where(lengths == 0, 1, lengths)
    found, factors = vectors_of(graph, rows, scale.astype(np.float32), ROWS)
    own = graph.node("Mul", found, graph.node("Unsqueeze", factors, graph.axes(2)))
    around = graph.node("Pad", own, graph.constant([0, reach, 0, 0, reach, 0], np.int64))
    length = graph.node("Shape", own, start=1, end=2)
    windows = [
        graph.node(
            "Slice",
            around,
            graph.axes(start),
            graph.node("Add", length, graph.axes(start)),
            graph.axes(1),
        )
        for start in range(2 * reach + 1)
    ]
    read = graph.node("Concat", *windows, axis=2)
    return graph.node("MatMul", read, graph.constant(part.vector_weights, name="shapes.vectors"))
