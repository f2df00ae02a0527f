"""A model as the server keeps it: a private copy of its folder, computed by the runtime, or by torch if need be."""

from __future__ import annotations

import contextlib
import shutil
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.errors import HeedfulError, OutputError, UsageError
from heedful.runtime import Model
from heedful.runtime import load as load_runtime
from heedful.runtime.word_values import WordCounts
from heedful.serving.private_folder import restore, temporary_folder
from heedful.storage.folders import read_settled
from heedful.storage.layout import MODEL
from heedful.storage.manifest import MANIFEST, MODEL_FILES, WEIGHTS, refuse_without_model, verify_manifest
from heedful.text.tokenize import Tokenizer

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.explain.methods import MethodChoice
    from heedful.tasks import AnyModel, SentenceModel
    from heedful.tasks.schema import AnyAnswer

Request = str | tuple[str, str]
"""One text, or (premise, hypothesis)."""
Truncate = Literal["error", "head"]
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


class Engine(ABC):
    """One version of a model folder, ready to answer.

    Its files lie in a temporary folder of its own, so that nothing that happens to the original changes an answer.

    Args:
        copy: the temporary folder; it is removed with the engine.
        limits: longest text in tokens and what a longer one does; None leaves what the model was saved with.

    Attributes:
        kind: what computes, "runtime" or "torch".
        task: name of the model's task.
        is_pair: whether a request is a pair of texts.
        max_tokens: longest text, in tokens.
        tokenizer: splits a text into words.
        together: texts that it computes at a time.
    """

    together = 64
    _source: tuple[Path, bytes] | None = None
    kind: str
    task: str
    is_pair: bool
    max_tokens: int
    tokenizer: Tokenizer

    def __init__(self, copy: Path, limits: tuple[int | None, Truncate | None]) -> None:
        self._copy, self._limits = copy, limits
        self._one_at_a_time = threading.Lock()  # torch's network, which two threads may ask

    @abstractmethod
    def answers(self, requests: Sequence[Request]) -> list[AnyAnswer]:
        """Answer requests; each answer is the same to the last bit whatever the others are.

        Args:
            requests: what the model takes.

        Returns:
            One answer a request, with ``as_dict`` as `heedful predict --json` prints it.

        Raises:
            DataError: if a text is too long.
        """

    @abstractmethod
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

    def explain(self, request: Request, choice: MethodChoice | None = None) -> Explanation:
        """Explain the answer to one request, as ``heedful explain`` does; what takes torch loads it for the first one.

        Args:
            request: what the model takes.
            choice: the method, and the class that is explained; None for the model's own.

        Returns:
            The explanation.

        Raises:
            DataError: if a text is too long.
            UsageError: if there is no such class, or this model has no such method.
        """
        try:
            from heedful.tasks import SentenceModel, TagsModel
        except ImportError as error:
            method = choice.method if choice else "of this model"
            raise UsageError(f"the method {method} needs torch, which this server does not have") from error

        model = self.predictor
        with self._one_at_a_time:
            if isinstance(model, SentenceModel | TagsModel) and choice is not None:
                return model.explain(request, method=choice.method, why=choice.why)
            return model.explain(request)

    @cached_property
    def predictor(self) -> AnyModel:
        """The model as torch computes it."""
        from heedful.tasks import load_model

        self._restore_copy()
        longest, truncate = self._limits
        return load_model(self._copy, max_tokens=longest, truncate=truncate)

    def keep(self, folder: Path) -> None:
        """Remember what was copied, and let the copy go with this engine.

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
            found = self._of_sentences().features_of(word, [view.text for view in explanation.sides])
        return replace(explanation, features=found)

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
            steps = self._of_sentences().policy_of({view.name: view.text for view in explanation.sides})
        return replace(explanation, policy=steps)

    def _of_sentences(self) -> SentenceModel[AnyAnswer]:
        """Return the model as torch computes it, for what the runtime does not record."""
        try:
            from heedful.tasks import SentenceModel
        except ImportError as error:
            raise UsageError("this needs torch, which this server does not have") from error
        if not isinstance(self.predictor, SentenceModel):
            raise UsageError(f"a model of the task {self.task!r} has neither single features nor a policy")
        return self.predictor

    def vector(self, text: str, numbers: NDArray[np.float32]) -> Vector:
        """Return the vector of a text as it is sent.

        Args:
            text: the text.
            numbers: what the network gave, [D].

        Returns:
            The numbers with the six decimals of ``heedful encode``, and how many words were read.
        """
        words = len(self.tokenizer.words(text))
        return Vector([round(float(x), 6) for x in numbers], (min(words, self.max_tokens),))

    def remember(self, megabytes: int) -> None:
        """Keep what is computed of single words in so much memory, if this engine keeps it; 0 keeps nothing."""
        del megabytes  # torch keeps nothing of words

    @property
    def word_counts(self) -> WordCounts | None:
        """What became of the words that were read; None for an engine that keeps nothing of them."""
        return None

    def warm(self) -> None:
        """Answer once, so that a folder that cannot answer is not served."""
        self.answers([(WARM, WARM) if self.is_pair else WARM])


class RuntimeEngine(Engine):
    """A model that the runtime computes; see `Engine`.

    Args:
        copy: see there.
        limits: see there.

    Attributes:
        model: the model.
    """

    kind = "runtime"

    def __init__(self, copy: Path, limits: tuple[int | None, Truncate | None]) -> None:
        super().__init__(copy, limits)
        self.model: Model = load_runtime(copy).limited(*limits)
        self.task, self.is_pair = self.model.settings.task, self.model.is_pair
        settings = self.model.settings
        self.max_tokens, self.tokenizer = settings.max_tokens, settings.cutter

    def remember(self, megabytes: int) -> None:
        """See `Engine.remember`."""
        self.model = self.model.remembering(megabytes)

    @property
    def word_counts(self) -> WordCounts | None:
        """See `Engine.word_counts`."""
        return self.model.program.word_counts

    def answers(self, requests: Sequence[Request]) -> list[AnyAnswer]:
        """See `Engine.answers`."""
        return list(self.model.predict(requests))

    def explain(self, request: Request, choice: MethodChoice | None = None) -> Explanation:
        """See `Engine.explain`."""
        from heedful.explain.from_runtime import explain
        from heedful.explain.methods import WITH_TORCH

        needs_torch = choice is not None and choice.method in WITH_TORCH
        if (
            needs_torch or self.model.program.shown is None
        ):  # saved by a version that did not say what is shown
            return super().explain(request, choice)
        return explain(self.model, request, choice)

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """See `Engine.vectors`."""
        return [self.vector(*each) for each in zip(texts, self.model.vectors(texts), strict=True)]


class TorchEngine(Engine):
    """A model that the runtime does not run; see `Engine`.

    Torch adds up a batch in an order that depends on its size, so requests are answered one by one.

    Args:
        copy: see there.
        limits: see there.
    """

    kind = "torch"
    together = 1

    def __init__(self, copy: Path, limits: tuple[int | None, Truncate | None]) -> None:
        super().__init__(copy, limits)
        self.task, self.is_pair = self.predictor.model.task, self.predictor.is_pair
        text = self.predictor.text
        self.max_tokens, self.tokenizer = text.max_tokens, text.cutter

    def answers(self, requests: Sequence[Request]) -> list[AnyAnswer]:
        """See `Engine.answers`."""
        with self._one_at_a_time:
            return [answer for request in requests for answer in self.predictor.answer([request])]

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """See `Engine.vectors`."""
        from heedful.tasks import SentenceModel

        if not isinstance(self.predictor, SentenceModel):
            raise UsageError(f"a model of the task {self.task!r} has no vector of a text")
        with self._one_at_a_time:
            return [self.vector(text, self.predictor.encode([text])[0]) for text in texts]


def open_engine(
    folder: Path,
    max_tokens: int | None = None,
    truncate: Truncate | None = None,
    word_memory: int | None = None,
) -> Engine:
    """Copy a model folder, check the copy and answer once with it.

    Args:
        folder: a model folder, or the run folder that holds it.
        max_tokens: longest text, in tokens; None for what the model was saved with.
        truncate: what a longer text does; None for what was saved.
        word_memory: megabytes for what the runtime makes of single words; None for its default.

    Returns:
        The engine: the runtime's where it can run the model, else torch's.

    Raises:
        ArtifactError: if a file is missing or altered, or the answer is not finite.
        OutputError: if there is no room for the copy.
        UsageError: if the limit is below 1.
    """
    copy = temporary_folder()
    try:
        read_settled(model_of(folder), lambda place: _copy(place, copy))
        engine = _fitting(copy, (max_tokens, truncate))
        if word_memory is not None:
            engine.remember(word_memory)
        engine.warm()
        engine.keep(folder)
    except BaseException as error:
        shutil.rmtree(copy, ignore_errors=True)
        if isinstance(error, HeedfulError) and str(copy) in str(error):
            raise type(error)(str(error).replace(str(copy), str(folder))) from error
        raise
    return engine


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


def _fitting(copy: Path, limits: tuple[int | None, Truncate | None]) -> Engine:
    try:
        return RuntimeEngine(copy, limits)
    except UsageError:  # the runtime cannot run it; what is wrong with the limits is wrong for torch too
        return TorchEngine(copy, limits)
