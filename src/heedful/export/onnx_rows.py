"""What happens to each word or text alone, and to all words of a text together, as ONNX operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.export.onnx_graph import Graph, Value
from heedful.export.recording import NotDescribed
from heedful.runtime.operators import SMALLEST
from heedful.runtime.steps import Step

Emit = Callable[..., Value]
"""Of a graph, a step and the values it reads, adds nodes and returns the value."""

EMITTERS: dict[str, Emit] = {}
"""Operator of a description to the function that writes it."""
_LOWEST = -1e30


class NotExported(NotDescribed):
    """A step that ONNX export does not write; the message names the setting that asks for it."""


def emitter(emit: Emit) -> Emit:
    """Enter a function under its name."""
    EMITTERS[emit.__name__] = emit
    return emit


def activated(graph: Graph, x: str, name: str) -> str:
    """Add an activation by name; "linear" adds nothing."""
    if name == "logsigmoid":
        return graph.node("Neg", graph.node("Softplus", graph.node("Neg", x)))
    kinds = {"elu": "Elu", "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}
    return x if name == "linear" else graph.node(kinds[name], x)


def real(graph: Graph, x: Value) -> str:
    """Return a value that is zero at padding."""
    return graph.node("Mul", x.name, x.valid) if x.valid else x.name


def _like(name: str, *values: Value) -> Value:
    return Value(name, next((value.valid for value in values if value.valid), ""))


def product(graph: Graph, step: Step, role: str, x: str) -> str:
    """Add a product with the matrix of a role, which stays in the file in the numbers that the folder has."""
    name = step.tensor(role)
    raw, scales = step.weights.raw(name), step.weights.scales(name)
    if raw.dtype == np.float32:
        return graph.node("MatMul", x, graph.constant(step.weights.floats(name).T, name=f"{name}.T"))
    small = graph.constant(raw.T, np.float16 if scales is None else np.int8, name=f"{name}.T")
    matrix = graph.node("Cast", small, to=1)
    if scales is not None:
        matrix = graph.node("Mul", matrix, graph.constant(scales, name=f"{name}.scale"))
    return graph.node("MatMul", x, matrix)


@emitter
def dense(graph: Graph, step: Step, x: Value) -> Value:
    """See `heedful.runtime.operators.dense`; so for all that follow."""
    y = product(graph, step, "weight", x.name)
    if step.has("bias"):
        name = step.tensor("bias")
        y = graph.node("Add", y, graph.constant(step.weights.floats(name), name=name))
    return Value(activated(graph, y, step.text("activation", default="linear")), x.valid)


@emitter
def add(graph: Graph, step: Step, *values: Value) -> Value:
    """The sum of values and of a bias."""
    total = values[0].name
    for value in values[1:]:
        total = graph.node("Add", total, value.name)
    if step.has("bias"):
        name = step.tensor("bias")
        total = graph.node("Add", total, graph.constant(step.weights.floats(name), name=name))
    return _like(total, *values)


@emitter
def subtract(graph: Graph, step: Step, x: Value, y: Value) -> Value:
    """The difference."""
    return _like(graph.node("Sub", x.name, y.name), x, y)


@emitter
def multiply(graph: Graph, step: Step, x: Value, y: Value) -> Value:
    """The product, feature by feature."""
    return _like(graph.node("Mul", x.name, y.name), x, y)


@emitter
def scaled(graph: Graph, step: Step, x: Value) -> Value:
    """A value times a number."""
    return Value(graph.node("Mul", x.name, graph.constant(step.number("factor"))), x.valid)


@emitter
def unit(graph: Graph, step: Step, x: Value) -> Value:
    """A vector scaled to unit length."""
    squares = graph.node("ReduceSum", graph.node("Mul", x.name, x.name), graph.axes(-1), keepdims=1)
    length = graph.node("Max", graph.node("Sqrt", squares), graph.constant(SMALLEST))
    return Value(graph.node("Div", x.name, length), x.valid)


@emitter
def rescale(graph: Graph, step: Step, x: Value) -> Value:
    """A number of standard deviations from a mean, on its own scale."""
    mean, deviation = step.floats("scale", 4)[:2].tolist()
    scaled = graph.node("Mul", x.name, graph.constant(deviation))
    return Value(graph.node("Add", scaled, graph.constant(mean)), x.valid)


@emitter
def absolute(graph: Graph, step: Step, x: Value) -> Value:
    """The value without its sign."""
    return Value(graph.node("Abs", x.name), x.valid)


@emitter
def activation(graph: Graph, step: Step, x: Value) -> Value:
    """An activation by itself."""
    return Value(activated(graph, x.name, step.text("name")), x.valid)


@emitter
def mix(graph: Graph, step: Step, gate: Value, x: Value, y: Value) -> Value:
    """A gate between two values."""
    change = graph.node("Mul", gate.name, graph.node("Sub", x.name, y.name))
    return _like(graph.node("Add", y.name, change), gate, x, y)


@emitter
def concat(graph: Graph, step: Step, *values: Value) -> Value:
    """Values side by side."""
    return _like(graph.node("Concat", *(value.name for value in values), axis=-1), *values)


@emitter
def features(graph: Graph, step: Step, x: Value) -> Value:
    """Some features."""
    ends = (graph.axes(step.count("first")), graph.axes(step.count("last", 1)))
    return Value(graph.node("Slice", x.name, *ends, graph.axes(-1)), x.valid)


@emitter
def layer_norm(graph: Graph, step: Step, x: Value) -> Value:
    """Layer normalization."""
    names = [step.tensor(role) for role in ("weight", "bias")]
    constants = [graph.constant(step.weights.floats(name), name=name) for name in names]
    return Value(
        graph.node("LayerNormalization", x.name, *constants, axis=-1, epsilon=step.number("eps")), x.valid
    )


@emitter
def positions(graph: Graph, step: Step, x: Value) -> Value:
    """Sinusoids of the place, computed in double precision."""
    width = step.count("width", 1)
    frequency = 10000.0 ** (-step.number("exponent") * (np.arange(width) // 2 * 2) / width)
    place = graph.node("Cast", place_of(graph, x), to=11)
    angle = graph.node(
        "Mul", graph.node("Unsqueeze", place, graph.axes(1)), graph.constant(frequency, np.float64)
    )
    even = graph.constant(np.arange(width) % 2 == 0, np.bool_)
    waves = graph.node("Where", even, graph.node("Sin", angle), graph.node("Cos", angle))
    signal = graph.node("Mul", graph.node("Cast", waves, to=1), graph.constant(step.number("factor", 1.0)))
    return Value(graph.node("Add", x.name, signal), x.valid)


def place_of(graph: Graph, x: Value) -> str:
    """Return the places 0 .. L - 1, [L] int64, of a value's words."""
    length = graph.node("Gather", graph.node("Shape", x.name), graph.constant(1, np.int64))
    zero, one = (graph.constant(number, np.int64) for number in (0, 1))
    return graph.node("Range", zero, length, one)


@emitter
def convolution(graph: Graph, step: Step, x: Value) -> Value:
    """Filters over windows; beyond a text there are zeros."""
    names = [step.tensor(role) for role in ("weight", "bias")]
    kernel, bias = (graph.constant(step.weights.floats(name), name=name) for name in names)
    size, before = step.weights.raw(names[0]).shape[2], step.count("before")
    columns = graph.node("Transpose", real(graph, x), perm=[0, 2, 1])
    filtered = graph.node("Conv", columns, kernel, bias, pads=[before, size - 1 - before])
    return Value(graph.node("Transpose", filtered, perm=[0, 2, 1]), x.valid)


@emitter
def projection(graph: Graph, step: Step, x: Value) -> Value:
    """One of several projections to heads."""
    name, number = step.tensor("weight"), step.count("number")
    weight = step.weights.floats(name)[number].transpose(1, 0, 2)
    matrix = graph.constant(weight.reshape(weight.shape[0], -1), name=f"{name}.{number}")
    return Value(graph.node("MatMul", x.name, matrix), x.valid)


@emitter
def mean(graph: Graph, step: Step, x: Value) -> Value:
    """The mean of the words."""
    count = graph.node("Max", total_of(graph, x.valid), graph.constant(1.0))
    return Value(graph.node("Div", total_of(graph, real(graph, x)), count))


def total_of(graph: Graph, x: str) -> str:
    """Add up over the words."""
    return graph.node("ReduceSum", x, graph.axes(1), keepdims=1)


@emitter
def total(graph: Graph, step: Step, x: Value) -> Value:
    """The sum of the rows."""
    return Value(total_of(graph, real(graph, x)))


@emitter
def maximum(graph: Graph, step: Step, x: Value) -> Value:
    """The largest value of each feature; zero without words."""
    words = graph.node("Cast", x.valid, to=9)
    shown = graph.node("Where", words, x.name, graph.constant(_LOWEST))
    largest = graph.node("ReduceMax", shown, graph.axes(1), keepdims=1)
    some = graph.node("Greater", total_of(graph, x.valid), graph.constant(0.0))
    return Value(graph.node("Where", some, largest, graph.constant(0.0)))


@emitter
def weighted_sum(graph: Graph, step: Step, x: Value, score: Value) -> Value:
    """The words weighed by the softmax of their scores over the words."""
    words = graph.node("Cast", x.valid, to=9)
    shown = graph.node("Where", words, score.name, graph.constant(_LOWEST))
    top = graph.node("ReduceMax", shown, graph.axes(1), keepdims=1)
    weights = graph.node("Mul", graph.node("Exp", graph.node("Sub", shown, top)), x.valid)
    whole = graph.node("Max", total_of(graph, weights), graph.constant(1e-30))
    return Value(graph.node("Div", total_of(graph, graph.node("Mul", weights, x.name)), whole))


@emitter
def inner(graph: Graph, step: Step, x: Value, y: Value) -> Value:
    """The inner product, one number a row."""
    product = graph.node("Mul", x.name, y.name)
    return _like(graph.node("ReduceSum", product, graph.axes(-1), keepdims=1), x, y)


@emitter
def repeat(graph: Graph, step: Step, x: Value, like: Value) -> Value:
    """One row for each word of another value; zero at padding."""
    return Value(graph.node("Mul", x.name, like.valid), like.valid)


@emitter
def prepend(graph: Graph, step: Step, x: Value) -> Value:
    """A constant row in front of the words."""
    row = step.weights.floats(step.tensor("row")).reshape(1, 1, -1)
    batch = graph.node("Slice", graph.node("Shape", x.name), graph.axes(0), graph.axes(1), graph.axes(0))
    ones = graph.node("Concat", batch, graph.axes(1, 1), axis=0)
    first = graph.node("Expand", graph.constant(row), ones)
    there = graph.node("Expand", graph.constant([[[1.0]]]), ones)
    valid = graph.node("Concat", there, x.valid, axis=1)
    return Value(graph.node("Concat", first, x.name, axis=1), valid)


@emitter
def fuse(graph: Graph, step: Step, *values: Value) -> Value:
    """States summed with the softmax of their scores, word by word."""
    count = len(values) // 2
    states = [graph.node("Unsqueeze", value.name, graph.axes(2)) for value in values[:count]]
    scores = graph.node("Concat", *(value.name for value in values[count:]), axis=-1)
    weights = graph.node("Unsqueeze", graph.node("Softmax", scores, axis=-1), graph.axes(3))
    shares = graph.node("Mul", graph.node("Concat", *states, axis=2), weights)
    return _like(graph.node("ReduceSum", shares, graph.axes(2), keepdims=0), *values)
