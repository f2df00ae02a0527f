"""Measuring semantic roles: gold that the model does not know, that is cut off, and that has no form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from heedful.data.examples import Corpus, Example, Frame
from heedful.data.role_frames import TaggedDataset
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.evaluation import Report
from heedful.tasks import RolePredictor, TextSettings
from heedful.tasks.roles.roles_task import RolesTask
from heedful.text.bio import bio_tags
from heedful.text.vocabulary import Vocabulary

WORDS = ["the", "lamp", "glows", "and", "keeps", "us", "warm"]
GLOWS = Frame(2, ("B-ARG1", "I-ARG1", "B-V", "O", "O", "O", "O"))
KEEPS = Frame(4, ("B-ARG0", "I-ARG0", "O", "O", "B-V", "B-ARG1", "B-C-ARG1"))


@dataclass
class Answers:
    """A model that always gives the same tags and finds the same words to be predicates."""

    answer: tuple[Frame, ...]
    found: tuple[int, ...]
    max_tokens: int = 100
    labels: tuple[str, ...] = bio_tags(["ARG0", "ARG1", "C-ARG1", "V"])
    threshold: float = 0.5
    vocabulary = Vocabulary.build(dict.fromkeys(WORDS, 1))

    @property
    def text(self) -> TextSettings:
        return TextSettings("whitespace", self.max_tokens, "head")

    def tokenize(self, examples: list[Example], *_: object) -> TokenizedCorpus:
        return tokenize_corpus(examples, "whitespace")

    def knows(self, word: str) -> bool:
        return word in WORDS

    def tag(self, dataset: TaggedDataset) -> np.ndarray:
        given = {frame.predicate: frame.tags for frame in self.answer}
        lengths = dataset.lengths()[:, 0]
        parts = [given[place][:length] for place, length in zip(dataset.predicates, lengths, strict=True)]
        return np.array([self.labels.index(tag) for part in parts for tag in part], np.int64)

    def find(self, dataset: TaggedDataset) -> np.ndarray:
        scores = np.zeros(len(dataset.sides[0].values), np.float32)
        scores[list(self.found)] = 1
        return scores


def measure(gold: tuple[Frame, ...], model: Answers) -> Report:
    """Measure on one sentence."""
    corpus = Corpus([Example((" ".join(WORDS),), gold, (tuple(WORDS),))])
    predictor = cast(RolePredictor, model)
    return RolesTask().measure(predictor, RolesTask().read(predictor, corpus))


def test_a_role_that_the_model_does_not_know_is_missed() -> None:
    other = Frame(4, ("B-ARG7", "I-ARG7", "O", "O", "B-V", "B-ARG1", "B-C-ARG1"))
    report = measure((GLOWS, other), Answers((GLOWS, KEEPS), (2, 4)))
    assert report.count == 2
    assert report.per_class["ARG7"] == {"precision": 0, "recall": 0, "f1": 0, "count": 1}
    assert report.per_class["ARG0"]["count"] == 0
    assert report.per_class["ARG1"]["f1"] == 1
    assert report.metrics["f1"] == pytest.approx(2 / 3)  # 2 right, 1 in excess, 1 missed
    assert report.notes["roles of the gold that the model does not know"] == 1


def test_gold_that_is_all_known_is_measured_by_its_own_names() -> None:
    report = measure((GLOWS, KEEPS), Answers((GLOWS, KEEPS), (2, 4)))
    assert report.metrics == dict.fromkeys(("f1", "precision", "recall", "complete", "predicate_f1"), 1)
    assert not any(report.notes.values())


@pytest.mark.parametrize(
    ("longest", "predicates", "arguments", "count"), [(7, 0, 0, 2), (6, 0, 1, 2), (4, 1, 1, 1), (3, 1, 1, 1)]
)
def test_gold_that_is_cut_off_is_told(longest: int, predicates: int, arguments: int, count: int) -> None:
    report = measure((GLOWS, KEEPS), Answers((GLOWS, KEEPS), (2,), longest))
    assert report.count == count
    assert report.notes["predicates of the gold cut off"] == predicates
    assert report.notes["arguments of the gold cut off or shortened"] == arguments
    assert report.notes["texts cut"] == (longest < 7)
    if predicates:
        assert "1 predicates of the gold cut off" in report.render()


@pytest.mark.parametrize("found", [(2,), (2, 4)])
def test_a_predicate_whose_spans_nest_counts_neither_way(found: tuple[int, ...]) -> None:
    report = measure((GLOWS, Frame(4, ())), Answers((GLOWS,), found))
    assert report.count == 1
    assert report.metrics["predicate_f1"] == 1
    wrong = measure((GLOWS, Frame(4, ())), Answers((GLOWS,), (*found, 6)))
    assert wrong.metrics["predicate_f1"] == pytest.approx(2 / 3)
