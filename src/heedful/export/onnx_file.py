"""A model folder as one ONNX file, compared with the runtime on random texts before it is written.

Ids go in; logits, probabilities and vectors come out. The words and the labels are metadata of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

import heedful
from heedful.errors import ExitCode, HeedfulError, MissingExtraError, UsageError
from heedful.export import onnx_attention, onnx_pairwise, onnx_recurrent  # noqa: F401  (they enter what they write)
from heedful.export.onnx_graph import OPSET, Graph, Value, write_graph
from heedful.export.onnx_rows import EMITTERS, NotExported
from heedful.export.onnx_wide import FEATURES, wide_logits
from heedful.export.recording import NetworkTable
from heedful.runtime.kernels import Floats
from heedful.runtime.loading import load
from heedful.runtime.program import SIDES, WORDS, Program
from heedful.runtime.steps import Step
from heedful.runtime.tag_part import TAGGING
from heedful.runtime.weights import Weights
from heedful.storage import write_bytes
from heedful.storage.manifest import WEIGHTS
from heedful.storage.model_folder import ModelFolder
from heedful.text.token_rules import token_rules
from heedful.text.vocabulary import Vocabulary, vocabulary_from_json
from heedful.text.wide_part import WidePart

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def input_names(texts: int) -> tuple[str, ...]:
    """Return the names of the inputs: the ids of each text."""
    return ("ids",) if texts == 1 else tuple(f"{side}_ids" for side in SIDES)


def ngrams_name(ids: str) -> str:
    """Return the name of the input of the n-grams of a text, by that of its ids."""
    return ids.replace("ids", "ngrams")


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
    wide: WidePart | None = None,
) -> bytes:
    """Write a network as an ONNX file.

    Inputs are ids [B, L] int64, 0 at padding, which follows the words; B and L are free, and L is at least 1. A network
    with n-grams also takes their rows, "ngrams" [B, L, G] int64, -1 at padding. A model with a wide part takes the
    numbers of the features of each example, "features" [B, F] int64, each once, -1 at padding.

    The first output is the answer, "logits" [B, Y]. Then come a vector for each text where the network has them, and
    "probabilities" [B, Y]: of classes and grades the softmax, of several labels the sigmoid; a network that gives a
    number has none. A network that answers for each word has both as [B, L, Y], whose rows at padding hold anything. A
    network whose answer is a vector has "vector" [B, Y] and "states" [B, D], what its last layer reads.

    Args:
        description: of the network.
        weights: its tensors.
        metadata: what the file says of itself, plain values by name.
        temperature: what logits are divided by for the probabilities.
        wide: a linear model whose logits are added to the network's; None for none.

    Returns:
        The content of the file.

    Raises:
        NotExported: naming the setting that has no ONNX operators.
        MissingExtraError: if onnx is not installed.
    """
    graph, texts = Graph(), int(description["texts"])
    answer, states = output_names(description)
    values: dict[str, Value] = {}
    inputs: dict[str, Sequence[int | str]] = {}
    outputs: dict[str, Sequence[int | str]] = {}
    for side, name in zip(SIDES, input_names(texts), strict=False):
        inputs[name] = ["B", f"L_{side}"]
        if "ngrams" in description["words"]:
            inputs[ngrams_name(name)] = ["B", f"L_{side}", f"G_{side}"]
        read = _run(
            graph, description["read"], weights, {WORDS: _words(graph, description["words"], weights, name)}
        )
        values |= {f"{side}.{each}": value for each, value in read.items()}
        if description["vector"] is not None:
            vector = states if texts == 1 else f"{side}_{states}"
            _output(graph, read[description["vector"]], vector)
            outputs[vector] = ["B", "D"]
    logits = _run(graph, description["answer"], weights, values)[description["logits"]]
    if wide is not None:
        inputs[FEATURES] = ["B", "F"]
        beside = graph.node("Unsqueeze", wide_logits(graph, wide), graph.axes(1))
        logits = Value(graph.node("Add", logits.name, beside))
    shape = ["B", *inputs["ids"][1:], "Y"] if description.get("each") == "word" else ["B", "Y"]
    if len(shape) > 2:  # at padding the rows hold anything
        graph.nodes.append(("Identity", (logits.name,), (answer,), {}))
    else:
        _output(graph, logits, answer)
    outputs = {answer: shape, **outputs}
    if "scale" not in description and answer == "logits":
        scaled = graph.node("Div", answer, graph.constant(temperature))
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
    if "ngrams" in tables:
        x = graph.node("Add", x, _ngrams(graph, weights.floats(tables["ngrams"]), tables["ngrams"], ids))
    return Value(x, graph.node("Unsqueeze", valid, graph.axes(2)))


def _ngrams(graph: Graph, table: Floats, name: str, ids: str) -> str:
    """Return the mean vector of each word's n-grams, [B, L, D]; zero for a word without any."""
    rows, zero = ngrams_name(ids), graph.constant(0, np.int64)
    is_row = graph.node("Cast", graph.node("GreaterOrEqual", rows, zero), to=1)
    found = graph.node("Gather", graph.constant(table, name=name), graph.node("Max", rows, zero))
    total = graph.node("MatMul", graph.node("Unsqueeze", is_row, graph.axes(2)), found)
    count = graph.node("ReduceSum", is_row, graph.axes(2), keepdims=1)
    return graph.node(
        "Div", graph.node("Squeeze", total, graph.axes(2)), graph.node("Max", count, graph.constant(1))
    )


def _run(
    graph: Graph, steps: Sequence[Mapping[str, object]], weights: Weights, given: Mapping[str, Value]
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


BATCHES, TOLERANCE = 64, 1e-5
"""Batches that are compared, and the largest difference of a logit, times the largest logit where that is above 1."""
_MOST_TEXTS, _USUAL_LENGTH, _MOST_NGRAMS = 6, 30, 9
Ids = NDArray[np.int64]


class DifferentError(HeedfulError):
    """An exported file does not give what the model gives."""

    exit_code: ClassVar[ExitCode] = ExitCode.GATE_FAILED


def check_onnx(
    content: bytes,
    program: Program,
    vocabulary: Vocabulary,
    longest: int,
    answer: str = "logits",
    wide: WidePart | None = None,
) -> float:
    """Compare an ONNX file with the runtime on random batches, texts without words and of the longest length included.

    Args:
        content: of the file.
        program: the network, as the runtime computes it.
        vocabulary: whose ids are drawn.
        longest: length of the longest text.
        answer: name of the output that is compared; see `output_names`.
        wide: the linear model beside the network; None for none.

    Returns:
        The largest difference of two logits, over the largest logit where that is above 1.

    Raises:
        DifferentError: if it is above `TOLERANCE`.
        MissingExtraError: if onnxruntime is not installed.
    """
    session = _session(content)
    generator = np.random.default_rng(0)
    worst = 0.0
    for number in range(BATCHES):
        examples = _examples(generator, number, program.texts, len(vocabulary), longest)
        grams = [[_drawn_ngrams(generator, ids, vocabulary) for ids in example] for example in examples]
        features = [_drawn_features(generator, wide) for _ in examples]
        inputs: dict[str, Ids] = {} if wide is None else {FEATURES: _padded(features, -1)}
        for side, name in enumerate(input_names(program.texts)):
            inputs[name] = _padded([example[side] for example in examples])
            if vocabulary.ngrams is not None:
                inputs[ngrams_name(name)] = padded_ngrams([own[side] for own in grams])
        (found,) = session.run([answer], inputs)
        read = [
            program.read(list(zip(example, own, strict=True)))
            for example, own in zip(examples, grams, strict=True)
        ]
        wanted = np.concatenate([np.atleast_2d(each.logits) for each in program.answer(read)])
        if wide is not None:
            wanted = wanted + wide.logits([each.astype(np.int32) for each in features])
        if program.each == "word":
            found = np.concatenate([row[: len(ids)] for row, (ids,) in zip(found, examples, strict=True)])
        difference = np.abs(found - wanted).max(initial=0.0) / max(1.0, np.abs(wanted).max(initial=0.0))
        worst = max(worst, float(difference) if np.isfinite(difference) else np.inf)
    if worst > TOLERANCE:
        raise DifferentError(
            f"the ONNX graph differs from the model by {worst:.1e}, and at most {TOLERANCE:.0e} is allowed; nothing "
            "was written. Please report it with the model's recipe."
        )
    return worst


def _session(content: bytes) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", "onnx", "--check") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _examples(
    generator: np.random.Generator, number: int, texts: int, rows: int, longest: int
) -> list[list[Ids]]:
    lengths = generator.integers(
        1, min(_USUAL_LENGTH, longest) + 1, (generator.integers(1, _MOST_TEXTS + 1), texts)
    )
    if number % 4 == 0:
        lengths[0, number // 4 % texts] = 0
    if number % 16 == 1:
        lengths[-1] = longest
    return [[generator.integers(1, rows, length) for length in example] for example in lengths]


def _drawn_ngrams(
    generator: np.random.Generator, ids: Ids, vocabulary: Vocabulary
) -> list[NDArray[np.int32]]:
    """Draw rows of n-grams for words, none for some."""
    if vocabulary.ngrams is None:
        return []
    counts = generator.integers(0, _MOST_NGRAMS, len(ids))
    return [generator.integers(0, vocabulary.ngram_rows, count).astype(np.int32) for count in counts]


def _drawn_features(generator: np.random.Generator, wide: WidePart | None) -> Ids:
    """Draw features, known ones and others."""
    if wide is None:
        return np.zeros(0, np.int64)
    known = generator.choice(
        wide.numbers, min(len(wide.numbers), int(generator.integers(0, 50))), replace=False
    )
    return np.unique(np.concatenate([known, generator.integers(0, 2**31 - 1, 3)])).astype(np.int64)


def padded_ngrams(column: Sequence[Sequence[NDArray[np.int32]]]) -> Ids:
    """Return the rows of the n-grams of the words of texts as the graph takes them.

    Args:
        column: for each text, for each word its rows.

    Returns:
        [B, L, G]; -1 at padding.
    """
    longest, most = max([1, *map(len, column)]), max([1, *(len(rows) for text in column for rows in text)])
    found = np.full((len(column), longest, most), -1, np.int64)
    for number, text in enumerate(column):
        for place, rows in enumerate(text):
            found[number, place, : len(rows)] = rows
    return found


def _padded(column: Sequence[Ids], padding: int = 0) -> Ids:
    ids = np.full((len(column), max([1, *map(len, column)])), padding, np.int64)
    for row, each in enumerate(column):
        ids[row, : len(each)] = each
    return ids


_LARGEST = 2_000_000_000
"""Bytes of one ONNX file; protobuf holds no more."""


def export_onnx(
    folder: ModelFolder, description: NetworkTable, source: Path, target: Path, *, check: bool
) -> float | None:
    """Write a model as an ONNX file; nothing is written unless all of it can be, and the check agrees.

    Args:
        folder: the model.
        description: of its network, from `heedful.export.described`.
        source: where the folder is.
        target: the file to make or replace.
        check: whether to compare the file with the runtime first.

    Returns:
        The largest difference that the check found; None without a check.

    Raises:
        NotExported: naming the setting that has no ONNX operators.
        DifferentError: if the file does not give what the model gives.
        MissingExtraError: if onnx, or for the check onnxruntime, is not installed.
        OutputError: if it cannot be written.
        UsageError: if the model is too large for one file.
    """
    if folder.config.get("sentence"):
        raise NotExported("model.sentence: an ONNX file has no sentence part; train with model.sentence=none")
    if folder.config.get(TAGGING):
        raise NotExported(
            "model.wide: an ONNX file has no linear part of tags and no chain; train with model.wide=none"
        )
    weights = Weights(source / WEIGHTS)
    vocabulary = vocabulary_from_json(json.dumps(folder.vocabulary), str(source))
    assert isinstance(vocabulary, Vocabulary)  # a network of word pieces is not described
    settings = folder.settings
    text, temperature = settings.part("text"), float(settings.number("temperature", 1.0))
    wide = load(source).parts.wide if folder.config.get("wide") else None
    content = write_onnx(
        description,
        weights,
        {
            "heedful_version": heedful.__version__,
            "task": settings.part("model").text("task"),
            "labels": folder.labels,
            "temperature": temperature,
            **({"costs": folder.config["costs"]} if folder.config.get("costs") else {}),
            "tokenizer": text.text("tokenizer"),
            "markup": text.text("markup", "keep"),
            "normalize": text.flag("normalize", False),
            "rules": token_rules(),
            "max_tokens": text.whole("max_tokens"),
            "truncate": text.text("truncate", "error"),
            **({"wide": asdict(wide.rule)} if wide else {}),
            "vocabulary": folder.vocabulary,
            **({"thresholds": folder.state["thresholds"].tolist()} if "thresholds" in description else {}),
        },
        temperature,
        wide,
    )
    if len(content) > _LARGEST:
        raise UsageError(
            f"{target}: the model takes {len(content):,} bytes, and an ONNX file holds 2,000,000,000"
        )
    worst = None
    if check:
        program = Program(
            description, weights, (vocabulary.trainable_rows, vocabulary.frozen_rows, vocabulary.ngram_rows)
        )
        longest = min(text.whole("max_tokens"), 400)
        worst = check_onnx(content, program, vocabulary, longest, output_names(description)[0], wide)
    write_bytes(target, content)
    return worst
