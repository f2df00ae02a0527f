"""Vectors and weights inside scikit-learn's own classes: ColumnTransformer, set_output, calibration, routing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import tiny
from heedful import MultiLabelClassifier, PairClassifier, PairScorer, TextClassifier, TextScorer, runtime
from heedful.errors import UsageError

SMALL: dict[str, Any] = {
    "model__width": 8,
    "model__hidden": 8,
    "train__device": "cpu",
    "train__max_steps": 2,
    "data__few_rows": 0,
}
TEXTS, LABELS = ([row[k] for row in tiny.texts()][:48] for k in (0, 1))


def test_a_column_of_texts_becomes_vectors_beside_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"review": TEXTS, "stars": np.arange(48) % 5})
    columns = ColumnTransformer([("text", TextClassifier(**SMALL), "review")], remainder="passthrough")
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, LABELS)
    assert set(pipeline.predict(frame)) <= {"neg", "pos"}
    vectors = columns.transform(frame)
    inner = columns.named_transformers_["text"]
    np.testing.assert_allclose(vectors[:, :-1], inner.encode(TEXTS), atol=1e-6)
    assert columns.get_feature_names_out()[0] == "text__textclassifier0"
    columns.set_output(transform="pandas")
    named = columns.fit_transform(frame, LABELS)
    assert list(named.columns)[-1] == "remainder__stars"
    assert named.shape == vectors.shape


def test_pairs_have_the_vectors_of_both_texts() -> None:
    pairs = list(zip(TEXTS[:24], TEXTS[24:], strict=True))
    trained = PairClassifier(**SMALL).fit(pairs, LABELS[:24], dev=(pairs, LABELS[:24]), baseline=False)
    found = trained.transform(pairs)
    assert found.shape == (24, len(trained.get_feature_names_out()))
    np.testing.assert_array_equal(found[:, : found.shape[1] // 2], trained.encode(TEXTS[:24]))
    np.testing.assert_array_equal(found[:, found.shape[1] // 2 :], trained.encode(TEXTS[24:]))


@pytest.mark.parametrize(
    "kind", [TextClassifier, PairClassifier, MultiLabelClassifier, TextScorer, PairScorer]
)
def test_weights_are_in_the_signature(kind: type) -> None:
    assert has_fit_parameter(kind(), "sample_weight")


class Counting(TextClassifier):
    """Keeps the weights that its last fit was given."""

    seen: ClassVar[list[Any]] = []

    def fit(self, X: object, y: object, *, sample_weight: Any = None, **more: Any) -> Counting:
        type(self).seen.append(sample_weight)
        return super().fit(X, y, sample_weight=sample_weight, baseline=False)


def test_weights_reach_every_fit_of_calibration_and_of_a_routed_search() -> None:
    weights = np.linspace(0.5, 2.0, 48)
    Counting.seen.clear()
    CalibratedClassifierCV(Counting(**SMALL), cv=2).fit(TEXTS, LABELS, sample_weight=weights)
    assert len(Counting.seen) == 2
    assert all(given is not None and len(given) == 24 for given in Counting.seen)
    with config_context(enable_metadata_routing=True):
        asked = Counting(**SMALL).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        Counting.seen.clear()
        search = GridSearchCV(asked, {"model__width": [8]}, cv=2)
        search.fit(TEXTS, LABELS, sample_weight=weights)
        cross_validate(asked, TEXTS, LABELS, cv=2, params={"sample_weight": weights})
        assert [len(given) for given in Counting.seen] == [24, 24, 48, 24, 24]
        pipeline = make_pipeline(asked).fit(TEXTS, LABELS, sample_weight=weights)
        assert pipeline.score(TEXTS, LABELS, sample_weight=weights) >= 0


def test_a_model_of_linear_parts_alone_has_no_vectors(tmp_path: Path) -> None:
    trained = TextClassifier(train__device="cpu").fit(TEXTS, LABELS, baseline=False)
    assert trained.predictor_.model.encoder == "none"
    for ask in (trained.transform, trained.encode):
        with pytest.raises(UsageError, match=r"no vector of a text; train it with data\.few_rows=0"):
            ask(TEXTS[:2])
    trained.save_pretrained(tmp_path / "model")
    with pytest.raises(UsageError, match="no vector of a text"):
        runtime.load(tmp_path / "model").encode(TEXTS[:2])
    said = tiny.run("encode", tmp_path / "model", "--text", "fine")
    assert (said.code, said.err.count("\n")) == (2, 1)
    card = (tmp_path / "model" / "README.md").read_text()
    assert "# Linear model on 48 examples given in Python" in card
    assert "training took 0 s" not in card
