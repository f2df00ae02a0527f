"""Classes as paths at the doors that know them: both commands, the estimator and the runtime answer alike."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful
import tiny
from browsing import Opened, browser, launch, opened, windows  # noqa: F401
from heedful import BatchPredictor, TextClassifier
from heedful.errors import UsageError
from heedful_lab.repository import javascript_package
from heedful_lab.repository.javascript_equality import in_node
from served import in_process

WORDS = {"sport/ball": "goal", "sport/chess": "rook", "food": "soup", "art": "film"}
TEXTS = [
    f"{how} {word} {when}"
    for word in WORDS.values()
    for how in ("a", "the")
    for when in ("now", "then", "here")
]
LABELS = [label for label in WORDS for _ in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    model = TextClassifier(text__vectors="", model__sentence="none").fit(
        TEXTS * 2, LABELS * 2, baseline=False
    )
    model.save_pretrained(root / "model")
    tiny.write_csv(root / "new.csv", list(zip(TEXTS, LABELS, strict=True)), ["text", "label"])
    return root


def test_every_door_stops_at_the_same_node(folder: Path) -> None:
    asked = ["the goal now", "goal or rook"]
    said = [
        tiny.run("predict", folder / "model", text, "--tree", "/", "--at-least", "0.7", "--json").json()
        for text in asked
    ]
    assert said[0]["label"] == "sport/ball"
    assert said[1]["label"] == "sport"
    assert said[1]["parents"]["sport"] == pytest.approx(
        said[1]["probabilities"]["sport/ball"] + said[1]["probabilities"]["sport/chess"]
    )
    model = heedful.from_pretrained(folder / "model")
    assert [answer.label for answer in model.in_tree(asked, at_least=0.7)] == ["sport/ball", "sport"]
    plain = heedful.runtime.load(folder / "model").in_tree("/", 0.7)
    assert [answer.label for answer in plain.predict(asked)] == ["sport/ball", "sport"]


ASKED = ["the goal now", "goal or rook", "a soup", "the film then"]


def wanted(folder: Path, at_least: float | None) -> list[dict[str, Any]]:
    found = heedful.runtime.load(folder / "model").in_tree("/", at_least).predict(ASKED)
    return [answer.as_dict() for answer in found]


@pytest.mark.parametrize("at_least", [None, 0.7])
def test_the_server_answers_with_parents(folder: Path, at_least: float | None) -> None:
    pytest.importorskip("starlette")
    with in_process({"m": folder / "model"}) as app:
        body = {"texts": ASKED, "tree": "/", "at_least": at_least}
        found = app.ask("/v1/predict", body).json()["answers"]
        assert [{k: v for k, v in each.items() if k != "row"} for each in found] == json.loads(
            json.dumps(wanted(folder, at_least))
        )
        for wrong, field, said in (
            ({"tree": ">"}, "tree", "no class of this model has '>' in its name"),
            ({"tree": ""}, "tree", "got an empty text"),
            ({"tree": 3}, "tree", "got a number"),
            ({"at_least": 0.5}, "at_least", 'add "tree"'),
            ({"tree": "/", "at_least": 2}, "at_least", "at most 1; got 2"),
            ({"tree": "/", "at_least": True}, "at_least", "got true or false"),
        ):
            for path, asked in (("/v1/predict", {"texts": ["x"]}), ("/v1/explain", {"text": "x"})):
                reply = app.ask(path, {**asked, **wrong})
                assert reply.status == 422
                assert reply.json()["error"]["field"] == field
                assert said in reply.json()["error"]["message"]


def test_many_files_have_nodes_parents_and_sets(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": ASKED}), tmp_path / "new.parquet")
    options = ("--tree", "/", "--at-least", "0.7", "--coverage", "0.8", "--jobs", 1)
    asked = ("predict", folder / "model", "--input", tmp_path / "new.parquet", "--output", tmp_path / "out")
    made = tiny.run(*asked, *options)
    assert made.code == 0, made.err
    assert "a share of about 0.8 of new texts" in made.err
    rows = parquet.read_table(next((tmp_path / "out").glob("*.parquet"))).to_pylist()
    for row, theirs in zip(rows, wanted(folder, 0.7), strict=True):
        assert row["prediction"] == theirs["label"]
        assert dict(zip(row["parents"], row["parent_probabilities"], strict=True)) == theirs["parents"]
        assert row["set"]
    again = tiny.run(*asked, "--tree", "/", "--jobs", 1)  # other predictions do not join them
    assert again.code == 2
    assert "choose another --output" in again.err
    batch: Any = BatchPredictor(folder / "model", tree="/", at_least=0.7, coverage=0.8)({"text": ASKED})
    assert batch["prediction"] == [row["prediction"] for row in rows]
    assert batch["set"] == [row["set"] for row in rows]
    assert "parents array<string>" in BatchPredictor(folder / "model", tree="/").spark_schema
    with pytest.raises(UsageError, match="add the tree"):
        BatchPredictor(folder / "model", at_least=0.7)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
@pytest.mark.parametrize("at_least", [None, 0.7])
def test_javascript_answers_with_the_same_nodes(folder: Path, tmp_path: Path, at_least: float | None) -> None:
    package, file = tmp_path / "node_modules" / "heedful", tmp_path / "m.heedful"
    javascript_package.write(package)
    more = () if at_least is None else ("--at-least", at_least)
    assert tiny.run("export", folder / "model", "--javascript", file, "--tree", "/", *more).code == 0
    for mine, theirs in zip(
        in_node(package, file, [[text] for text in ASKED]), wanted(folder, at_least), strict=True
    ):
        assert mine["label"] == theirs["label"]
        assert mine["parents"] == pytest.approx(theirs["parents"], abs=0.01)
        children = sum(share for name, share in mine["probabilities"].items() if name.startswith("sport/"))
        assert mine["parents"]["sport"] == pytest.approx(children)


def test_an_onnx_file_says_which_classes_a_parent_adds_up(folder: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    file = tmp_path / "m.onnx"
    assert tiny.run("export", folder / "model", "--onnx", file, "--tree", "/").code == 0
    said = {each.key: each.value for each in onnx.load(file).metadata_props}
    tree, labels = json.loads(said["tree"]), json.loads(said["labels"])
    assert tree["separator"] == "/"
    assert {name: [labels[place] for place in below] for name, below in tree["parents"].items()} == {
        "sport": ["sport/ball", "sport/chess"]
    }
    answer = wanted(folder, None)[0]
    shares = np.array([answer["probabilities"][label] for label in labels])
    assert shares[tree["parents"]["sport"]].sum() == pytest.approx(answer["parents"]["sport"])


def log_odds(answer: dict[str, Any], name: str) -> float:
    share = answer["parents"].get(name, answer["probabilities"].get(name))
    return float(np.log(share / (1 - share)))


def adds_up(said: dict[str, Any], answer: dict[str, Any]) -> None:
    """Contributions add up to the log-odds of the class or the parent that they are of."""
    total = said["start"] + sum(map(sum, said["values"]))
    assert total == pytest.approx(said["whole"], abs=1e-6)
    assert said["whole"] == pytest.approx(log_odds(answer, said["label"]), abs=1e-6)


@pytest.mark.parametrize("at_least", [None, 0.7])
def test_every_door_explains_the_node_that_it_answers(folder: Path, at_least: float | None) -> None:
    pytest.importorskip("starlette")
    from heedful.explain import Explanation
    from heedful.explain.explainer import explain

    model, options = heedful.runtime.load(folder / "model").in_tree("/", at_least), ["--tree", "/"]
    body: dict[str, Any] = {"tree": "/"}
    if at_least is not None:
        options += ["--at-least", str(at_least)]
        body["at_least"] = at_least
    estimator: Any = heedful.from_pretrained(folder / "model")
    with in_process({"m": folder / "model"}) as app:
        for text, answer in zip(ASKED, wanted(folder, at_least), strict=True):
            found: Any = explain(model, text).to_dict()
            assert found["attribution"]["label"] == answer["label"] == found["parents"]["answered"]
            assert found["parents"]["probabilities"] == pytest.approx(answer["parents"])
            for said in (found["attribution"], *found["others"]):
                adds_up(said, answer)
                assert said["probability"] == pytest.approx(
                    answer["parents"].get(said["label"], answer["probabilities"].get(said["label"]))
                )
            assert {said["label"] for said in (found["attribution"], *found["others"])} == {*WORDS, "sport"}
            again = Explanation.from_dict(json.loads(json.dumps(found)))
            assert again.to_dict() == json.loads(json.dumps(found))
            served = app.ask("/v1/explain", {"text": text, **body}).json()["explanation"]
            assert served == json.loads(json.dumps(found))
            assert estimator.explain(text, tree="/", at_least=at_least).predicted == answer["label"]
        said = tiny.run("explain", folder / "model", ASKED[1], *options, "--json").json()
        assert said == json.loads(json.dumps(explain(model, ASKED[1]).to_dict()))


def test_an_explained_parent_is_shown_in_the_terminal_and_on_a_page(folder: Path, tmp_path: Path) -> None:
    model, asked = folder / "model", ("--tree", "/", "--at-least", "0.7")
    made = tiny.run("explain", model, ASKED[1], *asked, "--html", tmp_path / "why.html")
    assert made.out.startswith("sport 99.7 %, the deepest of at least 70.0 %")
    assert "parents: sport 99.7 %" in made.out
    assert "Why “sport”" in made.out
    page = (tmp_path / "why.html").read_text()
    assert "<th>parent</th>" in page
    assert "Why “sport”" in page
    why = tiny.run("explain", model, "a soup", "--tree", "/", "--why", "sport").out
    assert "Why “sport”" in why
    both = tmp_path / "other"
    shutil.copytree(model, both)
    assert (
        tiny.run("explain", model, "goal or rook", *asked, "--compare", both).out.count("parents: sport") == 2
    )


def test_other_methods_explain_a_parent_too(folder: Path) -> None:
    from heedful.explain.explainer import explain
    from heedful.explain.methods import MethodChoice

    model = heedful.runtime.load(folder / "model").in_tree("/", 0.7)
    found = explain(model, ASKED[1], MethodChoice("shapley"))
    assert found.attribution is not None
    assert found.attribution.label == "sport"
    said: Any = found.to_dict()
    adds_up(said["attribution"], wanted(folder, 0.7)[1])


def test_a_parent_of_every_class_is_explained_by_a_leaf(tmp_path: Path) -> None:
    labels = [f"all/{label}" for label in LABELS]
    model = TextClassifier(text__vectors="", model__sentence="none").fit(TEXTS, labels, baseline=False)
    found: Any = model.explain("goal or rook", tree="/", at_least=0.99999)
    assert found.predicted == "all"
    assert found.attribution.label in labels
    assert "all" not in {each.label for each in found.others}
    with pytest.raises(UsageError, match="the parent 'all' has every class of this model"):
        model.explain("goal or rook", tree="/", why="all")
    with pytest.raises(UsageError, match="at least: says where an answer in a tree stops"):
        model.explain("goal or rook", at_least=0.9)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_javascript_explains_the_same_nodes(folder: Path, tmp_path: Path) -> None:
    from heedful.explain.explainer import explain

    package, file = tmp_path / "node_modules" / "heedful", tmp_path / "m.heedful"
    javascript_package.write(package)
    assert (
        tiny.run("export", folder / "model", "--javascript", file, "--tree", "/", "--at-least", "0.7").code
        == 0
    )
    model = heedful.runtime.load(folder / "model").in_tree("/", 0.7)
    for mine, text in zip(in_node(package, file, [[text] for text in ASKED], "explain"), ASKED, strict=True):
        theirs = explain(model, text)
        assert theirs.attribution is not None
        said = mine["contributions"]
        assert said[0]["label"] == theirs.attribution.label == mine["prediction"]["label"]
        assert {each["label"] for each in said} == {*WORDS, "sport"}
        assert said[0]["words"][0] == pytest.approx(theirs.attribution.values[0].tolist(), abs=0.05)
        for each in said:
            assert each["base"] + sum(each["words"][0]) == pytest.approx(each["sum"], abs=1e-6)
            adds_up(
                {
                    "start": each["base"],
                    "values": each["words"],
                    "whole": each["sum"],
                    "label": each["label"],
                },
                mine["prediction"],
            )


def test_levels_are_measured(folder: Path) -> None:
    found = tiny.run("evaluate", folder / "model", folder / "new.csv", "--tree", "/", "--json").json()["tree"]
    assert [level["nodes"] for level in found["levels"]] == [3, 4]
    assert found["levels"][0]["accuracy"] == 1.0


def test_what_does_not_fit_is_refused(folder: Path) -> None:
    for more, part in (
        (("--tree", ">"), "no class of this model has '>' in its name"),
        (("--at-least", "0.5"), "add --tree"),
        (("--tree", "/", "--at-least", "2"), "at most 1; got 2.0"),
    ):
        for command in ("predict", "explain"):
            result = tiny.run(command, folder / "model", "x", *more)
            assert result.code == 2
            assert part in result.err.splitlines()[-1]
    whole = tiny.run("explain", folder / "model", "--all", folder / "new.csv", "--tree", "/")
    assert "leave them out with --all" in whole.err
    numbers = heedful.TextScorer(text__vectors="", model__sentence="none").fit(
        TEXTS, range(24), baseline=False
    )
    with pytest.raises(UsageError, match="tree: expected a model of classes"):
        numbers.predictor.in_tree("/")


def test_a_page_shows_the_parents(folder: Path, tmp_path: Path, opened: Opened) -> None:  # noqa: F811
    page = tmp_path / "page.html"
    assert tiny.run("export", folder / "model", "--page", page, "--tree", "/", "--at-least", "0.7").code == 0
    shown = opened(page)
    shown.fill("textarea", "goal or rook")
    shown.wait_for_selector("#contributions table")
    assert shown.locator("#headline").text_content().startswith("sport")
    assert "parent" in shown.locator("#probabilities").text_content()
    assert "Why “sport”" in shown.locator("#contributions").text_content()
