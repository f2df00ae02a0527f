"""Linear parts learn what a teacher says of texts without gold: as the whole student, or beside a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import heedful.tasks.sentences.joint_fit as one
from heedful import TextClassifier

TEXTS = ["good film", "a good one", "dull film", "a dull one"] * 12
LABELS = ["pos", "pos", "neg", "neg"] * 12
POOL = ["lovely film", "a lovely one", "so lovely", "poor film", "a poor one", "so poor"] * 4
POOL = [f"{text} {number // 6}" for number, text in enumerate(POOL)]
ASKED = ["lovely", "poor"]
GLAD = ("good", "lovely")
PARTS = {"model__sentence": "none", "text__vectors": ""}


def glad(text: str) -> bool:
    return any(word in text for word in GLAD)


def fitted(sure: float = 0.9, **settings: object) -> TextClassifier:
    def answers(texts: Sequence[str]) -> list[dict[str, float]]:
        shares = [sure if glad(text) else 1 - sure for text in texts]
        return [{"pos": share, "neg": 1 - share} for share in shares]

    model = TextClassifier(**{**PARTS, **settings})
    model.fit(TEXTS, LABELS, teacher=answers, texts=POOL, baseline=False)
    return model


def test_few_rows_are_all_used_and_words_of_the_teachers_texts_are_known() -> None:
    model = fitted()
    assert model.predictor.encoder == "none", "no network is trained"
    assert list(model.predict(ASKED)) == ["pos", "neg"]
    plain = TextClassifier(**PARTS).fit(TEXTS, LABELS, baseline=False)
    assert list(plain.predict(ASKED)) != ["pos", "neg"], "words that only the pool has"


def test_a_teacher_that_doubts_teaches_to_doubt() -> None:
    doubtful, certain = (fitted(sure).predict_proba(["lovely"])[0, 1] for sure in (0.6, 0.95))
    assert 0.5 < doubtful < certain - 0.02


@pytest.mark.parametrize("most", [2_000, 60])
def test_parts_in_one_and_side_by_side_learn_it(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one, "MOST_DIRECTIONS", most)
    assert list(fitted(model__sentence="auto", text__vectors="auto").predict(ASKED)) == ["pos", "neg"]


def test_with_a_network_the_parts_beside_it_learn_it_too() -> None:
    settings = {"model__width": 8, "model__hidden": 8, "train__epochs": 1, "data__few_rows": 0}
    model = fitted(**settings)
    wide = model.predictor.about.wide
    assert model.predictor.encoder == "disan"
    assert wide is None or len(wide.numbers) > 0
    known = TextClassifier(**PARTS, **settings).fit(TEXTS, LABELS, baseline=False).predictor.about.wide
    if wide is not None and known is not None:
        assert len(wide.numbers) > len(known.numbers)


def test_a_text_that_no_teacher_answered_teaches_nothing(tmp_path: Path) -> None:
    file = tmp_path / "soft.jsonl"
    file.write_text('{"text": "lovely film", "probabilities": {"pos": 0.9, "neg": 0.1}}\n', encoding="utf-8")
    model = TextClassifier(**PARTS, distil__teacher=[str(file)])
    model.fit(TEXTS, LABELS, baseline=False)
    assert model.predict_proba(["lovely"])[0, 1] > 0.5


def test_it_is_the_same_again() -> None:
    first, second = fitted(), fitted()
    np.testing.assert_array_equal(first.predict_proba(POOL), second.predict_proba(POOL))
