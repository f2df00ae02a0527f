"""An ONNX file beside the runtime, on random texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ExitCode, HeedfulError, MissingExtraError
from heedful.export.onnx_model import input_names
from heedful.runtime.program import Program

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

BATCHES, TOLERANCE = 64, 1e-5
"""Batches that are compared, and the largest difference of a logit, times the largest logit where that is above 1."""
_MOST_TEXTS, _USUAL_LENGTH = 6, 30
Ids = NDArray[np.int64]


class DifferentError(HeedfulError):
    """An exported file does not give what the model gives."""

    exit_code: ClassVar[ExitCode] = ExitCode.GATE_FAILED


def check_onnx(content: bytes, program: Program, rows: int, longest: int) -> float:
    """Compare an ONNX file with the runtime on random batches, texts without words and of the longest length included.

    Args:
        content: of the file.
        program: the network, as the runtime computes it.
        rows: of the vocabulary; ids are below.
        longest: length of the longest text.

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
        examples = _examples(generator, number, program.texts, rows, longest)
        columns = [_padded([example[side] for example in examples]) for side in range(program.texts)]
        (found,) = session.run(["logits"], dict(zip(input_names(program.texts), columns, strict=True)))
        wanted = np.concatenate([np.atleast_2d(program.run(example).logits) for example in examples])
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


def _padded(column: list[Ids]) -> Ids:
    ids = np.zeros((len(column), max(1, *map(len, column))), np.int64)
    for row, each in enumerate(column):
        ids[row, : len(each)] = each
    return ids
