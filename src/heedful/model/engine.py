"""What computes a model: the one interface of both engines, NumPy with compiled kernels (`heedful.runtime`) and torch.

What an engine or its network does not have is asked of `can` and refused in one sentence, never guessed from a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.model.attention_records import Sight

Floats = NDArray[np.float32]
Rows = Sequence[Floats] | Floats
"""Logits of several requests."""
NO_NETWORK = "none"
"""Name of the encoder of a model that is made of linear parts alone."""
Capability = Literal["vectors", "look", "methods", "gradients", "features", "policy"]
NEEDED: Mapping[Capability, str] = {
    "vectors": "has no vector of a sentence; encode with a model of texts or pairs",
    "look": "does not say what an explanation shows",
    "methods": "has attention alone; methods of explanation are for classes, labels, numbers and tags",
    "gradients": "has no gradients of a network here; choose the method contributions, occlusion or shapley",
    "features": "has no single features of attention; models of a text or a pair have them, with torch",
    "policy": "has no policy that opens masks; models of a text or a pair may have one, with torch",
}
"""What an engine can do to how it is refused, after "a model of NOUN"."""
TORCH_ALONE: frozenset[Capability] = frozenset({"gradients", "features", "policy"})
"""What no model of the runtime can do."""
B_contra = TypeVar("B_contra", contravariant=True)


class Engine(Protocol[B_contra]):
    """Turns a block of requests that were read into the numbers of a network and of the parts beside it."""

    @property
    def name(self) -> Literal["runtime", "torch"]:
        """Name of the engine."""

    @property
    def can(self) -> frozenset[Capability]:
        """What it does with this network, beside `run`."""

    @property
    def outputs(self) -> int:
        """How many logits there are."""

    @property
    def is_exact(self) -> bool:
        """Whether an answer is the same to the last bit whatever is computed beside it, and any thread may ask."""

    @property
    def parts(self) -> Any:
        """The linear models beside the network, `heedful.runtime.model_parts.ModelParts`."""

    @property
    def mask(self) -> str | None:
        """What stands in the place of a word that is left out; None where it is left out indeed."""

    @property
    def word_counts(self) -> Any:
        """What became of the words that were read, `heedful.runtime.word_values.WordCounts`; None if none are kept."""

    def run(self, block: B_contra) -> Rows:
        """Return the logits of each request, [Y]; of a model of words [L, Y].

        Args:
            block: requests, read.

        Returns:
            The logits, with those of the parts beside the network.

        Raises:
            ArtifactError: if one is not finite; names the request.
        """

    def look(self, block: B_contra) -> Sight:
        """Return what the network made of the one request of a block, and what it looked at."""

    def unlike(self, block: B_contra) -> NDArray[np.float64]:
        """Return distance from training texts and share of new words of each request, [N, 2].

        Only a model that can answer that no class fits is asked, and keeps what is needed.
        """

    def of_words(self, examples: Sequence[Sequence[Sequence[str]]]) -> Rows:
        """Return the logits of the network alone.

        Args:
            examples: for each example the words of each of its texts, as the vocabulary has them.

        Returns:
            [Y] for each example; of a model of words [L, Y].
        """

    def gradients(
        self, block: B_contra, value: Any, place: int = 0, beside: NDArray[np.floating] | None = None
    ) -> Mapping[str, Callable[[], Any]]:
        """Return the methods of explanation that take gradients.

        Args:
            block: one request, read.
            value: the number of the answer that is explained, a `heedful.explain.explained_value.ExplainedValue`.
            place: of a model of words the place of the word whose tag is explained.
            beside: of a model of words what is added to the network's logits of this word, [Y].

        Returns:
            Name of a method to what computes its `heedful.explain.Attribution`; empty without "gradients" in `can`.
        """
