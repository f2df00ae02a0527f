"""The estimators from Python: scikit-learn's shape, what wrong input gets, and defaults that learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import base

import tiny
from heedful import PairClassifier, PairScorer, TextClassifier, from_pretrained
from heedful.errors import ArtifactError, DataError, UsageError

SMALL = {"model__width": 16, "model__hidden": 16, "train__device": "cpu", "train__optimizer__lr": 0.02}
TEXTS = [text for text, _ in tiny.texts()]
LABELS = [label for _, label in tiny.texts()]
PAIRS = [(first, second) for first, second, _ in tiny.pairs()]
SAME = [label for _, _, label in tiny.pairs()]
SCORES = [4.5 if label == "same" else 1.5 for label in SAME]


@pytest.fixture(scope="module")
def texts() -> TextClassifier:
    return TextClassifier(train__epochs=4, **SMALL).fit(TEXTS[:120], LABELS[:120])


@pytest.fixture(scope="module")
def scorer() -> PairScorer:
    return PairScorer(train__epochs=4, **SMALL).fit(PAIRS[:120], np.array(SCORES[:120], np.float32))


def test_a_classifier_learns_and_answers(texts: TextClassifier) -> None:
    assert texts.classes_.tolist() == ["neg", "pos"]
    assert texts.score(TEXTS[120:], LABELS[120:]) > 0.9
    probabilities = texts.predict_proba(TEXTS[120:150])
    assert probabilities.shape == (30, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert set(texts.predict(TEXTS[120:150])) == {"neg", "pos"}


@pytest.mark.parametrize("method", ["gradient", "integrated", "occlusion", "shapley"])
def test_explanations_by_a_method(texts: TextClassifier, scorer: PairScorer, method: str) -> None:
    asked = "That film was superb ."
    said = texts.explain(asked, method=method, samples=8, seed=1).attribution
    assert said is not None
    assert 1 / (1 + np.exp(-said.whole)) == pytest.approx(texts.predict_proba([asked]).max(), abs=1e-5)
    assert said.method == method
    pair = ("A dog runs .", "A cat sleeps .")
    grade = scorer.explain(pair, method=method, samples=8).attribution
    assert grade is not None
    assert grade.whole == pytest.approx(float(scorer.predict([pair])[0]), abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(requests=st.lists(st.text(max_size=40), max_size=5))
def test_predict_is_the_most_probable_class(texts: TextClassifier, requests: list[str]) -> None:
    best = texts.predict_proba(requests).argmax(axis=1)
    assert texts.predict(requests).tolist() == [texts.classes_[k] for k in best]
    assert [answer.label for answer in texts.answer(requests)] == texts.predict(requests).tolist()


@settings(max_examples=30, deadline=None)
@given(
    first=st.lists(st.text(max_size=30), min_size=1, max_size=4),
    second=st.lists(st.text(max_size=30), min_size=1, max_size=4),
)
def test_similarity_is_a_symmetric_cosine(texts: TextClassifier, first: list[str], second: list[str]) -> None:
    there, back = texts.similarity(first, second), texts.similarity(second, first)
    assert there.shape == (len(first), len(second))
    np.testing.assert_allclose(there, back.T, atol=1e-6)
    assert (np.abs(there) <= 1).all()
    a, b = texts.encode(first).astype(float), texts.encode(second).astype(float)
    norms = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    expected = np.divide(a @ b.T, norms, out=np.zeros_like(norms), where=norms > 0)
    np.testing.assert_allclose(there, expected, atol=1e-5)


def test_a_text_is_as_similar_to_itself_as_can_be(texts: TextClassifier) -> None:
    similar = texts.similarity([TEXTS[0], ""], [TEXTS[0], ""])
    np.testing.assert_allclose(similar, [[1, 0], [0, 0]], atol=1e-6)


def test_a_scorer_learns_and_stays_on_its_scale(scorer: PairScorer) -> None:
    scores = scorer.predict([*PAIRS[120:150], ("", "")])
    assert scores.shape == (31,)
    assert ((scores >= 1) & (scores <= 5)).all()
    assert scorer.score(PAIRS[120:], SCORES[120:]) > 0.6
    assert set(scorer.evaluate(PAIRS[120:], SCORES[120:]).metrics) == {"pearson", "spearman", "mse"}


def test_pairs_may_be_tuples_lists_or_rows_of_an_array() -> None:
    settings_ = {**SMALL, "train__max_steps": 2}
    forms = [PAIRS[:60], [list(pair) for pair in PAIRS[:60]], np.array(PAIRS[:60])]
    answers = [PairClassifier(**settings_).fit(form, SAME[:60]).predict_proba(form[:5]) for form in forms]
    assert len(answers) == 3
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("kind", ["texts", "scorer"])
def test_saved_and_loaded_it_answers_the_same(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(kind)
    requests = TEXTS[:20] if kind == "texts" else PAIRS[:20]
    model.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.config == model.config
    np.testing.assert_array_equal(loaded.predict(requests), model.predict(requests))
    np.testing.assert_array_equal(loaded.encode(TEXTS[:5]), model.encode(TEXTS[:5]))
    loaded.save_pretrained(tmp_path / "again")
    first, again = ({f.name: f.read_bytes() for f in (tmp_path / d).iterdir()} for d in ("model", "again"))
    assert first == again, "a folder read and written is the same to the byte"


def test_a_model_of_another_task_is_refused(texts: TextClassifier, tmp_path: Path) -> None:
    texts.save_pretrained(tmp_path / "model")
    with pytest.raises(UsageError, match="this is a 'text' model"):
        PairClassifier.from_pretrained(tmp_path / "model")
    assert TextClassifier.from_pretrained(tmp_path / "model").predict([]).tolist() == []
    with pytest.raises(ArtifactError, match="there is none"):
        from_pretrained(tmp_path / "nowhere")


def test_long_texts_are_refused_or_cut_as_asked(texts: TextClassifier, tmp_path: Path) -> None:
    texts.save_pretrained(tmp_path / "model")
    long = [" ".join(["film"] * 401)]
    with pytest.raises(DataError, match=r"row 1, text: 401 tokens, at most max_tokens = 400"):
        from_pretrained(tmp_path / "model", truncate="error").predict(long)
    assert texts.answer(long)[0].truncated
    cut = from_pretrained(tmp_path / "model", truncate="head").answer(long)[0]
    assert (cut.truncated, cut.tokens) == (True, (400,))
    raised = from_pretrained(tmp_path / "model", max_tokens=401).answer(long)[0]
    assert (raised.truncated, raised.tokens) == (False, (401,))
    with pytest.raises(UsageError, match="max_tokens must be a whole number of 1 or more; got 0"):
        from_pretrained(tmp_path / "model", max_tokens=0)


def test_a_dev_part_may_be_given() -> None:
    model = TextClassifier(train__max_steps=1, **SMALL)
    model.fit(TEXTS[:40], LABELS[:40], dev=(TEXTS[40:60], LABELS[40:60]), baseline=False)
    assert model.result_ is not None
    assert model.result_.dev.count == 20
    with pytest.raises(DataError, match="unknown label 'poss'; did you mean 'pos'"):
        model.fit(TEXTS[:40], LABELS[:40], dev=(["a", "b"], ["poss", "poss"]))
    model.fit(TEXTS[:40], LABELS[:40], dev=(["a", "b", "c"], ["poss", "neg", "pos"]), baseline=False)
    assert model.result_.dev.count == 2
    model.fit(TEXTS[:40], LABELS[:40], baseline=False)
    assert model.result_.dev.count == 4
    for dev, message in (
        (([], []), r"^dev: expected at least one example, got none; leave it out to hold out some of X$"),
        ((["a"], ["pos", "neg"]), "^dev: texts and targets must have the same length"),
        ((["a"], ["pos"], [0]), "^dev: sample_weight: "),
        (([3], ["pos"]), "^dev: "),
    ):
        with pytest.raises((UsageError, DataError), match=message):
            model.fit(TEXTS[:40], LABELS[:40], dev=dev)


def test_training_leaves_the_callers_random_numbers_alone() -> None:
    import torch

    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    TextClassifier(train__max_steps=1, **SMALL).fit(TEXTS[:40], LABELS[:40])
    assert torch.equal(torch.rand(3), expected)


def test_equal_seeds_give_equal_models() -> None:
    def probabilities(seed: int) -> np.ndarray:
        model = TextClassifier(train__max_steps=3, train__seed=seed, **SMALL).fit(TEXTS[:60], LABELS[:60])
        return model.predict_proba(TEXTS[60:70])

    np.testing.assert_array_equal(probabilities(1), probabilities(1))
    assert not np.array_equal(probabilities(1), probabilities(2))


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("a film", ["pos"], UsageError, "X: expected a list or a column with one item a row, got 'a film'"),
        (["a film"], "pos", UsageError, "y: expected a list or a column with one item a row, got 'pos'"),
        (["a"], ["pos", "neg"], UsageError, "must have the same length; got 1 and 2"),
        (
            ["a", None],
            ["pos", "neg"],
            DataError,
            "request 2, field 'text': value is missing; drop the row, or write an empty string",
        ),
        (["a", float("nan")], ["pos", "neg"], DataError, "request 2, field 'text': value is missing"),
        (["a", ("b", "c")], ["pos", "neg"], DataError, "request 2, field 'text': expected text, got tuple"),
        (["a", 7], ["pos", "neg"], DataError, "request 2, field 'text': expected text, got int 7"),
        (["a", "b"], [0, "pos"], DataError, "classes of mixed types: int (first 0, target 1), str"),
        ([""] * 30, ["pos", "neg"] * 15, DataError, "no text has a word"),
        (["a", "b"], ["pos", None], DataError, "target 2: the class is missing (None)"),
        (["a", "b"], ["pos", "pos"], DataError, "at least two different labels"),
        (["a", "b"], ["pos", "neg"], DataError, "2 usable rows are too few"),
        ([], [], DataError, "at least two different labels"),
    ],
)
def test_wrong_training_input_is_named(X, y, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        TextClassifier(**SMALL).fit(X, y)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a", "b"], [1.0, 2.0], "request 1: expected a pair (premise, hypothesis), got 'a'"),
        ([("a", None)] * 2, [1.0, 2.0], "request 1, field 'hypothesis': value is missing"),
        ([("a", "b", "c")] * 2, [1.0, 2.0], "request 1: expected a pair"),
        ([("a", "b")] * 2, ["1", "2"], "target 1: expected a number, got '1'"),
        ([("a", "b")] * 2, [1.0, float("nan")], "target 2: expected a number, got nan"),
    ],
)
def test_wrong_pairs_and_scores_are_named(X, y, message: str) -> None:
    with pytest.raises(DataError) as caught:
        PairScorer(**SMALL).fit(X, y)
    assert message in str(caught.value)


def test_wrong_requests_are_named(texts: TextClassifier, scorer: PairScorer) -> None:
    for requests, error, message in (
        ("a film", UsageError, "X: expected a list"),
        ([("a", "b")], DataError, "request 1, field 'text': expected text, got tuple"),
        (["a", None], DataError, "request 2, field 'text': value is missing"),
    ):
        with pytest.raises(error, match=message):
            texts.predict(requests)
    with pytest.raises(DataError, match="request 1: expected a pair"):
        scorer.predict(["a"])
    with pytest.raises(DataError, match="unknown label 'posi'"):
        texts.evaluate(["a"], ["posi"])


def test_every_wrong_setting_is_reported_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        TextClassifier(train__epoch=3, model__dropout="much").fit(TEXTS[:40], LABELS[:40])
    assert "did you mean 'epochs'" in str(caught.value)
    assert "model.dropout: must be a number" in str(caught.value)


def test_before_training_there_is_no_answer() -> None:
    with pytest.raises(UsageError, match="this PairScorer is not trained: call fit, or use from_pretrained"):
        PairScorer().predict([("a", "b")])


def test_scikit_learn_can_validate_and_search() -> None:
    from sklearn.model_selection import GridSearchCV, cross_val_score

    model = TextClassifier(train__epochs=2, **SMALL)
    scores = cross_val_score(model, TEXTS[:90], LABELS[:90], cv=3)
    assert len(scores) == 3
    assert scores.mean() > 0.6
    search = GridSearchCV(model, {"train__epochs": [1, 2]}, cv=2).fit(TEXTS[:60], LABELS[:60])
    assert search.best_estimator_.config.train.epochs in (1, 2)
    np.testing.assert_array_equal(search.predict(TEXTS[:3]), search.best_estimator_.predict(TEXTS[:3]))


def test_the_defaults_learn_from_a_few_hundred_examples() -> None:
    """The width is smaller than the default, for time; the rest is what a user gets who sets nothing."""
    width = {"model__width": 64, "model__hidden": 64, "train__device": "cpu"}
    texts = TextClassifier(**width).fit(TEXTS[:160], LABELS[:160])
    assert texts.score(TEXTS[240:], LABELS[240:]) > 0.95
    assert texts.config.train.epochs == 3


def test_verbose_shows_progress_and_results_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["good plot and fine acting", "dull plot and poor acting"] * 10
    labels = ["positive", "negative"] * 10
    model = TextClassifier(verbose=True).fit(texts, labels, baseline=False)
    assert "training" in capsys.readouterr().err or model.result_.fit.steps == 0
    assert base.clone(model).verbose
    assert model.get_params()["verbose"] is True
    for each in (
        model.result_,
        model.result_.fit,
        model.evaluate(texts, labels),
        model.predictor,
        model.explain(texts[0]),
    ):
        assert "\n" not in repr(each)
        assert len(repr(each)) < 200, repr(each)
    assert repr(model.explain(texts[0])).startswith("Explanation(positive ")
    assert repr(model.predictor) == "Predictor(linear parts, negative, positive)"
