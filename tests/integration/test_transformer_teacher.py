"""A transformer in place of a teacher: it is fine-tuned first, and the student needs it no longer."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import tiny
from heedful.errors import ArtifactError, DataError
from heedful.run import prepare, train
from heedful.run.distilling import find_teacher
from heedful.run.distilling.distillation import Places
from heedful.run.distilling.fine_tuning import fine_tuned, fine_tuning, is_transformer
from heedful.run.recipe_files import load_config, override
from heedful.run.run_config import RunConfig
from heedful.storage.hugging_face import read_encoder
from heedful.tasks import load_model
from heedful.training.progress import Silent
from tiny_encoder import write_encoder

SHORT = (
    "--set",
    "train.epochs=1",
    "--set",
    "train.least_steps=0",
    "--set",
    "model.wide=none",
    "--set",
    "model.sentence=none",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tiny.write_tasks(tmp_path_factory.mktemp("taught"))
    write_encoder(root / "encoder")
    tiny.write_csv(root / "reviews.csv", tiny.texts()[:80], ["review", "mood"])
    tiny.write_csv(root / "pool.csv", [[f"a dull and fine film {k}"] for k in range(20)], ["review"])
    return root


def student(folder: Path, **settings: object) -> RunConfig:
    config = load_config(
        "my-texts", [f"data.train={folder / 'reviews.csv'}", "data.text=review", "data.label=mood"]
    )
    return override(config, {"distil.teacher": [str(folder / "encoder")], **settings})


def test_what_is_a_transformer(folder: Path, tmp_path: Path) -> None:
    assert is_transformer(str(folder / "encoder"))
    assert is_transformer("encoder", folder)
    assert is_transformer("sentence-transformers/all-MiniLM-L6-v2")
    for name in (
        "runs/mine",
        "../mine/model",
        "/nowhere/model",
        "nothing",
        str(folder),
        str(folder / "reviews.csv"),
    ):
        assert not is_transformer(name), name


def test_the_settings_are_those_of_the_recipe_with_the_data_of_the_student(folder: Path) -> None:
    config = student(folder, **{"train.seed": 3, "train.metric": "macro_f1"})
    own, recipe = fine_tuning(config, str(folder / "encoder")), load_config("my-texts-transformer")
    assert own.data == replace(config.data, few_rows=0), "a transformer is no linear part"
    assert (own.train.seed, own.train.metric) == (3, "macro_f1")
    assert (own.model.encoder, own.train.optimizer, own.text) == (
        "embedding",
        recipe.train.optimizer,
        recipe.text,
    )
    assert own.model.pretrained.name == str(folder / "encoder")
    assert not own.model.pretrained.download
    assert fine_tuning(config, "owner/name").model.pretrained.download
    few = fine_tuning(config, "owner/name", rows=999)
    assert (own.train.contrast, few.train.contrast) == (False, True)
    assert not fine_tuning(config, "owner/name", rows=999, classes=401).train.contrast
    labels = replace(config, model=replace(config.model, task="labels"))
    assert not fine_tuning(labels, "owner/name", rows=10).train.contrast


def test_one_command_fine_tunes_and_teaches(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [
        "train",
        folder / "reviews.csv",
        "--teacher",
        folder / "encoder",
        "--texts",
        folder / "pool.csv",
    ]
    done = tiny.run(*command, "--out", out, "--no-baseline", *SHORT)
    assert done.code == 0, done.err
    assert f"fine-tuning the teacher {folder / 'encoder'}" in done.err
    assert re.search(rf"teacher {folder}/encoder: accuracy [01]\.\d{{4}} on dev", done.err)
    assert str(out / "teacher") in (out / "model" / "config.json").read_text(encoding="utf-8")
    shutil.move(out / "teacher", tmp_path / "elsewhere")
    assert tiny.run("predict", out, "--text", "a dull film").code == 0
    assert tiny.run("predict", tmp_path / "elsewhere", "--text", "a dull film").code == 0


def test_a_teacher_that_was_cut_off_goes_on_and_one_that_is_done_is_kept(
    folder: Path, tmp_path: Path
) -> None:
    class Stops(Silent):
        """Stops the training of the teacher in the middle."""

        def step(self, step: int, loss: float) -> None:
            if step == 5:
                raise KeyboardInterrupt

    config, name = student(folder, **{"train.save_steps": 2}), str(folder / "encoder")
    whole = fine_tuned(config, Places(tmp_path / "whole", folder))
    with pytest.raises(KeyboardInterrupt):
        fine_tuned(config, Places(tmp_path / "cut", folder), reporter=Stops())
    on = fine_tuned(config, Places(tmp_path / "cut", folder, resume=True))
    kept = fine_tuned(config, Places(tmp_path / "whole", folder, resume=True))
    assert whole.config.distil.teacher == (str(tmp_path / "whole" / "teacher"),)
    assert kept.config == whole.config
    for other in (on, kept):
        assert other.results[name].dev.metrics == whole.results[name].dev.metrics
    first, second = (
        load_model(tmp_path / each / "teacher").network.state_dict() for each in ("whole", "cut")
    )
    assert all(torch.equal(first[part], second[part]) for part in first)


def test_a_student_that_was_cut_off_goes_on_with_the_teacher_that_is_there(
    folder: Path, tmp_path: Path
) -> None:
    class Stops(Silent):
        """Stops the training of the student in the middle."""

        def step(self, step: int, loss: float) -> None:
            if step == 2:
                raise KeyboardInterrupt

    small = {"train.epochs": 1, "train.save_steps": 1, "model.wide": "none", "model.sentence": "none"}
    config, places = student(folder, **small), Places(tmp_path / "run", folder)
    taught = fine_tuned(config, places).config
    with pytest.raises(KeyboardInterrupt):
        train(taught, prepare(taught, folder), folder=places.out, reporter=Stops())
    again = fine_tuned(config, replace(places, resume=True)).config
    result = train(again, prepare(again, folder), folder=places.out, resume=True)
    assert result.fit.resumed == 1


def test_a_command_that_has_ended_may_be_given_again(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [
        "train",
        folder / "reviews.csv",
        "--teacher",
        folder / "encoder",
        "--out",
        out,
        "--no-baseline",
    ]
    for more in ([], ["--resume"], ["--resume"]):
        done = tiny.run(*command, *SHORT, *more)
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("left_out", "problem"),
    [("model.safetensors", "there are no weights"), ("tokenizer.json", "there is no vocabulary")],
)
def test_a_folder_that_lacks_a_part_is_refused_in_one_line(
    folder: Path, tmp_path: Path, left_out: str, problem: str
) -> None:
    shutil.copytree(folder / "encoder", tmp_path / "encoder")
    for file in (tmp_path / "encoder").iterdir():
        if file.name.startswith(left_out.partition(".")[0]):
            file.unlink()
    command = ["train", folder / "reviews.csv", "--teacher", tmp_path / "encoder", "--out", tmp_path / "run"]
    done = tiny.run(*command, *SHORT, "-q")
    assert done.code == 3, done.err
    assert problem in done.err.splitlines()[-1]
    assert len(done.err.splitlines()) == 2  # the first says what was recognized


def test_a_teacher_that_is_nowhere_is_named_as_such(folder: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "run")
    with pytest.raises(DataError, match=r"^distil\.teacher='no/where': neither a folder nor a model"):
        fine_tuned(student(folder, **{"distil.teacher": ["no/where"]}), places)


def test_program_text_in_a_folder_is_never_run(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "encoder", tmp_path / "encoder")
    file = tmp_path / "encoder" / "config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    own = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    file.write_text(json.dumps({**settings, "model_type": "own", "auto_map": own}), encoding="utf-8")
    marker = tmp_path / "was-run"
    (tmp_path / "encoder" / "own.py").write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    command = ["train", folder / "reviews.csv", "--teacher", tmp_path / "encoder", "--out", tmp_path / "run"]
    done = tiny.run(*command, *SHORT, "-q")
    assert done.code in (2, 3, 5), done.err
    assert len(done.err.splitlines()) == 2
    assert not marker.exists()


def test_few_labels_without_further_texts_are_copied(folder: Path, tmp_path: Path) -> None:
    said: list[str] = []
    config = student(folder)
    found = fine_tuned(config, Places(tmp_path / "run", folder), print_line=said.append).config
    assert found.distil.augment == 20
    assert "in SetFit's way, because there are few labels" in said[0]
    assert "--texts FILE" in said[-1]


def test_copies_are_drawn_as_named_and_none_where_none_are_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = SimpleNamespace(dev=SimpleNamespace(metrics={"accuracy": 0.5}))
    monkeypatch.setattr("heedful.run.distilling.fine_tuning.train", lambda *_, **__: trained)
    for copies in (0, 3):
        config = student(folder, **{"distil.augment": copies})
        assert fine_tuned(config, Places(tmp_path / f"run{copies}", folder)).config.distil.augment == copies


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"config.json": "{"}, "its config.json is no JSON with a model_type"),
        ({"config.json": '{"width": 3}'}, "its config.json is no JSON with a model_type"),
        ({"adapter_config.json": "{}"}, "is an adapter without the model that it changes"),
        ({}, "is neither"),
    ],
)
def test_a_folder_that_is_no_teacher_is_told_what_it_is(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError, match=said):
        find_teacher([str(tmp_path)], ("a", "b"), "text", None, tmp_path)


def test_weights_of_other_sizes_are_told_in_one_line(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "encoder", tmp_path / "encoder")
    file = tmp_path / "encoder" / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "vocab_size": 5}), encoding="utf-8")
    with pytest.raises(DataError, match=r"its weights have other sizes than config\.json says"):
        read_encoder(tmp_path / "encoder")


def test_a_study_says_that_a_transformer_is_fine_tuned_elsewhere(folder: Path, tmp_path: Path) -> None:
    command = ["study", folder / "reviews.csv", "--folds", 2, "--out", tmp_path / "study"]
    done = tiny.run(*command, "--set", f'distil.teacher=["{folder / "encoder"}"]', *SHORT)
    assert done.code != 0
    assert (
        "is a transformer, which `heedful train --teacher`, `heedful distil` and the estimators" in done.err
    )
    assert "Traceback" not in done.err
