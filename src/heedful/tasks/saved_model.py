"""What every model has, whatever it answers: a network, how it reads text, and a folder that holds both."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from heedful.data.batching import BucketSampler
from heedful.data.examples import Corpus, one_example
from heedful.data.readers.text_fields import read_requests
from heedful.errors import ArtifactError, UsageError
from heedful.models import ModelConfig
from heedful.models.precision import has_rounded_weights
from heedful.storage.named_models import find_model
from heedful.tasks.schema import About, AnyAnswer, Requests, Text, TextSettings

if TYPE_CHECKING:
    from heedful.explain import Explanation

A_co = TypeVar("A_co", bound=AnyAnswer, covariant=True)


_NAMED = 5


class SavedModel(ABC, Generic[A_co]):
    """A trained network that answers requests; a saved model folder is one of these and nothing more.

    Attributes:
        network: the network, in evaluation mode.
        model: the settings it was built from.
        text: how text is read.
        about: what is kept with it.
        is_pair: whether a request is a pair of texts.
    """

    network: nn.Module
    model: ModelConfig
    text: TextSettings
    about: About
    is_pair: bool = False

    def __repr__(self) -> str:
        labels = tuple(getattr(self, "labels", ()))
        named = (
            f", {len(labels):,} labels"
            if len(labels) > _NAMED
            else f", {', '.join(labels)}"
            if labels
            else ""
        )
        encoder = "linear parts" if self.model.encoder == "none" else self.model.encoder
        return f"{type(self).__name__}({encoder}{named})"

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    def read(self, requests: Requests) -> Corpus:
        """Turn requests into examples, one for each, in order.

        Args:
            requests: strings, or (premise, hypothesis) for a model of pairs; or examples that a reader made of a file.

        Returns:
            The examples.

        Raises:
            UsageError: if it is one string rather than a list.
            DataError: if a request is None, or not what the model takes; names it.
        """
        return as_corpus(requests, pair=self.is_pair)

    def limited(self, max_tokens: int | None, truncate: Literal["error", "head"] | None) -> Self:
        """Return a model with another limit on the length of a text; the network is shared.

        Args:
            max_tokens: longest text, in tokens; None leaves it.
            truncate: what a longer text does: "error", or "head" to read its beginning; None leaves it.

        Returns:
            The model.

        Raises:
            UsageError: if the limit is below 1.
        """
        return self.reading(Limits(max_tokens, truncate).of(self.text))

    @abstractmethod
    def reading(self, text: TextSettings) -> Self:
        """Return a model with the same network that reads text in another way."""

    @abstractmethod
    def refuse_long(self, corpus: Corpus) -> None:
        """Refuse texts that are too long, as answering them would, without running the network.

        Args:
            corpus: texts, or pairs.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """

    @abstractmethod
    def answer(self, requests: Requests) -> Sequence[A_co]:
        """Answer requests.

        Args:
            requests: see `read`.

        Returns:
            One answer a request, in order.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """

    @abstractmethod
    def explain(self, request: Text | Corpus) -> Explanation:
        """Show what the model looked at.

        Args:
            request: one request.

        Returns:
            The record that the pictures are drawn from.

        Raises:
            UsageError: if a corpus does not hold exactly one example.
        """

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the model folder.

        Args:
            path: the folder; an old one is replaced as a whole.

        Raises:
            OutputError: if it cannot be written; the old one stays.
            UsageError: if the model is at int8.
        """

    def one(self, request: Text | Corpus) -> Corpus:
        """Return one request as examples.

        Args:
            request: the request, or examples that hold it.

        Returns:
            Exactly one example.

        Raises:
            UsageError: if a corpus holds another number of them.
        """
        corpus = self.read(request if isinstance(request, Corpus) else [request])
        one_example(corpus)
        return corpus


@dataclass(frozen=True)
class Limits:
    """Another limit on the length of a text than the model was saved with.

    Attributes:
        max_tokens: longest text, in tokens; None leaves it.
        truncate: what a longer text does; None leaves it.
    """

    max_tokens: int | None = None
    truncate: Literal["error", "head"] | None = None

    def of(self, text: TextSettings) -> TextSettings:
        """Return how a model reads text under these limits.

        Args:
            text: how it was saved.

        Returns:
            The settings.

        Raises:
            UsageError: if the limit is below 1.
        """
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens must be 1 or more; got {self.max_tokens}")
        return replace(
            text,
            max_tokens=self.max_tokens or text.max_tokens,
            truncate=self.truncate or text.truncate,
        )


def as_corpus(requests: Requests, *, pair: bool) -> Corpus:
    """Turn requests into examples; see `SavedModel.read`.

    Args:
        requests: strings, pairs of strings, or examples.
        pair: whether each is a pair.

    Returns:
        The examples, in order.

    Raises:
        UsageError: if it is one string rather than a list, or no list at all.
    """
    if isinstance(requests, Corpus):
        return requests
    if isinstance(requests, str):
        raise UsageError(f"expected a list of requests, got one string: write [{requests!r:.60}]")
    if not isinstance(requests, Iterable):
        raise UsageError(f"expected a list of requests, got {type(requests).__name__} {requests!r:.60}")
    # NumPy rows become lists, which is what a pair may be.
    plain = [request.tolist() if isinstance(request, np.ndarray) else request for request in requests]
    return read_requests(plain, pair=pair)


def model_folder(folder: Path | str) -> Path:
    """Return the model folder inside a run folder, or the folder itself, or that of a name (`find_model`)."""
    path = find_model(folder)
    inner = path / "model"
    # Not Path.is_dir, which fails in a folder that may not be looked into; whoever reads it says so.
    return inner if os.path.isdir(inner) and not os.path.exists(path / "weights.safetensors") else path


def refuse_rounded(network: nn.Module) -> None:
    """Refuse to save a network at int8: a folder holds what training left, and is not read back from rounded numbers.

    Args:
        network: what is to be saved.

    Raises:
        UsageError: if its matrices are kept as whole numbers.
    """
    if has_rounded_weights(network):
        raise UsageError("a model at int8 is for answering: save the one that it was made from")


_USUAL_LENGTH = 64
"""A batch takes about the memory of its usual number of sentences of this many tokens, however long they are."""


def even_batches(
    lengths: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> list[NDArray[np.int64]]:
    """Cut examples into batches of similar length.

    Args:
        lengths: tokens of each text, [N] or [N, sides].
        size: most examples of a batch; where they are longer than 64 tokens, padded, it takes fewer.
        groups: number of each example's group, [N]; groups stay together. None for none.

    Returns:
        For each batch the positions of its examples; every example is in one.
    """
    if not len(lengths):
        return []
    sides = 1 if lengths.ndim == 1 else lengths.shape[1]
    sampler = BucketSampler(
        lengths, batch_size=size, max_tokens=size * _USUAL_LENGTH * sides, shuffle=False, groups=groups
    )
    return sampler.batches(0)


def finite(what: str, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Refuse what a network gives where it is no number: weights of a folder may be finite and yet too large.

    Args:
        what: the rows are, for the message.
        rows: one or more numbers a text, [N, ...].

    Returns:
        The rows.

    Raises:
        ArtifactError: naming the first text, counted from 1.
    """
    good = np.isfinite(rows.reshape(len(rows), rows[:1].size)).all(axis=1)
    if not good.all():
        raise ArtifactError(
            f"text {int(good.argmin()) + 1:,}: the {what} holds numbers that are not finite, so the weights are of "
            "no use. Copy the model again from its source, or train it again."
        )
    return rows
