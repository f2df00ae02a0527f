"""``heedful baselines``: every system on the same splits, kept studies beside them, all pairs tested."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.baselines.board_request import settings_of
from heedful.baselines.library_systems import FastTextBaseline, SpacyBaseline
from heedful.baselines.splits import Split, Splits
from heedful.baselines.systems import System
from heedful.errors import UsageError

LINEAR = [
    "TF-IDF (words 1-2) + logistic regression",
    "TF-IDF (characters 2-5) + linear SVM",
    "NB-SVM (words 1-2)",
    "TF-IDF (words 1-2, characters 2-5) + linear SVM",
]
LIGHT = ["--without", "fastText", "--without", "spaCy", "-q"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_tasks(tmp_path_factory.mktemp("scoreboard") / "data")


@pytest.mark.parametrize("name", ["text", "pair"])
def test_every_pair_of_systems_is_tested_on_the_same_examples(name: str, data: Path) -> None:
    board = tiny.run("baselines", data / f"{name}.toml", "--data", data, *LIGHT, "--json").json()
    assert {row["system"] for row in board["rows"]} == set(LINEAR)
    assert len(board["tests"]) == 6
    assert {test["p_holm"] >= test["p"] for test in board["tests"]} == {True}
    accuracies = [row["metric"] for row in board["rows"]]
    assert accuracies == sorted(accuracies, reverse=True)
    for row in board["rows"]:
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(row["runs"]["train.seed=1"]["right"]), np.uint8))
        assert bits[: board["tested"]].mean() == pytest.approx(row["metric"])
        assert row["interval"][0] <= row["metric"] <= row["interval"][1]
        assert 0 <= row["ece"] <= 1
        assert row["typos"] <= 1
    assert "mean of word vectors" in board["skipped"]
    assert board["skipped"]["fastText (words 1-2)"] == "left out by --without"


def test_scores_are_measured_by_their_correlation(data: Path) -> None:
    few = ["--runs", "1,2", "--examples", "60"]
    board = tiny.run("baselines", data / "score.toml", "--data", data, *LIGHT, *few, "--json").json()
    assert board["metric"] == "pearson"
    assert len(board["rows"]) == 4
    for row in board["rows"]:
        assert row["ece"] is None
        assert row["runs"]["train.seed=1"]["right"] == ""
        assert row["interval"][0] < row["metric"] < row["interval"][1]


def test_networks_are_trained_on_request_and_kept_studies_stand_beside(data: Path, tmp_path: Path) -> None:
    recipe, small = data / "text.toml", ["--set", "train.device=cpu", "--set", "train.epochs=1"]
    study = ["study", recipe, "--seeds", "1,2", "--data", data, "--out", tmp_path / "study", *small, "-q"]
    assert tiny.run(*study, "--no-baseline").code == 0
    command = ["baselines", recipe, "--data", data, "--runs", "1,2", *LIGHT, *small]
    command += ["--with", "embedding", "--study", f"kept={tmp_path / 'study'}", "--examples", "60"]
    board = tiny.run(*command, "--json").json()
    own = {row["system"]: row["kept"] for row in board["rows"] if row["own"]}
    assert own == {"Heedful, embedding": False, "kept": True}
    assert board["examples"] == 60
    assert len(board["tests"]) == 15
    shown = tiny.run(*command).out
    table = tiny.run(*command, "--markdown").out
    assert all(name in shown and f"| {name} |" in table for name in [*LINEAR, *own])
    first = shown.splitlines()[0]
    best_own = next(row for row in board["rows"] if row["own"])
    if board["rows"][0] is not best_own:
        assert board["rows"][0]["system"] in first, "what beats Heedful comes first"


def test_word_vectors_are_found_in_the_folder_of_the_data(data: Path) -> None:
    words = {word for text, _ in tiny.texts() for word in text.lower().split()}
    lines = "".join(f"{word} {len(word)} {ord(word[0])} 1 0\n" for word in sorted(words))
    (data / "vectors.txt").write_text(lines, encoding="utf-8")
    small = ["--set", "train.device=cpu", "--set", "train.epochs=1", "--set", "model.width=4"]
    vectors = ["--set", "text.vectors=vectors.txt", "--with", "embedding", *small]
    board = tiny.run("baselines", data / "text.toml", "--data", data, *LIGHT, *vectors, "--json").json()
    names = {row["system"] for row in board["rows"]}
    assert names == {*LINEAR, "mean of word vectors + logistic regression", "Heedful, embedding"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere"),
        (["ewt-srl"], "classes or scores"),
        (["text.toml", "--with", "dissan"], "did you mean 'disan'"),
        (["text.toml", "--study", "runs"], "NAME=FOLDER"),
        (["text.toml", "--study", "a=runs"], "holds no run"),
        (["text.toml", "--json", "--markdown"], "give one of them"),
        (["text.toml", "--set", "data.test="], "no test split"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(arguments: list[str], message: str, data: Path) -> None:
    first = data / arguments[0] if arguments[0].endswith(".toml") else arguments[0]
    result = tiny.run("baselines", first, *arguments[1:], "--data", data, "-q")
    assert result.code == 2
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_data_is_a_set_a_recipe_or_a_table(tmp_path: Path) -> None:
    assert settings_of("trec").data.set == "trec"
    assert settings_of("subj").data.set == "subj"
    assert settings_of("sick-e").model.task == "pair"
    assert settings_of("disan-sst2").data.set == "sst-2"
    (tmp_path / "mine.csv").write_text("review,mood\n" + "a long dull film,bad\nso fine a film,good\n" * 4)
    (tmp_path / "mine.tsv").write_text("a\tb\tc\n" + "a dog runs\ta dog moves\t1\na cat\ta dog\t2\n" * 4)
    own = settings_of("mine.csv", ["data.text=review"], tmp_path)
    assert (own.data.train, own.data.text, own.model.task) == ("mine.csv", "review", "text")
    pairs = settings_of("mine.tsv", ["data.premise=a", "data.hypothesis=b", "data.label=c"], tmp_path)
    assert pairs.model.task == "pair"
    scores = settings_of("mine.tsv", ["data.premise=a", "data.hypothesis=b", "data.score=c"], tmp_path)
    assert scores.model.task == "relatedness"
    with pytest.raises(UsageError):
        settings_of("ewt-srl")


OTHERS = [
    ("fasttext", FastTextBaseline(rates=(0.5,), epochs=(25,))),
    ("spacy", SpacyBaseline("bag of words", epochs=4)),
]


@pytest.mark.parametrize(("package", "system"), OTHERS, ids=["fasttext", "spacy"])
@pytest.mark.filterwarnings("ignore")
def test_other_libraries_learn_from_the_same_splits(package: str, system: System) -> None:
    pytest.importorskip(package)
    rows = tiny.texts()
    splits = [
        Split([(text,) for text, _ in rows[a:b]], np.array([int(label == "pos") for _, label in rows[a:b]]))
        for a, b in ((0, 200), (200, 240), (240, 280))
    ]
    model = system.train(Splits("text", ("neg", "pos"), *splits, "invented"))
    outputs = model.outputs(splits[2].texts)
    assert outputs.shape == (len(splits[2]), 2)
    np.testing.assert_allclose(np.exp(outputs).sum(axis=1), 1, atol=1e-3)
    assert np.mean(outputs.argmax(axis=1) == splits[2].gold) > 0.9
    assert model.megabytes > 0
    assert model.chosen


def test_several_data_sets_make_a_board_each_and_none_twice(data: Path, tmp_path: Path) -> None:
    command = ["baselines", data / "text.toml", data / "pair.toml", "--data", data, *LIGHT, "-q"]
    refused = tiny.run(*command)
    assert (refused.code, "--out DIR" in refused.err) == (2, True)
    out = tmp_path / "boards"
    assert tiny.run(*command, "--out", out).code == 0
    assert sorted(path.name for path in out.glob("*.json")) == ["pair.json", "text.json"]
    (out / "pair.json").unlink()
    kept = (out / "text.json").read_bytes()
    again = tiny.run(*command, "--out", out)
    assert again.code == 0
    assert "text.json: exists and is kept" in again.err
    assert (out / "text.json").read_bytes() == kept
    assert json.loads((out / "pair.json").read_text())["metric"] == "accuracy"


def test_a_board_of_other_data_or_options_is_no_board_of_these(tmp_path: Path) -> None:
    data, out = tiny.write_tasks(tmp_path / "data"), tmp_path / "boards"
    command = ["baselines", data / "text.toml", "--data", data, *LIGHT, "--out", out, "-q"]
    assert tiny.run(*command).code == 0
    kept = (out / "text.json").read_bytes()
    other = tiny.run(*command, "--without", "chars")
    assert (other.code, "text.json: was made by other options (without)" in other.err) == (2, True)
    with (data / "text.csv").open("a") as stream:
        stream.write("a further text,pos\n")
    changed = tiny.run(*command)
    assert (changed.code, "text.json: was made of other data; delete it" in changed.err) == (2, True)
    assert changed.err.count("\n") == 1
    assert (out / "text.json").read_bytes() == kept
    former = {name: value for name, value in json.loads(kept).items() if name != "made_of"}
    (out / "text.json").write_text(json.dumps(former))
    assert "does not say of which data" in tiny.run(*command).err
