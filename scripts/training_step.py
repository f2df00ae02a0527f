"""Time of a DiSAN training step and of its parts, ours against plain torch, interleaved in one process.

Run: ``python scripts/training_step.py [--rounds 21]``. "Plain" has `torch.nn.functional.dropout`,
`masked_fill`, softmax pooling and `torch.optim.Adadelta`; the attention kernel and everything else is the same. Shapes:
TREC (32 sentences of up to 11 tokens) and SNLI (64 pairs of up to 16 and 8 tokens), random words, width 300.

The two take turns, one repetition each. Medians of the wall time and of the process's CPU time are printed, and the
ratio of the medians. On a machine that others use, only the CPU time tells anything, and only with one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional

from heedful.attention.source2token import source_to_token_reference
from heedful.encoders import disan
from heedful.models import ModelConfig
from heedful.nn import dense
from heedful.nn import pooling as source2token
from heedful.nn.losses import cross_entropy
from heedful.structures import Batch, NetworkOutput, Sentences
from heedful.tasks import build_network
from heedful.training.adadelta import Adadelta
from heedful.training.distributed import start_fabric
from heedful.training.optim import Optimizers, build_optimizer
from heedful.training.step import GradientStep
from heedful.training.train_settings import OptimizerSettings, TrainSettings

WORDS, WIDTH = 9_000, 300
CPU, WALL = "CPU", "wall"


@dataclass(frozen=True)
class Shape:
    """Batches like those of a corpus."""

    name: str
    batch: int
    lengths: tuple[int, ...]
    model: ModelConfig


SHAPES = (
    Shape("TREC", 32, (11,), ModelConfig(task="text", outputs=6, activation="relu", dropout=0.5)),
    Shape("SNLI", 64, (16, 8), ModelConfig(task="pair", outputs=3, activation="elu", dropout=0.25)),
)


class RandomWords:
    """Sentences of random words, up to three tokens shorter than the longest."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def batches(self, epoch: int) -> list[range]:
        """See `TrainingData.batches`."""
        return [range(self.shape.batch)]

    def collate(self, rows: Sequence[int]) -> Batch:
        """See `TrainingData.collate`."""
        draw = torch.Generator().manual_seed(int(rows[0]))
        sides = []
        for length in self.shape.lengths:
            valid = torch.arange(length) < torch.randint(
                length - 3, length + 1, (len(rows), 1), generator=draw
            )
            ids = torch.randint(2, WORDS, (len(rows), length), generator=draw)
            sides.append(Sentences(ids * valid, valid))
        targets = torch.randint(self.shape.model.outputs, (len(rows),), generator=draw)
        return Batch(tuple(sides), targets, tuple(rows))


class PlainAdadelta(Adadelta):
    """Dense weights by torch's own Adadelta, tables by row in plain torch."""

    def __init__(self, groups: list[dict[str, object]], tables: list[Tensor]) -> None:
        super().__init__([{"params": tables}], fused=False)
        self.dense = torch.optim.Adadelta(groups, lr=0.5, rho=0.95, eps=1e-8)

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update every parameter."""
        self.dense.step()
        return super().step(closure)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients."""
        self.dense.zero_grad(set_to_none)
        super().zero_grad(set_to_none)


def masked(x: Tensor, valid: Tensor) -> Tensor:
    """Zero padding in plain torch."""
    return x.masked_fill(~valid[..., None], 0)


@contextlib.contextmanager
def plain_torch() -> Iterator[None]:
    """Use torch's own operations within."""
    with contextlib.ExitStack() as stack:
        for module in (dense, disan):
            stack.enter_context(mock.patch.object(module, "dropout", functional.dropout))
        for module in (disan, source2token):
            stack.enter_context(mock.patch.object(module, "clear_padding", masked))
        stack.enter_context(mock.patch.object(source2token, "source_to_token", source_to_token_reference))
        yield


class Trainer:
    """One network with its optimizer, stepped as the training loop does."""

    def __init__(self, shape: Shape, *, plain: bool) -> None:
        torch.manual_seed(0)
        self.plain = plain
        self.network = build_network(shape.model, torch.randn(WORDS, WIDTH)).train()
        settings = TrainSettings(optimizer=OptimizerSettings(weight_decay=5e-5), device="cpu")
        self.data, self.rows = RandomWords(shape), range(shape.batch)
        self.optimizers = build_optimizer(self.network, settings.optimizer)
        self.gradient = GradientStep(start_fabric(settings), self.network, self.data, _objective, settings)
        if plain:
            groups = self.optimizers.members[0].param_groups
            self.optimizers = Optimizers([PlainAdadelta(groups[:-1], groups[-1]["params"])])
        self.count = 0

    def parts(self) -> dict[str, Callable[[], object]]:
        """Name the parts of a step; "forward" and "backward" are inside "step", measured anew on their own."""
        batch = self.data.collate(self.rows)
        assert batch.targets is not None
        return {
            "step": self.step,
            "collate": lambda: self.data.collate(self.rows),
            "forward": lambda: self.network(batch),
            "forward + backward": lambda: _objective(self.network(batch), batch.targets).sum().backward(),
            "optimizer": self.optimizers.step,
        }

    def step(self) -> None:
        """Take one whole step."""
        self.optimizers.zero_grad()
        self.gradient.compute(self.rows, self.count)
        self.optimizers.scale_lr(1.0)
        self.optimizers.step()
        self.count += 1


def _objective(output: NetworkOutput, targets: Tensor) -> Tensor:
    return cross_entropy(output.logits, targets)


def timed(trainer: Trainer, part: str) -> dict[str, float]:
    """Return the milliseconds of one repetition of a part."""
    if part == "forward + backward":
        trainer.optimizers.zero_grad()
    run = trainer.parts()[part]
    with plain_torch() if trainer.plain else contextlib.nullcontext():
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        return {CPU: 1000 * (time.process_time() - cpu), WALL: 1000 * (time.perf_counter() - wall)}


def compare(shape: Shape, threads: int, rounds: int) -> None:
    """Print one line a part."""
    torch.set_num_threads(threads)
    trainers = {"plain": Trainer(shape, plain=True), "ours": Trainer(shape, plain=False)}
    for part in trainers["ours"].parts():
        results: dict[str, list[dict[str, float]]] = {name: [] for name in trainers}
        for turn in range(rounds + 2):
            for name, trainer in trainers.items():
                result = timed(trainer, part)
                if turn >= 2:  # the first two warm up
                    results[name].append(result)
        line = f"{shape.name}  {threads} thread(s)  {part:18}"
        for clock in (CPU, WALL):
            plain, ours = (statistics.median(result[clock] for result in results[name]) for name in trainers)
            line += f"  {clock} {plain:8.2f} -> {ours:8.2f} ms, {plain / ours:5.2f}x"
        print(line, flush=True)


def main() -> None:
    """Print every shape with one thread and with two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    for shape in SHAPES:
        for threads in (1, 2):
            compare(shape, threads, rounds)


if __name__ == "__main__":
    main()
