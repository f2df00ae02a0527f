"""Labels that are likely wrong: found, ranked as cleanlab ranks them, told with the words that speak against them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.errors import ExitCode
from heedful.evaluation.confident_learning import rank_suspects

WORDS = {
    "art": ["film", "song", "novel"],
    "food": ["soup", "meal", "bread"],
    "sport": ["goal", "ball", "race"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Texts of one topic each, four of them with the label of another one."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(120):
        topic = sorted(WORDS)[number % 3]
        rows.append((" ".join(["the", *random.choice(WORDS[topic], 3).tolist()]), topic))
    for place in (3, 30, 61, 100):
        rows[place] = (rows[place][0], sorted(WORDS)[(place + 1) % 3])
    tiny.write_csv(tmp_path / "train.csv", rows, ["text", "topic"])
    return tmp_path


WRONG = {5, 32, 63, 102}
"""Rows of the file, the header counted."""


def test_wrong_labels_are_found_with_the_words_against_them(folder: Path) -> None:
    told = tiny.run("data", "labels", folder / "train.csv", "--column", "label=topic", "--json")
    found = told.json()
    assert {each["row"] for each in found} == WRONG
    assert "4 of 120" in told.err
    for each in found:
        topic = next(
            name
            for name, words in WORDS.items()
            if words[0] in each["texts"][0] or words[1] in each["texts"][0] or words[2] in each["texts"][0]
        )
        assert each["suggestion"] == topic != each["label"]
        assert each["probability"] < each["suggested"]
        strongest, weight = each["against"][0]
        assert set(strongest.split()) & set(WORDS[topic])
        assert weight > 0
    shown = tiny.run("data", "labels", folder / "train.csv", "--column", "label=topic", "--most", "2")
    assert [len(line.split("\t")) for line in shown.out.splitlines()] == [7, 7]
    assert "4 of 120 labels are suspect; 2 are shown" in shown.err
    assert (
        "of 6 labels that were changed on purpose, 5 were suspect (83%), and of the 8 suspects" in shown.err
    )


def test_a_network_finds_them_too(folder: Path) -> None:
    changes = [
        f"--set={each}"
        for each in (
            "model.encoder=embedding", "model.pooling=max", "model.width=16", "model.hidden=16", "model.dropout=0.0",
            "model.wide=none", "train.optimizer.lr=0.02", "train.device=cpu",
        )
    ]  # fmt: skip
    found = tiny.run(
        "data", "labels", folder / "train.csv", "--column", "label=topic", "--recipe", "my-texts", "--folds", "3",
        "--json", *changes,
    ).json()  # fmt: skip
    assert {each["row"] for each in found} & WRONG
    worst = next(each for each in found if each["row"] in WRONG)
    assert all(word in worst["texts"][0].split() for word, _ in worst["against"])


def test_suspects_are_those_of_cleanlab() -> None:
    cleanlab = pytest.importorskip("cleanlab.filter")
    for seed in range(5):
        random = np.random.default_rng(seed)
        probabilities = random.dirichlet(np.full(4, 0.4), 300)
        gold = np.array([random.choice(4, p=0.6 * row + 0.1) for row in probabilities])
        expected = cleanlab.find_label_issues(
            gold,
            probabilities,
            filter_by="confident_learning",
            return_indices_ranked_by="self_confidence",
            n_jobs=1,
        )
        assert rank_suspects(probabilities, gold).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        ([("a", "x"), ("b", "x")], "two different labels"),
        ([("a", "x"), ("b", "y")], "too few"),
        ([(f"w{k}", f"c{k % 10}") for k in range(60)], "fewer examples than the 7 folds"),
    ],
)
def test_too_little_is_refused_in_one_line(tmp_path: Path, rows: list[tuple[str, str]], part: str) -> None:
    tiny.write_csv(tmp_path / "t.csv", rows, ["text", "label"])
    result = tiny.run("data", "labels", tmp_path / "t.csv", "--folds", "7")
    assert (result.code, result.err.count("\n")) == (ExitCode.BAD_DATA, 1), result.err
    assert part in result.err


def test_numbers_have_no_wrong_labels(tmp_path: Path) -> None:
    tiny.write_csv(tmp_path / "t.csv", [("a", 1.0), ("b", 2.0), ("c", 2.5)], ["text", "score"])
    result = tiny.run("data", "labels", "my-numbers", "--set", f"data.train={tmp_path / 't.csv'}")
    assert (result.code, result.err.count("\n")) == (ExitCode.USAGE, 1)


@pytest.fixture
def judge(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from heedful import TextClassifier

    random = np.random.default_rng(1)
    topics = sorted(WORDS) * 40
    texts = [" ".join(["the", *random.choice(WORDS[topic], 3).tolist()]) for topic in topics]
    path = tmp_path_factory.mktemp("judge") / "model"
    model = TextClassifier(text__vectors="", model__sentence="none").fit(texts, topics, baseline=False)
    model.save_pretrained(path)
    return path


def test_a_trained_model_judges_other_rows(folder: Path, judge: Path) -> None:
    asked = ("data", "labels", judge, folder / "train.csv", "--text", "text", "--label", "topic")
    told = tiny.run(*asked, "--json")
    assert told.code == 0, told.err
    found = told.json()
    assert {each["row"] for each in found} == WRONG
    assert all(each["against"][0][0] in each["texts"][0].split() for each in found)
    shown = tiny.run(*asked)
    assert "4 of 120 labels are suspect; 4 are shown" in shown.err
    assert "of 6 labels that were changed on purpose, 6 were suspect (100%)" in shown.err


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ([], "is a model, which judges the labels of data"),
        (["{train}", "--recipe", "my-texts"], "--recipe trains a judge"),
        (["{train}", "--label", "topic", "--set", "train.epochs=3"], "a trained model judges as it is"),
        (["{train}", "--label", "text"], "no row has a label of the model (art, food, sport)"),
    ],
)
def test_what_a_model_cannot_judge_is_refused_in_one_line(
    folder: Path, judge: Path, more: list[str], part: str
) -> None:
    result = tiny.run("data", "labels", judge, *(each.format(train=folder / "train.csv") for each in more))
    assert (result.code != 0, result.err.count("\n")) == (True, 1), result.err
    assert part in result.err


def test_a_recipe_and_data_stand_behind_each_other(folder: Path) -> None:
    train = folder / "train.csv"
    alone = tiny.run("data", "labels", train, "--json")
    for both in ((train, "my-texts"), ("my-texts", train)):
        told = tiny.run("data", "labels", *both, "--json")
        assert told.json() == alone.json()
        assert "trained as my-texts" in told.err
        checked = tiny.run("data", "check", *both)
        assert "120" in checked.out
        assert tiny.run("data", "check", train).out == checked.out
    other = tiny.run("data", "labels", "my-numbers", train)
    assert (other.code, other.err.count("\n")) == (ExitCode.USAGE, 1), other.err
