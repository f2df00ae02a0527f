"""Roles from files to answers by the command line: train, measure, answer, explain, compare."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
import tiny_sequences
from heedful import PairClassifier, PairScorer, TextClassifier, from_pretrained
from heedful.errors import UsageError
from heedful.tasks import RolePredictor, load_model

TEXT = "The dog likes the cat today ."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model; return the folder that holds data and runs."""
    folder = tiny_sequences.write_sequences(tmp_path_factory.mktemp("sequences"))
    words = ("train", folder / "roles.toml", "--data", folder, "--out", folder / "runs/roles", "--quiet")
    result = tiny.run(*words, "--set", "train.device=cpu")
    assert result.code == 0, result.err
    return folder


def test_roles_are_learned_and_measured(made: Path) -> None:
    result = tiny.run("evaluate", made / "runs/roles", made / "roles-test.props", "--json")
    assert result.code == 0, result.err
    report = result.json()
    assert report["count"] == 30
    assert report["metrics"]["f1"] == 1
    assert report["metrics"]["predicate_f1"] > 0.9
    assert report["per_class"]["ARGM-LOC"]["count"] == 15
    gate = tiny.run(
        "evaluate", made / "runs/roles", made / "roles-test.props", "--fail-under", "complete=1.01"
    )
    assert gate.code == 1


def test_raw_sentences_get_predicates_and_roles(made: Path) -> None:
    result = tiny.run("predict", made / "runs/roles", "--text", TEXT, "--text", "")
    assert result.code == 0, result.err
    first, second = (line.split("\t") for line in result.out.splitlines())
    assert (first[0], first[3]) == ("likes", "[ARG0 The dog] [V likes] [ARG1 the cat] [ARGM-TMP today] .")
    assert 0.5 <= float(first[1]) <= 1
    assert second == ["-", "", "text without words", ""]


def test_predicates_may_be_named_by_word_or_number(made: Path) -> None:
    words = ("predict", made / "runs/roles", "--text", TEXT, "--json", "--predicates")
    by_word, by_number, both = (tiny.run(*words, named).json() for named in ("likes", "3", "dog,3"))
    assert by_word == by_number
    assert [frame["place"] for frame in both["predicates"]] == [1, 2]
    assert both["predicates"][1]["probability"] == 1
    assert both["predicates"][1]["tags"] == by_word["predicates"][0]["tags"]


def test_columns_can_be_read_back(made: Path, tmp_path: Path) -> None:
    shown = tiny.run("predict", made / "runs/roles", "--text", TEXT, "--conll").out
    file = tmp_path / "answer.props"
    file.write_text(shown, encoding="utf-8")
    again = tiny.run("evaluate", made / "runs/roles", file, "--json").json()
    assert (again["count"], again["metrics"]["f1"]) == (1, 1)
    from_file = tiny.run("predict", made / "runs/roles", "--input", file).out.split("\t")
    assert (from_file[1], from_file[2]) == ("likes", "1.000")  # the file names its predicates


def test_files_of_another_layout_are_read_back_like_the_training_file(made: Path, tmp_path: Path) -> None:
    for part in ("roles", "roles-test"):
        lines = (made / f"{part}.props").read_text(encoding="utf-8").splitlines()
        (tmp_path / f"{part}.conll").write_text("\n".join(map(conll_2012, lines)) + "\n", encoding="utf-8")
    settings = ("train=roles.conll", "test=roles-test.conll", "options={layout='conll2012'}")
    changes = [part for setting in settings for part in ("--set", f"data.{setting}")]
    run = tmp_path / "run"
    words = ("train", made / "roles.toml", "--data", tmp_path, "--out", run, "--json", "-q", *changes)
    trained = tiny.run(*words, "--set", "train.max_steps=15")
    assert trained.code == 0, trained.err
    own = trained.json()["test"]["metrics"]
    assert tiny.run("evaluate", run, tmp_path / "roles-test.conll", "--json").json()["metrics"] == own
    assert tiny.run("evaluate", run, made / "roles-test.props", "--json").json()["metrics"] == own
    answers = tiny.run("predict", run, "--input", tmp_path / "roles-test.conll").out.splitlines()
    assert answers == tiny.run("predict", run, "--input", made / "roles-test.props").out.splitlines()
    assert len(answers) == 30
    refused = tiny.run("evaluate", made / "runs/roles", tmp_path / "roles-test.conll")
    assert (refused.code, "Set data.options.layout" in refused.err) == (3, True)


def conll_2012(line: str) -> str:
    """Write a line of CoNLL-2005 with the columns of the task of 2012."""
    word, predicate, *cells = line.split() or ["", ""]
    return " ".join(["a/b", "0", "0", word, *"XX-", predicate, *"---", *cells, "-"]) if word else ""


def test_loading_gives_the_class_of_the_task(made: Path) -> None:
    assert isinstance(load_model(made / "runs/roles"), RolePredictor)


def test_an_estimator_refuses_the_models_of_another_task(made: Path) -> None:
    name = "roles"
    for estimator in (TextClassifier, PairClassifier, PairScorer):
        with pytest.raises(UsageError, match=rf"this is a '{name}' model"):
            estimator.from_pretrained(made / "runs" / name)
    model = from_pretrained(made / "runs" / name)
    assert model.answer([TEXT]) == load_model(made / "runs" / name).answer([TEXT])


def test_explanations_are_printed_and_drawn(made: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "why.html", tmp_path / "why.svg"
    result = tiny.run("explain", made / "runs/roles", "--text", TEXT, "--html", page, "--figure", figure)
    assert result.code == 0, result.err
    assert "[V likes]" in result.out
    assert "likes" in page.read_text(encoding="utf-8")
    assert figure.stat().st_size > 1000


def test_explaining_takes_one_predicate(made: Path) -> None:
    words = ("explain", made / "runs/roles", "--text", TEXT)
    assert tiny.run(*words, "--predicates", "3").code == 0
    two = tiny.run(*words, "--predicates", "2,3")
    assert (two.code, "one predicate at a time" in two.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("predict", "roles", "--text", TEXT, "--predicates", "ox"), "the words are 1:The 2:dog"),
        (("predict", "roles", "--text", TEXT, "--predicates", "9"), "there is no word '9'"),
        (("predict", "roles", "--text", TEXT, "--predicates", "3", "--predicates", "2"), "got 2 for 1 texts"),
        (("explain", "roles", "--text", ""), "no predicate was found"),
        (("encode", "roles", "--text", TEXT), "no vector of a sentence"),
        (("evaluate", "roles", "dev.en"), "the name must end in one of"),
        (
            ("evaluate", "roles", "roles.props", "--references", "dev.de"),
            "--references is for models of translation",
        ),
        (
            ("evaluate", "roles", "roles.props", "--column", "group=genre"),
            "--column group= is for models of texts, pairs",
        ),
    ],
)
def test_mistakes_are_one_line(made: Path, words: tuple[str, ...], message: str) -> None:
    verb, model, *rest = words
    files = [str(made / word) if word.startswith(("dev.", "roles.", "none.")) else word for word in rest]
    result = tiny.run(verb, made / "runs" / model, *files)
    assert result.code in {2, 3}
    assert message in result.err
    assert "Traceback" not in result.err


def test_mssan_takes_the_place_of_the_stack(made: Path, tmp_path: Path) -> None:
    trained = tiny_sequences.with_mssan(made, tmp_path / "run", "roles", "f1")
    measured = tiny.run("evaluate", tmp_path / "run", made / "roles-test.props", "--json").json()
    assert 0.9 < measured["metrics"]["f1"] == trained
    assert "[V likes]" in tiny.run("predict", tmp_path / "run", "--text", TEXT).out


def test_a_study_keeps_counts_and_is_compared(made: Path, tmp_path: Path) -> None:
    tiny_sequences.compared_by_counts(made, tmp_path, "roles", "f1")
