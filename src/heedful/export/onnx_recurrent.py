"""Recurrent layers as ONNX operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.export.onnx_graph import Graph, Value
from heedful.export.onnx_rows import emitter, real
from heedful.runtime.steps import Step

Floats = NDArray[np.float32]


@emitter
def lstm(graph: Graph, step: Step, x: Value) -> Value:
    """An LSTM with a constant added to the forget gate; ONNX has the gates in the order input, output, forget, cell."""
    inputs, state, bias = (step.weights.floats(step.tensor(role)) for role in ("input", "state", "bias"))
    width = state.shape[1]
    bias = bias.copy()
    bias[width : 2 * width] += np.float32(step.number("forget", 0.0))
    order = (0, 3, 1, 2)
    rows = [_reordered(each, width, order) for each in (inputs, state, bias)]
    return _read(graph, step, x, "LSTM", rows[0], rows[1], np.concatenate([rows[2], np.zeros(4 * width)]))


@emitter
def gru(graph: Graph, step: Step, x: Value) -> Value:
    """A GRU that resets the state before the product; ONNX has the gates in the order update, reset, candidate."""
    both = {role: step.weights.floats(step.tensor(f"gates_{role}")) for role in ("input", "state", "bias")}
    new = {role: step.weights.floats(step.tensor(f"candidate_{role}")) for role in ("input", "state", "bias")}
    width = new["state"].shape[1]
    rows = {role: np.concatenate([_reordered(both[role], width, (1, 0)), new[role]]) for role in both}
    bias = np.concatenate([rows["bias"], np.zeros(3 * width)])
    return _read(graph, step, x, "GRU", rows["input"], rows["state"], bias)


def _reordered(rows: Floats, width: int, order: Sequence[int]) -> Floats:
    return np.concatenate([rows[number * width : (number + 1) * width] for number in order])


def _read(
    graph: Graph,
    step: Step,
    x: Value,
    operator: str,
    inputs: Floats,
    state: Floats,
    bias: NDArray[np.generic],
) -> Value:
    columns = graph.node("Transpose", real(graph, x), perm=[1, 0, 2])
    count = graph.node("ReduceSum", x.valid, graph.axes(1, 2), keepdims=0)
    # a text without words is read as one word of padding, which is cleared
    lengths = graph.node("Cast", graph.node("Max", count, graph.constant(1.0)), to=6)
    constants = [graph.constant(each[None]) for each in (inputs, state, bias)]
    direction = "reverse" if step.flag("backwards") else "forward"
    states = graph.node(
        operator, columns, *constants, lengths, hidden_size=state.shape[1], direction=direction
    )
    rows = graph.node("Transpose", graph.node("Squeeze", states, graph.axes(1)), perm=[1, 0, 2])
    return Value(graph.node("Mul", rows, x.valid), x.valid)
