"""Tags of words: trained from files, measured as seqeval does, answered, explained, and as an estimator."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import heedful.runtime
import tiny
from heedful import TokenTagger
from heedful.errors import DataError, ExitCode, UsageError
from heedful.evaluation import evaluate_tags
from heedful.tasks import TagsModel, load_model
from heedful.text.bio import bio_tags, mistake_in, scheme_of, spans_of, tags_of

NAMES = {"PER": ["Ada", "Alan Turing", "Grace Hopper"], "LOC": ["Paris", "New York City", "Rome"]}
FEW: dict[str, Any] = {
    "model__width": 16,
    "model__dropout": 0.0,
    "text__subwords": 50,
    "train__epochs": 8,
    "train__optimizer__lr": 0.02,
    "train__device": "cpu",
}


one_scheme = pytest.mark.parametrize("folder", ["bioes"], indirect=True)
"""For what knows nothing of schemes."""


def sentences(count: int, scheme: str, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of a person and a place in either order, with their tags."""
    random = np.random.default_rng(seed)
    texts, tags = [], []
    for _ in range(count):
        words, own = [], []
        for kind in random.permutation(["PER", "LOC"]):
            words.append(str(random.choice(["saw", "near", "with", "old"])))
            own.append("O")
            name = str(random.choice(NAMES[str(kind)])).split()
            words += name
            own += [f"B-{kind}", *[f"I-{kind}"] * (len(name) - 1)]
        texts.append(words)
        tags.append(list(tags_of(spans_of(own), len(own), scheme)))  # type: ignore[arg-type]
    return texts, tags


def plain(texts: list[list[str]]) -> list[list[str]]:
    return [["NAME" if word[0].isupper() else "WORD" for word in words] for words in texts]


def write(file: Path, texts: list[list[str]], tags: list[list[str]]) -> None:
    blocks = (
        "\n".join(f"{word}\t_\t{tag}" for word, tag in zip(words, own, strict=True))
        for words, own in zip(texts, tags, strict=True)
    )
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


@pytest.fixture(scope="module", params=["bio", "bioes", "bilou"])
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    root = tmp_path_factory.mktemp(request.param)
    for name, seed, count in (("train", 0, 150), ("test", 1, 40)):
        write(root / f"{name}.conll", *sentences(count, request.param, seed))
    settings = {name.replace("__", "."): value for name, value in FEW.items()}
    settings |= {"data.train": "train.conll", "data.test": "test.conll"}
    tiny.train_in(root, "my-tags", settings)
    return root


def test_a_file_is_learned_and_its_spans_are_measured(folder: Path) -> None:
    measured = tiny.run("evaluate", folder / "run", folder / "test.conll", "--json").json()
    assert list(measured["metrics"]) == ["f1", "precision", "recall", "accuracy"]
    assert measured["metrics"]["f1"] > 0.9
    assert set(measured["intervals"]) == {"f1", "precision", "recall"}
    assert sorted(measured["per_class"]) == ["LOC", "PER"]
    assert "which tag each word" in (folder / "run/model/README.md").read_text(encoding="utf-8")


def test_the_commands_take_texts_and_files_of_words(folder: Path) -> None:
    text = "old Ada saw New York City"
    assert tiny.run("predict", folder / "run", "--text", text).out.split("\t")[0] == (
        "old [PER Ada] saw [LOC New York City]"
    )
    (folder / "words.conll").write_text("old\nAda\n\nRome\n", encoding="utf-8")
    found = tiny.run("predict", folder / "run", "--input", folder / "words.conll", "--json")
    assert [json.loads(line)["words"] for line in found.out.splitlines()] == [["old", "Ada"], ["Rome"]]
    (folder / "answered.conll").write_text(
        tiny.run("predict", folder / "run", "--input", folder / "test.conll", "--conll").out, encoding="utf-8"
    )
    again = tiny.run("evaluate", folder / "run", folder / "answered.conll", "--json").json()
    assert again["metrics"]["f1"] == 1
    page = folder / "why.html"
    explained = tiny.run("explain", folder / "run", "--text", text, "--json", "--html", page).json()
    assert explained["labels"] == ["old [PER Ada] saw [LOC New York City]"]
    assert len(explained["sides"][0]["maps"]) == 4
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    empty = tiny.run("predict", folder / "run", "--text", "", "--json").json()
    assert (empty["words"], empty["tags"]) == ([], [])
    assert tiny.run("explain", folder / "run", "--text", " ").code == ExitCode.USAGE


def test_every_word_of_a_long_text_has_a_tag_on_every_road(folder: Path, tmp_path: Path) -> None:
    texts, tags = sentences(200, "bio", seed=5)
    words, own = [word for text in texts for word in text], [tag for each in tags for tag in each]
    own = list(tags_of(spans_of(own), len(own), scheme_of(load_model(folder / "run").labels)))  # type: ignore[arg-type]
    assert len(words) > 1_000
    write(tmp_path / "long.conll", [words, texts[0]], [own, own[: len(texts[0])]])
    printed = tiny.run("predict", folder / "run", "--input", tmp_path / "long.conll", "--conll")
    blocks = printed.out.strip("\n").split("\n\n")
    assert [len(block.splitlines()) for block in blocks] == [len(words), len(texts[0])]
    assert [line.split("\t")[0] for line in blocks[0].splitlines()] == words
    found = [line.split("\t")[1] for line in blocks[0].splitlines()]
    assert mistake_in(found, scheme_of(found)) is None
    assert np.mean([a == b for a, b in zip(found, own, strict=True)]) > 0.95
    tagger = TokenTagger.from_pretrained(folder / "run")
    assert list(tagger.predict([words, texts[0]])[0]) == found
    short = blocks[1].split()[1::2]
    (bare,) = heedful.runtime.load(folder / "run").predict([words])
    assert list(bare.tags) == found
    assert not bare.truncated
    text = tiny.run("predict", folder / "run", "--text", " ".join(words), "--json").json()
    assert (text["tags"], text["truncated"]) == (found, False)
    measured = tiny.run("evaluate", folder / "run", tmp_path / "long.conll", "--json").json()
    assert measured["metrics"]["accuracy"] == pytest.approx(
        np.mean([a == b for a, b in zip([*found, *short], [*own, *own[: len(short)]], strict=True)])
    )
    assert measured["notes"]["texts cut"] == 0


@one_scheme
def test_a_shorter_limit_changes_the_windows_and_loses_no_word(folder: Path) -> None:
    words = " ".join(word for text in sentences(20, "bio")[0] for word in text)
    for limit in ("1", "3", "7", "50", "1000"):
        found = tiny.run("predict", folder / "run", "--text", words, "--max-tokens", limit, "--json").json()
        assert " ".join(found["words"]) == words
        assert len(found["tags"]) == len(found["words"])


@one_scheme
def test_a_text_that_is_no_longer_than_a_window_is_tagged_as_before(folder: Path) -> None:
    model = load_model(folder / "run")
    assert isinstance(model, TagsModel)
    texts = [" ".join(words) for words in sentences(10, "bio", seed=9)[0]]
    long = " ".join(["old"] * 900)
    beside = model.answer([*texts, long])
    assert beside[:-1] == model.answer(texts)
    assert len(beside[-1].tags) == 900


@one_scheme
def test_the_explanation_of_a_long_text_says_that_it_was_cut(folder: Path) -> None:
    words = " ".join(["old"] * 900)
    for precision in ((), ("--method", "gradient")):
        found = tiny.run("explain", folder / "run", "--text", words, "--json", *precision)
        assert found.code == 0, found.err


@one_scheme
def test_a_long_text_is_refused_in_one_line_if_that_is_asked_for(folder: Path) -> None:
    (folder / "long.txt").write_text(" ".join(["old"] * 1_000) + "\n", encoding="utf-8")
    refused = tiny.run("predict", folder / "run", "--input", folder / "long.txt", "--truncate", "error")
    assert (refused.code, refused.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert "long.txt: row 1" in refused.err


def test_a_broken_file_is_refused_with_its_row(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.conll").write_text("old\tx\tO\nYork\tx\tI-LOC\n", encoding="utf-8")
    result = tiny.run("evaluate", folder / "run", tmp_path / "bad.conll")
    assert (result.code, result.err.count("\n")) == (ExitCode.BAD_DATA, 1)
    assert "bad.conll: row 2: I-LOC must follow" in result.err


def test_a_saved_model_refuses_labels_that_are_no_scheme(folder: Path) -> None:
    model = load_model(folder / "run")
    assert isinstance(model, TagsModel)
    assert heedful.from_pretrained(folder / "run").predict([["Ada"]]).tolist() == [
        list(model.answer(["Ada"])[0].tags)
    ]
    from heedful.tasks import task_named

    assert task_named("tags").label_problem(("O", "B-X")) != ""  # type: ignore[attr-defined]


def test_the_estimator_takes_lists_of_words(tmp_path: Path) -> None:
    texts, tags = sentences(120, "bioes")
    model = TokenTagger(**FEW).fit(texts[:90], tags[:90])
    assert model.classes_.tolist() == list(bio_tags(["LOC", "PER"], "bioes"))
    assert model.score(texts[90:], tags[90:]) > 0.9
    found = model.predict(texts[90:])
    assert (found.shape, found.dtype) == ((30,), np.dtype(object))
    assert all(mistake_in(own, "bioes") is None for own in found)
    assert model.predict(["Ada saw Rome"])[0] == model.predict([["Ada", "saw", "Rome"]])[0]
    (answer,) = model.answer([["Ada", "saw", "Rome"]])
    assert [(span.text, span.role) for span in answer.spans] == [("Ada", "PER"), ("Rome", "LOC")]
    assert "forward" in "".join(model.explain(["Ada", "saw"]).sides[0].maps)
    said = model.explain(["Ada", "saw", "Rome"], method="occlusion", word="Rome").attribution
    assert said.of == "the log-odds of “S-LOC for Rome”"
    model.save_pretrained(tmp_path / "model")
    again = heedful.from_pretrained(tmp_path / "model")
    assert isinstance(again, TokenTagger)
    assert again.predict(texts[90:]).tolist() == found.tolist()
    assert pickle.loads(pickle.dumps(model)).predict(texts[90:]).tolist() == found.tolist()


def test_scikit_learn_takes_the_estimator() -> None:
    texts, _ = sentences(16, "bio")
    few = {**FEW, "train__max_steps": 4}
    assert not is_classifier(TokenTagger())
    assert clone(TokenTagger(**few)).get_params() == TokenTagger(**few).get_params()
    with pytest.raises(NotFittedError):
        TokenTagger().predict([["a"]])
    assert cross_val_score(TokenTagger(**few), texts, plain(texts), cv=2).shape == (2,)
    search = GridSearchCV(TokenTagger(**few), {"model__width": [8, 12]}, cv=2).fit(texts, plain(texts))
    assert search.best_params_["model__width"] in (8, 12)
    first, again = (TokenTagger(**few).fit(texts, plain(texts)).predict(texts).tolist() for _ in range(2))
    assert first == again


def test_predictions_depend_neither_on_order_nor_on_company() -> None:
    texts, tags = sentences(60, "bio")
    model = TokenTagger(**{**FEW, "train__max_steps": 20}).fit(texts, tags)
    whole = model.answer(texts)
    alone = [model.answer([text])[0] for text in texts]
    assert [answer.tags for answer in alone] == [answer.tags for answer in whole]
    for one, other in zip(alone, whole, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-4)


@pytest.mark.parametrize(
    ("X", "y", "error", "part"),
    [
        ([["a", "b"]], [["X"]], DataError, "target 1: 1 tags for 2 words"),
        ([["a", "b"]], [["X", 3]], DataError, "target 1: expected a list of tags"),
        (["a b"], [["X", "Y"]], UsageError, "text 1 is a string"),
        ([["a", ""]], [["X", "Y"]], DataError, "text 1: expected a list of words"),
        ([["a"]], [["X"], ["Y"]], UsageError, "same length; got 1 and 2"),
        ([["a", "b"], ["c"]], [["O", "B-X"], ["I-X"]], DataError, "row 2, word 1: I-X must follow"),
        ([["a"], ["b"]], [["X"], ["X"]], DataError, "at least two different tags"),
    ],
)
def test_what_does_not_fit_is_named(X: Any, y: Any, error: type[Exception], part: str) -> None:
    with pytest.raises(error) as caught:
        TokenTagger(**FEW).fit(X, y, dev=(X, y))
    assert part in str(caught.value)


def test_the_f1_of_plain_tags_leaves_out_the_words_that_are_nothing() -> None:
    gold = [["O", "O", "O", "PER"], ["O", "O", "LOC", "O"]]
    nothing = [["O"] * 4, ["O"] * 4]
    tags = ["LOC", "O", "PER"]
    report = evaluate_tags(gold, nothing, tags)
    assert (report.metrics["accuracy"], report.metrics["f1"]) == (0.75, 0)
    found = [["PER", "O", "O", "PER"], ["O", "O", "PER", "O"]]  # one right, two too many, one missed
    assert evaluate_tags(gold, found, tags).metrics["f1"] == pytest.approx(2 / (2 + 2 + 1))


def test_plain_tags_have_an_accuracy_and_a_confusion() -> None:
    report = evaluate_tags([["N", "V"], ["N"]], [["N", "N"], ["N"]], ["N", "V"], lengths=np.array([[2], [1]]))
    assert report.count == 3
    assert report.metrics["accuracy"] == report.metrics["f1"] == pytest.approx(2 / 3)
    assert report.confusion["V"] == {"N": 1, "V": 0}
    assert report.by_length["0-5"]["count"] == 3


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_spans_are_counted_as_seqeval_counts_them(scheme: Any) -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    random = np.random.default_rng(3)
    marks = {"bio": ["O", "B-X", "I-X", "B-Y", "I-Y"], "bioes": ["O", "B-X", "I-X", "E-X", "S-Y"]}[scheme]
    drawn = [random.choice(marks, 12).tolist() for _ in range(120)]
    gold, answered = (
        [list(tags_of(spans_of(own), 12, scheme)) for own in part] for part in (drawn[:60], drawn[60:])
    )
    answered[:20] = gold[:20]
    report = evaluate_tags(gold, answered, bio_tags(["X", "Y"], scheme))
    found = seqeval.classification_report(gold, answered, output_dict=True, zero_division=0)
    for name, key in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
        assert report.metrics[name] == pytest.approx(found["micro avg"][key])
        for kind in ("X", "Y"):
            assert report.per_class[kind][name] == pytest.approx(found[kind][key])
    assert report.metrics["accuracy"] == pytest.approx(seqeval.accuracy_score(gold, answered))
    assert report.per_class["X"]["count"] == found["X"]["support"]
