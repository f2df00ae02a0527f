"""Tags with a transformer: fine-tuned, saved whole, answered, explained; and a tagger of words that learns from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import heedful
import tiny
from heedful.errors import UsageError
from heedful.run.recipe_files import load_config
from heedful.text.bio import mistake_in
from tiny_encoder import write_encoder

pytest.importorskip("transformers")

NAMES = {"FILM": "dull unknown film", "PLACE": "garden", "DOG": "running dog"}
SHORT = ("--set", "train.epochs=3", "--set", "train.least_steps=0", "--set", "batches.size=8")


def sentences(count: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    random = np.random.default_rng(seed)
    texts, tags = [], []
    for _ in range(count):
        words, own = [], []
        for kind in random.permutation(list(NAMES)):
            words.append(str(random.choice(["the", "a", "was", "not"])))
            name = NAMES[str(kind)].split()
            words += name
            own += ["O", f"B-{kind}", *[f"I-{kind}"] * (len(name) - 1)]
        texts.append(words)
        tags.append(own)
    return texts, tags


def write(file: Path, texts: list[list[str]], tags: list[list[str]] | None = None) -> Path:
    rows = zip(texts, tags or texts, strict=True)
    blocks = [
        "\n".join(word if tags is None else f"{word}\t{tag}" for word, tag in zip(*row, strict=True))
        for row in rows
    ]
    file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tags")
    write_encoder(root / "encoder")
    write(root / "train.conll", *sentences(60))
    write(root / "test.conll", *sentences(20, seed=1))
    write(root / "pool.conll", sentences(30, seed=2)[0])
    # the recipe for texts finds the one for tags
    command = ["train", "my-texts-transformer", root / "train.conll", "--no-baseline", "--out", root / "run"]
    settings = [
        f"model.pretrained.name={root / 'encoder'}",
        f"data.test={root / 'test.conll'}",
        "train.optimizer.lr=0.01",
    ]
    sets = [part for each in settings for part in ("--set", each)]
    done = tiny.run(*command, *sets, *SHORT)
    assert done.code == 0, done.err
    assert "trained as my-tags-transformer" in done.err
    shutil.move(root / "encoder", root / "elsewhere")  # the model folder is all that a model needs
    return root


def test_it_learns_and_every_door_answers(folder: Path) -> None:
    measured = tiny.run("evaluate", folder / "run", folder / "test.conll", "--json").json()
    assert measured["metrics"]["f1"] > 0.8
    answer = tiny.run(
        "predict", folder / "run", "--text", "the garden was a dull unknown film", "--json"
    ).json()
    assert answer["words"] == ["the", "garden", "was", "a", "dull", "unknown", "film"]
    assert len(answer["tags"]) == 7, "words have tags, not pieces"
    assert mistake_in(answer["tags"], "bio") is None
    tagger = heedful.TokenTagger.from_pretrained(folder / "run")
    assert list(tagger.predict([answer["words"]])[0]) == answer["tags"]
    assert "word pieces" not in (folder / "run/model/README.md").read_text(encoding="utf-8").split("##")[0]


def test_every_word_of_a_text_beyond_the_pieces_has_a_tag(folder: Path) -> None:
    words = [word for text in sentences(15, seed=3)[0] for word in text]
    model = heedful.TokenTagger.from_pretrained(folder / "run")
    assert len(words) > 100  # the encoder has 30 places for pieces
    (whole,) = model.answer([words])
    assert len(whole.tags) == len(words)
    assert not whole.truncated
    (empty,) = model.answer([[]])
    assert empty.tags == ()
    # a word in the middle of a window is tagged as in a text of its own
    (short,) = model.answer([words[:8]])
    assert short.tags[:6] == whole.tags[:6]


def test_it_is_explained_by_leaving_words_out(folder: Path, tmp_path: Path) -> None:
    text = "the garden was a dull film"
    page = tmp_path / "why.html"
    shown = tiny.run(
        "explain", folder / "run", "--text", text, "--method", "occlusion", "--json", "--html", page
    )
    assert shown.code == 0, shown.err
    assert len(shown.json()["tags"]) == 6
    assert tiny.run("explain", folder / "run", "--text", text, "--json").code == 0
    refused = tiny.run("explain", folder / "run", "--text", text, "--method", "gradient")
    assert refused.code == 2
    assert "occlusion" in refused.err
    assert len(refused.err.splitlines()) == 1


def test_a_tagger_of_words_learns_from_it(folder: Path, tmp_path: Path) -> None:
    command = ["train", folder / "train.conll", "--teacher", folder / "run", "--texts", folder / "pool.conll"]
    small = ("--set", "model.width=16", "--set", "text.subwords=50", "--no-baseline")
    done = tiny.run(*command, "--out", tmp_path / "run", *SHORT, *small)
    assert done.code == 0, done.err
    assert "54 with gold labels, 25 without" in done.err
    measured = tiny.run("evaluate", tmp_path / "run", folder / "test.conll", "--json").json()
    assert measured["metrics"]["f1"] > 0.8
    (bare,) = heedful.runtime.load(tmp_path / "run").predict([["the", "garden"]])  # without torch
    assert len(bare.tags) == 2
    again = tiny.run(*command, "--out", tmp_path / "run", "--resume", *SHORT, *small)
    assert again.code == 0, again.err


def test_few_sentences_and_a_teacher_make_a_linear_tagger(folder: Path, tmp_path: Path) -> None:
    command = ["train", folder / "train.conll", "--teacher", folder / "run", "--texts", folder / "pool.conll"]
    done = tiny.run(*command, "--out", tmp_path / "run", "--no-baseline", "--json")
    assert done.code == 0, done.err
    assert "no network is trained" in done.err
    assert "a teacher that has learned from the training rows has seen" in done.err
    measured = tiny.run("evaluate", tmp_path / "run", folder / "test.conll", "--json").json()
    assert measured["metrics"]["f1"] > 0.8


def test_a_pool_may_be_plain_texts_and_other_teachers_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pool.txt").write_text("the garden was dull\nthe film, a garden\n", encoding="utf-8")
    base = ["train", folder / "train.conll", "--no-baseline", "-q", *SHORT, "--set", "model.width=8"]
    taught = tiny.run(
        *base, "--teacher", folder / "run", "--texts", tmp_path / "pool.txt", "--out", tmp_path / "a"
    )
    assert taught.code == 0, taught.err
    for teacher, problem in (
        (tmp_path / "soft.jsonl", "soft labels are of classes"),
        (tmp_path / "other", "in both; a teacher must know the same ones"),
    ):
        if teacher.suffix:
            row = {"text": "the garden", "probabilities": {"O": 1.0}}
            teacher.write_text(json.dumps(row) + "\n", encoding="utf-8")
        else:
            texts, tags = sentences(40)
            plain = write(
                tmp_path / "plain.conll", texts, [[tag.replace("DOG", "CAT") for tag in own] for own in tags]
            )
            made = tiny.run("train", plain, "--no-baseline", "-q", "--out", teacher)
            assert made.code == 0, made.err
        refused = tiny.run(*base, "--teacher", teacher, "--out", tmp_path / "b")
        assert refused.code in (2, 3), refused.err
        assert problem in refused.err.splitlines()[-1]


def test_vectors_of_sentences_are_no_lesson_for_tags() -> None:
    with pytest.raises(
        UsageError, match=r"distil\.vectors: sentence vectors are learned by models of classes"
    ):
        load_config("my-tags", ['distil.teacher=["x"]', "distil.vectors=0.1"])
