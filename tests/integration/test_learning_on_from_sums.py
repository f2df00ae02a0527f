"""Models with features of whole texts learn on from sums over their rows, which a folder keeps."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.tiny import run, texts, write_csv

import heedful
from heedful.errors import UsageError
from heedful.opening import open_model
from heedful.tasks import load_model
from heedful.tasks.sentences.stored_sums import BY_SUMS

pytestmark = pytest.mark.english  # without word vectors there are no features of whole texts, and no sums

PLAIN = ("--no-baseline", "--quiet")
SMALL = ("--set=model.sentence=mean", "--set=model.wide=linear", "--set=data.few_rows=1000")
NEW = [
    (f"Completely blue {noun} .", "color") for noun in ("door", "car", "roof", "boat", "bird", "hat", "cup")
]


def trained(root, name, rows, *more):
    table = write_csv(root / f"{name}.csv", rows, ("text", "label"))
    made = run("train", table, "--out", root / name, *more, *PLAIN)
    assert made.code == 0, made.err
    return made


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with a model that keeps sums, and one that learned on from it."""
    place = tmp_path_factory.mktemp("sums")
    trained(place, "first", texts()[:60], *SMALL)
    trained(place, "second", [*texts()[60:80], *NEW], "--from", place / "first")
    return place


def right(folder, rows):
    found = [answer.label for answer in open_model(folder).predict([text for text, _ in rows])]
    return np.mean([one == label for one, (_, label) in zip(found, rows, strict=True)])


def test_rows_that_are_gone_count_as_much_as_new_ones(root):
    first, second = (load_model(root / name).about.sums for name in ("first", "second"))
    assert (first.rows, second.rows) == (60, 87)
    assert second.classes[0] == 7
    assert second.features == (("mean of word vectors", 300),)
    assert set(first.numbers) <= set(second.numbers)
    assert right(root / "second", texts()[100:160]) > 0.9
    assert right(root / "second", [("Completely blue chair .", "color")]) == 1
    card = (root / "second" / "model" / "README.md").read_text()
    assert "by the sums over them" in card
    assert BY_SUMS in open_model(root / "second").metrics["parts"]


def test_both_engines_answer_alike(root):
    asked = [text for text, _ in texts()[100:110]]
    one, other = (open_model(root / "second", engine).logits(asked) for engine in ("runtime", "torch"))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_the_order_of_installments_changes_nothing_but_the_settings(root):
    trained(root, "third", texts()[80:90], "--from", root / "second")
    trained(root, "other", texts()[80:90], "--from", root / "first")
    trained(root, "fourth", [*texts()[60:80], *NEW], "--from", root / "other")
    one, other = (load_model(root / name).about.sums for name in ("third", "fourth"))
    np.testing.assert_allclose(one.products, other.products, atol=1e-3 * np.diagonal(one.products).max())
    np.testing.assert_allclose(one.totals, other.totals, atol=1e-4)


def test_a_class_may_come_alone_without_any_old_row(root):
    trained(root, "alone", NEW, "--from", root / "first")
    assert right(root / "alone", texts()[100:160]) > 0.9
    assert right(root / "alone", [("Completely blue chair .", "color")]) == 1


def test_other_features_are_said_and_leave_the_weights(root, caplog):
    table = write_csv(root / "more.csv", texts()[60:80], ("text", "label"))
    made = run(
        "train",
        table,
        "--out",
        root / "no",
        "--from",
        root / "first",
        "--set=model.sentence=none",
        *PLAIN[:1],
    )
    assert made.code == 0, made.err
    assert "keeps sums of mean of word vectors, and no features are read now" in caplog.text
    assert load_model(root / "no").about.sums is None


def test_nothing_is_kept_where_that_is_asked_for_and_nothing_exported(root):
    trained(root, "bare", texts()[:40], *SMALL, "--set=data.keep_sums=false")
    assert load_model(root / "bare").about.sums is None
    assert run("export", root / "first", "--float16", root / "small").code == 0
    assert "sums" not in json.loads((root / "small" / "config.json").read_text())
    assert load_model(root / "first").about.sums is not None


def test_partial_fit_learns_by_sums_in_memory():
    rows = texts()[:50]
    model = heedful.TextClassifier(model__sentence="mean")
    model.partial_fit([text for text, _ in rows], [label for _, label in rows])
    model.partial_fit([text for text, _ in NEW], [label for _, label in NEW])
    assert model.predictor.about.sums.rows == 57
    assert model.predict(["Completely blue chair ."]) == ["color"]


def test_kept_old_rows_choose_beside_a_class_that_comes_alone(root):
    trained(root, "keeping", texts()[:60], *SMALL, "--keep-examples", "--set=data.keep_share=0.2")
    trained(root, "after", NEW, "--from", root / "keeping")
    without, kept = (load_model(root / name).about.sums for name in ("alone", "after"))
    np.testing.assert_allclose(kept.classes, without.classes)  # they are summed once
    np.testing.assert_allclose(kept.totals, without.totals, atol=1e-4)
    first = load_model(root / "first").about.sums.losses
    said = (own - 0.75 * first for own in (without.losses, kept.losses))
    of_new, of_both = (each.max() - each.min() for each in said)
    assert of_both > 1.2 * of_new  # the old rows count in the choice


def test_sums_with_other_figures_of_settings_are_refused_in_one_line():
    rows = texts()[:40]
    model = heedful.TextClassifier(text__vectors="auto", model__sentence="mean")
    model.partial_fit([text for text, _ in rows], [label for _, label in rows])
    about = model.predictor_.about
    model.predictor_.about = replace(about, sums=replace(about.sums, losses=about.sums.losses[:3]))
    with pytest.raises(UsageError, match="have 3 figures of settings"):
        model.partial_fit(["a fine film", "a dull film"], ["pos", "neg"])


def test_rows_that_are_too_many_to_be_read_at_once_have_the_same_sums(root, monkeypatch):
    """From about 8,000 texts on their features lie in blocks, also those of the dev split."""
    network = (
        "--set=data.few_rows=0",
        "--set=model.encoder=embedding",
        "--set=model.width=8",
        "--set=model.hidden=8",
    )
    more = (*SMALL[:2], *network, "--set=train.epochs=1", "--set=train.least_steps=1")
    trained(root, "at-once", texts()[:60], *more)
    trained(root, "at-once-on", texts()[60:100], "--from", root / "at-once", *more)
    monkeypatch.setattr("heedful.tasks.sentences.principal_rows.MOST_BYTES", 0)
    monkeypatch.setattr("heedful.tasks.sentences.principal_rows.MOST_DIRECTIONS", 1)
    trained(root, "in-blocks", texts()[:60], *more)
    trained(root, "in-blocks-on", texts()[60:100], "--from", root / "in-blocks", *more)
    for one, other in (("at-once", "in-blocks"), ("at-once-on", "in-blocks-on")):
        first, second = (load_model(root / name).about.sums for name in (one, other))
        assert first.rows == second.rows
        assert np.array_equal(first.numbers, second.numbers)
        assert second.totals == pytest.approx(first.totals, rel=1e-6, abs=1e-6)
        assert second.products == pytest.approx(first.products, rel=1e-6, abs=1e-6)
