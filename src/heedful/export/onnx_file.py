"""A model folder as one ONNX file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import heedful
from heedful.errors import UsageError
from heedful.export.onnx_check import check_onnx
from heedful.export.onnx_model import write_onnx
from heedful.export.onnx_rows import NotExported
from heedful.runtime.program import Program
from heedful.runtime.weights import Weights
from heedful.storage import write_bytes
from heedful.storage.manifest import WEIGHTS
from heedful.storage.model_folder import ModelFolder
from heedful.text.vocabulary import Vocabulary, vocabulary_from_json

_LARGEST = 2_000_000_000
"""Bytes of one ONNX file; protobuf holds no more."""


def export_onnx(
    folder: ModelFolder, description: Mapping[str, Any], source: Path, target: Path, *, check: bool
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
    if folder.config.get("wide"):
        raise NotExported(
            "model.wide: a wide part reads the text, and an ONNX file takes word ids; train with model.wide=none"
        )
    weights = Weights(source / WEIGHTS)
    vocabulary = vocabulary_from_json(json.dumps(folder.vocabulary), str(source))
    assert isinstance(vocabulary, Vocabulary)  # a network of word pieces is not described
    text, temperature = folder.config["text"], float(folder.config.get("temperature", 1.0))
    content = write_onnx(
        description,
        weights,
        {
            "heedful_version": heedful.__version__,
            "task": folder.config["model"]["task"],
            "labels": folder.labels,
            "temperature": temperature,
            **({"costs": folder.config["costs"]} if folder.config.get("costs") else {}),
            "tokenizer": text["tokenizer"],
            "markup": text.get("markup", "keep"),
            "max_tokens": text["max_tokens"],
            "vocabulary": folder.vocabulary,
            **({"thresholds": folder.state["thresholds"].tolist()} if "thresholds" in description else {}),
        },
        temperature,
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
        worst = check_onnx(content, program, len(vocabulary), min(text["max_tokens"], 400))
    write_bytes(target, content)
    return worst
