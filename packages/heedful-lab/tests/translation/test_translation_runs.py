"""Translation from files to answers by the command line: train, measure, answer, explain, compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import heedful
import heedful.runtime
import tiny
import tiny_sequences
from heedful import PairClassifier, PairScorer, TextClassifier, from_pretrained
from heedful.errors import UsageError
from heedful.tasks import load_model
from heedful_lab.translation.translator import Translator
from served import in_process

TEXT = "The dog likes the cat today ."
GERMAN = "Der Hund mag den Kater heute."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a model; return the folder that holds data and runs."""
    folder = tiny_sequences.write_sequences(tmp_path_factory.mktemp("sequences"))
    run = folder / "runs/translation"
    words = ("train", folder / "translation.toml", "--data", folder, "--out", run, "--quiet")
    result = tiny.run(*words, "--set", "train.device=cpu")
    assert result.code == 0, result.err
    return folder


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


def test_the_picture_of_a_translation_has_its_words_against_the_source(made: Path) -> None:
    found = tiny.run("explain", made / "runs/translation", "--text", TEXT.replace(" .", "."), "--json").json()
    sides = {side["name"]: side["words"] for side in found["sides"]}
    assert sides["translation"] == [*GERMAN.removesuffix(".").split(), "."]
    assert sides["source"] == [*TEXT.split(), "[END]"]
    (weights,) = found["alignments"].values()
    assert (len(weights), len(weights[0])) == (7, 8)
    assert [sum(row) for row in weights] == pytest.approx([1] * 7, abs=1e-3)


def test_loading_gives_the_class_of_the_task(made: Path) -> None:
    assert isinstance(load_model(made / "runs/translation"), Translator)


def test_an_estimator_refuses_the_models_of_another_task(made: Path) -> None:
    run = made / "runs/translation"
    for estimator in (TextClassifier, PairClassifier, PairScorer):
        with pytest.raises(UsageError, match="this is a 'translation' model"):
            estimator.from_pretrained(run)
    assert from_pretrained(run).answer([TEXT]) == load_model(run).answer([TEXT])


def test_explanations_are_printed_and_drawn(made: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "why.html", tmp_path / "why.svg"
    words = ("explain", made / "runs/translation", "--text", TEXT, "--html", page, "--figure", figure)
    result = tiny.run(*words)
    assert result.code == 0, result.err
    assert "source" in result.out
    assert "likes" in page.read_text(encoding="utf-8")
    assert figure.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("predict", "--text", TEXT, "--predicates", "3"), "models of semantic roles"),
        (("predict", "--text", TEXT, "--conll"), "tags of words and semantic roles"),
        (("predict", "--premise", "a", "--hypothesis", "b"), "this model takes single texts"),
        (("encode", "--text", TEXT), "no vector of a sentence"),
        (("evaluate", "dev.en"), "add --references FILE"),
        (("evaluate", "dev.en", "--references", "none.de"), "none.de: no such file"),
        (("predict", "--text", "a " * 200), "at most max_tokens = 60 allowed"),
    ],
)
def test_mistakes_are_one_line(made: Path, words: tuple[str, ...], message: str) -> None:
    verb, *rest = words
    files = [str(made / word) if word.startswith(("dev.", "none.")) else word for word in rest]
    result = tiny.run(verb, made / "runs/translation", *files)
    assert result.code in {2, 3}
    assert message in result.err
    assert "Traceback" not in result.err


def test_mssan_takes_the_place_of_the_encoder(made: Path, tmp_path: Path) -> None:
    trained = tiny_sequences.with_mssan(made, tmp_path / "run", "translation", "bleu")
    words = ("evaluate", tmp_path / "run", made / "dev.en", "--references", made / "dev.de", "--json")
    assert 80 < tiny.run(*words).json()["metrics"]["bleu"] == trained
    assert GERMAN in tiny.run("predict", tmp_path / "run", "--text", TEXT.replace(" .", ".")).out


def test_it_is_served_and_answers_blocks(made: Path) -> None:
    text = TEXT.replace(" .", ".")
    with in_process({"translate": made / "runs/translation"}) as app:
        reply = app.ask("/v1/predict", {"model": "translate", "texts": [text]})
        assert (reply.status, reply.json()["answers"][0]["translation"]) == (200, GERMAN), reply.body
        described = app.ask("/v1/explain", {"model": "translate", "text": text})
        assert [side["name"] for side in described.json()["explanation"]["sides"]] == [
            "translation",
            "source",
        ]
    found = heedful.BatchPredictor(str(made / "runs/translation"))({"text": [text]})
    assert isinstance(found, dict)
    assert json.loads(found["prediction"][0])["translation"] == GERMAN


def test_the_runtime_and_a_page_refuse_it_in_one_line(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"this is a 'translation' model; .*\. Use heedful predict\.$"):
        heedful.runtime.load(made / "runs/translation")
    refused = tiny.run("export", made / "runs/translation", "--page", tmp_path / "page.html")
    assert (refused.code, refused.err.count("\n")) == (UsageError.exit_code, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_gate_takes_a_metric_that_the_task_brings(made: Path) -> None:
    words = ("evaluate", made / "runs/translation", made / "dev.en", "--references", made / "dev.de")
    assert tiny.run(*words, "--fail-under", "bleu=100.5").code == 1
    assert tiny.run(*words, "--fail-under", "bleu=90").code == 0


def test_a_study_keeps_counts_and_is_compared(made: Path, tmp_path: Path) -> None:
    tiny_sequences.compared_by_counts(made, tmp_path, "translation", "bleu")
