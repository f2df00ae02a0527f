"""Attention with one weight for every pair of words, as ONNX operators."""

from __future__ import annotations

import numpy as np

from heedful.export.onnx_attention import keep_of, offsets, softmax
from heedful.export.onnx_graph import Graph, Value
from heedful.export.onnx_rows import NotExported, emitter, real
from heedful.runtime.pairwise_attention import HeadPrior
from heedful.runtime.steps import Offsets, Step


@emitter
def heads(graph: Graph, step: Step, query: Value, key: Value, value: Value) -> Value:
    """Dot-product attention in heads, each with its own mask and distance."""
    if step.text("positions", default="none") != "none":
        raise NotExported(
            f"model.encoder_options.positions={step.text('positions')!r} has no ONNX operators; positions='none' has"
        )
    priors = [HeadPrior(item) for item in step.items("heads")]
    alpha, divisor = step.number("alpha", 0.0), step.number("divisor", 0.0)
    count = len(priors)
    shape = graph.constant([0, 0, count, -1], np.int64)
    q, k, v = (
        graph.node("Transpose", graph.node("Reshape", real(graph, each), shape), perm=[0, 2, 1, 3])
        for each in (query, key, value)
    )
    scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
    root = graph.node("Sqrt", graph.node("Cast", graph.node("Shape", q, start=3, end=4), to=1))
    scores = graph.node("Div", scores, graph.constant(divisor) if divisor else root)
    far = [float(head.far) for head in priors]
    if alpha and any(far):
        steps = graph.node("Cast", graph.node("Abs", offsets(graph, value)), to=1)
        slope = graph.constant(np.reshape(alpha * np.array(far), (1, count, 1, 1)))
        scores = graph.node("Sub", scores, graph.node("Mul", slope, steps))
    known: dict[Offsets, str] = {}
    keeps = []
    for head in priors:
        seen = head.rule.offsets
        known[seen] = known.get(seen) or graph.node(
            "Unsqueeze", keep_of(graph, head.rule, value), graph.axes(1)
        )
        keeps.append(known[seen])
    keep = keeps[0] if len(known) == 1 else graph.node("Concat", *keeps, axis=1)
    context = graph.node("MatMul", softmax(graph, scores, keep), v)
    joined = graph.node("Transpose", context, perm=[0, 2, 1, 3])
    return Value(graph.node("Reshape", joined, graph.constant([0, 0, -1], np.int64)), value.valid)


@emitter
def product(graph: Graph, step: Step, x: Value, y: Value, value: Value, *opened: Value) -> Value:
    """One score a pair, over a divisor, plus a bias of the distance."""
    columns = graph.node("Transpose", real(graph, y), perm=[0, 2, 1])
    score = graph.node("MatMul", real(graph, x), columns)
    score = graph.node("Div", score, graph.constant(step.number("divisor", 1.0)))
    if step.has("distances"):
        biases = step.weights.floats(step.tensor("distances")).reshape(-1)
        steps = graph.node("Abs", offsets(graph, value))
        steps = graph.node("Min", steps, graph.constant(len(biases) - 1, np.int64))
        score = graph.node("Add", score, graph.node("Gather", graph.constant(biases), steps))
    weights = softmax(graph, score, keep_of(graph, step.rule(), value, *opened))
    return Value(graph.node("MatMul", weights, real(graph, value)), value.valid)


@emitter
def align(graph: Graph, step: Step, x: Value, y: Value, value: Value) -> Value:
    """What each row of one text is aligned with in another."""
    score = graph.node("MatMul", real(graph, x), graph.node("Transpose", real(graph, y), perm=[0, 2, 1]))
    first, second = (graph.node("Cast", each.valid, to=9) for each in (x, y))
    keep = graph.node("And", first, graph.node("Transpose", second, perm=[0, 2, 1]))
    return Value(graph.node("MatMul", softmax(graph, score, keep), real(graph, value)), x.valid)
