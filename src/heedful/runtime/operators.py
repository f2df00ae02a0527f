"""The operators of a network's description, in NumPy: what happens to each word, and to the vector of a text.

A value is [L, D] for the L words of one text, or [1, D] for a whole text. There is no padding and there are no batches:
a text's result cannot depend on others. Where each row is computed by itself, the rows of several texts may
stand end to end (`kernels.Rows`). Here is what happens to each row alone; `sequence_operators` has what
happens to all words of a text together and the layers with a state, and `attending` has the attention among words.

Steps that follow each other can be computed as one: a gate, and the bias of a dense layer (`joined`). A joined step
gives the same to the last bit as its parts give for a bias, and the same to 1e-7 for a gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import Floats, TextRows, address
from heedful.runtime.step_chains import READS, ChainLink
from heedful.runtime.steps import ACTIVATIONS, WHOLE, Compute, Matrix, Step, Weighing, activate

Make = Callable[[Step], Compute]
"""Reads a step and returns the function that computes it."""

OPERATORS: dict[str, Make] = {}
"""Every operator by name."""
WEIGHTS: dict[str, Callable[[Step], Weighing]] = {}
"""Of the operators that weigh rows, what gives the weights from the same values: for explanations."""


class Action(NamedTuple):
    """A step as functions.

    Attributes:
        to: name of the value it makes.
        of: names of the values it reads.
        compute: computes one text, or the rows of several where `row_wise`.
        row_wise: whether each row is computed by itself.
        together: computes several texts at once, from the rows of each and the values of all; None for no such way.
        link: how the kernel of chains computes it; None where it does not.
    """

    to: str
    of: tuple[str, ...]
    compute: Callable[..., Floats]
    row_wise: bool = False
    together: Callable[..., TextRows] | None = None
    link: ChainLink | None = None


ROW_WISE: set[str] = set()
"""Operators whose result in a row depends on no other row: they take the rows of several texts at once."""
TOGETHER: dict[str, Callable[[Step], Callable[..., TextRows] | None]] = {}
"""Of the operators that look at a text as a whole, what computes several texts at once: from the rows of each text, and
the values of all texts end to end. None where a step has no such way."""
LINKS: dict[str, Callable[[Step], ChainLink | None]] = {}
"""How the kernel of chains computes an operator; None where it does not compute a step."""


def row_wise(make: Make) -> Make:
    """Enter an operator that computes each row by itself."""
    ROW_WISE.add(make.__name__.strip("_"))
    return operator(make)


def operator(make: Make) -> Make:
    """Enter an operator under the name of the function that makes it."""
    OPERATORS[make.__name__.strip("_")] = make
    return make


def weighing(make: Make) -> Make:
    """Enter the weights of an operator, under its name followed by ``_weights``."""
    WEIGHTS[make.__name__.strip("_").removesuffix("_weights")] = make
    return make


@row_wise
def dense(step: Step) -> Compute:
    """``activation(x W^T + b)``."""
    step.takes(1)
    matrix = step.matrix("weight")
    bias = step.floats("bias", matrix.outputs) if step.has("bias") else None
    activation = step.text("activation", ("linear", "elu", "relu"), "linear")
    return lambda x: matrix.apply(x, bias, activation)


def _dense_link(step: Step) -> ChainLink | None:
    matrix = step.matrix("weight")
    bias = step.floats("bias", matrix.outputs) if step.has("bias") else None
    return _layer_link(matrix, bias, step.text("activation", default="linear"))


def _layer_link(matrix: Matrix, bias: Floats | None, activation: str) -> ChainLink | None:
    if not matrix.kind:
        return None
    return ChainLink(
        matrix.kind,
        lambda widths: matrix.outputs if widths == (matrix.terms,) else 0,
        lambda: matrix.numbers(bias, activation),
    )


LINKS["dense"] = _dense_link


@row_wise
def add(step: Step) -> Compute:
    """The sum of values, and of a bias where there is one."""
    bias = step.weights.floats(step.tensor("bias")).reshape(1, -1) if step.has("bias") else None

    def compute(*values: Floats) -> Floats:
        total = sum(values[1:], start=values[0])
        return total if bias is None else total + bias

    return compute


@row_wise
def subtract(step: Step) -> Compute:
    """The difference of two values."""
    step.takes(2)
    return lambda x, y: x - y


@row_wise
def scaled(step: Step) -> Compute:
    """A value times a number."""
    step.takes(1)
    factor = np.float32(step.number("factor"))
    return lambda x: x * factor


SMALLEST = 1e-12
"""A vector shorter than this is divided by it, so that zeros stay zeros."""


@row_wise
def unit(step: Step) -> Compute:
    """A vector scaled to unit length; zeros stay zeros."""
    step.takes(1)
    return lambda x: x / np.maximum(np.sqrt(np.square(x).sum(axis=1, keepdims=True)), np.float32(SMALLEST))


@row_wise
def rescale(step: Step) -> Compute:
    """A number of standard deviations from a mean, on its own scale: ``x * scale[1] + scale[0]``."""
    step.takes(1)
    mean, deviation = step.floats("scale", 4)[:2]
    return lambda x: x * deviation + mean


@row_wise
def multiply(step: Step) -> Compute:
    """The product of two values, feature by feature."""
    step.takes(2)
    return lambda x, y: x * y


@row_wise
def absolute(step: Step) -> Compute:
    """The value without its sign."""
    step.takes(1)
    return lambda x: np.abs(x)


@row_wise
def activation(step: Step) -> Compute:
    """An activation by itself."""
    step.takes(1)
    name = step.text("name", tuple(ACTIVATIONS))
    return lambda x: activate(x, name)


@row_wise
def mix(step: Step) -> Compute:
    """``g x + (1 - g) y`` of a gate g and two values."""
    step.takes(3)
    return lambda g, x, y: y + g * (x - y)


@row_wise
def concat(step: Step) -> Compute:
    """Values side by side."""

    def compute(*values: Floats) -> Floats:
        width = sum(x.shape[1] for x in values)
        return np.concatenate(values, axis=1, out=kernels.room(len(values[0]), width))

    return compute


LINKS["concat"] = lambda step: ChainLink("concat", sum) if 0 < len(step.of) <= READS else None


@row_wise
def features(step: Step) -> Compute:
    """Some features of a value, from ``first`` to before ``last``."""
    step.takes(1)
    first, last = step.count("first"), step.count("last", 1)

    def compute(x: Floats) -> Floats:
        if not first < last <= x.shape[1]:
            raise UsageError(f"features {first} to {last} of a value that has {x.shape[1]}")
        return x[:, first:last]

    return compute


@row_wise
def layer_norm(step: Step) -> Compute:
    """Layer normalization with a gain and a shift."""
    step.takes(1)
    width = step.weights.raw(step.tensor("weight")).size
    gain, shift = step.floats("weight", width), step.floats("bias", width)
    smallest = np.float32(step.number("eps"))

    def compute(x: Floats) -> Floats:
        if x.shape[1] != width:
            raise UsageError(f"layer_norm: {width} features expected; got {x.shape[1]}")
        centered = x - x.mean(axis=1, keepdims=True)
        variance = np.mean(centered * centered, axis=1, keepdims=True)
        return centered / np.sqrt(variance + smallest) * gain + shift

    return compute


@operator
def positions(step: Step) -> Compute:
    """A value plus sinusoids of the word's place, times a factor; see `heedful.nn.positional_signal`."""
    step.takes(1)
    exponent, factor = step.number("exponent"), step.number("factor", 1.0)

    def compute(x: Floats) -> Floats:
        length, width = x.shape
        even = np.arange(width) // 2 * 2
        angle = np.arange(length)[:, None] * 10000.0 ** (-exponent * even / width)
        waves = np.where(np.arange(width) % 2 == 0, np.sin(angle), np.cos(angle))
        return x + (np.float32(factor) * waves.astype(np.float32))

    return compute


@operator
def convolution(step: Step) -> Compute:
    """Filters over windows of words, with zeros beyond the text."""
    step.takes(1)
    kernel = step.weights.floats(step.tensor("weight"))
    if kernel.ndim != 3:
        raise UsageError(f"a convolution's weight is [filters, features, words]; got {list(kernel.shape)}")
    filters, width, size = kernel.shape
    before, bias = step.count("before"), step.floats("bias", filters)
    if before >= size:
        raise step.refuse("before", f"below the {size} words of a window")
    flat = kernel.transpose(0, 2, 1).reshape(filters, size * width).T

    def compute(x: Floats) -> Floats:
        if x.shape[1] != width:
            raise UsageError(f"convolution: {width} features expected; got {x.shape[1]}")
        if not len(x):
            return np.zeros((0, filters), np.float32)
        padded = np.zeros((len(x) + size - 1, width), np.float32)
        padded[before : before + len(x)] = x
        windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=0).transpose(0, 2, 1)
        return windows.reshape(len(x), size * width) @ flat + bias

    return compute


@operator
def projection(step: Step) -> Compute:
    """One of several projections to heads, which one tensor [projections, heads, D, C] holds."""
    step.takes(1)
    number, weight = step.count("number"), step.weights.floats(step.tensor("weight"))
    if weight.ndim != 4 or number >= len(weight):
        raise UsageError(f"projection {number} of a tensor {list(weight.shape)}")
    matrix = weight[number].transpose(1, 0, 2).reshape(weight.shape[2], -1)
    return lambda x: x @ matrix


class _Found(NamedTuple):
    action: Action
    parts: int


def joined(steps: Sequence[Step], actions: Sequence[Action], keep: frozenset[str]) -> list[Action]:
    """Join what can be joined.

    Args:
        steps: the steps of a part of a network.
        actions: the same as functions.
        keep: values that must be made.

    Returns:
        As many actions or fewer, which make the same values but for those between the parts of a joined one.
    """
    if not kernels.compiled():
        return list(actions)
    reads = Counter(name for step in steps for name in step.of)
    hidden = {step.to for step in steps if reads[step.to] == 1 and step.to not in keep}
    found, place = list[Action](), 0
    while place < len(steps):
        one = (
            _gate(steps, actions, place, hidden)
            or _biased(steps, place, hidden)
            or _twice(steps, place, hidden)
        )
        found.append(one.action if one else actions[place])
        place += one.parts if one else 1
    return found


def _gate(steps: Sequence[Step], actions: Sequence[Action], place: int, hidden: set[str]) -> _Found | None:
    """Join the sum of two values, its sigmoid, and what is mixed with that."""
    three = steps[place : place + 3]
    if [step.do for step in three] != ["add", "activation", "mix"]:
        return None
    total, opened, mixed = three
    chained = opened.of == (total.to,) and mixed.of[0] == opened.to and {total.to, opened.to} <= hidden
    if not chained or len(total.of) != 2 or opened.text("name") != "sigmoid":
        return None
    bias = total.weights.floats(total.tensor("bias")).reshape(-1) if total.has("bias") else None
    apart = [actions[place + n].compute for n in range(3)]

    def compute(first: Floats, second: Floats, x: Floats, y: Floats) -> Floats:
        same = first.shape == second.shape == x.shape == y.shape
        if not same or not (bias is None or bias.shape == x.shape[1:]):
            result: Floats = apart[2](apart[1](apart[0](first, second)), x, y)
            return result
        first, second, x, y = kernels.contiguous(first, second, x, y)
        return kernels.gated(first, second, bias, x, y)

    link = ChainLink(
        "gated",
        lambda widths: widths[0] if len({*widths, *(() if bias is None else bias.shape)}) == 1 else 0,
        lambda: (0 if bias is None else address(bias),),
    )
    return _Found(Action(mixed.to, (*total.of, *mixed.of[1:]), compute, row_wise=True, link=link), 3)


def _biased(steps: Sequence[Step], place: int, hidden: set[str]) -> _Found | None:
    """Join a dense layer without a bias and a sum with a bias alone."""
    two = steps[place : place + 2]
    if [step.do for step in two] != ["dense", "add"]:
        return None
    layer, sum_ = two
    plain = not layer.has("bias") and layer.text("activation", default="linear") == "linear"
    if not plain or sum_.of != (layer.to,) or layer.to not in hidden or not sum_.has("bias"):
        return None
    matrix, bias = layer.matrix("weight"), sum_.weights.floats(sum_.tensor("bias")).reshape(-1)
    if bias.shape != (matrix.outputs,):
        return None
    bias = np.ascontiguousarray(bias)
    compute: Compute = lambda x: matrix.apply(x, bias, "linear")  # noqa: E731
    link = _layer_link(matrix, bias, "linear")
    return _Found(Action(sum_.to, layer.of, compute, row_wise=True, link=link), 2)


def _twice(steps: Sequence[Step], place: int, hidden: set[str]) -> _Found | None:
    """Join two dense layers in whole numbers, the second of which reads the first, which nobody else does."""
    two = steps[place : place + 2]
    if [step.do for step in two] != ["dense", "dense"] or not all(step.flag(WHOLE) for step in two):
        return None
    first, second = two
    if second.of != (first.to,) or first.to not in hidden:
        return None
    matrices = [step.matrix("weight") for step in two]
    rest = [
        (
            step.floats("bias", matrix.outputs) if step.has("bias") else None,
            step.text("activation", default="linear"),
        )
        for step, matrix in zip(two, matrices, strict=True)
    ]
    compute: Compute = lambda x: matrices[0].then(matrices[1], x, *rest)  # noqa: E731
    return _Found(Action(second.to, first.of, compute, row_wise=True, link=_twice_link(matrices, rest)), 2)


def _twice_link(matrices: Sequence[Matrix], rest: Sequence[tuple[Floats | None, str]]) -> ChainLink | None:
    first, second = matrices
    if not first.kind == second.kind == "whole" or first.outputs != second.terms:
        return None

    def more() -> tuple[int, ...]:
        one, two = (matrix.numbers(*each) for matrix, each in zip(matrices, rest, strict=True))
        return (*one, *two[:4], *two[5:])

    return ChainLink("twice", lambda widths: second.outputs if widths == (first.terms,) else 0, more)
