"""Which words a word may attend to, as ONNX operators, for a length that is not known before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heedful.export.onnx_graph import Graph, Value
from heedful.export.onnx_rows import place_of
from heedful.runtime.steps import Rule

_LOWEST = -1e30


def offsets(graph: Graph, x: Value) -> str:
    """Return how many words key j stands after query i, [L, L] int64."""
    place = place_of(graph, x)
    rows, columns = (graph.node("Unsqueeze", place, graph.axes(axis)) for axis in (1, 0))
    return graph.node("Sub", columns, rows)


def keep_of(graph: Graph, rule: Rule, x: Value, *opened: Value) -> str:
    """Return which pairs of real words are visible, [B, L, L] bool.

    Args:
        graph: gets the nodes.
        rule: the mask.
        x: a value of the words.
        *opened: pairs that are opened against the mask, [B, L, L].

    Returns:
        The name.
    """
    words = graph.node("Cast", x.valid, to=9)
    pairs = graph.node("And", words, graph.node("Transpose", words, perm=[0, 2, 1]))
    shown = shown_by(graph, rule.description, offsets(graph, x))
    for each in opened:
        shown = graph.node("Or", shown, graph.node("Greater", each.name, graph.constant(0.0)))
    return graph.node("And", pairs, shown)


def shown_by(graph: Graph, description: Mapping[str, Any], offset: str) -> str:
    """Return which offsets a mask shows, of the shape of the offsets.

    Args:
        graph: gets the nodes.
        description: see `heedful.runtime.steps.Rule`.
        offset: their name.

    Returns:
        The name, bool.
    """
    ((kind, value),) = description.items()
    if kind != "band":
        parts = [shown_by(graph, part, offset) for part in value]
        return graph.node("And" if kind == "both" else "Or", *parts)
    low, high, diagonal = value
    shown = graph.node("Equal", offset, offset)
    for bound, operator in ((low, "GreaterOrEqual"), (high, "LessOrEqual")):
        if bound is not None:
            shown = graph.node("And", shown, graph.node(operator, offset, graph.constant(bound, np.int64)))
    if diagonal:
        return shown
    itself = graph.node("Equal", offset, graph.constant(0, np.int64))
    return graph.node("And", shown, graph.node("Not", itself))


def hidden_outside(graph: Graph, score: str, keep: str) -> str:
    """Return ``exp(score - largest)`` of what is visible over the last axis, and zero elsewhere."""
    hidden = graph.node("Where", keep, score, graph.constant(_LOWEST))
    top = graph.node("ReduceMax", hidden, graph.axes(-1), keepdims=1)
    weights = graph.node("Exp", graph.node("Sub", hidden, top))
    return graph.node("Mul", weights, graph.node("Cast", keep, to=1))


def softmax(graph: Graph, score: str, keep: str) -> str:
    """Return the softmax over the last axis of what is visible; zero in a row without any."""
    weights = hidden_outside(graph, score, keep)
    whole = graph.node("ReduceSum", weights, graph.axes(-1), keepdims=1)
    return graph.node("Div", weights, graph.node("Max", whole, graph.constant(1e-30)))
