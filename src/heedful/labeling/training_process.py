"""The process that trains: a model from the labels so far, what it is uncertain of, and labels that look wrong."""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedful.labeling.forms import Kind, Label

Texts = tuple[str, ...]
_SUGGESTED = 60
_DOUBTED_FROM = 40
"""Labels from which on they are looked at for wrong ones, with models that did not see them."""
_DOUBTED, _FOLDS = 20, 5


@dataclass(frozen=True)
class Lesson:
    """What a model is to be trained on.

    Attributes:
        kind: what a label is.
        texts: of each label.
        labels: the labels.
        pool: texts without a label, of which the most useful ones are looked for.
        folder: where the model goes.
        doubting: whether labels that look wrong are looked for.
    """

    kind: Kind
    texts: Sequence[Texts]
    labels: Sequence[Label]
    pool: Sequence[Texts]
    folder: Path
    doubting: bool = True


@dataclass(frozen=True)
class Doubt:
    """A label that looks wrong.

    Attributes:
        place: of its text in the lesson.
        suggestion: the label that models would give which did not see the text.
        against: the words that speak most against the label.
    """

    place: int
    suggestion: str
    against: tuple[str, ...]


@dataclass(frozen=True)
class LessonResult:
    """What came of a lesson.

    Attributes:
        seconds: that it took.
        labels: how many there were.
        uncertain: places in the pool of the lesson, the most useful first.
        doubts: labels that look wrong, the most doubtful first.
    """

    seconds: float
    labels: int
    uncertain: tuple[int, ...] = ()
    doubts: tuple[Doubt, ...] = field(default=())


def teacher() -> Callable[[Lesson], LessonResult]:
    """Prepare the process that trains.

    Returns:
        What it does with each lesson.
    """
    from heedful.runtime.loading import keep_rows
    from heedful.runtime.row_cache import KeptRows

    logging.getLogger("heedful").setLevel(logging.ERROR)  # the page says what a person can do about it
    keep_rows(KeptRows())  # the next lesson has nearly the same texts
    return taught


def taught(lesson: Lesson) -> LessonResult:
    """Train a model, save it, and look for texts that it is uncertain of and for labels that look wrong.

    Args:
        lesson: the labels.

    Returns:
        What was found.

    Raises:
        HeedfulError: if the labels are too few to train.
    """
    began = time.monotonic()
    estimator = _estimator(lesson)
    texts, labels = _words_and_tags(lesson) if lesson.kind == "spans" else _as_they_are(lesson)
    estimator.fit(texts, labels, progress=False, baseline=False)
    estimator.save_pretrained(lesson.folder)
    uncertain = _UNCERTAIN.get(lesson.kind, _of_none)(estimator, lesson.pool)
    return LessonResult(time.monotonic() - began, len(texts), uncertain, _doubts(lesson))


def _estimator(lesson: Lesson) -> Any:
    from heedful import estimators

    pair = len(lesson.texts[0]) == 2
    kinds: dict[tuple[str, bool], Callable[..., Any]] = {
        ("classes", False): estimators.TextClassifier,
        ("classes", True): estimators.PairClassifier,
        ("several", False): estimators.MultiLabelClassifier,
        ("number", False): estimators.TextScorer,
        ("number", True): estimators.PairScorer,
        ("spans", False): estimators.TokenTagger,
    }
    return kinds[lesson.kind, pair](data__truncate="head")


def _as_they_are(lesson: Lesson) -> tuple[list[Any], list[Any]]:
    pair = len(lesson.texts[0]) == 2
    return [each if pair else each[0] for each in lesson.texts], list(lesson.labels)


def _words_and_tags(lesson: Lesson) -> tuple[list[Any], list[Any]]:
    """Return the words of each text and their tags, as `heedful train` reads them from a file of spans."""
    from heedful.data.examples import WordTags
    from heedful.data.readers.tag_files import read_tags

    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "labels.jsonl")
        pairs = zip(lesson.texts, lesson.labels, strict=True)
        lines = [json.dumps({"text": texts[0], "label": label}) for texts, label in pairs]
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        examples = read_tags(file).examples
    tags = [list(each.target.tags) if isinstance(each.target, WordTags) else [] for each in examples]
    return [list(each.words[0] or ()) for each in examples], tags


def _by_margin(estimator: Any, pool: Sequence[Texts]) -> tuple[int, ...]:
    from heedful.data.examples import Corpus, Example
    from heedful.run.suggesting import suggest

    corpus = Corpus([Example(texts, row=place) for place, texts in enumerate(pool)])
    return tuple(each.row for each in suggest(estimator.predictor, corpus, _SUGGESTED)) if pool else ()


def _by_nearest_half(estimator: Any, pool: Sequence[Texts]) -> tuple[int, ...]:
    """Return the texts of which some label is nearest to even odds."""
    answers = estimator.predictor.predict([texts[0] for texts in pool]) if pool else []
    even = [min((abs(p - 0.5) for p in each.probabilities.values()), default=1.0) for each in answers]
    return tuple(sorted(range(len(even)), key=even.__getitem__)[:_SUGGESTED])


def _by_least_certain_word(estimator: Any, pool: Sequence[Texts]) -> tuple[int, ...]:
    """Return the texts with a word whose tag is least certain."""
    answers = estimator.answer([texts[0] for texts in pool]) if pool else []
    certain = [min(each.probabilities, default=1.0) for each in answers]
    return tuple(sorted(range(len(certain)), key=certain.__getitem__)[:_SUGGESTED])


def _of_none(estimator: Any, pool: Sequence[Texts]) -> tuple[int, ...]:
    """Return nothing: a number says not how certain it is."""
    return ()


_UNCERTAIN: dict[str, Callable[[Any, Sequence[Texts]], tuple[int, ...]]] = {
    "classes": _by_margin,
    "several": _by_nearest_half,
    "spans": _by_least_certain_word,
}


def _doubts(lesson: Lesson) -> tuple[Doubt, ...]:
    """Return labels that look wrong; none where they are too few, or no classes."""
    counts = Counter(map(str, lesson.labels))
    if (
        not lesson.doubting
        or lesson.kind != "classes"
        or len(lesson.labels) < _DOUBTED_FROM
        or min(counts.values()) < 2
    ):
        return ()
    from heedful.baselines.label_errors import find_suspects
    from heedful.data.examples import Example
    from heedful.run.sources import from_examples

    examples = [
        Example(texts, str(label), row=place)
        for place, (texts, label) in enumerate(zip(lesson.texts, lesson.labels, strict=True), 1)
    ]
    task = "pair" if len(lesson.texts[0]) == 2 else "text"
    source = from_examples(examples, None, task, 0.1, 0)
    found, _, _ = find_suspects(source, _FOLDS, 0, most=_DOUBTED)
    return tuple(
        Doubt(each.row - 1, each.suggestion, tuple(word for word, _ in each.against)) for each in found
    )
