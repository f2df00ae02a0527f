"""Translation comes from outside: found by entry points, and named with its package where that is not installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from heedful.data import catalog
from heedful.data.readers.corpus_builder import NO_TEXT
from heedful.errors import MissingExtraError
from heedful.run.recipe_files import load_config
from heedful.storage import installed
from heedful.tasks import TASKS, find_task, task_table
from heedful_lab.translation import recipes
from heedful_lab.translation.translation_task import TranslationTask, build_translation, options_of

RECIPES = ["mssan-multi30k", "mtsa-multi30k", "transformer-multi30k"]


@pytest.fixture
def without_the_laboratory(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (task_table, installed):
        monkeypatch.setattr(module, "installed", lambda group: {})
    monkeypatch.delitem(TASKS, "translation", raising=False)


def test_entry_points_bring_the_task_its_recipes_and_its_data() -> None:
    groups = {name: installed.installed(f"heedful.{name}") for name in ("tasks", "recipes", "data_sets")}
    assert groups["tasks"]["translation"].load() is TranslationTask
    assert groups["recipes"]["translation"].load() is recipes
    assert isinstance(find_task("translation"), TranslationTask)
    assert sorted(file.stem for file in recipes().glob("*.toml")) == RECIPES
    assert set(RECIPES) == set(installed.ELSEWHERE) <= set(installed.recipe_names())
    for source, target in (("en", "de"), ("de", "en")):
        entry = catalog.data_set(f"multi30k-{source}-{target}")
        assert (entry.task, entry.labels) == ("translation", ())
        assert entry.parts["train"].file == f"multi30k/raw/train.{source}"
        assert entry.parts["train"].beside == (f"multi30k/raw/train.{target}",)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_says_how_to_install_the_laboratory(name: str, without_the_laboratory: None) -> None:
    result = tiny.run("train", name, "--out", "run")
    assert (result.code, result.err.count("\n")) == (MissingExtraError.exit_code, 1)
    assert (
        f"the recipe {name} needs heedful-lab, which is not installed: pip install heedful-lab" in result.err
    )


def test_a_saved_model_says_how_to_install_the_laboratory(
    tmp_path: Path, without_the_laboratory: None
) -> None:
    tiny.write_tasks(tmp_path / "data")
    (tmp_path / "own.toml").write_text(
        '[data]\ntrain = "x"\n[model]\ntask = "translation"\n', encoding="utf-8"
    )
    with pytest.raises(MissingExtraError, match="needs heedful-lab, which is not installed: pip install"):
        load_config(tmp_path / "own.toml")


@pytest.mark.parametrize("name", RECIPES)
def test_the_network_of_a_recipe_answers(name: str) -> None:
    import torch

    from heedful.structures import Batch, Sentences

    model = load_config(name).model
    words = Sentences(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool))
    logits = build_translation(model, options_of(model), 9, 9)(Batch((words, words))).logits
    assert logits.shape == (1, 2, 9)


def test_a_table_of_the_name_of_the_task_holds_its_settings() -> None:
    config = load_config("mtsa-multi30k", ["translation.search.beam=2"])
    assert options_of(config.model).search.beam == 2
    assert json.loads(json.dumps(config.model.task_options))["decoder"]["layers"] == 2


@pytest.mark.data
@pytest.mark.parametrize("name", ["multi30k-en-de", "multi30k-de-en"])
def test_real_files_have_the_published_rows(data_dir: Path, name: str) -> None:
    here = [line.split for line in catalog.available(data_dir) if line.name == name and line.present]
    assert here, f"no file of {name} in the folder"
    for split in here:
        corpus = catalog.load(name, split, data_dir)
        assert len(corpus.examples) + corpus.skipped[NO_TEXT] == catalog.data_set(name).parts[split].rows
        assert {type(example.target) for example in corpus.examples} == {str}
