"""A small network and data set to train in tests: bags of invented words, two classes, dropout and a sparse table."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from heedful.machine.signals import StopRequest
from heedful.nn.dense import Dense
from heedful.nn.embedding import WordEmbedding
from heedful.structures import Batch, NetworkOutput, Sentences
from heedful.training.loop import FitResult, fit
from heedful.training.run_folder import RunStorage
from heedful.training.train_settings import OptimizerSettings, TrainSettings

WORDS, WIDTH, LENGTH = 40, 8, 5


class ToyNetwork(nn.Module):
    """Mean of word vectors, one hidden layer with dropout, two classes."""

    def __init__(self, dropout: float = 0.3) -> None:
        super().__init__()
        torch.manual_seed(7)
        self.embedding = WordEmbedding(torch.randn(WORDS, WIDTH) * 0.1)
        self.hidden = Dense(WIDTH, 6, activation="elu", dropout=dropout)
        self.out = Dense(6, 2, dropout=dropout, l2=False)

    def forward(self, batch: Batch) -> NetworkOutput:
        side = batch.sides[0]
        x = (self.embedding(side.ids) * side.valid[..., None]).sum(1) / side.valid.sum(1, keepdim=True)
        return NetworkOutput(self.out(self.hidden(x)), (x,))


class ToyData:
    """Sentences of five word ids; the class says whether more than half of them are high."""

    def __init__(self, size: int = 60, batch: int = 8, seed: int = 3) -> None:
        draw = np.random.default_rng(seed)
        self.ids = draw.integers(2, WORDS, size=(size, LENGTH))
        self.targets = ((self.ids > WORDS // 2).sum(1) > LENGTH // 2).astype(np.int64)
        self.batch, self.seed = batch, seed

    def batches(self, epoch: int) -> list[np.ndarray]:
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.ids))
        return [order[start : start + self.batch] for start in range(0, len(order), self.batch)]

    def collate(self, rows: Sequence[int]) -> Batch:
        ids = torch.from_numpy(self.ids[rows])
        targets = torch.from_numpy(self.targets[rows])
        return Batch((Sentences(ids, ids != 0),), targets, tuple(int(row) for row in rows))


class AskedAtOnce(StopRequest):
    """A request to stop that has come before the first step."""

    def __init__(self) -> None:
        super().__init__()
        self.is_set = True


def cross_entropy(output: NetworkOutput, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(output.logits, targets, reduction="none")


def accuracy_on(data: ToyData):
    batch = data.collate(np.arange(len(data.ids)))

    def evaluate(network: nn.Module) -> dict[str, float]:
        logits = network(batch).logits
        loss = cross_entropy(NetworkOutput(logits, ()), batch.targets).mean()
        return {"accuracy": float((logits.argmax(1) == batch.targets).double().mean()), "loss": float(loss)}

    return evaluate


def toy_settings(**changes) -> TrainSettings:
    changes.setdefault("optimizer", OptimizerSettings(weight_decay=1e-3))
    return TrainSettings(**{"epochs": 3, "device": "cpu", "save_seconds": 0.0, "log_every": 1, **changes})


def weights_hash(network: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, parameter in network.named_parameters():
        digest.update(name.encode() + parameter.detach().numpy().tobytes())
    return digest.hexdigest()


def train_toy(
    folder: Path | None = None,
    *,
    resume: bool = False,
    pause: float = 0.0,
    size: int = 60,
    batch: int = 8,
    **changes,
) -> tuple[ToyNetwork, FitResult]:
    """Train the toy network; a pause before each batch leaves time to be killed in."""
    network, data = ToyNetwork(), ToyData(size, batch)

    def objective(output: NetworkOutput, targets: Tensor) -> Tensor:
        time.sleep(pause)
        return cross_entropy(output, targets)

    result = fit(
        network,
        data,
        objective,
        toy_settings(**changes),
        evaluate=accuracy_on(data),
        keeping=None if folder is None else RunStorage(folder, resume),
    )
    return network, result


def train_to_file(folder: Path, answer: Path, changes: dict) -> None:
    """Train with resume in a process of its own and write the hash of the final weights."""
    torch.set_num_threads(1)
    network, _ = train_toy(folder, resume=True, **changes)
    answer.write_text(weights_hash(network), encoding="utf-8")
