"""Recipes to settings, and every mistake at once."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.models import encoder_config
from heedful.run.recipe_files import from_table, load_config, override, to_toml
from heedful.run.run_config import RunConfig
from heedful.storage.installed import recipe_names, recipe_text


def test_every_recipe_loads_and_names_a_known_encoder() -> None:
    names = recipe_names()
    assert len(names) >= 6
    for name in names:
        config = load_config(name)
        assert config.name
        assert encoder_config(config.model)


def test_every_recipe_starts_with_its_command() -> None:
    for name in recipe_names():
        first = recipe_text(name).splitlines()[0]
        assert first.startswith("# ")
        assert f"heedful train {name}" in first or f"heedful study {name}" in first


def test_every_recipe_scales_its_word_vectors() -> None:
    """Numberbatch's vectors are of length 1, with which the published settings, made for GloVe's, train much slower."""
    texts = {name: load_config(name).text for name in recipe_names()}
    with_vectors = [name for name, text in texts.items() if text.vectors not in ("", "auto")]
    assert len(with_vectors) >= 15
    assert [n for n in with_vectors if texts[n].vector_norm != 5.0 and not texts[n].unit_norm] == []


def test_settings_survive_toml(tmp_path: Path) -> None:
    config = load_config("disan-trec", ["train.epochs=3", "model.encoder_options.masks=['forward']"])
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config), encoding="utf-8")
    assert load_config(path) == config


def test_overrides_take_toml_and_bare_strings() -> None:
    config = load_config("disan-trec", ["train.epochs=3", "data.set=cr", "model.dropout=0"])
    assert (config.train.epochs, config.data.set, config.model.dropout) == (3, "cr", 0.0)
    assert isinstance(config.model.dropout, float)


def test_override_takes_python_values() -> None:
    config = override(RunConfig(), {"train.epochs": 2, "text.vectors": "a=b.txt"})
    assert (config.train.epochs, config.text.vectors) == (2, "a=b.txt")


def test_all_mistakes_are_reported_at_once() -> None:
    wrong = ["train.epoch=3", "model.dropout='much'", "data.protocol=honnest", "tarin.lr=1", "nonsense"]
    with pytest.raises(UsageError) as caught:
        load_config("disan-trec", wrong)
    message = str(caught.value)
    assert len(message.splitlines()) == 1 + len(wrong)
    for part in (
        "did you mean 'epochs'",
        "model.dropout: must be a number",
        "did you mean 'honest'",
        "'train'",
    ):
        assert part in message
    assert "write table.key=value" in message


def test_the_options_of_an_encoder_are_read_like_all_other_settings() -> None:
    options = ("heads=two", "head_width=-3", "score_layers=3", "gate=no", "mask=1")
    with pytest.raises(UsageError) as caught:
        load_config("mtsa-trec", ["train.epochs=-1", *(f"model.encoder_options.{each}" for each in options)])
    message = str(caught.value)
    assert len(message.splitlines()) == 1 + len(options) + 1
    for each in options:
        assert f"\n  model.encoder_options.{each.partition('=')[0]}" in message


@pytest.mark.parametrize(
    ("recipe", "part"),
    [("disan-trek", "did you mean 'disan-trec'"), ("missing.toml", "no such settings file")],
)
def test_unknown_recipe(recipe: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        load_config(recipe)


def test_file_that_is_not_toml(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("a = = 1", encoding="utf-8")
    with pytest.raises(UsageError, match="not TOML"):
        load_config(path)


def test_value_where_a_table_belongs() -> None:
    with pytest.raises(UsageError, match="train: must be a table"):
        load_config("disan-trec", ["train=3"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("data.max_tokens=0", "data.max_tokens: must be 1 or more; got 0"),
        ("data.dev_fraction=1", "data.dev_fraction: must be above 0 and below 1; got 1"),
        ("data.folds=1", "data.folds: must be 2 or more; got 1"),
        ("data.folds=1001", "data.folds: must be at most 1,000; got 1001"),
        ("data.fold=11", "data: fold must be 1 to folds = 10; got 11"),
        ("text.tokenizer=tree", "text.tokenizer: must be one of"),
        ("text.vectors=''", "text: baseforms are used to look vectors up: name text.vectors too"),
        ("text.min_count=0", "text.min_count: must be 1 or more; got 0"),
        ("batches.size=0", "batches.size: must be 1 or more; got 0"),
        ("batches.tokens=-1", "batches.tokens: must be 0 or more; got -1"),
        ("train.optimizer.lr=0", "train.optimizer.lr: must be above 0; got 0"),
        ("model.encoder=disann", "model.encoder='disann' is unknown: did you mean 'disan'?"),
        (
            "model.encoder_options.mask=1",
            "model.encoder_options.mask is unknown to disan: did you mean 'masks'?",
        ),
        (
            "model.encoder_options.masks=[]",
            "model.encoder_options.masks: must hold at least one name; got []",
        ),
        ("model.encoder_options.scale=c", "model.encoder_options.scale: must be a number; got 'c'"),
    ],
)
def test_values_out_of_range_are_mistakes_of_the_settings(change: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_config("disan-trec", [change])
    first, second = str(caught.value).split("\n", 1)
    assert first.startswith("recipe disan-trec: ")
    assert second.startswith(f"  {message}")


def test_settings_survive_a_model_folder() -> None:
    config = load_config("disan-trec", ["train.epochs=3"])
    assert from_table(json.loads(json.dumps(asdict(config))), "config.json") == config
    with pytest.raises(UsageError, match=r"config\.json: .*\n  old: "):
        from_table({"name": "x", "old": 1}, "config.json")


def test_a_settings_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'name = "caf\xe9"')
    with pytest.raises(UsageError, match=r"a\.toml: byte 12 is not UTF-8; save it as UTF-8"):
        load_config(tmp_path / "a.toml")


def test_a_folder_named_like_a_recipe_is_not_in_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disan-trec").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("disan-trec").data.set == "trec"


def test_a_table_in_the_place_of_a_recipe_gets_the_command_that_trains_on_it() -> None:
    with pytest.raises(UsageError, match=r"is a table.*heedful train reviews\.csv"):
        load_config("reviews.csv")


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("epochs=3", "epochs: unknown setting; did you mean 'train.epochs'?"),
        ("train.lr=0.1", "train.lr: unknown setting; did you mean 'train.optimizer.lr'?"),
        ("train.epoch=3", "train.epoch: unknown setting; did you mean 'epochs'?"),
        ("dropout=0.1", "did you mean 'model.dropout'?"),
    ],
)
def test_a_setting_without_its_table_is_found(wrong: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_config("my-texts", [wrong])
    assert hint in str(caught.value)


def test_settings_are_shown_by_what_differs_from_the_defaults() -> None:
    assert repr(RunConfig()) == "RunConfig()"
    shown = repr(load_config("my-texts", ["data.train=a.csv", "train.epochs=3"]))
    assert "data.train='a.csv'" in shown
    assert "train.epochs=3" in shown
    assert "distil.weight" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000 + "]" * 5000,
        "".join(f"[t{number}]\n" for number in range(3000)),
        '[model.encoder_options]\nmasks = ["' + "(" * 450 + "forward" + ")" * 450 + '"]\n',
        '[model.encoder_options]\nmasks = ["' + "(" * 4500 + "forward" + ")" * 4500 + '"]\n',
    ],
)
def test_deep_and_endless_settings_are_refused_in_a_short_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError) as refused:
        load_config(str(tmp_path / "a.toml"))
    assert len(str(refused.value)) < 4000


def test_epochs_that_a_user_names_are_not_extended() -> None:
    assert load_config("my-texts").train.least_steps == 400
    assert load_config("my-texts", ["train.epochs=2"]).train.least_steps == 0
    assert load_config("my-texts", ["train.epochs=2", "train.least_steps=9"]).train.least_steps == 9
    assert override(load_config("my-texts"), {"train.epochs": 2}).train.least_steps == 0


def test_a_known_set_is_not_read_by_the_options_of_own_files() -> None:
    assert load_config("my-tags").data.options["word"] == 0
    assert load_config("my-tags", ["data.set=snips-slots"]).data.options == {}
    named = load_config("my-tags", ["data.options.keep_empty=true", "data.set=snips-slots"])
    assert named.data.options == {"keep_empty": True}
    assert (
        load_config("disan-sst2", ["data.set=sst-2"]).data.options == load_config("disan-sst2").data.options
    )
