from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from heedful.estimators import TextClassifier
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.storage.shared_rows import SharedRows
from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.fitting_wide import FitSetting
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.part_rows import on_dev, rows_of_names

WORDS = ("card", "arrival", "refund", "2")
FEATURES = ExampleFeatures(MeanOfVectors(SharedRows(WORDS, np.eye(4, dtype=np.int8), np.ones(4, np.float32))))


def test_names_of_classes_are_read_as_texts() -> None:
    rows = rows_of_names(("card_arrival", "Refund"), FEATURES)
    assert rows == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0, 0], [0, 0, 1, 0]]))


@pytest.mark.parametrize("labels", [(), ("refund", "xqzt"), ("refund", "2"), ("refund", "_")])
def test_names_are_not_read_where_one_says_nothing(labels: tuple[str, ...]) -> None:
    assert rows_of_names(labels, FEATURES) is None


def test_names_are_not_read_of_pairs() -> None:
    assert rows_of_names(("refund", "card"), ExampleFeatures(FEATURES.texts, "symmetric")) is None


def test_a_part_of_drawn_rows_learns_their_gold_and_says_how_many_they_are() -> None:
    draw = np.random.default_rng(0)
    rows, held = draw.standard_normal((300, 5)), draw.standard_normal((40, 5))
    gold, others = (
        ClassTargets.of_classes((x[:, 0] > 0).astype(int), 2, np.ones(len(x))) for x in (rows, held)
    )
    drawn = np.sort(draw.permutation(300)[:120])
    settings = (FitSetting(1.0), FitSetting(10.0))
    part = PartRows("texts", rows[drawn], settings, lambda about, *_: about, held, drawn=drawn)
    alone = PartRows("texts", rows[drawn], settings, lambda about, *_: about, held)
    found, expected = on_dev([part], gold, others), on_dev([alone], gold.of(drawn), others)
    assert np.array_equal(found.parts[0].logits, expected.parts[0].logits)
    assert (found.drawn, expected.drawn) == (120, 0)


@pytest.mark.english
def test_of_very_many_rows_the_features_of_whole_texts_are_read_of_drawn_ones(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("heedful.tasks.sentences.part_rows.MOST_READ", 50)
    monkeypatch.setattr("heedful.tasks.sentences.part_rows.few", lambda *_: False)
    texts = [
        f"{'good' if k % 2 else 'bad'} film number {k % 17}, and my friends said so too" for k in range(120)
    ]
    labels = [("no", "yes")[k % 2] for k in range(120)]
    small = {"model__hidden": 8, "model__sentence": "mean", "train__max_steps": 2, "train__device": "cpu"}
    model = TextClassifier(data__few_rows=0, text__vectors="heedful-en", model__width=300, **small)
    model.fit(texts, labels)
    assert "fitted on 50 drawn rows of" in model.result_.parts


@pytest.mark.english
def test_sums_are_those_of_the_rows_that_the_parts_have_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()
    of = ExampleFeatures.of

    def counted(self: ExampleFeatures, examples: list[list[list[str]]]) -> NDArray[np.float32]:
        read.append(len(examples))
        return of(self, examples)

    monkeypatch.setattr(ExampleFeatures, "of", counted)
    texts = [f"a {'fine' if k % 2 else 'dull'} film number {k}" for k in range(12)]
    model = TextClassifier(text__vectors="heedful-en", model__sentence="mean")
    model.fit(texts, ["+-"[k % 2] for k in range(12)], baseline=False)
    assert model.predictor.sums is not None
    assert read.count(12) == 1
