"""A session of labeling without a server and without training."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heedful.data.examples import Corpus, Example
from heedful.errors import DataError
from heedful.labeling.forms import LabelForm, form_of
from heedful.labeling.label_file import LabelFile
from heedful.labeling.learner import FIRST, Guess
from heedful.labeling.pool import WatchedPool
from heedful.labeling.session import Session
from heedful.labeling.training_process import Lesson, LessonResult

FORM = form_of("classes", ["good", "bad"])


class StillLearner:
    """A learner that trains at once, in this process, what a test says."""

    def __init__(self, done: Callable[[Lesson, LessonResult], None]) -> None:
        self.done, self.lessons, self.trained_on = done, list[Lesson](), 0
        self.status, self.is_training = "waits", False
        self.says: Guess | None = None

    def is_due(self, labels: int) -> bool:
        return labels >= FIRST and not self.lessons

    def train(self, texts: Sequence[Any], labels: Sequence[Any], pool: Sequence[Any]) -> None:
        self.lessons.append(Lesson("classes", texts, labels, pool, Path("nowhere")))

    def guess(self, texts: Any) -> Guess | None:
        return self.says

    def close(self) -> None:
        """Nothing to end."""


class Desk:
    """A session with a pool of numbered texts."""

    def __init__(self, folder: Path, texts: Sequence[str], form: LabelForm = FORM, **more: Any) -> None:
        self.pool, self.said = folder / "pool.csv", list[str]()
        self.pool.write_text("text\n", encoding="utf-8")
        self.texts = list(texts)
        self.path = folder / "labels.csv"
        watched = WatchedPool(self.pool, self._read, self.said.append)
        self.learner: Any = None

        def learner(done: Any) -> Any:
            self.learner = StillLearner(done)
            return self.learner

        self.session = Session(form, LabelFile(self.path, form, self.said.append), watched, learner, **more)

    def _read(self) -> Corpus:
        if not self.texts:
            raise DataError("pool.csv: no usable row")
        return Corpus([Example((text,), row=row) for row, text in enumerate(self.texts, 2)], source=self.pool)

    def label(self, by: str, text: str, label: object, seen: object = None, note: str = "") -> Any:
        return self.session.label(by, (text,), label, note, seen)

    def rows(self) -> list[dict[str, str]]:
        with self.path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
