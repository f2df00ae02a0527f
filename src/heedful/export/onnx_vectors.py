"""The vectors of a package's words in an ONNX graph: numbers of rows go in, and the table stays in 8 bits."""

from __future__ import annotations

import numpy as np

from heedful.export.onnx_graph import Graph
from heedful.runtime.kernels import Floats
from heedful.storage.shared_rows import SharedRows


def vectors_of(graph: Graph, rows: SharedRows, scale: Floats, numbers: str) -> tuple[str, str]:
    """Look words up in a table of 8 bits.

    Args:
        graph: gets the nodes.
        rows: the table, [V, D].
        scale: what each row is multiplied by, [V].
        numbers: name of the input of rows, [B, L]; -1 for a word without a vector and at padding.

    Returns:
        The names of the rows, [B, L, D], and of what each is to be multiplied by, [B, L], which is 0 where there is
        none.
    """
    zero = graph.constant(0, np.int64)
    place = graph.node("Max", numbers, zero)
    codes = graph.constant(rows.codes, np.int8, name="vectors.codes")
    there = graph.node("Cast", graph.node("GreaterOrEqual", numbers, zero), to=1)
    factor = graph.node("Gather", graph.constant(scale, name="vectors.scale"), place)
    found = graph.node("Cast", graph.node("Gather", codes, place), to=1)
    return found, graph.node("Mul", factor, there)
