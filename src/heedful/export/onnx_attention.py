"""Attention as ONNX operators: in the linear form where a mask is a whole direction, query by query elsewhere.

Which words a word may attend to is computed in the graph, because the length is not known before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.attention.additive_kernel import TOLERANCE, Expansion, expansions
from heedful.export.onnx_graph import Graph, Value
from heedful.export.onnx_rows import activated, emitter, place_of, product, real
from heedful.runtime.steps import OffsetRange, Offsets, Rule, Step

RANK = 16
"""Terms of the linear form; see docs/math/additive.md. Outside its range the same graph goes query by query."""
_FACTORED = 40.0
_SMALLEST, _LOWEST = 1e-30, -1e30


@emitter
def additive(graph: Graph, step: Step, query: Value, key: Value, value: Value, *opened: Value) -> Value:
    """DiSAN's attention: linear in the length inside the range of the expansion, query by query outside."""
    rule, scale = step.rule(), step.number("scale")
    keep = keep_of(graph, rule, value, *opened)
    q, k, v = (real(graph, each) for each in (query, key, value))

    def score(inner: Graph, own: str) -> str:
        bounded = inner.node("Tanh", inner.node("Div", inner.node("Add", k, own), inner.constant(scale)))
        return inner.node("Mul", bounded, inner.constant(scale))

    def by_query(inner: Graph) -> str:
        return _by_query(inner, q, keep, v, score)

    direction = None if opened else _direction(rule)
    if direction is None:
        return Value(by_query(graph), value.valid)
    expansion = next(each for each in expansions(scale, TOLERANCE) if each.rank == RANK)
    reach = graph.node("Max", _largest(graph, q), _largest(graph, k))
    inside = graph.node("LessOrEqual", reach, graph.constant(expansion.half))
    linear, pairs = graph.inner(), graph.inner()
    linear.outputs = [_linear(linear, expansion, direction, (q, k, v), value.valid)]
    pairs.outputs = [by_query(pairs)]
    return Value(graph.node("If", inside, then_branch=linear, else_branch=pairs), value.valid)


def _largest(graph: Graph, x: str) -> str:
    return graph.node("ReduceMax", graph.node("Abs", x), keepdims=0)


def _direction(rule: Rule) -> str | None:
    """Return which whole direction a mask shows: "earlier", "later", "others" or "all", "+" for the word itself too."""
    if rule.band is None:
        return None
    low, high, diagonal = rule.band
    far = 2**39
    if low < -far and high > far:
        return "all+" if diagonal else "all"
    if low < -far and high in (-1, 0):
        return "earlier+" if high == 0 and diagonal else "earlier"
    if high > far and low in (0, 1):
        return "later+" if low == 0 and diagonal else "later"
    return None


def _linear(
    graph: Graph, expansion: Expansion, direction: str, values: tuple[str, str, str], valid: str
) -> str:
    """Return sums over keys of R products, each a running sum over the words; see `Expansion`."""
    query, key, value = values
    of_query, of_key = (_polynomials(graph, x, expansion) for x in (query, key))
    tilted = graph.node("Exp", graph.node("Mul", key, graph.constant(expansion.tilt)))
    factor = graph.node("Unsqueeze", graph.node("Mul", tilted, valid), graph.axes(3))
    terms = graph.node("Mul", of_key, factor)
    weighted = graph.node("Mul", terms, graph.node("Unsqueeze", value, graph.axes(3)))
    mixed = graph.node("MatMul", of_query, graph.constant(expansion.value))
    sums = [
        graph.node(
            "ReduceSum", graph.node("Mul", mixed, _seen(graph, each, direction)), graph.axes(3), keepdims=0
        )
        for each in (weighted, terms)
    ]
    whole = graph.node("Max", sums[1], graph.constant(_SMALLEST))
    # a word that sees nothing has two sums of zero
    return graph.node("Mul", graph.node("Div", sums[0], whole), valid)


def _seen(graph: Graph, terms: str, direction: str) -> str:
    """Add up, for each word, over the words that it sees: [B, L, D, R]."""
    if direction.startswith("all"):
        whole = graph.node("ReduceSum", terms, graph.axes(1), keepdims=1)
        return whole if direction == "all+" else graph.node("Sub", whole, terms)
    later, itself = direction.startswith("later"), direction.endswith("+")
    return graph.node(
        "CumSum", terms, graph.constant(1, np.int64), exclusive=int(not itself), reverse=int(later)
    )


def _polynomials(graph: Graph, x: str, expansion: Expansion) -> str:
    """Return the Chebyshev polynomials of a value over its range, [B, L, D, R]."""
    u = graph.node("Div", x, graph.constant(expansion.half))
    twice = graph.node("Add", u, u)
    found = [graph.node("Add", graph.node("Mul", u, graph.constant(0.0)), graph.constant(1.0)), u]
    while len(found) < expansion.rank:
        found.append(graph.node("Sub", graph.node("Mul", twice, found[-1]), found[-2]))
    return graph.node("Concat", *(graph.node("Unsqueeze", each, graph.axes(3)) for each in found), axis=3)


def _by_query(graph: Graph, query: str, keep: str, value: str, score: Callable[[Graph, str], str]) -> str:
    """Attend query by query, in the memory of one.

    Args:
        graph: gets the nodes.
        query: [B, L, D].
        keep: [B, L, L] bool.
        value: [B, L, D].
        score: of an inner graph and the query there, [B, 1, D], makes the scores of all keys, [B, L, D].

    Returns:
        The name of the output, [B, L, D].
    """
    body = graph.inner()
    own, seen = body.new("query"), body.new("seen")
    body.inputs = [(own, "float", ["B", "D"]), (seen, "bool", ["B", "L"])]
    scores = score(body, body.node("Unsqueeze", own, body.axes(1)))
    kept = body.node("Unsqueeze", seen, body.axes(2))
    hidden = body.node("Where", kept, scores, body.constant(_LOWEST))
    top = body.node("ReduceMax", hidden, body.axes(1), keepdims=1)
    weights = body.node("Mul", body.node("Exp", body.node("Sub", hidden, top)), body.node("Cast", kept, to=1))
    whole = body.node(
        "Max", body.node("ReduceSum", weights, body.axes(1), keepdims=0), body.constant(_SMALLEST)
    )
    shares = body.node("ReduceSum", body.node("Mul", weights, value), body.axes(1), keepdims=0)
    body.outputs = [body.node("Div", shares, whole)]
    axes = {"scan_input_axes": [1, 1], "scan_output_axes": [1]}
    return graph.node("Scan", query, keep, body=body, num_scan_inputs=2, **axes)


@emitter
def general(graph: Graph, step: Step, query: Value, key: Value, value: Value) -> Value:
    """DiSAN's general score, query by query."""
    keep, name = keep_of(graph, step.rule(), value), step.text("activation")
    # constants are the outer graph's
    bias = graph.constant(step.weights.floats(step.tensor("bias"))) if step.has("bias") else ""

    def score(inner: Graph, own: str) -> str:
        hidden = activated(inner, inner.node("Add", key.name, own), name)
        scored = product(inner, step, "weight", hidden)
        return inner.node("Add", scored, bias) if bias else scored

    return Value(_by_query(graph, query.name, keep, real(graph, value), score), value.valid)


@emitter
def feature_product(graph: Graph, step: Step, h: Value, *opened: Value) -> Value:
    """MDMAN's attention with one score a feature, query by query."""
    keep, scale = keep_of(graph, step.rule(), h, *opened), step.number("scale")
    bias = graph.constant(step.weights.floats(step.tensor("bias"))) if step.has("bias") else ""

    def score(inner: Graph, own: str) -> str:
        scored = product(inner, step, "weight", inner.node("Mul", h.name, own))
        scored = inner.node("Add", scored, bias) if bias else scored
        bounded = inner.node("Tanh", inner.node("Div", scored, inner.constant(scale)))
        return inner.node("Mul", bounded, inner.constant(scale))

    return Value(_by_query(graph, h.name, keep, real(graph, h), score), h.valid)


@emitter
def tensorized(graph: Graph, step: Step, value: Value, *rest: Value) -> Value:
    """One head of MTSA's attention: two matrix products, or query by query where the scores vary too much for them."""
    keep = keep_of(graph, step.rule(), value)
    v = real(graph, value)
    if step.flag("pairs"):
        q, k = (real(graph, each) for each in rest[:2])
        root = graph.node("Sqrt", graph.node("Cast", graph.node("Shape", q, start=2, end=3), to=1))
        token = graph.node("Div", graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 2, 1])), root)
    else:
        token = graph.node("Mul", graph.node("Cast", keep, to=1), graph.constant(0.0))
    if step.text("token2token") == "sigmoid":
        token = activated(graph, token, "logsigmoid")
    if not step.flag("scored"):
        return Value(_factored(graph, token, "", v, keep, value.valid), value.valid)
    source = real(graph, rest[-1])
    words = graph.node("Cast", value.valid, to=9)
    ends = [
        graph.node(
            operator, graph.node("Where", words, source, graph.constant(end)), graph.axes(1), keepdims=1
        )
        for operator, end in (("ReduceMax", _LOWEST), ("ReduceMin", -_LOWEST))
    ]
    spread = graph.node("ReduceMax", graph.node("Sub", *ends), keepdims=0)
    fast, slow = graph.inner(), graph.inner()
    shifted = fast.node(
        "Exp", fast.node("Where", words, fast.node("Sub", source, ends[0]), fast.constant(_LOWEST))
    )
    fast.outputs = [_factored(fast, token, shifted, v, keep, value.valid)]

    def score(inner: Graph, own: str) -> str:
        return inner.node("Add", inner.node("Transpose", own, perm=[0, 2, 1]), source)

    slow.outputs = [_by_query(slow, token, keep, v, score)]
    near = graph.node("LessOrEqual", spread, graph.constant(_FACTORED))
    return Value(graph.node("If", near, then_branch=fast, else_branch=slow), value.valid)


def _factored(graph: Graph, token: str, factor: str, value: str, keep: str, valid: str) -> str:
    """Weigh by ``exp(token_ij) factor_jl``; without a factor all words count the same."""
    weights = hidden_outside(graph, token, keep)
    factor = factor or graph.node("Add", graph.node("Mul", value, graph.constant(0.0)), valid)
    sums = [graph.node("MatMul", weights, each) for each in (graph.node("Mul", factor, value), factor)]
    return graph.node("Div", sums[0], graph.node("Max", sums[1], graph.constant(_SMALLEST)))


@emitter
def opened(graph: Graph, step: Step, query: Value, key: Value) -> Value:
    """The pairs that a policy opens, [B, L, L]."""
    chosen = [graph.node("Greater", real(graph, each), graph.constant(0.0)) for each in (query, key)]
    both = graph.node("And", chosen[0], graph.node("Transpose", chosen[1], perm=[0, 2, 1]))
    place = place_of(graph, query)
    itself = graph.node("Equal", *(graph.node("Unsqueeze", place, graph.axes(axis)) for axis in (0, 1)))
    return Value(graph.node("Cast", graph.node("And", both, graph.node("Not", itself)), to=1), query.valid)


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
    shown = shown_by(graph, rule.offsets, offsets(graph, x))
    for each in opened:
        shown = graph.node("Or", shown, graph.node("Greater", each.name, graph.constant(0.0)))
    return graph.node("And", pairs, shown)


def shown_by(graph: Graph, rule: Offsets, offset: str) -> str:
    """Return which offsets a mask shows, of the shape of the offsets.

    Args:
        graph: gets the nodes.
        rule: the mask.
        offset: their name.

    Returns:
        The name, bool.
    """
    if not isinstance(rule, OffsetRange):
        parts = [shown_by(graph, part, offset) for part in rule.parts]
        return graph.node("And" if rule.both else "Or", *parts)
    shown = graph.node("Equal", offset, offset)
    for bound, operator in ((rule.low, "GreaterOrEqual"), (rule.high, "LessOrEqual")):
        if bound is not None:
            shown = graph.node("And", shown, graph.node(operator, offset, graph.constant(bound, np.int64)))
    if rule.diagonal:
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
