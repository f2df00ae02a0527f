"""The training batches of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.run import prepare, train
from heedful.run.preparation import TrainingBatches
from heedful.run.recipe_files import load_config
from heedful.structures import SharedBatch
from heedful.tasks import task_named


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    tiny.write_tasks(folder)
    return folder


def trained(data: Path, folder: Path | None, *changes: str, resume: bool = False) -> dict[str, torch.Tensor]:
    config = load_config(data / "pair.toml", ["train.device=cpu", "train.epochs=0", *changes])
    result = train(config, prepare(config, data), folder=folder, resume=resume)
    return dict(result.predictor.network.state_dict())


def test_grouped_batches_hold_every_pair_once_and_each_text_once(data: Path) -> None:
    config = load_config(data / "pair.toml", ["batches.group=true"])
    dataset = prepare(config, data).datasets["train"]
    batches = TrainingBatches(dataset, config, task_named("pair"))
    rows = [row for batch in batches.batches(0) for row in batch]
    assert sorted(rows) == list(range(len(dataset)))
    batch = batches.collate(batches.batches(0)[0])
    assert isinstance(batch, SharedBatch)
    assert sum(len(side.ids) for side in batch.sides) == len(batch.places.unique())


@pytest.mark.parametrize("group", [True, False])
def test_a_resumed_run_ends_with_the_same_weights_to_the_bit(data: Path, tmp_path: Path, group: bool) -> None:
    settings = (f"batches.group={str(group).lower()}", "train.shards=2", "train.seed=3")
    through = trained(data, None, *settings, "train.max_steps=6", "train.evaluate_every=6")
    trained(data, tmp_path / "run", *settings, "train.max_steps=3", "train.evaluate_every=6")
    resumed = trained(
        data, tmp_path / "run", *settings, "train.max_steps=6", "train.evaluate_every=6", resume=True
    )
    assert all(torch.equal(through[key], resumed[key]) for key in through)


def test_grouping_takes_other_steps(data: Path) -> None:
    plain, grouped = (
        trained(data, None, f"batches.group={value}", "train.max_steps=2") for value in ("false", "true")
    )
    assert any(not torch.equal(plain[key], grouped[key]) for key in plain)


def test_only_pairs_are_grouped(data: Path) -> None:
    with pytest.raises(UsageError, match=r"batches\.group is not used by a task of texts"):
        load_config(data / "text.toml", ["batches.group=true"])
