"""Other people's stores of estimators by their own main loops: skops with the types it asks about, and MLflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tiny
from heedful import PairClassifier, TextClassifier

pytestmark = pytest.mark.filterwarnings("default")
SMALL: dict[str, Any] = {
    "model__width": 8,
    "model__sentence": "none",
    "text__vectors": "",
    "train__device": "cpu",
    "train__max_steps": 2,
}
TEXTS, LABELS = ([row[k] for row in tiny.texts()][:40] for k in (0, 1))
PAIRS = list(zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True))
TYPE = "heedful.estimators.of_tasks.TextClassifier"


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return TextClassifier(**SMALL).fit(TEXTS, LABELS, baseline=False)


def test_skops_asks_about_the_estimator_alone(fitted: TextClassifier) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    content = skops.dumps(fitted)
    assert skops.get_untrusted_types(data=content) == [TYPE]
    again = skops.loads(content, trusted=[TYPE])
    np.testing.assert_array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    with pytest.raises(TypeError, match="TextClassifier"):
        skops.loads(content)


def test_skops_keeps_estimators_of_pairs_and_pipelines() -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    pairs = PairClassifier(**SMALL).fit(PAIRS, LABELS, baseline=False)
    steps = make_pipeline(FunctionTransformer(), TextClassifier(**SMALL)).fit(
        TEXTS, LABELS, textclassifier__baseline=False
    )
    for estimator, X in ((pairs, PAIRS), (steps, TEXTS)):
        content = skops.dumps(estimator)
        again = skops.loads(content, trusted=skops.get_untrusted_types(data=content))
        np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))


def test_mlflow_logs_a_model_as_it_does_by_default(
    fitted: TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    flavor = pytest.importorskip("mlflow.sklearn", reason="MLflow is not installed in full")
    pytest.importorskip("sqlalchemy", reason="MLflow is not installed in full")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri("sqlite:///runs.db")
    with mlflow.start_run():
        logged = flavor.log_model(fitted, name="model", skops_trusted_types=[TYPE])
    again = flavor.load_model(logged.model_uri)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    served = mlflow.pyfunc.load_model(logged.model_uri)
    assert list(served.predict(TEXTS)) == fitted.predict(TEXTS).tolist()
