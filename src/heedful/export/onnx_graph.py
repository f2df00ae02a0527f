"""A graph of ONNX operators while it is built; the package onnx is needed only to write it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import MissingExtraError

OPSET, IR_VERSION = 18, 9
"""Plain operators of this opset, and the version of the file format that goes with it."""
Array = NDArray[np.generic]


@dataclass(frozen=True)
class Value:
    """A value of a network in the graph, with padding.

    Attributes:
        name: of its tensor: [B, L, D] for words, [B, 1, D] for a whole text.
        valid: name of the tensor [B, L, 1] float that is 1 at a word and 0 at padding; empty for a whole text.
    """

    name: str
    valid: str = ""


class Port(NamedTuple):
    """An input or an output of a whole graph.

    Attributes:
        kind: of its numbers: "int64" or "float".
        shape: sizes, and names of those that are free.
    """

    kind: str
    shape: tuple[int | str, ...]


@dataclass
class Graph:
    """Nodes and constants.

    Attributes:
        nodes: operator, inputs, outputs and attributes of each node; an attribute may be a graph.
        constants: arrays by name; those of an inner graph are the outer one's.
        inputs: name, kind and shape of each input of an inner graph.
        outputs: names of the outputs of an inner graph.
        kinds: of those outputs that are not "float".
        space: what the names of constants begin with, so that two networks may have tensors of the same names.
    """

    nodes: list[tuple[str, tuple[str, ...], tuple[str, ...], Mapping[str, object]]] = field(
        default_factory=list
    )
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: list[tuple[str, str, Sequence[int | str]]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    space: str = ""
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _known: dict[tuple[str, str, tuple[int, ...], bytes], str] = field(default_factory=dict)

    def inner(self) -> Graph:
        """Return an empty graph that shares this one's constants and names; it may use this one's values."""
        return Graph(constants=self.constants, space=self.space, _numbers=self._numbers, _known=self._known)

    def within(self, space: str) -> Graph:
        """Return the same graph, in which the names of constants begin with something."""
        return replace(self, space=space)

    def new(self, what: str) -> str:
        """Return a name that nothing has yet."""
        return f"{what}_{next(self._numbers)}"

    def node(self, operator: str, *inputs: str, **attributes: object) -> str:
        """Add a node with one output.

        Args:
            operator: of the stated opset.
            *inputs: names; empty for an input that is left out.
            **attributes: plain values, or graphs.

        Returns:
            The name of the output.
        """
        name = self.new(operator)
        self.nodes.append((operator, inputs, (name,), attributes))
        return name

    def constant(self, value: ArrayLike, kind: type[np.generic] = np.float32, name: str = "") -> str:
        """Add a constant, once for equal ones.

        Args:
            value: numbers.
            kind: of the numbers.
            name: its name; empty for any.

        Returns:
            The name.
        """
        array, name = np.ascontiguousarray(value, kind), self.space + name if name else ""
        if not np.ndim(value):
            array = array.reshape(())
        key = (name, str(array.dtype), array.shape, array.tobytes() if array.size <= 4096 else b"")
        if name or array.size <= 4096:
            if key in self._known:
                return self._known[key]
            self._known[key] = name = name or self.new("constant")
        name = name or self.new("constant")
        self.constants[name] = array
        return name

    def axes(self, *numbers: int) -> str:
        """Return a constant of axes."""
        return self.constant(numbers, np.int64)


def load_onnx() -> ModuleType:
    """Import onnx.

    Returns:
        The package.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx", "export to ONNX") from error
    return onnx


def write_graph(
    graph: Graph,
    inputs: Mapping[str, Port],
    outputs: Mapping[str, Port],
    metadata: Mapping[str, str],
) -> bytes:
    """Write a graph as an ONNX file and check it.

    Args:
        graph: the graph.
        inputs: by name.
        outputs: by name.
        metadata: texts by name.

    Returns:
        The content of the file.
    """
    onnx = load_onnx()
    made = onnx.helper.make_graph(
        [_node(onnx, each) for each in graph.nodes],
        "heedful",
        [_value_info(onnx, name, *port) for name, port in inputs.items()],
        [_value_info(onnx, name, *port) for name, port in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
    )
    model = onnx.helper.make_model(
        made,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        producer_name="heedful",
        ir_version=IR_VERSION,
    )
    onnx.helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _node(
    onnx: ModuleType, node: tuple[str, tuple[str, ...], tuple[str, ...], Mapping[str, object]]
) -> object:
    operator, inputs, outputs, attributes = node
    plain = {key: _inner(onnx, each) if isinstance(each, Graph) else each for key, each in attributes.items()}
    return onnx.helper.make_node(operator, list(inputs), list(outputs), **plain)


def _inner(onnx: ModuleType, graph: Graph) -> object:
    return onnx.helper.make_graph(
        [_node(onnx, each) for each in graph.nodes],
        "inner",
        [_value_info(onnx, name, kind, shape) for name, kind, shape in graph.inputs],
        [_value_info(onnx, name, graph.kinds.get(name, "float"), None) for name in graph.outputs],
    )


def _value_info(onnx: ModuleType, name: str, kind: str, shape: Sequence[int | str] | None) -> object:
    return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind.upper()), shape)
