"""One step of a network's description, read with checks: what it does, of which values, with which settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, nearest
from heedful.runtime import bfloat16_products
from heedful.runtime.bfloat16_products import Bfloat16Packed
from heedful.runtime.int8_products import MOST_TERMS, Whole, WholePacked, plain_sums, twice
from heedful.runtime.kernels import ACTIVATIONS as NUMBER_OF
from heedful.runtime.kernels import Floats, Packed, address, compiled
from heedful.runtime.weights import Weights

Keep = NDArray[np.bool_]
_DEEPEST = 50
_FAR = 2**40


@dataclass(frozen=True)
class OffsetRange:
    """The offsets between two bounds, both included.

    Attributes:
        low: the smallest offset; None for no bound.
        high: the largest offset; None for no bound.
        diagonal: whether a word sees itself.
    """

    low: int | None
    high: int | None
    diagonal: bool

    @property
    def bounds(self) -> tuple[int, int, bool]:
        """Both bounds written out, and whether a word sees itself."""
        return (
            -_FAR if self.low is None else self.low,
            _FAR if self.high is None else self.high,
            self.diagonal,
        )


@dataclass(frozen=True)
class JoinedOffsets:
    """The offsets that both of two masks show, or either of them.

    Attributes:
        both: whether both have to show an offset.
        parts: the two masks.
    """

    both: bool
    parts: tuple[Offsets, Offsets]


Offsets: TypeAlias = OffsetRange | JoinedOffsets


class Rule:
    """A mask that depends on the offsets of words alone.

    Args:
        description: ``{"band": [low, high, diagonal]}`` (None for no bound), or ``{"both": [rule, rule]}`` or
            ``{"either": [rule, rule]}``.

    Attributes:
        offsets: the same, read.
        band: smallest and largest visible offset, and whether a word sees itself; None for what is no band.

    Raises:
        UsageError: if the description is none of these.
    """

    def __init__(self, description: object) -> None:
        self.offsets = _read(description)
        self.band = self.offsets.bounds if isinstance(self.offsets, OffsetRange) else None
        self.keep = lru_cache(maxsize=64)(self._keep)

    def _keep(self, length: int) -> Keep:
        """Return which pairs (query, key) are visible, [L, L]; read only."""
        position = np.arange(length)
        keep = np.ascontiguousarray(_sees(self.offsets, position[None, :] - position[:, None]))
        keep.flags.writeable = False
        return keep


def _read(description: object, depth: int = 0) -> Offsets:
    if isinstance(description, Mapping) and len(description) == 1 and depth < _DEEPEST:
        ((kind, value),) = description.items()
        if kind == "band" and _is_band(value):
            return OffsetRange(*value)
        if kind in ("both", "either") and isinstance(value, list) and len(value) == 2:
            first, second = (_read(part, depth + 1) for part in value)
            return JoinedOffsets(kind == "both", (first, second))
    raise UsageError(f"a mask is a band, or both or either of two masks; got {description!r:.80}")


def _is_band(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[2], bool)
        and all(end is None or (type(end) is int and abs(end) < _FAR) for end in value[:2])
    )


def _sees(offsets: Offsets, offset: NDArray[np.int64]) -> Keep:
    if isinstance(offsets, OffsetRange):
        low, high, diagonal = offsets.bounds
        seen: Keep = (offset >= low) & (offset <= high)
        return seen if diagonal else seen & (offset != 0)
    first, second = (_sees(part, offset) for part in offsets.parts)
    return first & second if offsets.both else first | second


Compute = Callable[..., Floats]
Weighing = Callable[..., NDArray[np.floating]]
"""What gives the weights of an operator, for explanations."""
WIDEST = 1 << 17
"""Features of a value; no network has more, and a description may not ask for the memory of more."""


WHOLE = "whole"
"""The setting of a dense layer that is computed in whole numbers (`heedful.export.whole_layers`)."""
BFLOAT16 = "bfloat16"
"""The setting of one whose factors are rounded to bfloat16."""


class Matrix:
    """A constant matrix that rows are multiplied with; packed for the kernel when it is first used.

    Args:
        weights: the tensors.
        name: of the matrix, [outputs, terms].
        whole: whether products are computed in whole numbers, where the matrix is kept in such.
        bfloat16: whether factors are rounded to bfloat16, where the matrix is kept in floats.

    Attributes:
        outputs: features of a result.
        terms: features of an input.

    Raises:
        UsageError: if the tensor is missing or no matrix.
    """

    def __init__(self, weights: Weights, name: str, *, whole: bool = False, bfloat16: bool = False) -> None:
        self._weights, self.name = weights, name
        shape = weights.raw(name).shape
        if len(shape) != 2 or 0 in shape:
            raise UsageError(f"tensor {name!r:.200} is {list(shape)}, expected a matrix")
        self.outputs, self.terms = shape
        self._scales = weights.scales(name)
        self._whole = whole and self._scales is not None and self.terms <= MOST_TERMS
        self._bfloat16 = bfloat16 and self._scales is None
        self._packed: Packed | WholePacked | Bfloat16Packed | None = None
        self._plain: Floats | None = None

    def apply(self, x: Floats, bias: Floats | None = None, activation: str = "linear") -> Floats:
        """Compute ``activation(x W^T + b)``.

        Args:
            x: [rows, terms].
            bias: [outputs], or None.
            activation: "linear", "elu" or "relu".

        Returns:
            [rows, outputs].

        Raises:
            UsageError: if the rows are not as wide as the matrix.
        """
        if x.ndim != 2 or x.shape[1] != self.terms:
            raise UsageError(f"tensor {self.name!r:.200} takes {self.terms} features; got {list(x.shape)}")
        if bfloat16_products.compiled() if self._bfloat16 else compiled():
            return self._ready().apply(np.ascontiguousarray(x, np.float32), bias, activation)
        y = self._plainly(x)
        return activate(y if bias is None else y + bias, activation)

    def then(
        self, after: Matrix, x: Floats, own: tuple[Floats | None, str], of_after: tuple[Floats | None, str]
    ) -> Floats:
        """Apply this matrix and one that reads the result; in one pass where both are computed in whole numbers.

        Args:
            after: the other matrix.
            x: [rows, terms].
            own: bias and activation, as `apply` takes them.
            of_after: likewise of the other.

        Returns:
            To the last bit what `apply` of one after the other returns.

        Raises:
            UsageError: if the shapes do not fit.
        """
        fits = x.ndim == 2 and x.shape[1] == self.terms and self.outputs == after.terms
        if fits and compiled():
            one, two = self._ready(), after._ready()
            if isinstance(one, WholePacked) and isinstance(two, WholePacked):
                return twice(np.ascontiguousarray(x, np.float32), (one, *own), (two, *of_after))
        return after.apply(self.apply(x, *own), *of_after)

    def _plainly(self, x: Floats) -> Floats:
        """Multiply in NumPy."""
        if self._whole and self._scales is not None:
            return plain_sums(x, self._numbers(), self._scales)
        if self._plain is None:
            plain = self._weights.floats(self.name)
            self._plain = bfloat16_products.rounded(plain) if self._bfloat16 else plain
        return (bfloat16_products.rounded(x) if self._bfloat16 else x) @ self._plain.T

    @property
    def kind(self) -> str:
        """How the compiled kernels compute it, as in `chaining.KINDS`; empty where they do not."""
        if self._bfloat16:
            return "bfloat16" if bfloat16_products.compiled() else ""
        return ("whole" if self._whole else "dense") if compiled() else ""

    def numbers(self, bias: Floats | None, activation: str) -> tuple[int, ...]:
        """Return what the kernel of chains reads of a layer: four addresses, terms, outputs and the activation."""
        where = 0 if bias is None else address(bias)
        return (*self._ready().addresses, where, self.terms, self.outputs, NUMBER_OF[activation])

    def _ready(self) -> Packed | WholePacked | Bfloat16Packed:
        if self._packed is None:
            self._packed = self._pack()
        return self._packed

    def _pack(self) -> Packed | WholePacked | Bfloat16Packed:
        if self._bfloat16:
            return Bfloat16Packed(self._weights.floats(self.name))
        if self._scales is None:
            return Packed(self._weights.floats(self.name))
        return (WholePacked if self._whole else Packed)(self._numbers(), self._scales)

    def _numbers(self) -> Whole:
        return np.asarray(self._weights.raw(self.name), np.int8)


def activate(x: Floats, name: str) -> Floats:
    """Apply an activation by name."""
    return ACTIVATIONS[name](x)


def _elu(x: Floats) -> Floats:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def sigmoid(x: Floats) -> Floats:
    """Return ``1 / (1 + e^-x)``, which overflows nowhere in this form."""
    y: Floats = np.tanh(x * np.float32(0.5)) * np.float32(0.5) + np.float32(0.5)
    return y


def logsigmoid(x: Floats) -> Floats:
    """Return the logarithm of the sigmoid."""
    y: Floats = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    return y


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda x: x,
    "elu": _elu,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "tanh": lambda x: np.tanh(x),
    "logsigmoid": logsigmoid,
}


class Step:
    """What one step of a description says.

    Args:
        description: ``{"do": name, "of": values, "to": value, "weights": {role: tensor}, ...}``; the rest are settings.
        weights: the tensors.

    Attributes:
        do: name of the operator.
        of: names of the values it reads.
        to: name of the value it makes.

    Raises:
        UsageError: if it is no such thing.
    """

    def __init__(self, description: object, weights: Weights) -> None:
        if not isinstance(description, Mapping):
            raise UsageError(f"a step must be a table; got {description!r:.80}")
        self._settings, self.weights = description, weights
        self.do, self.to = self.text("do"), self.text("to")
        of = description.get("of")
        if not isinstance(of, list) or not all(isinstance(name, str) for name in of):
            raise UsageError(f"step {self.do!r:.80}: of must be a list of names")
        self.of: tuple[str, ...] = tuple(of)
        named = description.get("weights", {})
        if not isinstance(named, Mapping) or not all(isinstance(name, str) for name in named.values()):
            raise UsageError(f"step {self.do!r:.80}: weights must be a table of names")
        self._named: Mapping[str, str] = named
        self._matrices: dict[str, Matrix] = {}

    def refuse(self, setting: str, expected: str) -> UsageError:
        """Return an error about a setting."""
        given = self._settings.get(setting)
        return UsageError(
            f"step {getattr(self, 'do', '?')!r:.80}: {setting} must be {expected}; got {given!r:.80}"
        )

    def text(self, setting: str, choices: Sequence[str] = (), default: str | None = None) -> str:
        """Return a setting that is a string, one of the choices if there are any."""
        value = self._settings.get(setting, default)
        if not isinstance(value, str):
            raise self.refuse(setting, "a string")
        if choices and value not in choices:
            raise self.refuse(setting, nearest(value, tuple(choices)))
        return value

    def number(self, setting: str, default: float | None = None) -> float:
        """Return a setting that is a finite number."""
        value = self._settings.get(setting, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.refuse(setting, "a number")
        return float(value)

    def count(self, setting: str, least: int = 0, default: int | None = None) -> int:
        """Return a setting that is a whole number."""
        value = self._settings.get(setting, default)
        if type(value) is not int or not least <= value <= WIDEST:
            raise self.refuse(setting, f"a whole number from {least} to {WIDEST}")
        return value

    def flag(self, setting: str) -> bool:
        """Return a setting that is true or false; false where it is not named."""
        value = self._settings.get(setting, False)
        if not isinstance(value, bool):
            raise self.refuse(setting, "true or false")
        return value

    def items(self, setting: str) -> list[object]:
        """Return a setting that is a list."""
        value = self._settings.get(setting)
        if not isinstance(value, list):
            raise self.refuse(setting, "a list")
        return value

    def rule(self) -> Rule:
        """Return the mask."""
        return Rule(self._settings.get("mask"))

    def has(self, role: str) -> bool:
        """Return whether there is a tensor of a role."""
        return role in self._named

    def tensor(self, role: str) -> str:
        """Return the name of the tensor of a role."""
        if role not in self._named:
            raise UsageError(f"step {self.do!r:.80}: names no tensor for {role}")
        return self._named[role]

    def matrix(self, role: str) -> Matrix:
        """Return the matrix of a role, always the same; `WHOLE` and `BFLOAT16` say how its products are computed."""
        if role not in self._matrices:
            options = {"whole": self.flag(WHOLE), "bfloat16": self.flag(BFLOAT16)}
            self._matrices[role] = Matrix(self.weights, self.tensor(role), **options)
        return self._matrices[role]

    def floats(self, role: str, *shape: int) -> Floats:
        """Return the tensor of a role, which must have this shape."""
        name = self.tensor(role)
        found = self.weights.raw(name).shape
        if found != shape:
            raise UsageError(f"tensor {name!r:.200} is {list(found)}, the network asks for {list(shape)}")
        return self.weights.floats(name)

    def takes(self, count: int) -> None:
        """Refuse another number of values than an operator reads."""
        if len(self.of) != count:
            raise UsageError(f"step {self.do!r:.80}: reads {count} value(s); got {len(self.of)}")
