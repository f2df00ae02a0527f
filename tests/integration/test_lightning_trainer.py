"""Lightning's own Trainer trains a network, stores a checkpoint, and continues from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn, optim
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from described import built
from heedful.nn import use_dense_gradients
from heedful.structures import Batch, Sentences

pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def trained() -> Any:
    """Return the class; Lightning takes seconds to import, so the tests that are only collected do without it."""
    lightning = pytest.importorskip("lightning", reason="Lightning is not installed")

    class Trained(lightning.LightningModule):  # type: ignore[misc, name-defined]
        """A network of Heedful's inside Lightning, with its usual options."""

        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.network: nn.Module = built({"encoder": "disan", "dropout": 0.3}).train()
            use_dense_gradients(self.network)

        def forward(self, ids: Tensor) -> Tensor:
            logits: Tensor = self.network(Batch((Sentences(ids, ids != 0),))).logits
            return logits

        def training_step(self, batch: tuple[Tensor, Tensor], number: int) -> Tensor:
            torch.manual_seed(self.global_step)  # of dropout
            loss = cross_entropy(self(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch: tuple[Tensor, Tensor], number: int) -> None:
            self.log("dev", (self(batch[0]).argmax(1) == batch[1]).float().mean())

        def predict_step(self, batch: tuple[Tensor, Tensor], number: int) -> Tensor:
            return self(batch[0])

        def configure_optimizers(self) -> optim.Optimizer:
            return optim.AdamW(self.parameters(), lr=0.01)

    return Trained


def loader() -> DataLoader[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, 6, (12, 5), generator=generator)
    ids[::2, 3:] = 0
    return DataLoader(TensorDataset(ids, torch.arange(12) % 2), batch_size=4)


def trainer(folder: Path, epochs: int) -> Any:
    import lightning

    return lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        devices=1,
        gradient_clip_val=0.5,
        default_root_dir=folder,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def plain_loop(epochs: int) -> dict[str, Tensor]:
    module, step = trained()(), 0
    optimizer = module.configure_optimizers()
    for _ in range(epochs):
        for ids, gold in loader():
            torch.manual_seed(step)
            optimizer.zero_grad()
            cross_entropy(module(ids), gold).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 0.5)
            optimizer.step()
            step += 1
    return module.state_dict()


def test_the_trainer_trains_stores_and_continues(tmp_path: Path) -> None:
    module = trained()()
    first = trainer(tmp_path, 1)
    first.fit(module, loader(), loader())
    assert 0 <= first.callback_metrics["dev"] <= 1
    first.save_checkpoint(tmp_path / "one.ckpt")
    again = trained()()
    trainer(tmp_path, 2).fit(again, loader(), loader(), ckpt_path=tmp_path / "one.ckpt")
    expected, found = plain_loop(2), again.state_dict()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    answers = torch.cat(trainer(tmp_path, 1).predict(again, loader()))
    with torch.no_grad():
        whole = torch.cat([again.eval()(ids) for ids, _ in loader()])
    assert torch.equal(answers, whole)
