"""Tests of the training examples that a text resembles: every door gives the same ones, or refuses in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tiny import run, texts, write_csv

import heedful
from heedful.errors import UsageError
from heedful.explain import render_html
from heedful.explain.explainer import explain
from heedful.explain.explanation import Explanation
from heedful.explain.neighbors import Neighbor, neighbors
from heedful.opening import open_model
from heedful.serving.bodies import read_one
from heedful.serving.explaining import with_further
from heedful.serving.request_limits import Refused
from heedful.serving.served_model import open_served
from heedful.storage.model_folder import load_model_folder

ASKED = ["The film was lovely .", "That meal is grim ."]
PLAIN = ("--set=model.sentence=none", "--set=model.wide=linear", "--no-baseline", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of linear parts that keeps its texts."""
    root = tmp_path_factory.mktemp("neighbors")
    table = write_csv(root / "text.csv", texts()[:80], ("text", "label"))
    made = run("train", table, "--keep-examples", "--out", root / "run", "--set=data.few_rows=1000", *PLAIN)
    assert made.code == 0, made.err
    return root / "run"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A small network beside a linear part, from Python."""
    X, y = zip(*texts()[:60], strict=True)
    model = heedful.TextClassifier(
        keep_examples="texts",
        data__few_rows=0,
        model__sentence="none",
        model__width=8,
        model__hidden=8,
        train__epochs=2,
        train__least_steps=4,
        text__vectors="",
    )
    return model.fit(list(X), list(y), baseline=False)


def test_a_training_text_resembles_itself_most_and_its_words_say_why(folder):
    text, label = texts()[5]
    first, *others = neighbors(open_model(folder), [text], 3)[0]
    assert (first.texts, first.label, first.row) == ((text,), label, 7)  # the header is row 1
    assert first.similarity == pytest.approx(1, abs=1e-3)
    assert [each.similarity for each in others] == sorted((each.similarity for each in others), reverse=True)
    heavy = [word for word, _ in first.shared]
    assert heavy[0] in text.lower().split()
    assert heavy[0] not in ("the", ".", ",")


def test_both_engines_and_python_give_the_same(folder, network, tmp_path):
    network.save_pretrained(tmp_path / "model")
    for place in (folder, tmp_path / "model"):
        one, other = (neighbors(open_model(place, engine), ASKED, 4) for engine in ("runtime", "torch"))
        for near, same in zip(one, other, strict=True):
            assert [(each.row, each.label, each.texts) for each in near] == [
                (each.row, each.label, each.texts) for each in same
            ]
            np.testing.assert_allclose([e.similarity for e in near], [e.similarity for e in same], atol=1e-4)
    assert [each.row for each in network.neighbors(ASKED, 4)[0]] == [each.row for each in one[0]]


def test_the_network_counts_beside_the_parts(network):
    kept = network.predictor.examples
    assert kept is not None
    assert kept.network > 0
    assert len(kept) == len(network.result_.predictor.examples)


def test_the_commands_print_them(folder):
    (line,) = run("predict", folder, "--text", ASKED[0], "--neighbors", 2).out.splitlines()
    near = neighbors(open_model(folder), ASKED[:1], 2)[0]
    assert f"row {near[1].row}" in line.split("\t")[-1]
    record = json.loads(run("predict", folder, "--text", ASKED[0], "--neighbors", 2, "--json").out)
    assert record["neighbors"] == [each.as_dict() for each in near]
    shown = run("explain", folder, "--text", ASKED[0]).out
    assert "Because it resembles" in shown
    assert f"row {near[0].row}" in shown
    assert "Because it resembles" not in run("explain", folder, "--text", ASKED[0], "--neighbors", 0).out


def test_the_record_and_the_page_have_them(folder):
    shown = explain(open_model(folder), "<b>lovely film</b>")
    assert len(shown.neighbors) == 3
    again = Explanation.from_dict(json.loads(json.dumps(shown.to_dict())))
    assert [each.row for each in again.neighbors] == [each.row for each in shown.neighbors]
    hostile = Neighbor(0.5, 3, "<script>", ("<i>one</i>",), (("<u>", 0.5),))
    page = render_html(Explanation(shown.sides, shown.labels, shown.probabilities, neighbors=(hostile,)))
    assert "<script>" not in page
    assert "&lt;i&gt;one" in page


def test_the_server_shows_them_only_when_asked(folder):
    served = open_served(folder)
    shown = served.explain(ASKED[0])
    assert shown.neighbors == ()
    asked = read_one({"text": ASKED[0], "neighbors": 2}, pair=False)
    assert len(with_further(served, shown, asked.options).neighbors) == 2
    for wrong in (-1, 101, True, "3", 2.5, None):
        with pytest.raises(Refused, match="neighbors"):
            read_one({"text": ASKED[0], "neighbors": wrong}, pair=False)


def test_rows_alone_keep_no_text(tmp_path):
    table = write_csv(tmp_path / "text.csv", texts()[:40], ("text", "label"))
    made = run(
        *("train", table, "--keep-examples", "rows", "--out", tmp_path / "run", "--set=data.few_rows=1000"),
        *PLAIN,
    )
    assert made.code == 0, made.err
    model = tmp_path / "run" / "model"
    assert "without the texts" in (model / "README.md").read_text()
    assert not any("texts" in name for name in load_model_folder(model).state if name.startswith("examples."))
    content = b"".join(path.read_bytes() for path in model.iterdir())
    assert not any(text.encode() in content for text, _ in texts()[:40])
    (near,) = neighbors(open_model(model), [texts()[0][0]], 1)
    assert (near[0].row, near[0].texts, near[0].shared) == (2, (), ())


def test_the_card_says_that_texts_are_in_the_folder(folder):
    assert "holds 80 of the training examples" in (folder / "model" / "README.md").read_text()


def test_a_page_of_a_model_holds_no_training_text(folder, tmp_path):
    made = run("export", folder, "--page", tmp_path / "page.html")
    if made.code == 0:
        assert texts()[0][0] not in (tmp_path / "page.html").read_text()


def test_a_text_without_words_resembles_nothing(folder):
    assert neighbors(open_model(folder), ["", "   "], 3) == [(), ()]
    (near,) = neighbors(open_model(folder), [" ".join(["lovely"] * 300)], 100)
    assert 0 < len(near) <= 80


@pytest.mark.parametrize("count", [0, 101, True, 2.0, "3"])
def test_a_number_out_of_range_is_refused(folder, count):
    with pytest.raises(UsageError, match="1 to 100"):
        neighbors(open_model(folder), ASKED, count)


def test_a_model_that_keeps_nothing_refuses_in_one_line(tmp_path):
    table = write_csv(tmp_path / "text.csv", texts()[:40], ("text", "label"))
    assert run("train", table, "--out", tmp_path / "run", "--set=data.few_rows=1000", *PLAIN).code == 0
    for command in ("predict", "explain"):
        found = run(command, tmp_path / "run", "--text", "a film", "--neighbors", 3)
        assert found.code != 0
        assert found.err.count("\n") == 1
        assert "--keep-examples" in found.err
    many = run(
        "predict", tmp_path / "run", "--input", table, "--jobs", 1, "--output", tmp_path, "--neighbors", 3
    )
    assert "--neighbors" in many.err


def test_what_does_not_fit_is_one_line(tmp_path):
    table = write_csv(tmp_path / "text.csv", texts()[:40], ("text", "label"))
    found = run("train", "--keep-examples", table)
    assert found.code != 0
    assert "expected texts or rows" in found.err
    wrong = run("train", table, "--set", "data.keep_examples=all", "--out", tmp_path / "run")
    assert "data.keep_examples" in wrong.err
