"""A model folder without torch: its words, its network and its answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtefactError, UsageError
from heedful.runtime.answers import Answer, LabelsAnswer
from heedful.runtime.asking import Asking, Request, Words, read_of
from heedful.runtime.deciding import Decision
from heedful.runtime.kernels import Floats
from heedful.runtime.program import Program
from heedful.runtime.settings import NUMBERS, PAIRS, UNNAMED, Settings, read_settings
from heedful.runtime.weights import Weights
from heedful.storage.folders import read_settled
from heedful.storage.manifest import (
    CONFIG,
    LABELS,
    MODEL_FILES,
    REMEDY,
    VOCABULARY,
    WEIGHTS,
    read_json,
    read_text,
    refuse_without_model,
    verify_manifest,
)
from heedful.text.vocabulary import Vocabulary, vocabulary_from_json
from heedful.wide import WidePart


class Model:
    """A trained network with its words, computed with NumPy and the compiled kernels.

    Args:
        asking: turns requests into words.
        program: the network.
        decision: turns its logits into answers.
        wide: what is added to its logits; None for nothing.

    Attributes:
        asking: as given.
        program: as given.
        decision: as given.
        wide: as given.
    """

    def __init__(
        self, asking: Asking, program: Program, decision: Decision, wide: WidePart | None = None
    ) -> None:
        self.asking, self.program, self.decision, self.wide = asking, program, decision, wide

    @property
    def settings(self) -> Settings:
        """How text is read and what is answered."""
        return self.asking.settings

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.program.texts == 2

    def limited(self, max_tokens: int | None = None, truncate: str | None = None) -> Model:
        """Return a model with another limit on the length of a text; the network is shared.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The model.

        Raises:
            UsageError: if the limit is below 1.
        """
        return Model(self.asking.limited(max_tokens, truncate), self.program, self.decision, self.wide)

    def logits(self, requests: Iterable[Request]) -> Floats:
        """Return the network's unnormalised scores, [N, Y]; see `predict`."""
        rows = [logits for logits, _ in self._run(requests)]
        return np.stack(rows) if rows else np.zeros((0, self.program.outputs), np.float32)

    def probabilities(self, logits: Floats) -> NDArray[np.float64]:
        """Return the probabilities that logits [N, Y] stand for, [N, Y]; see `Decision.probabilities`."""
        return self.decision.probabilities(logits)

    def predict(self, requests: Iterable[Request]) -> Iterator[Answer | LabelsAnswer]:
        """Predict for texts or pairs, up to 64 at a time.

        Args:
            requests: strings for a model of texts, (premise, hypothesis) for one of pairs; empty strings are allowed.

        Yields:
            One answer a request, in order; the same to the last bit whatever the other requests are. A model of several
            labels answers with a `LabelsAnswer`, any other with an `Answer`.

        Raises:
            DataError: naming the request, if it is no text or too long.
            ArtefactError: if the network gives a number that is not finite.
            UsageError: if it is one string and no list.
        """
        for logits, words in self._run(requests):
            yield self.decision.answer(logits, read_of(words))

    def encode(self, texts: Iterable[str]) -> Floats:
        """Turn texts into vectors; a model of pairs takes single texts here too.

        Args:
            texts: strings.

        Returns:
            One vector a text, [N, D]; exactly zero for a text without words.

        Raises:
            DataError: naming the text, if it is no string or too long.
            UsageError: if the network has no vector of one text alone.
        """
        rows = list(self.vectors(texts))
        return np.stack(rows) if rows else np.zeros((0, self.program.width), np.float32)

    def vectors(self, texts: Iterable[str]) -> Iterator[Floats]:
        """Yield the vector of each text, [D], in order; see `encode`."""
        for block in self.asking.blocks(texts, 1):
            for number, words in block:
                (read,) = self._read(words)
                yield finite("vector", self.program.vector(read), number)

    def _run(self, requests: Iterable[Request]) -> Iterator[tuple[Floats, tuple[Words, ...]]]:
        for block in self.asking.blocks(requests, self.program.texts):
            distinct = {each.key: each for _, words in block for each in words}
            read = dict(zip(distinct, self._read(tuple(distinct.values())), strict=True))
            results = self.program.answer([[read[each.key] for each in words] for _, words in block])
            for (number, words), result in zip(block, results, strict=True):
                yield finite("prediction", self.added(result.logits, words), number), words

    def added(self, logits: Floats, words: Sequence[Words]) -> Floats:
        """Return the logits of an example, [Y], with those of the wide part, if there is one."""
        if self.wide is None:
            return logits
        sides = [self.wide.rule.numbers(each.kept, side) for side, each in enumerate(words)]
        added: Floats = logits + self.wide.logits([np.unique(np.concatenate(sides))])[0]
        return added

    def _read(self, texts: Sequence[Words]) -> list[Mapping[str, Floats]]:
        return self.program.read([(each.ids, each.ngrams) for each in texts])


def load(folder: Path | str) -> Model:
    """Read a model folder, checking every file against its checksum; torch is not needed.

    Args:
        folder: a model folder that ``heedful train`` or ``heedful export`` wrote, or the run folder that holds it.

    Returns:
        The model.

    Raises:
        ArtefactError: if a file is missing, altered, of another version or not finite; names it and says what to do.
        UsageError: if this model needs more than the runtime has; says what.
    """
    path = Path(folder)
    inner = path / "model"
    if os.path.isdir(inner) and not os.path.exists(path / WEIGHTS):
        path = inner
    return read_settled(path, _load)


def _load(path: Path) -> Model:
    refuse_without_model(path)
    verify_manifest(path, MODEL_FILES)
    settings = read_settings(read_json(path / CONFIG, dict), path)
    labels = read_json(path / LABELS, list)
    if not all(isinstance(label, str) for label in labels):
        raise ArtefactError(f"{path / LABELS}: expected a list of strings. {REMEDY}")
    vocabulary = vocabulary_from_json(read_text(path / VOCABULARY), str(path / VOCABULARY))
    if not isinstance(vocabulary, Vocabulary):
        raise UsageError(f"{path}: the runtime has no pretrained encoders; use heedful predict")
    weights = Weights(path / WEIGHTS)
    try:
        rows = (vocabulary.trainable_rows, vocabulary.frozen_rows, vocabulary.ngram_rows)
        program = Program(settings.network, weights, rows)
        if program.texts != (2 if settings.task in PAIRS else 1):
            raise UsageError(f"{settings.task!r}, and a network of {program.texts} text(s)")
        if settings.outputs not in (None, program.outputs):
            raise UsageError(f"model.outputs={settings.outputs!r:.80}, and a network of {program.outputs}")
        decision = _decision(settings, labels, weights, program)
        wide = _wide(settings, weights, program.outputs) if settings.wide else None
    except UsageError as error:
        raise ArtefactError(
            f"{path}: {CONFIG}, {VOCABULARY} and {WEIGHTS} do not belong together: {error}"
        ) from error
    return Model(Asking(settings, vocabulary), program, decision, wide)


def _decision(settings: Settings, labels: Sequence[str], weights: Weights, program: Program) -> Decision:
    """Read what turns the logits into answers, and check that it is there for each of them."""
    task, outputs = settings.task, program.outputs
    wanted = 0 if task in UNNAMED else outputs
    if len(labels) != wanted or len(set(labels)) != len(labels) or (task in NUMBERS and outputs != 1):
        raise UsageError(f"{task!r} with {len(labels)} labels, and a network of {outputs} outputs")
    if task in NUMBERS:
        scale = _numbers_of(settings, weights, "scale", 4)
        return Decision(task, (), numbers=(float(scale[2]), float(scale[3])))
    if task == "labels":
        thresholds = _numbers_of(settings, weights, "thresholds", outputs)
        return Decision(task, tuple(labels), thresholds=thresholds.astype(np.float64))
    names = tuple(labels) or tuple(str(grade) for grade in range(1, outputs + 1))
    return Decision(task, names, settings.temperature)


def _numbers_of(settings: Settings, weights: Weights, role: str, count: int) -> Floats:
    """Return a small tensor that the description of the network names beside its steps."""
    name = settings.network.get(role)
    if not isinstance(name, str):
        raise UsageError(f"network: {role} must be the name of a tensor; got {name!r:.80}")
    if weights.raw(name).shape != (count,):
        raise UsageError(f"tensor {name!r:.200} must hold {count} numbers")
    return weights.floats(name)


def _wide(settings: Settings, weights: Weights, outputs: int) -> WidePart:
    names = ("numbers", "rarity", "weights", "bias")
    numbers, rarity, table, bias = (np.array(weights.raw(f"wide.{name}")) for name in names)
    if numbers.dtype != np.int32 or {rarity.dtype, table.dtype, bias.dtype} != {np.dtype(np.float32)}:
        raise UsageError("the tensors of the wide part are of another kind of number")
    if bias.shape != (outputs,):
        raise UsageError(f"the wide part has {bias.shape} outputs, the network {outputs}")
    return WidePart(settings.phrases, numbers, rarity, table, bias, settings.wide)


def finite(what: str, row: Floats, number: int) -> Floats:
    """Refuse a row that holds what is no number; ``what`` and ``number`` are for the message."""
    if not np.isfinite(row).all():
        raise ArtefactError(
            f"text {number:,}: the {what} holds numbers that are not finite, so the weights are of no use. Copy the "
            "model again from its source, or train it again."
        )
    return row
