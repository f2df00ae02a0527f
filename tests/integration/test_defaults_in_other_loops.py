"""The network of a model that today's defaults train goes on in other people's loops, and its parts stay beside it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn, optim
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import tiny
from forked_commands import CONTEXT, end_together
from heedful import TextClassifier, from_pretrained
from heedful.data.batching import collate
from heedful.nn import use_dense_gradients
from heedful.structures import Batch, Sentences
from waiting import PATIENCE

TEXTS, LABELS = ([row[k] for row in tiny.texts()][:120] for k in (0, 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the defaults, with a network, linear parts and sums over its rows."""
    place = tmp_path_factory.mktemp("default") / "model"
    settings = {"data__few_rows": 0, "train__max_steps": 2, "train__device": "cpu", "text__vectors": ""}
    made = TextClassifier(**settings, model__width=40).fit(TEXTS, LABELS, baseline=False)
    made.save_pretrained(place)
    parts = made.predictor.about.sentence, made.predictor.about.wide
    assert any(part is not None for part in parts)
    return place


class Network(nn.Module):
    """Its network as a function of rows of the vocabulary."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.network = from_pretrained(folder).predictor.network.eval()  # no dropout: the loops are compared
        use_dense_gradients(self.network)

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.network(Batch((Sentences(ids, ids != 0),))).logits
        return logits


@cache
def rows(folder: Path) -> tuple[Tensor, Tensor]:
    predictor = from_pretrained(folder).predictor
    dataset, _ = predictor.encode_examples(predictor.read(TEXTS[:16]).examples)
    ids = collate(dataset, np.arange(16)).sides[0].ids
    return ids, torch.tensor([predictor.labels.index(label) for label in LABELS[:16]])


def optimizer_of(module: nn.Module) -> optim.Optimizer:
    return optim.AdamW((p for p in module.parameters() if p.requires_grad), lr=0.01)


def step(module: nn.Module, ids: Tensor, gold: Tensor) -> Tensor:
    loss = cross_entropy(module(ids), gold)
    assert loss.isfinite()
    return loss


def plain(folder: Path) -> Network:
    module = Network(folder)
    optimizer = optimizer_of(module)
    for _ in range(3):
        optimizer.zero_grad()
        step(module, *rows(folder)).backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        optimizer.step()
    return module


def by_accelerate(folder: Path) -> nn.Module:
    accelerator = pytest.importorskip("accelerate").Accelerator(cpu=True)
    wrapped, optimizer = accelerator.prepare(module := Network(folder), optimizer_of(module))
    for _ in range(3):
        optimizer.zero_grad()
        accelerator.backward(step(wrapped, *rows(folder)))
        accelerator.clip_grad_norm_(wrapped.parameters(), 0.5)
        optimizer.step()
    return module


def by_lightning(folder: Path) -> nn.Module:
    lightning = pytest.importorskip("lightning")

    class Trained(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = Network(folder)

        def training_step(self, batch: Any, number: int) -> Tensor:
            return step(self.inner, *batch)

        def on_train_epoch_start(self) -> None:
            self.inner.eval()

        def configure_optimizers(self) -> optim.Optimizer:
            return optimizer_of(self.inner)

    module = Trained()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", devices=1, gradient_clip_val=0.5, enable_checkpointing=False, **quiet
    )
    trainer.fit(module, DataLoader(TensorDataset(*rows(folder)), batch_size=16))
    return module.inner


@pytest.mark.parametrize("train", [by_accelerate, by_lightning])
@pytest.mark.filterwarnings("ignore")
def test_a_loop_gives_the_weights_of_a_plain_one(train: Any, folder: Path, tmp_path: Path) -> None:
    expected, found = plain(folder).state_dict(), train(folder)
    before = Network(folder).state_dict()
    assert any(not torch.equal(expected[name], before[name]) for name in before)
    for name, value in found.state_dict().items():
        torch.testing.assert_close(value, expected[name], atol=1e-6, rtol=1e-5)
    model = from_pretrained(folder)
    model.predictor.network.load_state_dict(found.network.state_dict())
    model.save_pretrained(tmp_path / "trained")
    again = from_pretrained(tmp_path / "trained")
    np.testing.assert_array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert not np.array_equal(again.predict_proba(TEXTS), from_pretrained(folder).predict_proba(TEXTS))


def share(rank: int, folder: str, place: str) -> None:
    """Train one of two processes with torch's DDP; the first writes its gradients."""
    torch.set_num_threads(1)
    store = torch.distributed.FileStore(f"{place}/store", 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
    module, (ids, gold) = Network(Path(folder)), rows(Path(folder))
    wrapped = nn.parallel.DistributedDataParallel(module)
    step(wrapped, ids[rank::2], gold[rank::2]).backward()
    if rank == 0:
        torch.save({n: p.grad for n, p in module.named_parameters()}, f"{place}/gradients.pt")
    end_together()


def test_ddp_with_two_processes_has_the_gradients_of_one(folder: Path, tmp_path: Path) -> None:
    children = [CONTEXT.Process(target=share, args=(rank, str(folder), str(tmp_path))) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE)
    assert [child.exitcode for child in children] == [0, 0]
    module = Network(folder)
    step(module, *rows(folder)).backward()
    found = torch.load(tmp_path / "gradients.pt", weights_only=True)
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(found[name], parameter.grad, atol=1e-6, rtol=1e-5)
