"""Features of a text that a sentence encoder of an installed package gives: the states before its vector, and that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime.kernels import Floats
from heedful.runtime.row_cache import KeptRows
from heedful.runtime.sentence_features import STATES, text_bytes
from heedful.runtime.weights import read_words_and_weights
from heedful.storage.fields import read_json
from heedful.storage.manifest import CONFIG, WEIGHTS, sha256
from heedful.storage.named_models import packaged_models
from heedful.storage.shared_rows import SHARED

if TYPE_CHECKING:
    from heedful.runtime.sentence_vectors import SentenceVectors

EN_SENTENCES: Literal["en-sentences"] = "en-sentences"
"""The sentence encoder of heedful-en."""
KEPT = "weights."
"""What the names of the tensors of an encoder begin with that another model keeps."""


@dataclass(frozen=True, eq=False)
class EncoderStates:
    """What a sentence encoder gives of a text, for a linear part: pooled states, mean of its words, and its vector.

    Attributes:
        name: of the encoder, a model of an installed package; empty where the model that reads them keeps it.
        sha256: of its weights; empty likewise.
        model: the encoder; it needs no torch.
        content: what a model keeps of it, tensors by name; none where a package has it.
        folder: where the encoder was read; None where the model that reads them keeps it.
        kept: rows of texts that are not computed again; None where none are kept.
    """

    name: str
    sha256: str
    model: SentenceVectors
    content: Mapping[str, NDArray[np.generic]] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    kept: KeptRows | None = field(default=None, repr=False)

    @property
    def width(self) -> int:
        """See `SentenceFeatures.width`."""
        return self.model.states_width + self.model.width

    def knows(self, word: str) -> bool:
        """See `SentenceFeatures.knows`."""
        return self.model.reading.knows(word)

    @property
    def blocks(self) -> tuple[int, ...]:
        """See `SentenceFeatures.blocks`: the pooled states, the mean of the words, and the vector."""
        words = self.model.word_width
        return self.model.states_width - words, words, self.model.width

    def vectors(self, words: Sequence[str]) -> Floats:
        """See `SentenceFeatures.vectors`: those that the encoder reads."""
        return self.model.word_vectors(words)

    def of(self, texts: Sequence[Sequence[str]]) -> Floats:
        """See `SentenceFeatures.of`; a text without words has zeros alone."""
        if self.kept is not None:
            return self.kept.of(texts, self._computed)
        return self._computed(texts)

    def _computed(self, texts: Sequence[Sequence[str]]) -> Floats:
        return np.asarray(self.model.features(texts), np.float32)

    def origin(self) -> dict[str, str]:
        """Return by what a model folder names them."""
        return {"name": self.name, "sha256": self.sha256}

    def table(self) -> dict[str, object]:
        """See `SentenceFeatures.table`."""
        return {"kind": STATES, **self.origin()}

    def tensors(self, prefix: str) -> dict[str, NDArray[np.generic]]:
        """See `SentenceFeatures.tensors`."""
        if self.name:
            return {}
        found = {f"{STATES}.{name}": each for name, each in self.content.items()}
        found["kept"] = text_bytes("\n".join(self.content))
        return {f"{prefix}.{name}": np.ascontiguousarray(array) for name, array in found.items()}

    def complete(self) -> EncoderStates:
        """Return the same features with the whole encoder, so that a folder with them needs no package.

        The encoder is read again where it was read at first, whatever is installed by now.

        Returns:
            The features.

        Raises:
            UsageError: if the package was removed or replaced since then.
        """
        if self.folder is None:
            return self
        if not (self.folder / WEIGHTS).is_file() or sha256(self.folder / WEIGHTS) != self.sha256:
            raise UsageError(
                f"{self.folder}: the sentence encoder {self.name} was removed or replaced while this process used it; "
                "install the version of its package that was there before, and do the same again"
            )
        return replace(self, name="", sha256="", content=content_of_encoder(self.folder), folder=None)


def has_sentence_encoder(name: str = EN_SENTENCES) -> bool:
    """Return whether an installed package has a sentence encoder of this name."""
    return name in packaged_models()


def content_of_encoder(path: Path) -> dict[str, NDArray[np.generic]]:
    """Return everything of a sentence encoder as tensors, which another model may keep among its own.

    Args:
        path: the folder of the encoder.

    Returns:
        "config" and "vocabulary", JSON in UTF-8, and its tensors behind "weights.".
    """
    config = read_json(path / CONFIG, dict)
    plain, weights = read_words_and_weights(path, config)
    texts = {"config": {name: config[name] for name in config if name != SHARED}, "vocabulary": plain}
    found: dict[str, NDArray[np.generic]] = {
        name: np.frombuffer(json.dumps(text).encode(), np.uint8) for name, text in texts.items()
    }
    return found | {f"{KEPT}{name}": np.array(weights.raw(name)) for name in weights}
