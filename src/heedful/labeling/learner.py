"""The model beside the labels: trained in a process of its own, answering in this one without torch."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.errors import HeedfulError
from heedful.labeling.forms import Label, LabelForm
from heedful.labeling.training_process import Lesson, LessonResult, Texts, teacher
from heedful.machine.child import Failed, end_all
from heedful.machine.crew import Manner, Member
from heedful.serving.private_folder import temporary_folder
from heedful.serving.served_model import ServedModel, open_served

FIRST = 20
"""Labels from which on a model is trained."""
_MORE = 0.1
"""Share of new labels after which the next one is trained; at least `_AT_LEAST`."""
_AT_LEAST = 5
_PATIENCE = 2.0
"""Seconds in which the process that trains ends when the page is closed."""
_RANKED = 30
"""Classes that a page is given with their probabilities."""


@dataclass(frozen=True)
class Guess:
    """What the model would say of a text, and why.

    Attributes:
        label: the guess, as a label is kept.
        probability: of the class; None where there is none.
        ranked: classes with their probabilities, the likeliest first.
        words: for each text the words that count: start, end and the signed shade from -6 to 6; none of spans.
    """

    label: Label
    probability: float | None
    ranked: tuple[tuple[str, float], ...]
    words: tuple[tuple[tuple[int, int, int], ...], ...]

    def plain(self) -> dict[str, object]:
        """Return plain values for JSON, of many classes the likeliest."""
        return {**vars(self), "ranked": self.ranked[:_RANKED]}


class Learner:
    """Trains in the background and answers meanwhile with the model before.

    Args:
        form: what a label is.
        threads: of the process that trains; None lets it choose.
        done: called in another thread with what came of each training; the new model answers by then.

    Attributes:
        status: what it is doing, as a sentence for the page.
        is_training: whether a training is under way.
        trained_on: labels of the model that answers; 0 while there is none.
    """

    def __init__(
        self, form: LabelForm, threads: int | None, done: Callable[[Lesson, LessonResult], None]
    ) -> None:
        self._form, self._threads, self._done = form, threads, done
        self._model: ServedModel | None = None
        self._child: Member | None = None
        self._lock = threading.Lock()
        self._tried = 0
        self._closed = self.is_training = False
        self.trained_on = 0
        self.status = f"A model is trained from {FIRST} labels on."

    def is_due(self, labels: int) -> bool:
        """Return whether there are enough new labels for another training.

        Args:
            labels: how many a model can learn from.

        Returns:
            Whether there are, and no training is going on.
        """
        if self.is_training or self._closed:
            return False
        return labels >= FIRST and labels - self._tried >= max(_AT_LEAST, round(_MORE * self._tried))

    def train(self, texts: Sequence[Texts], labels: Sequence[Label], pool: Sequence[Texts]) -> None:
        """Begin to train, in the background.

        Args:
            texts: of each label.
            labels: the labels.
            pool: texts without a label.
        """
        if len({str(label) for label in labels}) < 2:
            self.status = "A model needs labels of at least two kinds."
            return
        with self._lock:
            self._tried, self.is_training = len(labels), True
            self.status = f"Training on {len(labels):,} labels …"
        work = (tuple(texts), tuple(labels), tuple(pool))
        threading.Thread(target=self._train, args=work, name="training", daemon=True).start()

    def guess(self, texts: Texts) -> Guess | None:
        """Return what the model would say; None where there is no model, or it cannot read the text."""
        model = self._model
        if model is None:
            return None
        request: Any = texts if self._form.pair else texts[0]
        try:
            explanation = model.explain(request)
            answer: dict[str, Any] = model.answers([request])[0].as_dict()
        except HeedfulError:
            return None
        if self._form.kind == "spans":
            return Guess(_places(answer["spans"], explanation.sides[0].spans), None, (), ())
        label = next(
            (answer[name] for name in ("label", "labels", "score") if answer.get(name) is not None), None
        )
        ranked = sorted(dict(answer.get("probabilities") or {}).items(), key=lambda each: -each[1])
        try:
            guessed = self._form.checked([*label] if isinstance(label, tuple) else label, texts)
        except HeedfulError:  # a number beyond the bounds, a label that is no longer asked for
            return None
        chance = next((p for name, p in ranked if name == guessed), None)
        return Guess(guessed, chance, tuple(ranked), _signed(explanation))

    def label(self, texts: Texts) -> Label | None:
        """Return the guess alone; see `guess`."""
        found = self.guess(texts)
        return None if found is None else found.label

    def close(self) -> None:
        """End the process that trains."""
        with self._lock:
            self._closed = True
            child = self._child
        if child is not None:
            end_all([child.process], _PATIENCE)
        if self._model is not None:
            self._model.remove_copy()

    def _train(self, texts: Sequence[Texts], labels: Sequence[Label], pool: Sequence[Texts]) -> None:
        folder = temporary_folder()
        try:
            lesson = Lesson(self._form.kind, texts, labels, pool, folder / "model")
            found = self._trained_by_child(lesson)
            if isinstance(found, LessonResult):
                self._model, self.trained_on = open_served(lesson.folder, truncate="head"), found.labels
                self.status = f"Trained on {found.labels:,} labels in {found.seconds:.1f} seconds."
                self._done(lesson, found)
            elif isinstance(found, Failed) and not self._closed:
                self.status = f"The model could not be trained on {len(labels):,} labels: {found.message}"
        except Exception as error:
            self.status = f"The model could not be trained: {type(error).__name__}: {error}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self.is_training = False

    def _trained_by_child(self, lesson: Lesson) -> object:
        """Let the child train; one that was killed is started anew the next time."""
        with self._lock:
            if self._closed:
                return Failed(HeedfulError, "the page is closed")
            if self._child is None:
                self._child = Member(teacher, (), Manner(self._threads))
            child = self._child
        child.give("training", lesson)
        try:
            return child.connection.recv()
        except (EOFError, OSError):
            if self._closed:
                return Failed(HeedfulError, "the page is closed")
            child.close()
            self._child = None
            return Failed(
                HeedfulError, f"the process that trains ended with exit status {child.process.exitcode}"
            )


def _places(spans: Sequence[Mapping[str, Any]], words: Sequence[tuple[int, int]]) -> Label:
    """Return spans of words as spans of characters."""
    return [[words[each["start"]][0], words[each["end"] - 1][1], each["role"]] for each in spans]


def _signed(explanation: Any) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return the words of each text with a shade, as `heedful explain` colors them."""
    from heedful.explain.signed_words import signed_level

    attribution = explanation.attribution
    if attribution is None:
        return ()
    return tuple(
        tuple(
            (start, end, level)
            for (start, end), value in zip(view.spans, values.tolist(), strict=True)
            if end > start and (level := signed_level(value, attribution.reach))
        )
        for view, values in zip(explanation.sides, attribution.values, strict=True)
    )
