"""Learning on: new rows, words and classes are added to a model, whose folder stays as it is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.tiny import run, texts, write_csv

import heedful
from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.opening import open_model
from heedful.run import RunConfig
from heedful.run.learning_on import continued, of_model, with_new_labels
from heedful.storage.manifest import manifest_checksum
from heedful.tasks.prepared import LearnedFrom

PLAIN = ("--no-baseline", "--quiet")
HEADER = ("text", "label")
NEW = [
    (f"Completely blue {noun} .", "color") for noun in ("door", "car", "roof", "boat", "bird", "hat", "cup")
]


def trained(root, name, rows, *more):
    table = write_csv(root / f"{name}.csv", rows, HEADER)
    return run("train", table, "--out", root / name, *more, *PLAIN)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with a model that keeps a part of its examples, and one that keeps all."""
    place = tmp_path_factory.mktemp("on")
    first = (
        "--set=model.sentence=none",
        "--set=model.wide=linear",
        "--set=data.few_rows=1000",
        "--keep-examples",
    )
    assert trained(place, "some", texts()[:60], *first, "--set=data.keep_share=0.2").code == 0
    assert trained(place, "every", texts()[:60], *first).code == 0
    assert trained(place, "none", texts()[:60], *first[:3]).code == 0
    return place


def answers(folder, asked):
    return [answer.label for answer in open_model(folder).predict(asked)]


def accuracy(folder, rows):
    found = answers(folder, [text for text, _ in rows])
    return float(np.mean([answer == label for answer, (_, label) in zip(found, rows, strict=True)]))


@pytest.mark.parametrize("kept", ["some", "every", "none"])
def test_new_rows_and_a_new_class_are_learned_and_the_old_ones_stay(root, kept):
    before = manifest_checksum(root / kept)
    made = trained(root, f"on-{kept}", [*texts()[60:80], *NEW], "--from", root / kept)
    assert made.code == 0, made.err
    assert manifest_checksum(root / kept) == before
    model = open_model(root / f"on-{kept}")
    assert model.labels == ("color", "neg", "pos")
    assert accuracy(root / f"on-{kept}", texts()[100:200]) >= accuracy(root / kept, texts()[100:200]) - 0.02
    assert answers(root / f"on-{kept}", ["Completely blue chair .", "Completely blue pen ."]) == ["color"] * 2
    card = (root / f"on-{kept}" / "model" / "README.md").read_text()
    assert f"It began with `{root / kept}`" in card
    assert "27 new rows" in card
    if kept != "none":
        assert model.metrics["training_rows"] == 87
        assert len(model.examples) == {"some": 12 + 5, "every": 87}[kept]


def test_all_kept_rows_give_the_model_of_training_at_once(root):
    every = "--set=data.choose_again=1"
    assert trained(root, "later", texts()[60:80], "--from", root / "every", every).code == 0
    made = trained(
        root,
        "once",
        [*texts()[60:80], *texts()[:60]],
        *("--set=model.sentence=none",),
        "--set=data.few_rows=1000",
    )
    assert made.code == 0
    asked = [text for text, _ in texts()[100:130]]
    one, other = (open_model(root / name).logits(asked) for name in ("later", "once"))
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_both_engines_answer_alike_after_learning_on(root):
    assert trained(root, "engines", [*texts()[60:70], *NEW], "--from", root / "some").code == 0
    asked = [text for text, _ in texts()[100:120]]
    one, other = (open_model(root / "engines", engine).logits(asked) for engine in ("runtime", "torch"))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_what_cannot_learn_on_is_one_line(root, tmp_path):
    renamed = trained(
        root, "renamed", [("a fine film", "Pos"), ("a dull film", "neg")], "--from", root / "some"
    )
    assert "'Pos'" in renamed.err
    assert "'pos'" in renamed.err
    cut = trained(root, "cut", texts()[:9], "--from", root / "some", "--set=text.tokenizer=whitespace")
    assert "text.tokenizer='whitespace'" in cut.err
    place = trained(root, "none", texts()[:9], f"--set=data.learn_from={root / 'none'}", "--overwrite")
    assert "data.learn_from" in place.err
    same = trained(root, "some", texts()[:9], "--from", root / "some", "--overwrite")
    assert "--from" in same.err
    bare = run("train", "--from", root / "some")
    assert "name the new rows" in bare.err
    missing = run("train", root / "some.csv", "--from", tmp_path / "nothing")
    assert missing.code != 0
    for each in (renamed, cut, same, place, bare, missing):
        assert each.code != 0
        assert each.err.strip().count("\n") == 0 or each.err.strip().splitlines()[-1].startswith("heedful: ")
        assert "Traceback" not in each.err


def test_another_task_is_refused():
    before = LearnedFrom("runs/mine", SimpleNamespace(task="text"))
    with pytest.raises(UsageError, match=r"runs/mine: is a model of the task 'text'.*'pair'"):
        continued(RunConfig(model=ModelConfig(task="pair")), None, before)


@pytest.mark.parametrize("task", ["labels", "number", "relatedness", "pair-number"])
def test_models_that_answer_no_class_are_refused(task):
    with pytest.raises(UsageError, match="does not learn on"):
        of_model(SimpleNamespace(task=task, noun="something"), "runs/mine")


def test_labels_are_those_of_both():
    assert with_new_labels(("b", "d"), ("d", "b"), "x") == ("b", "d")
    assert with_new_labels(("b", "d"), ("c",), "x") == ("b", "c", "d")
    assert with_new_labels(("+", "-"), ("?",), "x") == ("+", "-", "?")


def test_partial_fit_learns_on_in_memory():
    rows = texts()[:50]
    model = heedful.TextClassifier(
        keep_examples="texts", data__keep_share=0.2, model__sentence="none", text__vectors=""
    )
    model.partial_fit([text for text, _ in rows], [label for _, label in rows])
    model.partial_fit(
        [text for text, _ in [*texts()[50:60], *NEW]], [label for _, label in [*texts()[50:60], *NEW]]
    )
    assert model.classes_.tolist() == ["color", "neg", "pos"]
    asked = texts()[100:160]
    assert np.mean(model.predict([text for text, _ in asked]) == [label for _, label in asked]) > 0.9
    assert model.predict(["Completely blue chair ."]) == ["color"]
    model.set_params(keep_examples="none").fit(
        [text for text, _ in rows], [label for _, label in rows], baseline=False
    )
    assert model.classes_.tolist() == ["neg", "pos"]


def test_a_new_class_may_come_alone():
    rows = texts()[:50]
    model = heedful.TextClassifier(
        keep_examples="texts", data__keep_share=0.2, model__sentence="none", text__vectors=""
    )
    model.partial_fit([text for text, _ in rows], [label for _, label in rows])
    model.partial_fit([text for text, _ in NEW], [label for _, label in NEW])
    asked = texts()[100:160]
    assert np.mean(model.predict([text for text, _ in asked]) == [label for _, label in asked]) > 0.9
    assert model.predict(["Completely blue chair ."]) == ["color"]


def test_another_spelling_of_a_class_is_refused():
    rows = texts()[:40]
    X, y = [text for text, _ in rows], [label for _, label in rows]
    model = heedful.TextClassifier(model__sentence="none", text__vectors="").partial_fit(X, y)
    with pytest.raises(UsageError, match="'POS'"):
        model.partial_fit(X[:8], ["POS"] * 4 + ["neg"] * 4)


PLAIN_FIT = {"model__sentence": "none", "text__vectors": "", "model__wide": "linear"}


def test_kept_examples_count_as_much_as_when_they_were_learned(tmp_path):
    """The heavy rows of the first call are heavy in the second one too, from memory and from a folder."""
    X = [text for text, _ in texts()[:80]]
    y = [label for _, label in texts()[:80]]
    turned = [*("pos" if label == "neg" else "neg" for label in y[:20]), *y[20:]]
    weights = np.r_[np.full(20, 50.0), np.ones(60)]
    once = heedful.TextClassifier(**PLAIN_FIT, data__few_rows=1000)
    once.fit(
        [*X[40:], *X[:40]], [*turned[40:], *turned[:40]], sample_weight=np.roll(weights, 40), baseline=False
    )
    model = heedful.TextClassifier(**PLAIN_FIT, keep_examples="texts", data__choose_again=1)
    model.partial_fit(X[:40], turned[:40], sample_weight=weights[:40])
    model.save_pretrained(tmp_path / "model")
    again = heedful.TextClassifier.from_pretrained(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(X[40:], turned[40:])
        np.testing.assert_allclose(each.predict_proba(X), once.predict_proba(X), atol=1e-3)
    unweighted = heedful.TextClassifier(**PLAIN_FIT, keep_examples="texts")
    unweighted.partial_fit(X[:40], turned[:40]).partial_fit(X[40:], turned[40:])
    assert np.abs(unweighted.predict_proba(X) - once.predict_proba(X)).max() > 0.1


def test_a_share_of_kept_examples_keeps_its_own_weights():
    X, y = [text for text, _ in texts()[:80]], [label for _, label in texts()[:80]]
    weights = np.arange(1, 41, dtype=float)
    model = heedful.TextClassifier(**PLAIN_FIT, keep_examples="texts", data__keep_share=0.25)
    model.partial_fit(X[:40], y[:40], sample_weight=weights)
    first = model.predictor_.examples
    np.testing.assert_allclose(first.weights, weights[first.rows - 1], rtol=1e-5)
    model.partial_fit(X[40:], y[40:])
    second = model.predictor_.examples
    assert len(second) == 20
    assert sorted(second.weights.round(3)) == sorted([*first.weights.round(3), *np.ones(10)])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"y": None}, "y is None"),
        ({"y": 3}, "y: expected a list"),
        ({"X": [], "y": []}, "got 0"),
        ({"classes": "posneg"}, "classes: expected a list"),
        ({"classes": 3}, "classes: expected a list"),
        ({"sample_weight": "one class"}, "a classifier needs two"),
    ],
)
def test_partial_fit_refuses_what_fit_refuses(asked, said):
    X, y = [text for text, _ in texts()[:20]], [label for _, label in texts()[:20]]
    given = {"X": X, "y": y, **asked}
    if "sample_weight" in given:
        given["sample_weight"] = [float(label == "pos") for label in y]
    with pytest.raises(UsageError, match=said):
        heedful.TextClassifier(**PLAIN_FIT).partial_fit(**given)


@pytest.mark.parametrize("options", [{"features": ["price"]}, {"model__task_options": {"reject": 0.9}}])
def test_partial_fit_says_at_once_what_it_does_not_have(options):
    with pytest.raises(UsageError, match=r"TextClassifier\.partial_fit: learning on"):
        heedful.TextClassifier(**PLAIN_FIT, **options).partial_fit([{"text": "a", "price": 1}], ["b"])
