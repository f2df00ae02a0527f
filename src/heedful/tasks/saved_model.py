"""What every model has, whatever it answers: a network, how it reads text, and a folder that holds both."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from heedful.data.batching import BucketSampler
from heedful.data.examples import Corpus, one_example
from heedful.data.readers.reading import RequestFiles
from heedful.data.readers.text_fields import read_requests
from heedful.errors import UsageError
from heedful.model.answers import AnyAnswer
from heedful.model.engine import Engine
from heedful.model.model import Model
from heedful.model.text_reading import Limits, TextReading, listed
from heedful.model.training_examples import KeptExamples
from heedful.models import ModelConfig
from heedful.models.precision import has_rounded_weights
from heedful.storage.named_models import find_model
from heedful.tasks.corpus_reading import CorpusReading
from heedful.tasks.schema import About, Requests, Text, TextSettings
from heedful.tasks.task_table import task_of
from heedful.tasks.torch_engine import TorchEngine

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.model.held_out_scores import HeldScores

A_co = TypeVar("A_co", bound=AnyAnswer, covariant=True)


_NAMED = 5


class SavedModel(Model[Any, A_co]):
    """A trained network that answers requests; a saved model folder is one of these and nothing more.

    Attributes:
        network: the network, in evaluation mode.
        model: the settings it was built from.
        text: how text is read.
        about: what is kept with it.
        held_scores: what cross-validation gave for the training examples; only after a training that it chose.
        measured: whether anything could be measured where cross-validation was to choose; only in training.
    """

    network: nn.Module
    model: ModelConfig
    text: TextSettings
    about: About
    labels: tuple[str, ...] = ()
    held_scores: HeldScores | None = None
    measured: bool = True

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
    def task(self) -> str:
        """See `Model.task`."""
        return self.model.task

    @property
    def is_pair(self) -> bool:
        """See `Model.is_pair`."""
        return False

    @property
    def encoder(self) -> str:
        """See `Model.encoder`."""
        return self.model.encoder

    @property
    def pooling(self) -> str:
        """See `Model.pooling`."""
        return self.model.pooling

    @property
    def run_settings(self) -> Mapping[str, object]:
        """See `Model.run_settings`."""
        return self.about.run

    @property
    def metrics(self) -> Mapping[str, object]:
        """See `Model.metrics`."""
        return self.about.metrics

    @property
    def examples(self) -> KeptExamples | None:
        """See `Model.examples`."""
        return self.about.examples

    @property
    def reading(self) -> TextReading[Any]:
        """See `Model.reading`."""
        return CorpusReading(self)

    @property
    def engine(self) -> Engine[Any]:
        """See `Model.engine`."""
        return TorchEngine(self)

    @property
    def noun(self) -> str:
        """See `Model.noun`."""
        return task_of(self).noun

    @property
    def header(self) -> tuple[str, ...]:
        """See `Model.header`."""
        return self.with_set(task_of(self).header)

    @property
    def options(self) -> frozenset[str]:  # type: ignore[override]
        """See `Model.options`."""
        return task_of(self).options

    @property
    def shows_texts(self) -> bool:
        """See `Model.shows_texts`."""
        return task_of(self).shows_texts

    def rows(self, answer: Any) -> Iterable[list[str]]:
        """See `Model.rows`."""
        return task_of(self).rows(answer)

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
        return self.reading_as(Limits(max_tokens, truncate).of(self.text))

    @abstractmethod
    def reading_as(self, text: TextSettings) -> Self:
        """Return a model with the same network that reads text in another way."""

    @abstractmethod
    def refuse_long(self, corpus: Corpus) -> None:
        """Refuse texts that are too long, as answering them would, without running the network.

        Args:
            corpus: texts, or pairs.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """

    def predict(self, requests: Requests, options: Mapping[str, object] | None = None) -> Iterator[A_co]:
        """See `Model.predict`; the task knows its options."""
        yield from task_of(self).answer(self, self.read(requests), options or {})

    def answer(self, requests: Requests) -> list[A_co]:
        """Answer requests.

        Args:
            requests: see `read`.

        Returns:
            One answer a request, in order.

        Raises:
            DataError: naming the row, if a text is too long and may not be cut.
        """
        blocks = self.reading.blocks(requests, 2 if self.is_pair else 1)
        return [answer for block in blocks for answer in self.answered(block)]

    def encode(self, texts: Sequence[str] | Corpus) -> NDArray[np.float32]:
        """See `Model.encode`."""
        self.require("vectors")
        raise NotImplementedError  # a model that has them computes them

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

    def attention(self, request: Text | Corpus, options: Mapping[str, object] | None = None) -> Explanation:
        """See `Model.attention`; the task knows its options."""
        return task_of(self).explain(self, self.one(request), options or {})

    def request_files(self) -> RequestFiles:
        """See `Model.request_files`."""
        return task_of(self).request_files(self)

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
    # NumPy rows become lists, which is what a pair may be.
    plain = [request.tolist() if isinstance(request, np.ndarray) else request for request in listed(requests)]
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
