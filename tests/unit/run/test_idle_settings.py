"""A setting that nothing reads is said, for every setting that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.run.idle_settings import RULES, idle_in_file, idle_in_space, idle_settings, load_noted
from heedful.run.recipe_files import load_config, to_toml
from heedful.run.run_config import RunConfig
from heedful.run.tuning.space import read_space
from heedful.settings import changed_fields
from heedful.storage.installed import recipe_names
from whole_settings import leaves

FILE = ("data.train=rows.csv",)
PIECES = (*FILE, "model.pretrained.name=folder", "text.vectors=", "model.sentence=none")
TEACHER = (*FILE, "distil.teacher=['folder']")
CASES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # setting: a recipe's name, settings beside which it has no effect, and others beside which it has one
    "data.train_limit": ("my-texts", FILE, ("data.set=trec",)),
    "data.text": ("my-texts", ("data.set=trec",), FILE),
    "data.label": ("my-texts", ("data.set=trec",), FILE),
    "data.premise": ("my-pairs", ("data.set=sick",), FILE),
    "data.hypothesis": ("my-pairs", ("data.set=sick",), FILE),
    "data.score": ("my-scores", ("data.set=sick",), FILE),
    "data.dev_fraction": ("my-texts", (*FILE, "data.dev=dev.csv"), FILE),
    "data.dev": ("my-texts", (*FILE, "data.protocol=paper"), FILE),
    "data.folds": ("my-texts", FILE, (*FILE, "data.hold_out_fold=true")),
    "data.fold": ("my-texts", ("data.set=trec",), ("data.set=cr",)),
    "data.few_rows": ("my-texts", (*FILE, "model.wide=none", "model.sentence=none"), FILE),
    "data.keep_share": ("my-texts", FILE, (*FILE, "data.keep_examples=rows")),
    "data.choose_again": ("my-texts", FILE, (*FILE, "data.keep_examples=texts")),
    "text.vector_norm": ("my-texts", (*FILE, "text.vectors="), FILE),
    "text.extra_words": ("my-texts", (*FILE, "text.vectors="), FILE),
    "text.min_count": ("my-texts", PIECES, FILE),
    "text.random": ("my-texts", PIECES, FILE),
    "text.unit_norm": ("my-texts", PIECES, FILE),
    "text.oov": ("my-texts", PIECES, FILE),
    "text.subwords": ("my-texts", PIECES, FILE),
    "text.subword_case": ("my-texts", (*PIECES, "text.subwords=10"), (*FILE, "text.subwords=10")),
    "text.parser": ("my-texts", FILE, (*FILE, "model.encoder_options.masks=['parent']")),
    "model.width": ("my-texts", PIECES, FILE),
    "model.train_embedding": ("my-texts", PIECES, FILE),
    "model.row_dropout": ("my-texts", FILE, (*FILE, "text.subwords=10")),
    "model.sentence": ("my-tags", (*FILE, "model.wide=none"), FILE),
    "model.pooling": ("my-pairs", (*FILE, "model.encoder=decomposable"), FILE),
    "model.matching": ("my-pairs", (*FILE, "model.encoder=decomposable"), FILE),
    "model.highway": ("my-pairs", (*FILE, "model.encoder=decomposable"), FILE),
    "model.final_bias": ("my-pairs", (*FILE, "model.encoder=decomposable"), FILE),
    "model.pretrained.layers": ("my-texts", FILE, PIECES),
    "model.pretrained.lr_factor": ("my-texts", FILE, PIECES),
    "model.pretrained.layer_decay": ("my-texts", FILE, PIECES),
    "model.pretrained.cls": ("my-texts", FILE, PIECES),
    "model.pretrained.download": ("my-texts", FILE, PIECES),
    "train.optimizer.rho": ("my-texts", FILE, (*FILE, "train.optimizer.name=adadelta")),
    "train.optimizer.beta2": ("my-texts", (*FILE, "train.optimizer.name=adagrad"), FILE),
    "train.least_steps": ("my-texts", (*FILE, "train.epochs=0", "train.max_steps=9"), FILE),
    "train.milestones": ("my-texts", FILE, (*FILE, "train.schedule=stepwise", "train.milestones=[3]")),
    "train.decay_rate": ("my-texts", FILE, (*FILE, "train.schedule=exponential")),
    "train.decay_steps": ("my-texts", FILE, (*FILE, "train.schedule=exponential")),
    "train.evaluate_every": ("my-texts-setfit", FILE, (*FILE, "train.contrast=false")),
    "train.evaluate_from": ("my-texts-setfit", FILE, (*FILE, "train.contrast=false")),
    "train.patience": ("my-texts-setfit", FILE, (*FILE, "train.contrast=false")),
    "train.metric": ("my-texts-setfit", FILE, (*FILE, "train.contrast=false")),
    "train.direction": ("my-texts-setfit", FILE, (*FILE, "train.contrast=false")),
    "distil.weight": ("my-texts", FILE, TEACHER),
    "distil.vectors": ("my-texts", FILE, TEACHER),
    "distil.texts": ("my-texts", FILE, TEACHER),
    "distil.augment": ("my-texts", (*FILE, "distil.augment=0"), TEACHER),
    "distil.dev_fraction": ("my-texts", TEACHER, (*TEACHER, "distil.texts=pool.csv")),
    "distil.temperature": ("my-texts", (*TEACHER, "distil.weight=1.0", "distil.vectors=1.0"), TEACHER),
    **{
        f"distil.{name}": ("my-texts", TEACHER, (*TEACHER, "distil.augment=1"))
        for name in ("mask", "swap", "ngram", "phrases", "kind", "seed")
    },
}
ALWAYS = {
    "name",
    *(f"data.{name}" for name in ("set", "train", "test", "features", "label_type", "languages", "options")),
    *(f"data.{name}" for name in ("protocol", "hold_out_fold", "max_tokens", "truncate", "length_share")),
    *(f"data.{name}" for name in ("keep_examples", "keep_sums", "learn_from")),
    *(f"text.{name}" for name in ("tokenizer", "markup", "normalize", "lowercase", "vectors", "baseforms")),
    *(f"batches.{name}" for name in ("size", "tokens", "bucketing", "group", "eval_size")),
    *(f"model.{name}" for name in ("task", "encoder", "encoder_options", "hidden", "activation", "dropout")),
    *(f"model.{name}" for name in ("outputs", "window", "wide", "task_options", "start", "pretrained.name")),
    *(f"model.tagger.{name}" for name in ("flag_width", "projected", "finder_hidden", "label_smoothing")),
    *(f"train.optimizer.{name}" for name in ("name", "lr", "weight_decay", "eps")),
    *(f"train.{name}" for name in ("seed", "epochs", "max_steps", "clip_norm", "schedule", "warmup_steps")),
    *(f"train.{name}" for name in ("relatedness_loss", "class_weight", "class_weights", "label_smoothing")),
    *(f"train.{name}" for name in ("contrast", "word_mask", "weight_average", "evaluate_train", "shards")),
    *(f"train.{name}" for name in ("device", "precision", "save_seconds", "save_steps", "log_every")),
    "distil.teacher",
}
"""Settings that are read wherever their task reads them and there is a network, or that are refused where they are not.
A new setting stands here or in `CASES`."""


def test_every_setting_says_when_it_has_no_effect() -> None:
    assert sorted(leaves(RunConfig())) == sorted({*CASES, *ALWAYS})
    assert not ALWAYS & CASES.keys()
    assert {name for rule in RULES for name in rule.names} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_setting_beside_those_that_silence_it(name: str) -> None:
    recipe, silent, read = CASES[name]
    (said,) = idle_settings(load_config(recipe, silent), [name])
    assert said.startswith(f"{name} has no effect here: ")
    assert "\n" not in said
    assert idle_settings(load_config(recipe, read), [name]) == []


def test_to_ask_for_a_network_with_any_number_of_rows_is_never_in_vain() -> None:
    alone = [*FILE, "model.wide=none", "model.sentence=none", "data.few_rows=0"]
    assert idle_settings(load_config("my-texts", alone), ["data.few_rows"]) == []


NETWORK_ALONE = (
    *(
        "model.hidden",
        "model.dropout",
        "model.pooling",
        "model.encoder_options.scale",
        "batches.size",
        "text.oov",
    ),
    *("train.epochs", "train.optimizer.lr", "train.patience", "text.min_count", "distil.temperature"),
)


@pytest.mark.parametrize("name", NETWORK_ALONE)
def test_without_a_network_what_it_alone_reads_is_said(name: str) -> None:
    (said,) = idle_settings(load_config("my-texts", ["model.encoder=none"]), [name])
    assert said == f'{name} has no effect here: model.encoder = "none" has no network, which alone reads it'


@pytest.mark.parametrize(
    "name", ["model.encoder", "model.wide", "train.seed", "train.metric", "batches.eval_size"]
)
def test_what_linear_parts_read_is_read_without_a_network(name: str) -> None:
    assert idle_settings(load_config("my-texts", ["model.encoder=none"]), [name]) == []


@pytest.mark.parametrize("name", recipe_names())
def test_no_packaged_recipe_holds_a_setting_without_effect(name: str) -> None:
    config = load_config(name)
    changed = [each.partition("=")[0] for each in changed_fields(config, RunConfig())]
    assert [line for line in idle_settings(config, changed) if not line.startswith("distil.")] == []


def test_a_file_of_settings_is_asked_for_what_it_changes_and_a_packaged_recipe_is_not(tmp_path: Path) -> None:
    config = load_config("my-texts", ["train.decay_steps=3"])
    path = tmp_path / "own.toml"
    path.write_text(to_toml(config), encoding="utf-8")
    assert (idle_in_file(path), idle_in_file("my-texts")) == (["train.decay_steps"], [])
    told: list[str] = []
    assert load_noted(path, (), told.append) == config
    assert told == ["train.decay_steps has no effect here: only train.schedule = exponential reads it"]
    assert load_noted("my-texts", (), told.append) == load_config("my-texts")
    assert len(told) == 1
    # data.set silences the columns that the file names
    further = ["train.schedule=exponential", "data.set=trec", "train.optimizer.rho=0.5"]
    load_noted(path, further, told.append)
    assert [line.split()[0] for line in told[1:]] == ["train.optimizer.rho"]


def test_a_search_is_told_of_what_has_no_effect_whatever_it_chooses() -> None:
    config = load_config("my-texts")
    vary = ["train.decay_rate=0.1..0.9", "train.optimizer.rho=0.8..0.99"]
    alone, beside = (
        read_space(None, names, config) for names in (vary, [*vary, "train.schedule=linear,exponential"])
    )
    assert [line.split()[0] for line in idle_in_space(config, alone)] == [
        "train.decay_rate",
        "train.optimizer.rho",
    ]
    assert [line.split()[0] for line in idle_in_space(config, beside)] == ["train.optimizer.rho"]


def test_the_mean_of_vectors_without_vectors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.tasks.sentences.used_settings.package_of", lambda name: "")
    for recipe in ("my-texts", "my-tags", "my-pairs", "my-numbers"):
        for vectors in ("", "auto"):
            with pytest.raises(UsageError, match='"mean" reads word vectors, and there are none'):
                load_config(recipe, ["model.sentence=mean", f"text.vectors={vectors}"])
    load_config("my-texts", ["model.sentence=mean", "text.vectors=own.txt"])


def test_the_overlap_of_a_single_text_is_refused() -> None:
    with pytest.raises(UsageError, match="what the two texts of a pair have in common"):
        load_config("my-texts", ["model.sentence=overlap"])
    load_config("my-pairs", ["model.sentence=overlap"])
