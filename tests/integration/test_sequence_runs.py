"""Roles and translation from files to answers by the command line: train, measure, answer, explain, compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
import tiny_sequences
from heedful import PairClassifier, PairScorer, TextClassifier, from_pretrained
from heedful.errors import UsageError
from heedful.tasks import RolePredictor, Translator, load_model

pytest.importorskip("sacrebleu")
pytest.importorskip("tokenizers")

TEXT = "The dog likes the cat today ."
GERMAN = "Der Hund mag den Kater heute."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train both models; return the folder that holds data and runs."""
    folder = tiny_sequences.write_sequences(tmp_path_factory.mktemp("sequences"))
    for name in ("roles", "translation"):
        words = (
            "train",
            folder / f"{name}.toml",
            "--data",
            folder,
            "--out",
            folder / "runs" / name,
            "--quiet",
        )
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


def test_translations_are_learned_measured_and_given(made: Path) -> None:
    words = ("evaluate", made / "runs/translation", made / "dev.en", "--references", made / "dev.de")
    report = tiny.run(*words, "--json").json()
    assert report["metrics"]["bleu"] > 90
    assert "tok:13a" in report["signatures"]["bleu"]
    table = tiny.run(*words, "--by-length").out.rsplit("\n\n", maxsplit=1)[1].splitlines()
    assert table[0].split() == ["tokens", "bleu", "count"]
    assert sum(int(line.split()[-1]) for line in table[1:]) == report["count"]
    result = tiny.run("predict", made / "runs/translation", "--text", TEXT.replace(" .", "."))
    assert result.out.split("\t")[0] == GERMAN
    many = load_model(made / "runs/translation").answer([TEXT, "", TEXT])
    assert many[0].text == many[2].text
    assert (many[1].empty, many[1].remarks) == (True, "text without words")


def test_two_translators_are_compared_on_a_file(made: Path) -> None:
    model, same = made / "runs/translation", made / "runs/translation"
    words = (
        "compare",
        model,
        same,
        "--on",
        made / "dev.en",
        "--references",
        made / "dev.de",
        "--resamples",
        100,
    )
    result = tiny.run(*words, "--json")
    assert result.code == 0, result.err
    (test,) = result.json()["tests"]["bleu"]
    assert (test["test"], test["difference"]) == ("paired bootstrap, 100 resamples", 0.0)


def test_loading_gives_the_class_of_the_task(made: Path) -> None:
    assert isinstance(load_model(made / "runs/roles"), RolePredictor)
    assert isinstance(load_model(made / "runs/translation"), Translator)


@pytest.mark.parametrize("name", ["roles", "translation"])
def test_an_estimator_refuses_the_models_of_another_task(made: Path, name: str) -> None:
    for estimator in (TextClassifier, PairClassifier, PairScorer):
        with pytest.raises(UsageError, match=rf"this is a '{name}' model"):
            estimator.from_pretrained(made / "runs" / name)
    model = from_pretrained(made / "runs" / name)
    assert model.answer([TEXT]) == load_model(made / "runs" / name).answer([TEXT])


@pytest.mark.parametrize(("name", "shown"), [("roles", "[V likes]"), ("translation", "source")])
def test_explanations_are_printed_and_drawn(made: Path, tmp_path: Path, name: str, shown: str) -> None:
    page, figure = tmp_path / "why.html", tmp_path / "why.svg"
    result = tiny.run("explain", made / "runs" / name, "--text", TEXT, "--html", page, "--figure", figure)
    assert result.code == 0, result.err
    assert shown in result.out
    assert "likes" in page.read_text(encoding="utf-8")
    assert figure.stat().st_size > 1000


def test_the_picture_of_a_translation_has_its_words_against_the_source(made: Path) -> None:
    found = tiny.run("explain", made / "runs/translation", "--text", TEXT.replace(" .", "."), "--json").json()
    sides = {side["name"]: side["words"] for side in found["sides"]}
    assert sides["translation"] == [*GERMAN.removesuffix(".").split(), "."]
    assert sides["source"] == [*TEXT.split(), "[END]"]
    (weights,) = found["alignments"].values()
    assert (len(weights), len(weights[0])) == (7, 8)
    assert [sum(row) for row in weights] == pytest.approx([1] * 7, abs=1e-3)


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
        (("predict", "translation", "--text", TEXT, "--predicates", "3"), "models of semantic roles"),
        (("predict", "translation", "--text", TEXT, "--conll"), "tags of words and semantic roles"),
        (("predict", "translation", "--premise", "a", "--hypothesis", "b"), "this model takes single texts"),
        (("encode", "roles", "--text", TEXT), "no vector of a sentence"),
        (("encode", "translation", "--text", TEXT), "no vector of a sentence"),
        (("evaluate", "translation", "dev.en"), "add --references FILE"),
        (("evaluate", "roles", "dev.en"), "the name must end in one of"),
        (
            ("evaluate", "roles", "roles.props", "--references", "dev.de"),
            "--references is for models of translation",
        ),
        (("evaluate", "translation", "dev.en", "--references", "none.de"), "none.de: no such file"),
        (
            ("evaluate", "roles", "roles.props", "--column", "group=genre"),
            "--column group= is for models of texts, pairs",
        ),
        (("predict", "translation", "--text", "a " * 200), "at most max_tokens = 60 allowed"),
    ],
)
def test_mistakes_are_one_line(made: Path, words: tuple[str, ...], message: str) -> None:
    verb, model, *rest = words
    files = [str(made / word) if word.startswith(("dev.", "roles.", "none.")) else word for word in rest]
    result = tiny.run(verb, made / "runs" / model, *files)
    assert result.code in {2, 3}
    assert message in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("task", "metric", "files", "answer"),
    [
        ("roles", "f1", ("roles-test.props",), "[V likes]"),
        ("translation", "bleu", ("dev.en", "--references", "dev.de"), GERMAN),
    ],
)
def test_mssan_takes_the_place_of_either_stack(
    made: Path, tmp_path: Path, task: str, metric: str, files: tuple[str, ...], answer: str
) -> None:
    options = "{heads=['forward & word', 'forward', 'backward & word', 'backward']}"
    settings = ("encoder=mssan", "dropout=0", f"encoder_options={options}")
    changes = [part for setting in settings for part in ("--set", f"model.{setting}")]
    changes += ["--set", f"train.metric={metric}"]
    run = tmp_path / "run"
    words = ("train", made / f"{task}.toml", "--data", made, "--out", run, "--json", "-q", *changes)
    trained = tiny.run(*words)
    assert trained.code == 0, trained.err
    named = [made / word if "." in word else word for word in files]
    measured = tiny.run("evaluate", run, *named, "--json").json()["metrics"][metric]
    assert measured == trained.json()["test"]["metrics"][metric]
    assert measured > {"f1": 0.9, "bleu": 80}[metric]
    text = TEXT if task == "roles" else TEXT.replace(" .", ".")
    assert answer in tiny.run("predict", run, "--text", text).out


@pytest.mark.parametrize(("task", "metric"), [("roles", "f1"), ("translation", "bleu")])
def test_a_study_keeps_counts_and_is_compared(made: Path, tmp_path: Path, task: str, metric: str) -> None:
    for name, steps in (("few", 2), ("more", 25)):
        changes = ("--set", f"train.max_steps={steps}", "--set", f"train.metric={metric}")
        words = ("study", made / f"{task}.toml", "--data", made, "--seeds", "1", "--quiet")
        result = tiny.run(*words, "--out", tmp_path / name, *changes)
        assert result.code == 0, result.err
    text = (tmp_path / "more" / "train.seed=1.json").read_text(encoding="utf-8")
    answers = json.loads(text)["answers"]
    assert answers["kind"] == "counts"
    assert {type(value) for kept in (answers["gold"], answers["predicted"]) for value in kept} == {int}
    assert len(answers["gold"]) == len(answers["predicted"]) == 30
    assert "Kater" not in text
    result = tiny.run("compare", tmp_path / "few", tmp_path / "more", "--resamples", 200, "--json")
    assert result.code == 0, result.err
    assert [(name, [test["unit"] for test in tests]) for name, tests in result.json()["tests"].items()] == [
        (metric, ["examples"])
    ]
    assert result.json()["tests"][metric][0]["difference"] > 0
