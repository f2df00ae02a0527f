"""The word vectors of the package: read by name, with the base forms of inflected words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heedful.errors import DataError
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config
from heedful.storage.shared_rows import BASEFORMS, ROWS, packaged_rows
from heedful.text.vectors import WordVectors, read_baseforms, read_vectors
from heedful_en import vectors_folder

NAME = "heedful-en"


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return read_vectors(vectors_folder() / ROWS)


def test_they_are_found_by_name() -> None:
    assert packaged_rows(NAME) == vectors_folder()


def test_neighbors_make_sense(vectors: WordVectors) -> None:
    assert vectors.matrix.shape == (41_353, 300)
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    assert np.abs(lengths - 1).max() < 0.01
    place = {word: row for row, word in enumerate(vectors.words)}

    def near(first: str, second: str) -> float:
        return float(vectors.matrix[place[first]] @ vectors.matrix[place[second]])

    assert near("dog", "puppy") > 0.6 > 0.2 > near("dog", "parliament")
    assert near("terrible", "horrible") > near("terrible", "pleasant")


def test_base_forms_lead_to_words_with_a_vector(vectors: WordVectors) -> None:
    words, forms = set(vectors.words), read_baseforms(vectors_folder() / BASEFORMS)
    assert not [base for base in forms.values() if base not in words]
    assert not [form for form in forms if form in words]
    assert {form: forms[form] for form in ("went", "running", "children", "happier")} == {
        "went": "go",
        "running": "run",
        "children": "child",
        "happier": "happy",
    }


def test_a_run_reads_them_by_name(tmp_path: Path) -> None:
    rows = [
        "text,label",
        *(
            f"the {noun} is {how},{label}"
            for noun in ("film", "song", "meal")
            for how, label in (
                ("terrible", "bad"),
                ("dull", "bad"),
                ("lovely", "good"),
                ("wonderful", "good"),
            )
        ),
    ]
    (tmp_path / "train.csv").write_text("\n".join(rows * 5) + "\n")
    given = {
        "data.train": "train.csv",
        "text.vectors": NAME,
        "text.baseforms": NAME,
        "text.vector_norm": 5.0,
        "model.width": 300,
        "model.hidden": 8,
        "model.wide": "none",
        "train.epochs": 4,
    }
    config = load_config("my-texts", [f"{name}={value}" for name, value in given.items()])
    run = train(config, prepare(config, tmp_path), folder=tmp_path / "run")
    assert [
        answer.label for answer in run.predictor.answer(["the meals were horrible", "lovelier songs"])
    ] == [
        "bad",
        "good",
    ]
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert 'vectors = "heedful-en"' in card
    assert str(vectors_folder()) not in card


def test_the_recipe_of_own_texts_takes_the_words_where_the_texts_are_english(tmp_path: Path) -> None:
    rows = "".join(
        f"the {noun} is {how} and i like it,{how}\n" for noun in "abcdefghij" for how in ("good", "bad")
    )
    (tmp_path / "train.csv").write_text("text,label\n" + rows)
    settings = ["data.train=train.csv", "data.few_rows=0"]
    own, older = (prepare(load_config(name, settings), tmp_path) for name in ("my-texts", "my-english-texts"))
    found = own.decided
    assert (found["text.vectors"], found["text.baseforms"], found["text.vector_norm"]) == (NAME, NAME, 5.0)
    assert found["model.width"] == 300
    assert older.decided == found


def test_a_name_that_no_package_has_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\na good film,good\na dull film,bad\n" * 9)
    for more in ([], ["data.few_rows=0"]):
        settings = ["data.train=train.csv", "text.vectors=nobody-has-this", *more]
        with pytest.raises(DataError, match=r"nobody-has-this.*pip install \./packages/heedful-en"):
            prepare(load_config("my-texts", settings), tmp_path)
