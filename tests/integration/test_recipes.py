"""Packaged recipes run end to end for a few steps: the generated corpus always, real sets where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import tiny
from heedful.data.datasets import data_sets
from heedful.models import encoder_config
from heedful.run.protocol import GENERATED
from heedful.run.recipe_files import load_config
from heedful.storage.installed import recipe_names, recipe_text
from heedful.structures import Sentences, TaggedBatch
from heedful.tasks import build_network, load_model


def changes(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]


SMALL = changes("model.width=16", "model.hidden=16", "train.max_steps=2", "train.device=cpu")


def test_recipes_name_known_data() -> None:
    names = recipe_names()
    assert len(names) >= 6
    for name in names:
        known = load_config(name).data.set
        assert known == GENERATED or known in data_sets() or name.startswith("my-")


def test_multinli_cuts_its_longest_text_where_other_sets_refuse_one() -> None:
    assert load_config("disan-multinli").data.truncate == "head"
    assert load_config("disan-snli").data.truncate == "error"


OWN = [name for name in recipe_names() if not name.endswith("-multi30k")]
OF_WORDS = [name for name in OWN if not load_config(name).model.pretrained.name]


@pytest.mark.parametrize("name", OF_WORDS)
def test_the_network_of_every_recipe_answers(name: str) -> None:
    config = load_config(name)
    model, words = config.model, Sentences(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool))
    network = build_network(model, torch.randn(9, model.width))
    logits = network(TaggedBatch((words,) * network.sides, flags=words.valid)).logits
    by_word = model.task in ("roles", "tags")
    assert logits.shape == ((1, 2, model.outputs) if by_word else (1, model.outputs))


def test_recipes_whose_heads_read_trees_say_where_they_come_from() -> None:
    found = []
    for name in recipe_names():
        config = load_config(name)
        heads = getattr(encoder_config(config.model), "heads", ())
        if (
            isinstance(heads, tuple)
            and any("dependency" in head for head in heads)
            and not config.text.parser
        ):
            found.append(name)
            assert "text.parser=builtin" in recipe_text(name)
    assert found == ["mssan-bert-sick", "mssan-bert-snli", "mssan-snli", "mssan-trec"]


@pytest.mark.parametrize(
    ("recipe", "file"), [("my-texts", "text.csv"), ("my-pairs", "pair.tsv"), ("my-scores", "score.jsonl")]
)
def test_recipes_for_ones_own_data_need_a_file_and_nothing_else(
    recipe: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)  # which a user need not have
    folder = tiny.write_tasks(tmp_path / "data")
    untold = tiny.run("train", recipe, "--out", tmp_path / "run")
    assert (untold.code, "data.train=FILE" in untold.err) == (2, True)
    settings = changes(f"data.train={folder / file}")
    result = tiny.run("train", recipe, "--out", tmp_path / "run", *SMALL, *settings)
    assert result.code == 0, result.err


def test_the_generated_corpus_trains_without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    sizes = changes("data.options.train=600", "data.options.dev=60", "data.options.test=60")
    result = tiny.run("train", "disan-scenes", "--out", tmp_path / "run", *SMALL, *sizes)
    assert result.code == 0, result.err
    assert "group" in result.out, "the figures are broken down by phenomenon"


def test_the_demo_trains_answers_and_draws(tmp_path: Path) -> None:
    sizes = changes("data.options.train=600", "data.options.dev=60", "data.options.test=60")
    out = tmp_path / "demo"
    shown = tiny.run("demo", "--out", out, *SMALL, *sizes)
    assert shown.code == 0, shown.err
    for part in ("Test accuracy by phenomenon", "Predictions:", "Explanation page:", "Next:"):
        assert part in shown.out
    assert "Training DiSAN ..." in shown.err
    assert (out / "explanation.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = tiny.run("demo", "--out", out, *SMALL, *sizes, "--json", "-q")
    assert again.err == ""
    assert len(again.json()["answers"]) >= 5
    assert again.json()["test"]["by_group"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    refused = tiny.run("demo", "--out", tmp_path / "mine", *SMALL, *sizes)
    assert (refused.code, (tmp_path / "mine" / "letter.txt").read_text()) == (6, "Dear")


def test_multinli_is_reported_by_genre(tmp_path: Path) -> None:
    (tmp_path / "multinli").mkdir()
    golds = {"same": "entailment", "other": "contradiction"}
    rows = [
        {
            "sentence1": one,
            "sentence2": two,
            "gold_label": golds[label],
            "genre": ("fiction", "travel")[n % 3 == 0],
        }
        for n, (one, two, label) in enumerate(tiny.pairs()[:90])
    ]
    for name, part in (("train", rows[:60]), ("dev_matched", rows[60:])):
        text = "".join(json.dumps(row) + "\n" for row in part)
        (tmp_path / "multinli" / f"multinli_1.0_{name}.jsonl").write_text(text, encoding="utf-8")
    settings = changes("text.vectors=''", "text.baseforms=''", "data.dev_fraction=0.1", "model.width=16")
    steps = changes(
        "model.hidden=16", "train.max_steps=9", "train.optimizer.name=adam", "train.optimizer.lr=0.02"
    )
    run = tmp_path / "run"
    made = tiny.run("train", "disan-multinli", "--data", tmp_path, "--out", run, "--json", *settings, *steps)
    assert made.code == 0, made.err
    found = load_model(run).answer([(row["sentence1"], row["sentence2"]) for row in rows[60:]])
    right = {"fiction": [], "travel": []}
    for answer, row in zip(found, rows[60:], strict=True):
        right[row["genre"]].append(answer.label == row["gold_label"])
    wanted = {genre: (len(own), pytest.approx(sum(own) / len(own))) for genre, own in right.items()}
    arguments = ("evaluate", run, "--on", "multinli:dev-matched", "--data", tmp_path)
    report = tiny.run(*arguments, "--json").json()
    assert {genre: (row["count"], row["accuracy"]) for genre, row in report["by_group"].items()} == wanted
    assert report["by_group"] == made.json()["test"]["by_group"]
    lines = {line.split()[0]: line.split()[1:3] for line in tiny.run(*arguments).out.splitlines()}
    assert lines["group"] == ["accuracy", "count"]
    for genre, row in report["by_group"].items():
        assert lines[genre] == [f"{row['accuracy']:.4f}", str(row["count"])]


@pytest.mark.data
@pytest.mark.parametrize("name", ["disan-trec", "disan-cr", "disan-sick"])
def test_recipes_of_small_sets_train(name: str, data_dir: Path, tmp_path: Path) -> None:
    no_vectors = changes("text.vectors=''", "text.baseforms=''")
    where = ("--data", data_dir, "--out", tmp_path / "run", "--no-baseline")  # which have tests of their own
    result = tiny.run("train", name, *where, *SMALL, *no_vectors)
    assert result.code == 0, result.err
    assert "test  " in result.out
