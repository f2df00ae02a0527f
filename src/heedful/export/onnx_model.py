"""A whole model as one ONNX file: ids in, logits, probabilities and vectors out; words and labels as metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heedful.export import onnx_attention, onnx_pairwise, onnx_recurrent  # noqa: F401  (they enter what they write)
from heedful.export.onnx_graph import OPSET, Graph, Value, write_graph
from heedful.export.onnx_rows import EMITTERS, NotExported
from heedful.runtime.program import SIDES, WORDS
from heedful.runtime.steps import Step
from heedful.runtime.weights import Weights


def input_names(texts: int) -> tuple[str, ...]:
    """Return the names of the inputs: the ids of each text."""
    return ("ids",) if texts == 1 else tuple(f"{side}_ids" for side in SIDES)


def write_onnx(
    description: Mapping[str, Any], weights: Weights, metadata: Mapping[str, Any], temperature: float
) -> bytes:
    """Write a network as an ONNX file.

    Inputs are ids [B, L] int64, 0 at padding, which follows the words; B and L are free, and L is at least 1. Outputs
    are "logits" [B, Y], a vector for each text where the network has them, and "probabilities" [B, Y]: of classes and
    grades the softmax, of several labels the sigmoid; a network that gives a number has none. A network that answers
    for each word has both as [B, L, Y], whose rows at padding hold anything.

    Args:
        description: of the network.
        weights: its tensors.
        metadata: what the file says of itself, plain values by name.
        temperature: what logits are divided by for the probabilities.

    Returns:
        The content of the file.

    Raises:
        NotExported: naming the setting that has no ONNX operators.
        MissingExtraError: if onnx is not installed.
    """
    if "ngrams" in description["words"]:
        raise NotExported(
            "text.subwords: n-grams are cut from the letters of a word, and the graph takes ids of words"
        )
    graph, texts = Graph(), int(description["texts"])
    values: dict[str, Value] = {}
    inputs: dict[str, Sequence[int | str]] = {}
    outputs: dict[str, Sequence[int | str]] = {}
    for side, name in zip(SIDES, input_names(texts), strict=False):
        inputs[name] = ["B", f"L_{side}"]
        read = _run(
            graph, description["read"], weights, {WORDS: _words(graph, description["words"], weights, name)}
        )
        values |= {f"{side}.{each}": value for each, value in read.items()}
        if description["vector"] is not None:
            vector = "vector" if texts == 1 else f"{side}_vector"
            _output(graph, read[description["vector"]], vector)
            outputs[vector] = ["B", "D"]
    logits = _run(graph, description["answer"], weights, values)[description["logits"]]
    shape = ["B", *inputs["ids"][1:], "Y"] if description.get("each") == "word" else ["B", "Y"]
    if len(shape) > 2:  # at padding the rows hold anything
        graph.nodes.append(("Identity", (logits.name,), ("logits",), {}))
    else:
        _output(graph, logits, "logits")
    outputs["logits"] = shape
    if "scale" not in description:
        scaled = graph.node("Div", "logits", graph.constant(temperature))
        kind = ("Sigmoid", {}) if "thresholds" in description else ("Softmax", {"axis": -1})
        graph.nodes.append((kind[0], (scaled,), ("probabilities",), kind[1]))
        outputs["probabilities"] = shape
    plain = {name: each if isinstance(each, str) else json.dumps(each) for name, each in metadata.items()}
    return write_graph(graph, inputs, outputs, {**plain, "opset": str(OPSET)})


def _words(graph: Graph, tables: Mapping[str, str], weights: Weights, ids: str) -> Value:
    """Look ids up in the two tables; padding and unknown words are zero."""
    trained, frozen = weights.raw(tables["trained"]), weights.raw(tables["frozen"])
    rows = graph.constant(len(trained), np.int64)
    zero = graph.constant(0, np.int64)
    is_trained = graph.node("Less", ids, rows)
    table = graph.constant(weights.floats(tables["trained"]), name=tables["trained"])
    x = graph.node("Gather", table, graph.node("Where", is_trained, ids, zero))
    if len(frozen):
        halves = graph.constant(weights.floats(tables["frozen"]), np.float16, name=tables["frozen"])
        others = graph.node("Where", is_trained, zero, graph.node("Sub", ids, rows))
        more = graph.node("Cast", graph.node("Gather", halves, others), to=1)
        x = graph.node("Where", graph.node("Unsqueeze", is_trained, graph.axes(2)), x, more)
    known = graph.node("Cast", graph.node("Greater", ids, graph.constant(1, np.int64)), to=1)
    valid = graph.node("Cast", graph.node("Greater", ids, zero), to=1)
    x = graph.node("Mul", x, graph.node("Unsqueeze", known, graph.axes(2)))
    return Value(x, graph.node("Unsqueeze", valid, graph.axes(2)))


def _run(
    graph: Graph, steps: Sequence[Mapping[str, Any]], weights: Weights, given: Mapping[str, Value]
) -> dict[str, Value]:
    values = dict(given)
    for description in steps:
        step = Step(description, weights)
        if step.do not in EMITTERS:
            raise NotExported(f"step {step.do!r} of the network has no ONNX operators")
        values[step.to] = EMITTERS[step.do](graph, step, *(values[name] for name in step.of))
    return values


def _output(graph: Graph, value: Value, name: str) -> None:
    """Give a value of a whole text, [B, 1, D], a name of its own as [B, D]."""
    graph.nodes.append(("Squeeze", (value.name, graph.axes(1)), (name,), {}))
