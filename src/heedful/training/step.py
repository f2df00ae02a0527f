"""One step's gradient: the mean loss over a batch, worked through shard by shard."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor, nn

from heedful.attention.randomness import drawing_from
from heedful.errors import DivergedError
from heedful.nn import Stepped
from heedful.nn.policy import POLICY_FIGURES, policy_figures
from heedful.structures import Batch, NetworkOutput
from heedful.training.distributed import OneProcess, cut, shard_seed, sum_gradients
from heedful.training.optim import sparse_parameters
from heedful.training.train_settings import TrainSettings

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Objective = Callable[[NetworkOutput, Tensor], Tensor]


class TrainingData(Protocol):
    """What the loop asks of the training data."""

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return the batches of one pass, each as rows; a pure function of the epoch."""
        ...

    def collate(self, rows: Sequence[int]) -> Batch:
        """Return some rows as one batch with targets."""
        ...


@dataclass(frozen=True)
class StepResult:
    """What a step's gradient came to.

    Attributes:
        loss: mean over the examples of the whole batch, before the step.
        gradient_norm: of the whole gradient, L2 penalty and clipping aside.
        stop: whether any process was asked to stop.
        figures: means over the batch that show how a policy learns (`heedful.nn.policy.policy_figures`), by name;
            empty for a network without one.
    """

    loss: float
    gradient_norm: float
    stop: bool
    figures: dict[str, float] = field(default_factory=dict)


class GradientStep:
    """Computes the gradient of a batch into ``.grad`` of the network's parameters.

    Args:
        fabric: device, precision and processes.
        network: takes a `Batch`, returns a `NetworkOutput`.
        data: makes batches of rows.
        objective: loss of each example, [B], from the output and the targets.
        settings: seed, shards and clipping.
    """

    def __init__(
        self,
        fabric: Fabric | OneProcess,
        network: nn.Module,
        data: TrainingData,
        objective: Objective,
        settings: TrainSettings,
    ) -> None:
        self.fabric, self.network, self.data, self.objective = fabric, network, data, objective
        self.settings = settings
        self.sparse = sparse_parameters(network)
        tables = {id(parameter) for parameter in self.sparse}
        self.dense = [p for p in network.parameters() if p.requires_grad and id(p) not in tables]
        self.stepped = [part for part in network.modules() if isinstance(part, Stepped)]
        self._seen: list[tuple[Batch, Tensor]] = []
        self._generator = torch.Generator("cpu")

    def compute(self, rows: Sequence[int], step: int, *, stop: bool = False) -> StepResult:
        """Fill the gradients for one batch.

        Returns loss and norm, the same in every process. Raises DivergedError if one of the two is not finite; names
        the step and the rows.
        """
        for part in self.stepped:
            part.begin_step(step)
        means = self._backward(rows, step)
        extras = torch.cat([means, means.new_tensor([float(stop)])])
        summed = sum_gradients(self.fabric, self.dense, self.sparse, extras).tolist()
        mean_loss, with_policy, *figures, stops = summed
        norm = self._norm_and_clip()
        if not (math.isfinite(mean_loss) and math.isfinite(norm)):
            raise DivergedError(self._diagnosis(rows, step, mean_loss, norm))
        named = dict(zip(POLICY_FIGURES, figures, strict=True)) if with_policy else {}
        return StepResult(mean_loss, norm, stops > 0, named)

    def _backward(self, rows: Sequence[int], step: int) -> Tensor:
        """Return this process's part of the means: of the loss, of who has a policy, of its figures."""
        shards = self.settings.shards
        share = shards // self.fabric.world_size
        first = self.fabric.global_rank * share
        total = torch.zeros(2 + len(POLICY_FIGURES), device=self.fabric.device)
        self._seen = []
        pieces = cut(rows, shards)
        for shard in range(first, first + share):
            if not len(pieces[shard]):
                continue
            self._generator.manual_seed(shard_seed(self.settings.seed, step, shard))
            batch = self.data.collate(pieces[shard]).to(self.fabric.device)
            if batch.targets is None:
                raise ValueError("a training batch needs targets")
            with self.fabric.autocast(), drawing_from(self._generator):
                output = self.network(batch)
                losses = self.objective(output, batch.targets)
            if batch.weights is not None:
                losses = losses * batch.weights.to(losses.dtype)
            if losses.shape != (len(pieces[shard]),):
                raise ValueError(
                    f"the objective must return one loss an example, [{len(pieces[shard])}]; got {list(losses.shape)}"
                )
            loss = losses.float().sum() / len(rows)
            self.fabric.backward(loss)
            losses = losses.detach()
            self._seen.append((batch, losses))
            figures = policy_figures(losses, output.policies).sum(dim=0)
            with_policy = figures.new_tensor([len(losses) if output.policies else 0])
            total += torch.cat([loss.detach()[None], torch.cat([with_policy, figures]) / len(rows)])
        return total

    def _gradients(self) -> list[Tensor]:
        """List the numbers of all gradients: of a sparse one only its rows."""
        gradients = [p.grad for p in (*self.dense, *self.sparse) if p.grad is not None]
        return [gradient.values() if gradient.is_sparse else gradient for gradient in gradients]

    def _norm_and_clip(self) -> float:
        gradients = self._gradients()
        norm = float(torch.nn.utils.get_total_norm(gradients))
        limit = self.settings.clip_norm
        if limit and norm > limit:
            for gradient in gradients:
                gradient.mul_(limit / norm)
        return norm

    def _diagnosis(self, rows: Sequence[int], step: int, loss: float, norm: float) -> str:
        what = f"the loss is {loss}" if not math.isfinite(loss) else f"the gradient's norm is {norm}"
        bad = [
            row
            for batch, losses in self._seen
            for row, fine in zip(batch.rows, losses.isfinite().tolist(), strict=False)
            if not fine
        ]
        named = bad or [row for batch, _ in self._seen for row in batch.rows] or [int(row) for row in rows]
        shown = ", ".join(map(str, named[:10])) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
        which = "whose own loss is not finite" if bad else "of this batch"
        return f"step {step + 1}: {what}; rows {which}: {shown}"
