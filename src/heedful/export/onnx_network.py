"""A whole network in an ONNX graph: the tables of its words, and its steps one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heedful.export import onnx_attention, onnx_pairwise, onnx_recurrent  # noqa: F401  (they enter what they write)
from heedful.export.onnx_graph import Graph, Value
from heedful.export.onnx_rows import EMITTERS, NotExported
from heedful.runtime.program import WORDS
from heedful.runtime.steps import Step
from heedful.runtime.weights import Weights

Table = Mapping[str, object]


def reading(graph: Graph, description: Table, weights: Weights, ids: str, ngrams: str) -> dict[str, Value]:
    """Add what reads one text.

    Args:
        graph: gets the nodes.
        description: of the network.
        weights: its tensors.
        ids: name of the input of the words, [B, L].
        ngrams: name of the input of their n-grams, [B, L, G]; not used by a network without any.

    Returns:
        Every value by its name.
    """
    return run_steps(
        graph,
        description["read"],
        weights,
        {WORDS: word_values(graph, description["words"], weights, ids, ngrams)},
    )


def run_steps(graph: Graph, steps: object, weights: Weights, inputs: Mapping[str, Value]) -> dict[str, Value]:
    """Add steps one after the other.

    Args:
        graph: gets the nodes.
        steps: a list of tables.
        weights: the tensors.
        inputs: the values that the steps begin with.

    Returns:
        Every value by its name.

    Raises:
        NotExported: naming a step that has no ONNX operators.
    """
    values = dict(inputs)
    assert isinstance(steps, Sequence)  # as the runtime checks
    for description in steps:
        step = Step(description, weights)
        if step.do not in EMITTERS:
            raise NotExported(f"step {step.do!r} of the network has no ONNX operators")
        values[step.to] = EMITTERS[step.do](graph, step, *(values[name] for name in step.of))
    return values


def rows_of(graph: Graph, weights: Weights, name: str, rows: str) -> str:
    """Look rows of a table up, which stays in the file in the numbers that the folder has.

    Args:
        graph: gets the nodes.
        weights: the tensors.
        name: of the table, [n, D].
        rows: name of the numbers of rows, [B, L] or [B, L, G].

    Returns:
        The name of the rows, in float32.
    """
    raw, scales = weights.raw(name), weights.scales(name)
    if raw.dtype == np.float32:
        return graph.node("Gather", graph.constant(weights.floats(name), name=name), rows)
    kind = np.int8 if scales is not None else np.float16
    found = graph.node("Cast", graph.node("Gather", graph.constant(raw, kind, name=name), rows), to=1)
    if scales is None:
        return found
    own = graph.node("Gather", graph.constant(scales, name=f"{name}.scale"), rows)
    return graph.node("Mul", found, graph.node("Unsqueeze", own, graph.axes(-1)))


def word_values(graph: Graph, tables: object, weights: Weights, ids: str, ngrams: str) -> Value:
    """Look words up in the two tables.

    Args:
        graph: gets the nodes.
        tables: names of the tensors.
        weights: the tensors.
        ids: name of the ids, [B, L].
        ngrams: name of the n-grams of the words, [B, L, G]; not used without a table of them.

    Returns:
        The vectors; those of padding and of unknown words are zero but for their n-grams.
    """
    assert isinstance(tables, Mapping)  # as the runtime checks
    trained, frozen = (weights.raw(str(tables[name])) for name in ("trained", "frozen"))
    rows, zero = graph.constant(len(trained), np.int64), graph.constant(0, np.int64)
    is_trained = graph.node("Less", ids, rows)
    x = rows_of(graph, weights, tables["trained"], graph.node("Where", is_trained, ids, zero))
    if len(frozen):
        others = graph.node("Where", is_trained, zero, graph.node("Sub", ids, rows))
        more = rows_of(graph, weights, tables["frozen"], others)
        x = graph.node("Where", graph.node("Unsqueeze", is_trained, graph.axes(2)), x, more)
    known = graph.node("Cast", graph.node("Greater", ids, graph.constant(1, np.int64)), to=1)
    valid = graph.node("Cast", graph.node("Greater", ids, zero), to=1)
    x = graph.node("Mul", x, graph.node("Unsqueeze", known, graph.axes(2)))
    if "ngrams" in tables:
        x = graph.node("Add", x, _ngrams(graph, weights, tables["ngrams"], ngrams))
    return Value(x, graph.node("Unsqueeze", valid, graph.axes(2)))


def _ngrams(graph: Graph, weights: Weights, name: str, rows: str) -> str:
    """Return the mean vector of each word's n-grams, [B, L, D]; zero for a word without any."""
    zero = graph.constant(0, np.int64)
    is_row = graph.node("Cast", graph.node("GreaterOrEqual", rows, zero), to=1)
    found = rows_of(graph, weights, name, graph.node("Max", rows, zero))
    total = graph.node("MatMul", graph.node("Unsqueeze", is_row, graph.axes(2)), found)
    count = graph.node("ReduceSum", is_row, graph.axes(2), keepdims=1)
    return graph.node(
        "Div", graph.node("Squeeze", total, graph.axes(2)), graph.node("Max", count, graph.constant(1))
    )
