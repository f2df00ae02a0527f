"""Networks and encoders are plain modules of torch: its optimizers, clipping, DDP, Fabric and accelerate train them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn, optim
from torch.nn.functional import cross_entropy

from described import built
from forked_commands import CONTEXT, end_together
from heedful.nn import use_dense_gradients
from heedful.structures import Batch, Sentences
from waiting import PATIENCE

OPTIMIZERS = sorted(
    name
    for name, kind in vars(optim).items()
    if isinstance(kind, type) and issubclass(kind, optim.Optimizer) and kind is not optim.Optimizer
)
SPARSE_ALONE = {"SparseAdam"}
MATRICES_ALONE = {"Muon"}
"""Optimizers for one kind of parameters."""


class Classifier(nn.Module):
    """A network of Heedful's as a function of ids, as other people's loops call it."""

    def __init__(self, encoder: str = "disan") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.network = built({"encoder": encoder})
        use_dense_gradients(self.network)

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.network(Batch((Sentences(ids, ids != 0),))).logits
        return logits


def data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, 6, (8, 5), generator=generator)
    ids[::2, 3:] = 0
    return ids, torch.arange(8) % 2


def loss_of(module: nn.Module) -> Tensor:
    ids, gold = data()
    return cross_entropy(module(ids), gold)


@pytest.mark.parametrize("name", sorted(set(OPTIMIZERS) - SPARSE_ALONE - MATRICES_ALONE))
def test_every_optimizer_of_torch(name: str) -> None:
    module = Classifier()
    optimizer = getattr(optim, name)(module.parameters(), lr=0.01)
    before = {key: value.clone() for key, value in module.state_dict().items()}

    def step() -> Tensor:
        optimizer.zero_grad()
        loss = loss_of(module)
        loss.backward()
        assert all(p.grad is None or not p.grad.is_sparse for p in module.parameters())
        assert nn.utils.clip_grad_norm_(module.parameters(), 1.0) > 0
        return loss

    optimizer.step(step)
    after = module.state_dict()
    assert any(not torch.equal(after[key], before[key]) for key in before)
    assert all(value.isfinite().all() for value in after.values())


def test_fabric_and_accelerate_train_like_torch() -> None:
    from accelerate import Accelerator
    from lightning_fabric import Fabric

    def plain() -> dict[str, Tensor]:
        module = Classifier()
        optimizer = optim.AdamW(module.parameters(), lr=0.01)
        for step in range(3):
            torch.manual_seed(step)
            optimizer.zero_grad()
            loss_of(module).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 0.5)
            optimizer.step()
        return module.state_dict()

    def by_fabric() -> dict[str, Tensor]:
        fabric, module = Fabric(accelerator="cpu", devices=1), Classifier()
        wrapped, optimizer = fabric.setup(module, optim.AdamW(module.parameters(), lr=0.01))
        for step in range(3):
            torch.manual_seed(step)
            optimizer.zero_grad()
            fabric.backward(loss_of(wrapped))
            fabric.clip_gradients(wrapped, optimizer, max_norm=0.5)
            optimizer.step()
        return module.state_dict()

    def by_accelerate() -> dict[str, Tensor]:
        accelerator, module = Accelerator(cpu=True), Classifier()
        wrapped, optimizer = accelerator.prepare(module, optim.AdamW(module.parameters(), lr=0.01))
        for step in range(3):
            torch.manual_seed(step)
            optimizer.zero_grad()
            accelerator.backward(loss_of(wrapped))
            accelerator.clip_grad_norm_(wrapped.parameters(), 0.5)
            optimizer.step()
        return module.state_dict()

    expected = plain()
    for train in (by_fabric, by_accelerate):
        found = train()
        assert all(torch.equal(found[key], expected[key]) for key in expected), train.__name__


def share(rank: int, folder: str) -> None:
    """Train one of two processes with torch's DDP; the first writes its gradients."""
    torch.set_num_threads(1)
    store = torch.distributed.FileStore(f"{folder}/store", 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
    module = Classifier().eval()
    wrapped = nn.parallel.DistributedDataParallel(module)
    ids, gold = data()
    cross_entropy(wrapped(ids[rank::2]), gold[rank::2]).backward()
    if rank == 0:
        torch.save([p.grad for p in module.parameters()], f"{folder}/gradients.pt")
    end_together()


def test_ddp_with_two_processes_has_the_gradients_of_one(tmp_path: Path) -> None:
    children = [CONTEXT.Process(target=share, args=(rank, str(tmp_path))) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE)
    assert [child.exitcode for child in children] == [0, 0]
    module = Classifier().eval()
    loss_of(module).backward()
    found = torch.load(tmp_path / "gradients.pt", weights_only=True)
    for got, parameter in zip(found, module.parameters(), strict=True):
        torch.testing.assert_close(got, parameter.grad, atol=1e-6, rtol=1e-5)
