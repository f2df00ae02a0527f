"""The tags of a text in an ONNX graph: the best sequence under a chain, and how likely each tag of each word is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.export.onnx_graph import Graph
from heedful.model.decisions.tag_paths import TagChain, TagPaths

_DOUBLE, _IMPOSSIBLE = 11, -1e30


def best_tags(graph: Graph, paths: TagPaths, scores: str, valid: str) -> str:
    """Add what chooses the tags, as `heedful.model.decisions.tag_paths.TagPaths.of` does.

    Args:
        graph: gets the nodes.
        paths: which tags fit together, and what they score side by side.
        scores: name of the scores, [B, L, Y].
        valid: name of what is true at a word, [B, L] bool; padding is behind the words.

    Returns:
        The name of the numbers of the tags, [B, L] int64; at padding they are anything.
    """
    if not (paths.marks_spans or paths.has_chain):
        return graph.node("ArgMax", scores, axis=2, keepdims=0)
    chain, count = paths.chain, len(paths.chain.first)

    def step(body: Graph, own: str, best: str, begun: str, there: str) -> tuple[str, str]:
        before = body.node("Unsqueeze", best, body.axes(1))
        reached = body.node("Add", before, body.constant(chain.follows))
        behind = body.node("ReduceMax", reached, body.axes(2), keepdims=0)
        entered = body.node("Where", begun, behind, body.constant(chain.first))
        new = body.node("Where", there, body.node("Add", entered, own), best)
        came = body.node("ArgMax", reached, axis=2, keepdims=0)
        itself = body.constant(np.arange(count), np.int64)
        return new, body.node("Where", body.node("And", there, begun), came, itself)

    best, came = _along(graph, scores, valid, count, step, result="int64")
    last = graph.node("ArgMax", graph.node("Add", best, graph.constant(chain.last)), axis=1, keepdims=1)
    body = graph.inner()
    tag, pointers = body.new("tag"), body.new("came")
    body.inputs = [(tag, "int64", ["B", 1]), (pointers, "int64", ["B", count])]
    body.outputs = [body.node("GatherElements", pointers, tag, axis=1), body.node("Identity", tag)]
    body.kinds = dict.fromkeys(body.outputs, "int64")
    axes = {"scan_input_axes": [1], "scan_output_axes": [1]}
    back = {"scan_input_directions": [1], "scan_output_directions": [1]}
    ends, tags = graph.new("first_tag"), graph.new("tags")
    graph.nodes.append(
        ("Scan", (last, came), (ends, tags), {"body": body, "num_scan_inputs": 1, **axes, **back})
    )
    return graph.node("Squeeze", tags, graph.axes(2))


def tag_shares(graph: Graph, paths: TagPaths, scores: str, valid: str) -> str:
    """Add what gives the probability of each tag of each word, as `TagPaths.log_shares` does, in double precision.

    Args:
        graph: gets the nodes.
        paths: which tags fit together, and what they score side by side.
        scores: name of the scores, [B, L, Y].
        valid: name of what is true at a word, [B, L] bool.

    Returns:
        The name of the probabilities, [B, L, Y]; at padding they are anything.
    """
    if not paths.has_chain:
        return graph.node("Softmax", scores, axis=2)
    chain = TagChain(*(np.maximum(each, _IMPOSSIBLE) for each in vars(paths.chain).values()))
    follows = chain.follows.astype(np.float64)

    def forward(body: Graph, own: str, before: str, begun: str, there: str) -> tuple[str, str]:
        reached = body.node(
            "Add", body.node("Unsqueeze", before, body.axes(1)), body.constant(follows, np.float64)
        )
        entered = body.node("Where", begun, _log_sum(body, reached), body.constant(chain.first, np.float64))
        new = body.node("Where", there, body.node("Add", entered, own), before)
        return new, new

    def backward(body: Graph, own: str, behind: str, begun: str, there: str) -> tuple[str, str]:
        reached = body.node(
            "Add", body.node("Unsqueeze", behind, body.axes(1)), body.constant(follows.T, np.float64)
        )
        left = body.node("Where", begun, _log_sum(body, reached), body.constant(chain.last, np.float64))
        return body.node("Where", there, body.node("Add", left, own), behind), left

    wide = graph.node("Cast", scores, to=_DOUBLE)
    _, before = _along(graph, wide, valid, len(chain.first), forward, kind="double")
    _, behind = _along(graph, wide, valid, len(chain.first), backward, kind="double", backwards=True)
    both = graph.node("Add", before, behind)
    return graph.node("Cast", graph.node("Softmax", both, axis=2), to=1)


def _log_sum(graph: Graph, x: str) -> str:
    """Return the logarithm of the sum of exponentials over the last of three axes; no number is infinite."""
    top = graph.node("ReduceMax", x, graph.axes(2), keepdims=1)
    total = graph.node("ReduceSum", graph.node("Exp", graph.node("Sub", x, top)), graph.axes(2), keepdims=0)
    return graph.node("Add", graph.node("Log", total), graph.node("Squeeze", top, graph.axes(2)))


def _along(
    graph: Graph,
    scores: str,
    valid: str,
    tags: int,
    step: Callable[[Graph, str, str, str, str], tuple[str, str]],
    *,
    kind: str = "float",
    result: str = "",
    backwards: bool = False,
) -> tuple[str, str]:
    """Go from word to word.

    Args:
        graph: gets the nodes.
        scores: [B, L, Y].
        valid: [B, L] bool.
        tags: Y.
        step: of an inner graph, the scores of a word, [B, Y], what the words before it left, [B, Y], whether there was
            one, and whether this is one, [B, 1] both, makes what is left and what is kept of the word, [B, Y] both.
        kind: of the scores.
        result: kind of what is kept; by default that of the scores.
        backwards: whether to begin at the end.

    Returns:
        What the last word left, [B, Y], and what was kept, [B, L, Y].
    """
    body = graph.inner()
    left, begun, own, there = (body.new(name) for name in ("left", "begun", "scores", "there"))
    each = ["B", "Y"]
    body.inputs = [
        (left, kind, each),
        (begun, "bool", ["B", 1]),
        (own, kind, each),
        (there, "bool", ["B", 1]),
    ]
    after, kept = step(body, own, left, begun, there)
    outputs = (after, body.node("Or", begun, there), body.node("Identity", kept))
    body.outputs = list(outputs)
    body.kinds = dict(zip(outputs, (kind, "bool", result or kind), strict=True))
    column = graph.node("Unsqueeze", valid, graph.axes(2))
    some = graph.node("ReduceMax", graph.node("Cast", column, to=1), graph.axes(1), keepdims=0)
    never = graph.node("Less", some, graph.constant(0))
    number, code = (np.float64, _DOUBLE) if kind == "double" else (np.float32, 1)
    zeros = graph.constant(np.zeros(tags), number)
    start = graph.node("Mul", graph.node("Cast", some, to=code), zeros)
    names = tuple(graph.new(name) for name in ("left", "begun", "kept"))
    axes: dict[str, object] = {"scan_input_axes": [1, 1], "scan_output_axes": [1], "num_scan_inputs": 2}
    if backwards:
        axes |= {"scan_input_directions": [1, 1], "scan_output_directions": [1]}
    graph.nodes.append(("Scan", (start, never, scores, column), names, {"body": body, **axes}))
    return names[0], names[2]
