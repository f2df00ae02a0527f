"""A model as the server keeps it: a private copy of its folder, computed by the runtime, or by torch if need be."""

from __future__ import annotations

import contextlib
import shutil
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example
from heedful.errors import HeedfulError, MissingExtraError, OutputError, UsageError
from heedful.model.engine import Capability
from heedful.opening import AnyModel, Truncate, open_model
from heedful.serving.private_folder import restore, temporary_folder
from heedful.storage.folders import read_settled
from heedful.storage.layout import MODEL
from heedful.storage.manifest import MANIFEST, MODEL_FILES, WEIGHTS, refuse_without_model, verify_manifest

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.explain.methods import MethodChoice
    from heedful.features.feature_columns import FeatureColumns
    from heedful.model.answers import AnyAnswer
    from heedful.model.decisions import Promise, Wish
    from heedful.model.decisions.label_tree import LabelTree
    from heedful.runtime.word_values import WordCounts

Request = str | tuple[str, str] | Example
"""One text, (premise, hypothesis), or either with the columns beside it."""
_PROMISES = 16
"""So many promises of a model are kept; clients may ask for any coverage."""
_TOGETHER = 64
"""Texts that are computed at a time."""
WARM = "A text that is read before the first request ."


@dataclass(frozen=True)
class Vector:
    """The vector of a text.

    Attributes:
        numbers: D of them.
        tokens: number of words that were read, as answers have it.
    """

    numbers: list[float]
    tokens: tuple[int, ...]


class ServedModel:
    """One version of a model folder, ready to answer.

    Its files lie in a temporary folder of its own, so that nothing that happens to the original changes an answer.

    Args:
        copy: the temporary folder; it is removed with this object.
        limits: longest text in tokens and what a longer one does; None leaves what the model was saved with.

    Attributes:
        model: the model, computed by the runtime, or by torch if need be.
    """

    _source: tuple[Path, bytes] | None = None

    def __init__(self, copy: Path, limits: tuple[int | None, Truncate | None]) -> None:
        self._copy, self._limits = copy, limits
        self._one_at_a_time = threading.Lock()  # torch's network, which two threads may ask
        self.model = open_model(copy, max_tokens=limits[0], truncate=limits[1])

    @property
    def task(self) -> str:
        """Name of the model's task."""
        return self.model.task

    @property
    def is_pair(self) -> bool:
        """Whether a request is a pair of texts."""
        return self.model.is_pair

    @property
    def max_tokens(self) -> int:
        """Longest text, in tokens."""
        return self.model.reading.max_tokens

    @property
    def columns(self) -> FeatureColumns | None:
        """The columns that the model reads beside a text; None for texts alone."""
        return self.model.columns

    @property
    def columns_described(self) -> list[dict[str, str]]:
        """Name and kind of each column that the model reads beside a text."""
        columns = self.columns
        return [{"name": each.name, "kind": each.kind} for each in columns.columns] if columns else []

    @property
    def kind(self) -> str:
        """What computes, "runtime" or "torch"."""
        return self.model.engine.name

    @property
    def together(self) -> int:
        """How many texts are computed at a time: one where an answer's last bits depend on what is beside it."""
        return _TOGETHER if self.model.engine.is_exact else 1

    def answers(self, requests: Sequence[Request]) -> list[AnyAnswer]:
        """Answer requests; each answer is the same to the last bit whatever the others are.

        Args:
            requests: what the model takes.

        Returns:
            One answer a request, with ``as_dict`` as `heedful predict --json` prints it.

        Raises:
            DataError: if a text is too long.
        """
        if self.model.engine.is_exact:
            return list(self.model.predict(_as_corpus(requests)))
        with self._one_at_a_time:
            return [answer for request in requests for answer in self.model.predict(_as_corpus([request]))]

    @cached_property
    def promise_of(self) -> Callable[[Wish], Promise]:
        """What returns the promise with which answers get sets or intervals; see `heedful.model.model.Model`."""
        return lru_cache(_PROMISES)(self.model.promise_of)

    @cached_property
    def tree_of(self) -> Callable[[str, float | None], LabelTree]:
        """What returns the tree that gives answers their parents; see `heedful.model.model.Model`."""
        return lru_cache(_PROMISES)(self.model.tree_of)

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Turn texts into vectors.

        Args:
            texts: single texts, whatever the model takes.

        Returns:
            One vector a text.

        Raises:
            DataError: if a text is too long.
            UsageError: if the model has no vector of a text.
        """
        if self.model.engine.is_exact:
            return [self._vector(*each) for each in zip(texts, self.model.encode(texts), strict=True)]
        with self._one_at_a_time:
            return [self._vector(text, self.model.encode([text])[0]) for text in texts]

    def explain(
        self, request: Request, choice: MethodChoice | None = None, tree: LabelTree | None = None
    ) -> Explanation:
        """Explain the answer to one request, as ``heedful explain`` does; what takes torch loads it for the first one.

        Args:
            request: what the model takes.
            choice: the method, and the class that is explained; None for the model's own.
            tree: takes classes as paths, whose parents may be explained; None for classes alone.

        Returns:
            The explanation.

        Raises:
            DataError: if a text is too long.
            UsageError: if there is no such class, or this model has no such method.
        """
        from heedful.explain.explainer import explain
        from heedful.explain.methods import WITH_TORCH

        by_gradients = choice is not None and choice.method in WITH_TORCH
        model = self._able("gradients" if by_gradients else "look").along(tree)
        with contextlib.nullcontext() if model.engine.is_exact else self._one_at_a_time:
            return explain(model, request if self.columns is None else _as_corpus([request]), choice, alike=0)

    def with_features(self, explanation: Explanation, word: str) -> Explanation:
        """Add single features of the attention of a word, which takes torch, to an explanation.

        Args:
            explanation: of this model.
            word: the word.

        Returns:
            The explanation with the features.

        Raises:
            UsageError: if the texts lack the word, the model has no such features, or torch is not installed.
        """
        with self._one_at_a_time:
            found = self._able("features").features_of(word, [view.text for view in explanation.sides])
        return replace(explanation, features=found)

    def with_neighbors(self, explanation: Explanation, count: int) -> Explanation:
        """Add the training examples that the texts resemble to an explanation.

        Args:
            explanation: of this model.
            count: how many.

        Returns:
            The explanation with the examples.

        Raises:
            UsageError: if the model keeps no training examples.
        """
        from heedful.explain.neighbors import neighbors

        texts = tuple(view.text for view in explanation.sides)
        with contextlib.nullcontext() if self.model.engine.is_exact else self._one_at_a_time:
            (found,) = neighbors(self.model, [texts if self.is_pair else texts[0]], count)
        return replace(explanation, neighbors=found)

    def with_policy(self, explanation: Explanation) -> Explanation:
        """Add the steps in which a policy opened masks, which takes torch, to an explanation.

        Args:
            explanation: of this model.

        Returns:
            The explanation with the steps.

        Raises:
            UsageError: if the model has no such policy, or torch is not installed.
        """
        with self._one_at_a_time:
            steps = self._able("policy").policy_of({view.name: view.text for view in explanation.sides})
        return replace(explanation, policy=steps)

    def _able(self, capability: Capability) -> AnyModel:
        """Return the model as an engine computes it that can do this, if there is one."""
        return self.model if capability in self.model.engine.can else self.by_torch

    @cached_property
    def by_torch(self) -> AnyModel:
        """The model as torch computes it."""
        if self.model.engine.name == "torch":
            return self.model
        self._restore_copy()
        longest, truncate = self._limits
        try:
            return open_model(self._copy, "torch", max_tokens=longest, truncate=truncate)
        except MissingExtraError as error:  # which names the copy, and no client is to know where that is
            raise UsageError("this needs torch, which this server does not have") from error

    def keep(self, folder: Path) -> None:
        """Remember what was copied, and let the copy go with this object.

        Args:
            folder: the original.
        """
        self._source = folder, (self._copy / MANIFEST).read_bytes()
        self._removed = weakref.finalize(self, shutil.rmtree, self._copy, ignore_errors=True)

    def remove_copy(self) -> None:
        """Remove the copy now; the process is about to end without its usual cleaning."""
        self._removed()

    def _restore_copy(self) -> None:
        """Copy the folder once more if a program that sweeps old files has removed the copy since.

        Raises:
            OutputError: if the folder holds another model by now, or there is no room.
        """
        if (self._copy / MANIFEST).exists() or self._source is None:
            return
        folder, manifest = self._source
        if _manifest_of(folder) != manifest:
            raise OutputError(
                f"the copy of the model in {self._copy} was removed, and {folder} holds another model by now"
            )
        restore(self._copy)
        read_settled(model_of(folder), lambda place: _copy(place, self._copy))

    def _vector(self, text: str, numbers: NDArray[np.float32]) -> Vector:
        """Return the vector of a text with the six decimals of ``heedful encode``, and how many words were read."""
        words = min(len(self.model.reading.cutter.words(text)), self.max_tokens)
        return Vector([round(float(x), 6) for x in numbers], (words,))

    def remember(self, megabytes: int) -> None:
        """Keep what is computed of single words in so much memory, if the engine keeps it; 0 keeps nothing."""
        self.model = self.model.remembering(megabytes)

    @property
    def word_counts(self) -> WordCounts | None:
        """What became of the words that were read; None for an engine that keeps nothing of them."""
        return self.model.engine.word_counts

    def warm(self) -> None:
        """Answer once, so that a folder that cannot answer is not served."""
        if (columns := self.columns) is not None:
            texts = (WARM, WARM) if self.is_pair else (WARM,)
            self.answers([Example(texts, cells=dict.fromkeys(columns.names))])
        else:
            self.answers([(WARM, WARM) if self.is_pair else WARM])


def _as_corpus(requests: Sequence[Request]) -> Sequence[Request] | Corpus:
    """Return requests as a model takes them: those with columns as the examples of a corpus."""
    examples = [request for request in requests if isinstance(request, Example)]
    return Corpus(examples) if examples else requests


def open_served(
    folder: Path,
    max_tokens: int | None = None,
    truncate: Truncate | None = None,
    word_memory: int | None = None,
) -> ServedModel:
    """Copy a model folder, check the copy and answer once with it.

    Args:
        folder: a model folder, or the run folder that holds it.
        max_tokens: longest text, in tokens; None for what the model was saved with.
        truncate: what a longer text does; None for what was saved.
        word_memory: megabytes for what the runtime makes of single words; None for its default.

    Returns:
        The model, computed by the runtime where it can run it, else by torch.

    Raises:
        ArtifactError: if a file is missing or altered, or the answer is not finite.
        OutputError: if there is no room for the copy.
        UsageError: if the limit is below 1.
    """
    copy = temporary_folder()
    try:
        read_settled(model_of(folder), lambda place: _copy(place, copy))
        served = ServedModel(copy, (max_tokens, truncate))
        if word_memory is not None:
            served.remember(word_memory)
        served.warm()
        served.keep(folder)
    except BaseException as error:
        shutil.rmtree(copy, ignore_errors=True)
        if isinstance(error, HeedfulError) and str(copy) in str(error):
            raise type(error)(str(error).replace(str(copy), str(folder))) from error
        raise
    return served


def model_of(folder: Path) -> Path:
    """Return the model folder inside a run folder, or the folder itself."""
    inner = folder / MODEL
    return inner if (inner / MANIFEST).exists() and not (folder / WEIGHTS).exists() else folder


def stamp(folder: Path) -> tuple[int, ...]:
    """Return what changes when a model folder is replaced: number, time and size of each of its files."""
    place, found = model_of(folder), list[int]()
    for name in (MANIFEST, *MODEL_FILES):
        with contextlib.suppress(OSError):
            status = (place / name).stat()
            found += (status.st_ino, status.st_mtime_ns, status.st_size)
    return tuple(found)


def _manifest_of(folder: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (model_of(folder) / MANIFEST).read_bytes()
    return b""


def _copy(place: Path, to: Path) -> None:
    refuse_without_model(place)
    verify_manifest(place, MODEL_FILES)
    try:
        for name in (*MODEL_FILES, MANIFEST):
            shutil.copyfile(place / name, to / name)
    except OSError as error:
        raise OutputError(f"{place}: cannot be copied to {to}: {error.strerror}. Set TMPDIR.") from error
