"""Compare an ONNX file with the runtime, on random texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.errors import ExitCode, HeedfulError, MissingExtraError
from heedful.export.onnx_inputs import Examples, OnnxInputs
from heedful.runtime.kernels import Floats
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.tag_model import Tagger
from heedful.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

BATCHES, TOLERANCE = 64, 1e-5
"""Batches that are compared, and the largest difference of a logit, times the largest logit where that is above 1."""
_MOST_TEXTS, _USUAL_LENGTH, _MOST_WORDS = 6, 30, 5000
_LETTERS = "aeinorstAEX'-39é😀中"


class DifferentError(HeedfulError):
    """An exported file does not give what the model gives."""

    exit_code: ClassVar[ExitCode] = ExitCode.GATE_FAILED


def check_onnx(
    content: bytes, model: RuntimeModel, inputs: OnnxInputs, longest: int, answer: str = "logits"
) -> float:
    """Compare an ONNX file with the runtime on random batches, texts without words and of the longest length included.

    Args:
        content: of the file.
        model: the model, as the runtime has it.
        inputs: of the file.
        longest: words of the longest text.
        answer: name of the output that is compared.

    Returns:
        The largest difference of two logits, over the largest logit where that is above 1.

    Raises:
        DifferentError: if it is above `TOLERANCE`.
        MissingExtraError: if onnxruntime is not installed.
    """
    session = _session(content)
    generator = np.random.default_rng(0)
    pool = _pool(generator, inputs)
    worst = 0.0
    for number in range(BATCHES):
        lengths = lengths_of(generator, number, inputs.texts, longest)
        examples = [[_words(generator, pool, length) for length in example] for example in lengths]
        found = session.run([answer], inputs.of(examples))[0]
        wanted = _logits(model, examples)
        if isinstance(model, Tagger):
            found = np.concatenate([row[: len(words)] for row, (words,) in zip(found, examples, strict=True)])
        difference = np.abs(found - wanted).max(initial=0.0) / max(1.0, np.abs(wanted).max(initial=0.0))
        worst = max(worst, float(difference) if np.isfinite(difference) else np.inf)
    if worst > TOLERANCE:
        raise DifferentError(
            f"the ONNX graph differs from the model by {worst:.1e}, and at most {TOLERANCE:.0e} is allowed; nothing "
            "was written. Please report it with the model's recipe."
        )
    return worst


def _logits(model: RuntimeModel, examples: Examples) -> Floats:
    """Return the logits of examples, [N, Y]; of a tagger those of all words, one text behind the other."""
    rows = model.engine.of_words(examples)
    if isinstance(model, Tagger):
        return np.concatenate(
            [
                model.parts.added_to_words(logits, words)
                for logits, (words,) in zip(rows, examples, strict=True)
            ]
        )
    return np.stack([model.parts.added(logits, sides) for logits, sides in zip(rows, examples, strict=True)])


def _session(content: bytes) -> InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", "onnx", "--check") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    options.intra_op_num_threads = torch.get_num_threads()  # those that the user gave the command
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def lengths_of(generator: np.random.Generator, number: int, texts: int, longest: int) -> NDArray[np.integer]:
    """Draw the numbers of words of the texts of a batch.

    Args:
        generator: of random numbers.
        number: of the batch, from 0.
        texts: of an example.
        longest: words of the longest text.

    Returns:
        [examples, texts].
    """
    lengths = generator.integers(
        1, min(_USUAL_LENGTH, longest) + 1, (generator.integers(1, _MOST_TEXTS + 1), texts)
    )
    if number % 4 == 0:
        lengths[0, number // 4 % texts] = 0
    if number % 16 == 1:
        lengths = lengths[-2:]  # more would take long, since all are padded to one length
        lengths[-1] = longest
    return lengths


def _pool(generator: np.random.Generator, inputs: OnnxInputs) -> list[list[str]]:
    """Return words that the model knows, of each of its lists."""
    encoder = None if inputs.encoder is None else inputs.encoder.model.reading.vocabulary
    known: list[Sequence[str]] = [
        words
        for own in (inputs.vocabulary, encoder)
        if isinstance(own, Vocabulary)
        for words in (own.trainable, own.extra, tuple(own.baseforms))
    ]
    known += [] if inputs.vectors is None else [inputs.vectors.rows.words]
    return [
        [words[place] for place in generator.integers(0, len(words), min(len(words), _MOST_WORDS))]
        for words in known
        if len(words)
    ]


def _words(generator: np.random.Generator, pool: Sequence[Sequence[str]], length: int) -> tuple[str, ...]:
    """Draw the words of a text, known ones and others."""
    words = []
    for which in generator.integers(0, len(pool) + 1, length):
        if which < len(pool):
            words.append(pool[which][int(generator.integers(len(pool[which])))])
        else:
            letters = generator.integers(0, len(_LETTERS), generator.integers(1, 9))
            words.append("".join(_LETTERS[letter] for letter in letters))
    return tuple(words)
