"""One run: what it keeps, what it refuses, what its card says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import tiny
from heedful.attention.additive import choose_additive
from heedful.attention.visibility import Band
from heedful.errors import DivergedError, OutputError, UsageError
from heedful.run import check_run_folder, prepare, run, train
from heedful.run.recipe_files import load_config
from heedful.tasks import class_loss, load_model
from heedful.training import progress as cost
from heedful.training.progress import Silent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.write_tasks(tmp_path / "data")


def settings(folder: Path, *changes: str):
    return load_config(folder / "text.toml", ["train.device=cpu", "train.max_steps=3", *changes])


def test_a_run_keeps_all_that_is_needed_to_repeat_it(folder: Path, tmp_path: Path) -> None:
    config = settings(folder)
    result = train(config, prepare(config, folder), folder=tmp_path / "run")
    assert load_config(tmp_path / "run" / "config.toml") == config
    model = tmp_path / "run" / "model"
    saved = json.loads((model / "metrics.json").read_text())
    assert saved == {
        **json.loads(json.dumps(result.summary())),
        "training_rows": 108,
    }  # of which it learns on
    assert saved["kernels"]["feature-wise attention"] == str(
        choose_additive(torch.zeros(1, 2, 4), Band(high=-1), scale=5.0)
    )
    card = (model / "README.md").read_text()
    for part in (
        "It predicts the class of a text: neg, pos.",
        "Protocol: named files",
        "108 training examples",
        "An unknown word is the zero vector, and a text without words is the zero vector; both are flagged",
    ):
        assert part in card
    assert "`text.csv` SHA-256 `" in card
    assert "[train.optimizer]" in card
    loaded = load_model(tmp_path / "run")
    assert loaded.about == result.predictor.about


def test_the_vocabulary_is_that_of_the_training_part_under_both_protocols(folder: Path) -> None:
    for file, word in (("text.csv", "trainingword"), ("text-test.csv", "testword")):
        with (folder / file).open("a", encoding="utf-8") as rows:
            rows.writelines(f"A {word} was fine .,pos\n" for _ in range(30))
    for protocol in ("honest", "paper"):
        prepared = prepare(settings(folder, f"data.protocol={protocol}"), folder)
        assert prepared.lexicon.vocabulary.knows("trainingword")
        assert not prepared.lexicon.vocabulary.knows("testword")


def test_a_run_in_memory_writes_nothing(folder: Path, tmp_path: Path) -> None:
    config = settings(folder)
    before = sorted(tmp_path.rglob("*"))
    result = train(config, prepare(config, folder))
    assert result.test is not None
    assert sorted(tmp_path.rglob("*")) == before


def test_the_training_split_is_measured_with_the_best_weights_where_that_is_asked_for(folder: Path) -> None:
    plain = settings(folder, "train.max_steps=3")
    assert "train" not in train(plain, prepare(plain, folder)).summary()
    config = settings(folder, "train.max_steps=3", "train.evaluate_train=true")
    prepared = prepare(config, folder)
    result = train(config, prepared)
    expected = run.report(result.predictor, prepared.datasets["train"])
    found = result.summary()["train"]
    assert found["count"] == len(prepared.datasets["train"])
    assert found["metrics"] == pytest.approx(expected.metrics)


def test_the_time_of_a_resumed_run_is_that_of_all_its_parts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings(folder, "train.save_steps=1")
    clock = [0.0]
    monkeypatch.setattr(
        cost, "time", SimpleNamespace(monotonic=lambda: clock[0], process_time=lambda: 2 * clock[0])
    )

    class Slow(Silent):
        """Takes a thousand seconds a step, and ends the run at its third."""

        def step(self, step: int, loss: float) -> None:
            clock[0] += 1000.0
            if step == 3:
                raise KeyboardInterrupt

    prepared = prepare(config, folder)
    with pytest.raises(KeyboardInterrupt):
        train(config, prepared, folder=tmp_path / "run", reporter=Slow())
    result = train(config, prepared, folder=tmp_path / "run", resume=True)
    assert 2000.0 < result.seconds < 3000.0
    passes = 3 / math.ceil(108 / 16)
    assert result.epoch_seconds == pytest.approx(2000.0 / passes)
    assert result.epoch_cpu_seconds == pytest.approx(4000.0 / passes)
    assert result.summary()["resumed"] == 1


def test_the_same_seed_gives_the_same_weights(folder: Path) -> None:
    config = settings(folder)
    first, second = (train(config, prepare(config, folder)).predictor.network.state_dict() for _ in range(2))
    assert len(first) > 10
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_prepared_data_is_the_same_from_the_cache(folder: Path, tmp_path: Path) -> None:
    config = settings(folder)
    built, read = (prepare(config, folder, tmp_path / "cache") for _ in range(2))
    assert built.lexicon.vocabulary == read.lexicon.vocabulary
    assert built.labels == read.labels == ("neg", "pos")
    assert (built.datasets["dev"].rows == read.datasets["dev"].rows).all()
    assert (built.lexicon.table.trainable == read.lexicon.table.trainable).all()


def test_a_loss_that_is_not_finite_names_data_and_rows_and_keeps_the_state(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings(folder, "train.max_steps=5")
    prepared = prepare(config, folder)
    calls = []

    def diverging(logits: torch.Tensor, targets: torch.Tensor, *_: object) -> torch.Tensor:
        calls.append(len(targets))
        return logits.sum(dim=1) * (math.nan if len(calls) == 3 else 1.0)

    monkeypatch.setattr(class_loss, "cross_entropy", diverging)
    with pytest.raises(DivergedError) as caught:
        train(config, prepared, folder=tmp_path / "run")
    assert str(caught.value).startswith("text.csv: step 3: the loss is nan; rows ")
    assert (tmp_path / "run" / "checkpoints" / "latest").is_dir()
    assert not (tmp_path / "run" / "model").exists()


def test_a_run_folder_is_checked_before_any_work(tmp_path: Path) -> None:
    check_run_folder(tmp_path / "new" / "run", resume=False)
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        check_run_folder(tmp_path / "file" / "run", resume=True)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_text("")
    check_run_folder(tmp_path / "run", resume=True)
    with pytest.raises(UsageError, match="--resume continues it, --overwrite replaces it"):
        check_run_folder(tmp_path / "run", resume=False)


def test_a_place_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="no permission in"):
        check_run_folder(tmp_path / "run", resume=False)
