"""The linear model over words and runs of characters in an ONNX graph: numbers of features go in, logits come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.export.onnx_graph import Graph
from heedful.text.wide_part import WidePart

FEATURES = "features"
"""The input: the numbers of an example's features, each once, [B, F] int64, of a model of tags those of each word,
[B, L, F]; -1 at padding."""


def wide_logits(graph: Graph, part: WidePart) -> str:
    """Add what computes the logits of a wide part; see `heedful.text.wide_part.WidePart`.

    The rows of the features are found by a binary search, so that time grows with the logarithm of their number.

    Args:
        graph: gets the nodes; `FEATURES` must be an input.
        part: the linear model.

    Returns:
        The name of the logits, [B, Y].
    """
    bias = graph.constant(part.bias * np.float32(part.weight))
    if not len(part.numbers):
        none = graph.node(
            "ReduceSum", graph.node("Mul", FEATURES, graph.constant(0, np.int64)), graph.axes(1)
        )
        return graph.node("Add", graph.node("Cast", none, to=1), bias)
    row, found = places_of(graph, part.numbers)
    rarity = graph.node(
        "Mul", graph.node("Gather", graph.constant(part.rarity, name="wide.rarity"), row), found
    )
    kinds = graph.node("Mod", FEATURES, graph.constant(2, np.int64))
    scaled = []
    for kind in (0, 1):
        of_kind = graph.node("Cast", graph.node("Equal", kinds, graph.constant(kind, np.int64)), to=1)
        values = graph.node("Mul", rarity, of_kind)
        squares = graph.node("ReduceSum", graph.node("Mul", values, values), graph.axes(1), keepdims=1)
        norm = graph.node("Sqrt", squares)
        none = graph.node("Equal", norm, graph.constant(0))
        scaled.append(graph.node("Div", values, graph.node("Where", none, graph.constant(1), norm)))
    values = graph.node("Unsqueeze", graph.node("Add", *scaled), graph.axes(1))
    weights = graph.constant(part.weights * np.float32(part.weight), name="wide.weights")
    total = graph.node("MatMul", values, graph.node("Gather", weights, row))
    return graph.node("Add", graph.node("Squeeze", total, graph.axes(1)), bias)


def places_of(graph: Graph, known: NDArray[np.int32]) -> tuple[str, str]:
    """Find features among the known ones.

    Args:
        graph: gets the nodes; `FEATURES` must be an input, of any shape.
        known: the numbers of the known ones, one or more, ascending.

    Returns:
        The names of the place of each feature and, as a number, whether it is known, both of the shape of `FEATURES`.
    """
    count = len(known)
    numbers = graph.constant(known.astype(np.int64), np.int64, name="wide.numbers")
    one, most = graph.constant(1, np.int64), graph.constant(count, np.int64)
    low = graph.node("Mul", FEATURES, graph.constant(0, np.int64))  # how many numbers are surely below
    for power in reversed(range(count.bit_length())):
        high = graph.node("Add", low, graph.constant(1 << power, np.int64))
        last = graph.node("Sub", graph.node("Min", high, most), one)
        below = graph.node("Less", graph.node("Gather", numbers, last), FEATURES)
        inside = graph.node("LessOrEqual", high, most)
        low = graph.node("Where", graph.node("And", inside, below), high, low)
    row = graph.node("Min", low, graph.constant(count - 1, np.int64))
    found = graph.node("Equal", graph.node("Gather", numbers, row), FEATURES)
    return row, graph.node("Cast", found, to=1)
