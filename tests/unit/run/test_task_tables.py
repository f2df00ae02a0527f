"""A table of the name of a task means ``model.task_options``; those of other tasks are refused, or dropped if kept."""

from __future__ import annotations

import pytest

from heedful.errors import UsageError
from heedful.run.kept_settings import completed, plain_settings, same_run
from heedful.run.recipe_files import from_table, into_options, load_config, misplaced
from heedful.run.run_config import RunConfig

KEPT = {"model": {"task": "number"}, "translation": {"pieces": 8000}, "number": {"loss": "huber"}}


def test_the_table_of_the_task_becomes_its_options_and_others_are_dropped() -> None:
    assert into_options(KEPT) == {"model": {"task": "number", "task_options": {"loss": "huber"}}}
    named = {"model": {"task": "number", "task_options": {"loss": "square"}}, "number": {"loss": "huber"}}
    assert into_options(named)["model"] == {"task": "number", "task_options": {"loss": "huber"}}
    assert into_options({"model": 3, "number": {}}) == {"model": 3, "number": {}}


def test_a_setting_of_another_task_is_named() -> None:
    assert list(misplaced(KEPT)) == [
        "translation.pieces is not used by model.task='number': remove it, or set model.task='translation'"
    ]


def test_settings_of_a_run_name_the_table_by_the_task() -> None:
    config = load_config("my-numbers", ["data.train=x.csv", "number.loss=huber"])
    assert config.model.task_options == {"loss": "huber"}
    with pytest.raises(UsageError, match=r"model\.task_options\.los: unknown setting; did you mean 'loss'"):
        load_config("my-numbers", ["data.train=x.csv", "number.los=huber"])


@pytest.mark.parametrize("name", ["tree", "at_least", "coverage", "by_class"])
def test_what_is_asked_of_a_trained_model_is_no_setting_of_a_training(name: str) -> None:
    given = ["data.train=x.csv", f"model.task_options.{name}=/", "model.task_options.rejct=0.9"]
    option = name.replace("_", "-")
    said = rf"task_options\.{name}: a model is asked for it later; use the options? .*--{option} "
    with pytest.raises(UsageError, match=said) as caught:
        load_config("my-texts", given)
    assert "rejct: unknown setting; did you mean 'reject'?" in str(caught.value)


def test_a_kept_run_may_have_the_tables_of_all_tasks() -> None:
    assert from_table({"model": {"task": "text"}, "translation": {"pieces": 8000}}, "it") == RunConfig()


def test_defaults_of_the_task_are_no_difference() -> None:
    config = load_config("my-numbers", ["data.train=x.csv"])
    saved = plain_settings(config)
    huber = {**saved, "model": {**saved["model"], "task_options": {"loss": "huber"}}}  # type: ignore[dict-item]
    named = {**saved, "model": {**saved["model"], "task_options": {"loss": "square"}}}  # type: ignore[dict-item]
    assert same_run(named, saved)
    assert not same_run(huber, saved)
    assert completed({**saved, "translation": {"pieces": 8000}}) == completed(saved)
