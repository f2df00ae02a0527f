from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from heedful import TextClassifier, TextScorer, TokenTagger
from heedful.errors import ArtifactError
from heedful.estimators import Estimator

QUICK: dict[str, Any] = {
    "train__max_steps": 1,
    "train__device": "cpu",
    "text__vectors": "",
    "model__width": 8,
}
TEXTS = [f"{word} {number}" for number in range(20) for word in ("good", "bad")]


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return TextClassifier(**QUICK, model__sentence="none").fit(TEXTS, [3, 7] * 20, baseline=False)


def restored(estimator: Estimator[Any], state: dict[str, Any]) -> Any:
    made = type(estimator).__new__(type(estimator))
    made.__setstate__(state)
    return made


def plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return value is None or type(value) in (str, int, float, bool, bytes)


def test_a_state_of_plain_values_gives_the_same_answers(fitted: TextClassifier) -> None:
    state = fitted.__getstate__()
    assert plain(state)
    again = restored(fitted, state)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert again.get_params() == fitted.get_params()
    assert again.classes_.tolist() == [3, 7]
    loaded = restored(again, again.__getstate__())
    assert loaded.score(TEXTS, [3, 7] * 20) == fitted.score(TEXTS, [3, 7] * 20)


@pytest.mark.parametrize("kind", [TextScorer, TokenTagger])
def test_other_estimators_have_such_a_state_too(kind: type) -> None:
    y: list[Any] = [["A", "B"], ["B", "B"]] * 20 if kind is TokenTagger else [1.0, 2.5] * 20
    X: list[Any] = [text.split() for text in TEXTS] if kind is TokenTagger else TEXTS
    made = kind(**QUICK, **({} if kind is TokenTagger else {"model__sentence": "none"}))
    made.fit(X, y, baseline=False)
    assert plain(made.__getstate__())
    assert restored(made, made.__getstate__()).predict(X).tolist() == made.predict(X).tolist()


def test_pickles_and_copies_keep_the_whole_object(fitted: TextClassifier) -> None:
    for again in (pickle.loads(pickle.dumps(fitted)), copy.copy(fitted), copy.deepcopy(fitted)):
        assert vars(again).keys() == vars(fitted).keys()
        assert "result_" in vars(again)
        assert again.predict(TEXTS).tolist() == fitted.predict(TEXTS).tolist()


def test_an_untrained_estimator_keeps_its_settings() -> None:
    given = TextClassifier(TextClassifier().config, threads=2, train__epochs=3)
    again = restored(given, given.__getstate__())
    assert again.config == given.config
    assert again.threads == 2
    assert not hasattr(again, "predictor_")


@pytest.mark.parametrize(
    "change",
    [
        lambda state: {**state, "files": {"../" + name: own for name, own in state["files"].items()}},
        lambda state: {**state, "files": {name: own[:-1] for name, own in state["files"].items()}},
        lambda state: {**state, "settings": None},
        lambda state: {**state, "heedful_state": 9},
    ],
    ids=["another place", "cut", "no settings", "another version"],
)
def test_an_altered_state_is_refused(fitted: TextClassifier, change: Any) -> None:
    with pytest.raises(ArtifactError):
        restored(fitted, change(fitted.__getstate__()))


def test_a_model_of_another_estimator_is_refused(fitted: TextClassifier) -> None:
    with pytest.raises(ArtifactError, match="'text'"):
        restored(TokenTagger(), fitted.__getstate__())
