"""The estimators as scikit-learn expects them, alone and inside its own meta-estimators.

scikit-learn's `check_estimator` runs one check of an estimator that takes text, so its checks are called one by one
where they need no numbers as X, and written again for texts where they do.
"""

from __future__ import annotations

import pickle
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import tiny
from heedful import PairClassifier, PairScorer, TextClassifier, TokenTagger, from_pretrained
from heedful.errors import DataError, UsageError

SMALL: dict[str, Any] = {
    "model__width": 12,
    "model__hidden": 12,
    "train__device": "cpu",
    "train__optimizer__lr": 0.02,
    "train__epochs": 3,
}
QUICK = {**SMALL, "train__max_steps": 2}
TEXTS, LABELS = ([row[k] for row in tiny.texts()] for k in (0, 1))
NUMBERS = [int(label == "pos") for label in LABELS]
ESTIMATORS = (TextClassifier, PairClassifier, PairScorer)


class Mood(Enum):
    """Classes that are neither text nor numbers."""

    GLAD = 1
    SAD = 2


@pytest.fixture(autouse=True)
def _alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train no baselines beside a model that scikit-learn fits, but where its classes are strange ones."""
    if "classes" not in request.fixturenames:
        monkeypatch.setattr("heedful.estimators.estimator.beside_source", lambda *_: None)


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier(**SMALL).fit(TEXTS[:120], NUMBERS[:120])


WITHOUT_TRAINING = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


@pytest.mark.parametrize("kind", [*ESTIMATORS, TokenTagger])
@pytest.mark.parametrize("name", WITHOUT_TRAINING)
def test_the_checks_that_need_no_training_pass(kind: type, name: str) -> None:
    getattr(estimator_checks, name)(kind.__name__, kind(train__epochs=2, threads=None))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_before_training_nothing_is_there_and_everything_says_so(kind: type) -> None:
    estimator = kind()
    for name in ("classes_", "predictor_", "result_", "predictor"):
        assert not hasattr(estimator, name)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    for ask in (estimator.predict, estimator.answer, estimator.encode, estimator.explain):
        with pytest.raises(NotFittedError) as caught:
            ask(["a"])
        assert isinstance(caught.value, UsageError)


def test_wrong_settings_wait_for_fit() -> None:
    estimator = TextClassifier(config="helloworld")
    with pytest.raises(UsageError, match="config"):
        estimator.fit(TEXTS[:40], LABELS[:40])
    estimator.set_params(config=None, train__epoch=3)
    with pytest.raises(UsageError, match="did you mean 'epochs'"):
        estimator.fit(TEXTS[:40], LABELS[:40])


def test_an_estimator_shows_its_settings_untrained_and_in_a_pipeline() -> None:
    estimator = TextClassifier(train__epochs=3)
    assert repr(estimator) == "TextClassifier(train__epochs=3)"
    pipeline = make_pipeline(estimator)
    for display in ("diagram", "text"):
        with config_context(display=display):
            assert "TextClassifier" in repr(pipeline)
            shown = pipeline._repr_mimebundle_()
        assert "train__epochs" in shown["text/plain"]
        assert ("text/html" in shown) == (display == "diagram")
    assert "train__epochs" in pipeline._repr_html_()
    assert "not fitted" in pipeline._repr_html_().lower()


def test_a_clone_has_the_settings_and_no_model(model: TextClassifier) -> None:
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "predictor_")
    pipeline = clone(Pipeline([("clf", model)])).set_params(clf__model__dropout=0.1)
    assert pipeline["clf"].config.model.dropout == 0.1
    assert model.config.model.dropout != 0.1


def test_kinds_of_estimators_are_recognized() -> None:
    assert [is_classifier(kind()) for kind in ESTIMATORS] == [True, True, False]
    assert [is_regressor(kind()) for kind in ESTIMATORS] == [False, False, True]


def test_training_twice_gives_the_same_and_leaves_the_settings() -> None:
    estimator = TextClassifier(**QUICK)
    before = dict(estimator.get_params())
    first = estimator.fit(TEXTS[:60], LABELS[:60]).predict_proba(TEXTS[60:80])
    again = estimator.fit(TEXTS[:60], LABELS[:60]).predict_proba(TEXTS[60:80])
    np.testing.assert_array_equal(first, again)
    assert estimator.get_params() == before


def test_changed_settings_leave_the_model_until_the_next_fit() -> None:
    estimator = TextClassifier(**QUICK).fit(TEXTS[:60], LABELS[:60])
    before = estimator.predict_proba(TEXTS[60:70])
    estimator.set_params(train__seed=5)
    np.testing.assert_array_equal(estimator.predict_proba(TEXTS[60:70]), before)
    estimator.fit(TEXTS[:60], LABELS[:60])
    assert not np.array_equal(estimator.predict_proba(TEXTS[60:70]), before)


def test_predictions_depend_neither_on_order_nor_on_company(model: TextClassifier) -> None:
    texts, order = TEXTS[120:150], np.random.default_rng(0).permutation(30)
    whole = model.predict_proba(texts)
    shuffled = model.predict_proba([texts[k] for k in order])
    np.testing.assert_allclose(shuffled, whole[order], rtol=1e-5)
    alone = np.concatenate([model.predict_proba([text]) for text in texts])
    np.testing.assert_allclose(alone, whole, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(texts), model.classes_[whole.argmax(axis=1)])


def test_predicting_changes_nothing(model: TextClassifier) -> None:
    before = dict(vars(model))
    model.predict(TEXTS[:5])
    model.encode(TEXTS[:5])
    assert vars(model) == before


def test_a_pickled_model_answers_the_same(model: TextClassifier) -> None:
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(TEXTS[:9]), model.predict_proba(TEXTS[:9]))
    np.testing.assert_array_equal(copied.classes_, model.classes_)


def test_one_class_is_refused_and_two_samples_do_with_a_dev_split() -> None:
    with pytest.raises(DataError, match="two different labels"):
        TextClassifier(**QUICK).fit(TEXTS[:20], [1] * 20)
    with pytest.raises(DataError, match="too few"):
        TextClassifier(**QUICK).fit(TEXTS[:2], ["a", "b"])
    pair = TextClassifier(**QUICK).fit(TEXTS[:2], ["a", "b"], dev=(TEXTS[:2], ["a", "b"]))
    assert pair.predict(TEXTS[:2]).shape == (2,)


KINDS = [
    ([False, True], np.dtype(bool)),
    ([3, 7], np.dtype(int)),
    ([-1.0, 2.0], np.dtype(float)),
    (["neg", "pos"], np.dtype("<U3")),
    (np.array([4, 9], np.int8), np.dtype(np.int8)),
    (np.array([False, True]), np.dtype(bool)),
    (np.array(["neg", "pos"], object), np.dtype("<U3")),
    ([("a", 1), ("b", 2)], np.dtype(object)),
    ([Mood.GLAD, Mood.SAD], np.dtype(object)),
]


@pytest.mark.parametrize(("classes", "dtype"), KINDS, ids=lambda value: str(value))
def test_classes_keep_their_type(classes: Any, dtype: np.dtype, tmp_path: Path) -> None:
    y = [classes[number] for number in NUMBERS[:60]]
    targets = np.array(y) if isinstance(classes, np.ndarray) else y
    trained = TextClassifier(**QUICK).fit(TEXTS[:60], targets)
    assert trained.classes_.dtype == dtype
    assert trained.classes_.tolist() == list(classes)
    predicted = trained.predict(TEXTS[60:80])
    assert predicted.dtype == dtype
    assert 0 <= trained.score(TEXTS[:60], targets) <= 1
    assert trained.evaluate(TEXTS[:60], targets).metrics["accuracy"] == trained.score(TEXTS[:60], targets)
    trained.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    restored = dtype.kind != "O"
    expected = predicted.tolist() if restored else [str(each) for each in predicted]
    assert loaded.predict(TEXTS[60:80]).tolist() == expected
    assert loaded.classes_.dtype.kind == (dtype.kind if restored else "U")


def test_numbers_are_sorted_as_numbers() -> None:
    y = [k % 12 for k in range(48)]
    trained = TextClassifier(**QUICK).fit(TEXTS[:48], y, dev=(TEXTS[:48], y))
    assert trained.classes_.tolist() == list(range(12))
    assert trained.predictor_.labels == tuple(map(str, range(12)))


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([0, "a"], "mixed types"),
        ([True, 1], "mixed types"),
        ([["a"], ["b"]], "expected one class.*MultiLabelClassifier"),
        ([("a", ["b"]), ("c",)], "expected one class.*MultiLabelClassifier"),
        (np.array([("a", 1)] * 2, dtype="U1,i8"), "expected one class.*MultiLabelClassifier"),
        ([0.5, 1.5], "no whole number; to predict continuous numbers use TextScorer"),
        ([0, None], "missing"),
        (np.array([[0, 1], [1, 0]]), "one column"),
    ],
)
def test_what_is_no_class_is_named(y: Any, match: str) -> None:
    with pytest.raises((DataError, UsageError), match=match):
        TextClassifier(**QUICK).fit(TEXTS[:2], y)


def test_scores_may_be_weighted(model: TextClassifier) -> None:
    weights = (np.array(NUMBERS[:20]) == model.predict(TEXTS[:20])).astype(float)
    assert model.score(TEXTS[:20], NUMBERS[:20], sample_weight=weights + 1e-9) > 0.999


def linear() -> Pipeline:
    return make_pipeline(TfidfVectorizer(), LogisticRegression())


def test_searches_and_cross_validation_take_it() -> None:
    search = GridSearchCV(
        make_pipeline(TextClassifier(**QUICK)), {"textclassifier__model__width": np.array([8, 12])}, cv=2
    )
    search.fit(TEXTS[:60], NUMBERS[:60])
    assert search.best_estimator_[0].config.model.width in (8, 12)
    assert search.predict(TEXTS[60:63]).shape == (3,)
    probabilities = cross_val_predict(
        TextClassifier(**QUICK), TEXTS[:60], LABELS[:60], cv=3, method="predict_proba"
    )
    assert probabilities.shape == (60, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert cross_val_score(
        TextClassifier(**SMALL), TEXTS[:90], NUMBERS[:90], cv=2, scoring="roc_auc"
    ).shape == (2,)


ENSEMBLES = {
    "voting": lambda: VotingClassifier(
        [("heedful", TextClassifier(**SMALL)), ("tfidf", linear())], voting="soft"
    ),
    "stacking": lambda: StackingClassifier([("heedful", TextClassifier(**QUICK)), ("tfidf", linear())], cv=2),
    "calibrated": lambda: CalibratedClassifierCV(TextClassifier(**QUICK), cv=2),
    "one against the rest": lambda: OneVsRestClassifier(TextClassifier(**QUICK)),
}


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("y", [LABELS, NUMBERS], ids=["names", "numbers"])
def test_ensembles_take_it_beside_a_linear_pipeline(name: str, y: list[Any]) -> None:
    ensemble = ENSEMBLES[name]().fit(TEXTS[:80], y[:80])
    predicted = ensemble.predict(TEXTS[80:120])
    assert set(predicted.tolist()) <= set(y)
    probabilities = ensemble.predict_proba(TEXTS[80:120])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    if name == "voting":
        assert np.mean(predicted == np.array(y[80:120])) > 0.8


def test_a_tuned_threshold_changes_what_is_answered() -> None:
    tuned = TunedThresholdClassifierCV(TextClassifier(**SMALL), cv=2, scoring="balanced_accuracy")
    tuned.fit(TEXTS[:80], NUMBERS[:80])
    assert 0 <= tuned.best_threshold_ <= 1
    assert set(tuned.predict(TEXTS[80:100]).tolist()) <= {0, 1}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_tables_are_texts_and_classes(library: str, model: TextClassifier) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"text": TEXTS[:120], "label": NUMBERS[:120]})
    expected = model.predict_proba(TEXTS[:120])
    trained = TextClassifier(**SMALL).fit(frame["text"], frame["label"])
    assert trained.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(trained.predict_proba(frame[["text"]]), expected)
    assert trained.score(frame["text"], frame["label"]) == model.score(TEXTS[:120], NUMBERS[:120])
    pairs = frames.DataFrame({"first": TEXTS[:60], "second": TEXTS[60:120], "label": LABELS[:60]})
    both = PairClassifier(**QUICK).fit(pairs[["first", "second"]], pairs["label"])
    plain = PairClassifier(**QUICK).fit(list(zip(TEXTS[:60], TEXTS[60:120], strict=True)), LABELS[:60])
    np.testing.assert_array_equal(
        both.predict_proba(pairs[["first", "second"]]),
        plain.predict_proba(list(zip(TEXTS[:60], TEXTS[60:120], strict=True))),
    )
    with pytest.raises(DataError, match="request 2, field 'text': value is missing"):
        model.predict(frames.DataFrame({"text": ["a", None]})["text"])
    with pytest.raises(UsageError, match="one column"):
        model.predict(pairs[["first", "second"]])


def test_missing_values_of_pandas_are_missing(model: TextClassifier) -> None:
    pandas = pytest.importorskip("pandas")
    for dtype in ("string", object):
        column = pandas.Series(["a", pandas.NA], dtype=dtype)
        with pytest.raises(DataError, match="request 2, field 'text': value is missing"):
            model.predict(column)
    with pytest.raises(DataError, match="target 2: the class is missing"):
        TextClassifier(**QUICK).fit(["a", "b"], pandas.Series([1, pandas.NA], dtype="Int64"))


def test_results_and_explanations_show_themselves_in_a_notebook() -> None:
    hostile = "<script>alert(1)</script>"
    y = [hostile if label == "pos" else "neg" for label in LABELS[:60]]
    trained = TextClassifier(**QUICK).fit(TEXTS[:60], y)
    shown = [trained.explain(f"A {hostile} film .")._repr_html_(), trained.result_._repr_html_()]
    shown.append(trained.evaluate(TEXTS[:60], y)._repr_html_())
    for html in shown:
        assert "<script" not in html
        assert "http://" not in html
        assert "https://" not in html
    assert "accuracy" in shown[1]
    assert shown[0].startswith("<iframe sandbox")
