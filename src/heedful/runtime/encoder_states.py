"""Features of a text that a sentence encoder of an installed package gives: the states before its vector, and that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime.kernels import Floats
from heedful.storage.kept_reads import kept
from heedful.storage.manifest import WEIGHTS, sha256
from heedful.storage.named_models import find_packaged, packaged_models

if TYPE_CHECKING:
    from heedful.runtime.sentence_vectors import SentenceVectors

EN_SENTENCES: Literal["en-sentences"] = "en-sentences"
"""The sentence encoder of heedful-en."""
STATES = "states"
"""What config.json calls these features."""


@dataclass(frozen=True, eq=False)
class EncoderStates:
    """What a sentence encoder gives of a text, for a linear part: pooled states, mean of its words, and its vector.

    Attributes:
        name: of the encoder, a model of an installed package; empty where the model that reads them keeps it.
        sha256: of its weights; empty likewise.
        model: the encoder; it needs no torch.
        content: what a model keeps of it, tensors by name; none where a package has it.
        folder: where the encoder was read; None where the model that reads them keeps it.
    """

    name: str
    sha256: str
    model: SentenceVectors
    content: Mapping[str, NDArray[np.generic]] = field(default_factory=dict, repr=False)
    folder: Path | None = None

    @classmethod
    def packaged(cls, name: str = EN_SENTENCES) -> EncoderStates:
        """Read the sentence encoder of an installed package, once.

        Args:
            name: of the model.

        Returns:
            The features.

        Raises:
            UsageError: if no installed package has such a model, or it is no sentence encoder.
        """
        return _packaged(name)

    @property
    def width(self) -> int:
        """See `SentenceFeatures.width`."""
        return self.model.states_width + self.model.width

    def knows(self, word: str) -> bool:
        """See `SentenceFeatures.knows`."""
        return self.model.asking.knows(word)

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
        return np.asarray(self.model.features(texts), np.float32)

    def origin(self) -> dict[str, str]:
        """Return by what a model folder names them."""
        return {"name": self.name, "sha256": self.sha256}

    def complete(self) -> EncoderStates:
        """Return the same features with the whole encoder, so that a folder with them needs no package.

        The encoder is read again where it was read at first, whatever is installed by now.

        Returns:
            The features.

        Raises:
            UsageError: if the package was removed or replaced since then.
        """
        from heedful.runtime.loading import content_of_encoder  # which reads sentence parts itself

        if self.folder is None:
            return self
        if not (self.folder / WEIGHTS).is_file() or sha256(self.folder / WEIGHTS) != self.sha256:
            raise UsageError(
                f"{self.folder}: the sentence encoder {self.name} was removed or replaced while this process used it; "
                "install the version of its package that was there before, and do the same again"
            )
        return replace(self, name="", sha256="", content=content_of_encoder(self.folder), folder=None)


def has_sentence_encoder(name: str = EN_SENTENCES) -> bool:
    """Say whether an installed package has a sentence encoder of this name."""
    return name in packaged_models()


def read_states(
    origin: dict[str, str], content: Callable[[], Mapping[str, NDArray[np.generic]]]
) -> EncoderStates:
    """Read the features that a model folder names or keeps.

    Args:
        origin: see `EncoderStates.origin`.
        content: returns what the folder keeps of the encoder, where it names none.

    Returns:
        The features.

    Raises:
        UsageError: if the encoder is not installed, or another version of it is.
    """
    if set(origin) != {"name", "sha256"}:
        raise UsageError(
            f"sentence.texts: expected the name and the sha256 of a sentence encoder; got {origin!r:.200}"
        )
    if not origin["name"]:
        from heedful.runtime.loading import encoder_of_content

        kept = content()
        return EncoderStates("", "", encoder_of_content(kept), kept)
    found = EncoderStates.packaged(origin["name"])
    if found.sha256 != origin["sha256"]:
        raise UsageError(
            f"this model needs another version of {found.name} than the installed one (SHA-256 {origin['sha256']}); "
            "install the version of its package that it was trained with"
        )
    return found


def _packaged(name: str) -> EncoderStates:
    if not has_sentence_encoder(name):
        raise UsageError(
            f"no installed package has the sentence encoder {name!r:.80}: pip install 'heedful[en]', or "
            "./packages/heedful-en in a clone of Heedful"
        )
    folder = find_packaged(name)
    read = _of_weights(folder / WEIGHTS)
    if read is None:
        raise UsageError(f"{name}: is no sentence encoder; it predicts something else")
    return EncoderStates(name, *read, folder=folder)


def _read(weights: Path) -> tuple[str, SentenceVectors] | None:
    """Return the SHA-256 of the weights in a model folder, and its sentence encoder; None where it is none."""
    from heedful.runtime.loading import load  # which reads sentence parts itself
    from heedful.runtime.sentence_vectors import SentenceVectors

    model = load(weights.parent)
    return (sha256(weights), model) if isinstance(model, SentenceVectors) else None


_of_weights = kept(_read, most=2)
