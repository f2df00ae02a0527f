"""A model folder as one ONNX file, compared with the runtime on random texts before it is written.

Ids go in; logits, probabilities and vectors come out. The words and the labels are metadata of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.export.onnx_check import check_onnx
from heedful.export.onnx_graph import OPSET, Graph, Port, Value, write_graph
from heedful.export.onnx_inputs import IDS, NGRAMS, OnnxInputs, of_side
from heedful.export.onnx_network import reading, run_steps
from heedful.export.onnx_paths import best_tags, tag_shares
from heedful.export.onnx_rows import NotExported
from heedful.export.onnx_sentence import sentence_logits
from heedful.export.onnx_tags import tag_scores
from heedful.export.onnx_wide import FEATURES, wide_logits
from heedful.export.recording import NetworkTable
from heedful.model.decisions.label_columns import LabelColumnsDecision
from heedful.model.decisions.label_tree import LabelTree
from heedful.model.decisions.labels import LabelsDecision
from heedful.model.decisions.reject import REJECT, read_reject
from heedful.model.decisions.tags import TagsDecision
from heedful.model.model import READS_COLUMNS
from heedful.models.config import NO_NETWORK
from heedful.runtime.kernels import Floats
from heedful.runtime.loading import load
from heedful.runtime.program import SIDES
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.weights import Weights
from heedful.storage import write_bytes
from heedful.storage.model_folder import ModelFolder
from heedful.text.token_rules import token_rules
from heedful.version import __version__


def output_names(description: NetworkTable) -> tuple[str, str]:
    """Return the names of the outputs: that of the answer, and that of the vector of each text.

    Where the answer itself is a vector of unit length, what was read of a text are the states before it.
    """
    return ("vector", "states") if description["answer"][-1]["do"] == "unit" else ("logits", "vector")


def write_onnx(
    description: NetworkTable,
    weights: Weights,
    metadata: Mapping[str, object],
    temperature: float,
    inputs: OnnxInputs,
    tags: TagsDecision | None = None,
    start: Floats | None = None,
    label_columns: Sequence[NDArray[np.int64]] = (),
) -> bytes:
    """Write a network and the parts beside it as an ONNX file.

    The inputs are those of `OnnxInputs`, whole numbers but for one; B and L are free, and L is at least 1.

    The first output is the answer, "logits" [B, Y]. Then come a vector for each text where the network has them, and
    "probabilities" [B, Y]: of classes and grades the softmax, of several labels the sigmoid, of label columns the
    softmax of each column; a network that gives a number has none. A network that answers for each word has both as
    [B, L, Y] and the chosen "tags" [B, L] int64, whose rows at padding hold anything. A network whose answer is a
    vector has "vector" [B, Y] and "states" [B, D], what its last layer reads.

    Args:
        description: of the network.
        weights: its tensors.
        metadata: what the file says of itself, plain values by name.
        temperature: what logits are divided by for the probabilities.
        inputs: which there are.
        tags: of a model of tags, what chooses them.
        start: what linear parts without a network are added to, [Y]; None for 0.
        label_columns: the places of the classes of each label column; empty for other models.

    Returns:
        The content of the file.

    Raises:
        NotExported: naming the setting that has no ONNX operators.
        MissingExtraError: if onnx is not installed.
    """
    if inputs.parts.columns is not None:
        raise NotExported(f"columns beside the text have no input in an ONNX file; {READS_COLUMNS}")
    graph, ports = Graph(), inputs.ports()
    answer, _ = output_names(description)
    outputs: dict[str, Port] = {answer: Port("float", ("B", "Y"))}
    parts = inputs.parts
    if inputs.vocabulary is not None:
        added = [_network(graph, description, weights, outputs)]
    else:
        added = [] if start is None else [graph.constant(start)]
    if parts.wide is not None:
        added.append(wide_logits(graph, parts.wide))
    if parts.sentence is not None:
        added.append(sentence_logits(graph, parts.sentence))
    if parts.tagging is not None:
        added.append(tag_scores(graph, parts.tagging))
    total = added[0]
    for each in added[1:]:
        total = graph.node("Add", total, each)
    graph.nodes.append(("Identity", (total,), (answer,), {}))
    if tags is not None:
        _tags(graph, inputs, tags, outputs)
    elif "scale" not in description and answer == "logits":
        scaled = graph.node("Div", answer, graph.constant(temperature))
        if label_columns:
            shares = _by_column(graph, scaled, label_columns)
        elif "thresholds" in description:
            shares = graph.node("Sigmoid", scaled)
        else:
            shares = graph.node("Softmax", scaled, axis=-1)
        graph.nodes.append(("Identity", (shares,), ("probabilities",), {}))
        outputs["probabilities"] = outputs[answer]
    plain = {name: each if isinstance(each, str) else json.dumps(each) for name, each in metadata.items()}
    return write_graph(graph, ports, outputs, {**plain, "opset": str(OPSET)})


def _network(graph: Graph, description: NetworkTable, weights: Weights, outputs: dict[str, Port]) -> str:
    """Add a network; return the name of its logits, [B, Y], and enter the vectors of the texts as outputs."""
    texts = int(description["texts"])
    values: dict[str, Value] = {}
    for side, name in enumerate(SIDES[:texts]):
        own = (of_side(what, side, texts) for what in (IDS, NGRAMS))
        read = reading(graph, description, weights, *own)
        values |= {f"{name}.{each}": value for each, value in read.items()}
        if description["vector"] is not None:
            vector = of_side(output_names(description)[1], side, texts)
            graph.nodes.append(("Squeeze", (read[description["vector"]].name, graph.axes(1)), (vector,), {}))
            outputs[vector] = Port("float", ("B", "D"))
    logits = run_steps(graph, description["answer"], weights, values)[description["logits"]].name
    return logits if description.get("each") == "word" else graph.node("Squeeze", logits, graph.axes(1))


def _by_column(graph: Graph, logits: str, columns: Sequence[NDArray[np.int64]]) -> str:
    """Add the softmax of each label column; return the name of the probabilities, [B, Y]."""
    parts = [graph.node("Gather", logits, graph.constant(own, np.int64), axis=1) for own in columns]
    every = graph.node("Concat", *(graph.node("Softmax", part, axis=-1) for part in parts), axis=1)
    back = np.argsort(np.concatenate(columns))
    return graph.node("Gather", every, graph.constant(back, np.int64), axis=1)


def _tags(graph: Graph, inputs: OnnxInputs, decision: TagsDecision, outputs: dict[str, Port]) -> None:
    """Add the tags of the words and the probabilities of all tags."""
    if inputs.vocabulary is not None:
        valid = graph.node("Greater", IDS, graph.constant(0, np.int64))
    else:
        largest = graph.node("ReduceMax", FEATURES, graph.axes(2), keepdims=0)
        valid = graph.node("GreaterOrEqual", largest, graph.constant(0, np.int64))
    paths, scores = decision.paths, "logits"
    if not paths.has_chain:
        scores = graph.node("LogSoftmax", scores, axis=2)
    if decision.outside:
        scores = graph.node("Sub", scores, graph.constant(decision.lower))
    for name, made in (
        ("tags", best_tags(graph, paths, scores, valid)),
        ("probabilities", tag_shares(graph, paths, "logits", valid)),
    ):
        graph.nodes.append(("Identity", (made,), (name,), {}))
    outputs["logits"] = outputs["probabilities"] = Port("float", ("B", "L", "Y"))
    outputs["tags"] = Port("int64", ("B", "L"))


_LARGEST = 2_000_000_000
"""Bytes of one ONNX file; protobuf holds no more."""


def export_onnx(
    folder: ModelFolder,
    description: NetworkTable,
    source: Path,
    target: Path,
    *,
    check: bool,
    tree: LabelTree | None = None,
) -> float | None:
    """Write a model as an ONNX file; nothing is written unless all of it can be, and the check agrees.

    Args:
        folder: the model.
        description: of its network, from `heedful.export.described`.
        source: where the folder is.
        target: the file to make or replace.
        check: whether to compare the file with the runtime first.
        tree: of its classes; the file then says which of them each parent adds up. None says nothing.

    Returns:
        The largest difference that the check found; None without a check.

    Raises:
        NotExported: naming the setting that has no ONNX operators.
        DifferentError: if the file does not give what the model gives.
        MissingExtraError: if onnx, or for the check onnxruntime, is not installed.
        OutputError: if it cannot be written.
        UsageError: if the model is too large for one file, or the runtime does not have what it needs.
    """
    model = load(source)
    own = (model.parts.wide, model.parts.sentence, model.parts.tagging)
    alone = model.settings.encoder == NO_NETWORK and any(part is not None for part in own)
    inputs = OnnxInputs(model.program.texts, None if alone else model.reading.vocabulary, model.parts)
    tags, start = model.decision if isinstance(model.decision, TagsDecision) else None, None
    if alone and tags is None:  # the weights of the network are zero, but a number has a scale
        start = model.engine.of_words([((),) * model.program.texts])[0]
    content = write_onnx(
        description,
        model.program.weights,
        {**_metadata(folder, model, inputs), **({} if tree is None else {"tree": tree.table()})},
        model.settings.temperature,
        inputs,
        tags,
        start,
        tuple(model.decision.places.values()) if isinstance(model.decision, LabelColumnsDecision) else (),
    )
    if len(content) > _LARGEST:
        raise UsageError(
            f"{target}: the model takes {len(content):,} bytes, and an ONNX file holds 2,000,000,000"
        )
    worst = None
    if check:
        longest = min(model.settings.max_tokens, 400)
        worst = check_onnx(content, model, inputs, longest, output_names(description)[0])
    write_bytes(target, content)
    return worst


def _metadata(folder: ModelFolder, model: RuntimeModel, inputs: OnnxInputs) -> dict[str, object]:
    """Return what the file says of itself; docs/tokens.md says how to use it."""
    settings, parts, decision = model.settings, model.parts, model.decision
    found: dict[str, object] = {
        "heedful_version": __version__,
        "task": settings.task,
        "labels": folder.labels,
        "temperature": settings.temperature,
        "tokenizer": settings.tokenizer,
        "markup": settings.markup,
        "normalize": settings.normalize,
        "rules": token_rules(),
        "max_tokens": settings.max_tokens,
        "truncate": settings.truncate,
    }
    if inputs.vocabulary is not None:
        found["vocabulary"] = folder.vocabulary
    if note := note_of(folder):
        found["note"] = note
    if settings.costs:
        found["costs"] = settings.costs
    if isinstance(decision, LabelsDecision):
        found["thresholds"] = decision.thresholds.tolist()
    if parts.wide is not None:
        found["wide"] = asdict(parts.wide.rule)
    if parts.tagging is not None:
        found["shapes"] = asdict(parts.tagging.shapes)
    if inputs.vectors is not None:
        found["rows"] = {"words": inputs.vectors.rows.words, "baseforms": inputs.vectors.bases}
    if inputs.encoder is not None:
        own = inputs.encoder.model
        vocabulary = own.reading.vocabulary.to_plain()
        found["sentence"] = {"max_tokens": own.settings.max_tokens, "vocabulary": vocabulary}
    return found


def note_of(folder: ModelFolder) -> str:
    """Return what a reader of the exported file must know of its answers.

    Args:
        folder: the model.

    Returns:
        One sentence for a model that rejects texts, whose classes alone are exported; empty for any other.

    Raises:
        UsageError: if what the folder says of rejected texts is damaged.
    """
    table = folder.settings.table(REJECT, {})
    if not table:
        return ""
    label = " ".join(read_reject(table, folder.labels).label.split())
    return (
        f"Every text gets a class here; the model folder itself answers {label!r:.60} to a text that is unlike its "
        "training texts."
    )
