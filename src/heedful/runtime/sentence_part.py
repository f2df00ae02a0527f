"""The sentence part of a model: a linear model over frozen features of a text, whose logits are added to the network's.

A folder keeps its weights as the tensors ``sentence.weights`` and ``sentence.bias``, and in config.json under
"sentence" what it reads. The rows of word vectors are those of an installed package, named with their SHA-256, or the
tensors ``sentence.rows``, ``sentence.rows.scale``, ``sentence.words`` and ``sentence.baseforms`` (UTF-8, a line each).
Likewise a sentence encoder is that of an installed package, or the tensors behind ``sentence.states.``, of which
``sentence.kept`` lists the names (UTF-8, a line each).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError, UsageError
from heedful.runtime.pair_features import ExampleFeatures, Pairing
from heedful.runtime.sentence_features import (
    JOINED,
    MEAN,
    STATES,
    Floats,
    JoinedFeatures,
    MeanOfVectors,
    Origin,
    SentenceFeatures,
)
from heedful.storage.fields import Fields
from heedful.storage.manifest import SCALE
from heedful.storage.shared_rows import SharedRows
from heedful.text.wide_part import sizes_of

SENTENCE = "sentence"
"""Key of config.json, and what the names of the tensors begin with."""
Array = NDArray[Any]
ReadStates = Callable[[dict[str, str], Callable[[], Mapping[str, Array]]], SentenceFeatures]
"""What config.json says of a sentence encoder, and what returns the tensors that a folder keeps of one, to states."""


@dataclass(frozen=True, eq=False)
class SentencePart:
    """A fitted linear model: ``weight * (bias + x weights)`` of the features x of an example.

    Attributes:
        features: what it reads of an example, F numbers.
        weights: [F, Y] float32.
        bias: [Y] float32.
        weight: what its logits are multiplied by before they are added.

    Raises:
        UsageError: if shapes contradict each other or a number is not finite.
    """

    features: ExampleFeatures
    weights: Floats
    bias: Floats
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.bias.ndim != 1 or self.weights.shape != (self.features.width, len(self.bias)):
            raise UsageError(
                f"sentence: {self.features.width} features and tensors of the shapes {self.weights.shape} and "
                f"{self.bias.shape} do not fit"
            )
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise UsageError("sentence: weights or bias hold numbers that are not finite")
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise UsageError(f"sentence: weight must be 0 or more; got {self.weight!r}")

    @property
    def outputs(self) -> int:
        """Classes Y, or 1 for a number."""
        return len(self.bias)

    @property
    def kinds(self) -> tuple[SentenceFeatures, ...]:
        """The features of a text that stand side by side."""
        return _single(self.features.texts)

    @cached_property
    def exact(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights and bias in double precision."""
        return self.weights.astype(np.float64), self.bias.astype(np.float64)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """How much each feature counts for the logits, [F]: the root mean square of its weights."""
        return self.weight * sizes_of(self.weights)

    def weighing(self, weight: float) -> SentencePart:
        """Return the same part with another weight."""
        return replace(self, weight=weight)

    def logits(self, features: NDArray[np.floating]) -> Floats:
        """Return what is added to the network's logits.

        Args:
            features: of each example, from `ExampleFeatures.of`, [N, F].

        Returns:
            [N, Y]; a row does not depend on the others, to the last bit.
        """
        weights, bias = self.exact
        found = np.empty((len(features), self.outputs))
        for row, own in zip(found, features, strict=True):  # a product of matrices may round by their number
            row[:] = bias + own.astype(np.float64) @ weights
        return (self.weight * found).astype(np.float32)

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> Floats:
        """Return what is added for examples, given as the words of each of their texts, [N, Y]."""
        return self.logits(self.features.of(examples))

    def table(self) -> dict[str, object]:
        """Return what config.json says of the part, under `SENTENCE`."""
        texts = self.features.texts
        return {"weight": self.weight, "pairing": self.features.pairing, "texts": texts.table()}

    def tensors(self) -> dict[str, Array]:
        """Return the tensors of a folder; those of a package's rows are left to the package."""
        own = {"weights": self.weights, "bias": self.bias}
        found: dict[str, Array] = {f"{SENTENCE}.{name}": np.ascontiguousarray(own[name]) for name in own}
        return found | self.features.texts.tensors(SENTENCE)

    def complete(self) -> SentencePart:
        """Return the same part with everything that it reads in the folder, and nothing left to a package."""
        return replace(self, features=replace(self.features, texts=self.features.texts.complete()))

    def apart(self) -> tuple[SentencePart, ...]:
        """Return parts that together add what this one adds, each of features of one kind; the first has the bias."""
        texts, start, found = self.features.texts, 0, list[SentencePart]()
        for each in _single(texts) if self.features.pairing == "none" else (texts,):
            own = self.weights[start : start + each.width if self.features.pairing == "none" else None]
            bias = np.zeros_like(self.bias) if found else self.bias
            found.append(SentencePart(replace(self.features, texts=each), own, bias, self.weight))
            start += each.width
        return tuple(found)

    def beside(self, other: SentencePart) -> SentencePart:
        """Return one part that adds what this one and another add, for single texts.

        Args:
            other: another part of the same outputs.

        Returns:
            The part, with weight 1.
        """
        texts = JoinedFeatures((*_single(self.features.texts), *_single(other.features.texts)))
        weights = np.concatenate([self.weight * self.weights, other.weight * other.weights])
        bias = self.weight * self.bias + other.weight * other.bias
        features = replace(self.features, texts=texts)
        return SentencePart(features, weights.astype(np.float32), bias.astype(np.float32))


def read_sentence_part(
    table: Mapping[str, object],
    tensor: Callable[[str], Array],
    outputs: int,
    texts: int,
    states: ReadStates,
) -> SentencePart:
    """Read what `SentencePart.table` and `SentencePart.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        outputs: of the model.
        texts: of an example.
        states: reads a sentence encoder, `heedful.runtime.loading.read_states`.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing, of another kind, or does not fit the model, or the package that has the
            rows is not installed or has others.
    """
    fields = Fields(table, "", f"{SENTENCE}.", UsageError)
    fields.only("weight", "pairing", "texts")
    texts_of = _read_texts(dict(fields.table("texts")), tensor, states)
    features = ExampleFeatures(texts_of, cast("Pairing", fields.text("pairing")))  # which checks it
    weights, bias = (_tensor(tensor, name, np.float32) for name in ("weights", "bias"))
    part = SentencePart(features, weights, bias, float(fields.number("weight")))
    if (part.outputs, features.sides) != (outputs, texts):
        raise UsageError(
            f"the sentence part has {part.outputs} outputs for {features.sides} text(s), the model {outputs} for "
            f"{texts}"
        )
    return part


def _single(texts: SentenceFeatures) -> tuple[SentenceFeatures, ...]:
    return texts.parts if isinstance(texts, JoinedFeatures) else (texts,)


def _read_texts(
    table: dict[str, object], tensor: Callable[[str], Array], states: ReadStates
) -> SentenceFeatures:
    parts = table.get("parts")
    if table.get("kind") == JOINED and isinstance(parts, list) and all(type(part) is dict for part in parts):
        return JoinedFeatures(
            tuple(_read_texts(part, tensor, states) for part in parts if part.get("kind") != JOINED)
        )
    if table.get("kind") != STATES:
        return read_vectors(table, tensor)
    origin = {name: str(value) for name, value in table.items() if name != "kind"}

    def content() -> dict[str, Array]:
        names = _text(tensor, "kept").split("\n")
        return {name: tensor(f"{SENTENCE}.{STATES}.{name}") for name in names}

    return states(origin, content)


def reads_encoder(table: Mapping[str, object]) -> bool:
    """Return whether a part reads the states of a sentence encoder, by what config.json says of it."""
    texts = table.get("texts")
    if not isinstance(texts, Mapping):
        return False
    parts = texts.get("parts") if texts.get("kind") == JOINED else [texts]
    return isinstance(parts, list) and any(
        isinstance(part, Mapping) and part.get("kind") == STATES for part in parts
    )


def read_vectors(
    table: Mapping[str, object], tensor: Callable[[str], Array], prefix: str = SENTENCE
) -> MeanOfVectors:
    """Read what `MeanOfVectors.table` and `MeanOfVectors.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        prefix: of the names of the tensors.

    Returns:
        The word vectors.

    Raises:
        UsageError: if something is missing or does not fit, or the package is not installed or has others.
    """
    rest = {name: value for name, value in table.items() if name != "kind"}
    if table.get("kind") != MEAN or set(rest) != {"name", "sha256", "baseforms"}:
        raise UsageError(
            f"{prefix}.texts: expected the kind {MEAN!r} and where its rows are; got {dict(table)!r:.200}"
        )
    origin = Origin(**{name: str(value) for name, value in rest.items()})
    if not origin.name:
        codes = _tensor(tensor, "rows", np.int8, prefix)
        scale = _tensor(tensor, "rows" + SCALE, np.float32, prefix)
        words = tuple(_text(tensor, "words", prefix).split("\n"))
        if codes.ndim != 2 or scale.shape != codes.shape[:1] or len(set(words)) != len(codes):
            raise UsageError(f"the rows of the {prefix} part do not fit its words")
        return MeanOfVectors(SharedRows(words, codes, scale), _text(tensor, "baseforms", prefix))
    try:
        features = MeanOfVectors.packaged(origin.name)
    except DataError as error:
        raise UsageError(str(error)) from error
    if features.origin != origin:
        raise UsageError(
            f"this model needs other word vectors of {origin.name} than the installed ones (SHA-256 {origin.sha256}); "
            f"install the version of {origin.name} that it was made for"
        )
    return features


def _tensor(
    tensor: Callable[[str], Array], name: str, kind: type[np.generic], prefix: str = SENTENCE
) -> Array:
    found = tensor(f"{prefix}.{name}")
    if found.dtype != kind:
        raise UsageError(f"tensor '{prefix}.{name}' holds {found.dtype}, expected {np.dtype(kind)}")
    return found


def _text(tensor: Callable[[str], Array], name: str, prefix: str = SENTENCE) -> str:
    try:
        return _tensor(tensor, name, np.uint8, prefix).tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise UsageError(f"tensor '{prefix}.{name}' is no UTF-8 text: {error}") from error
