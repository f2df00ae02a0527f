"""Optimizers of a network: dense weights, and word vectors by the rows of the batch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from heedful.nn.dense import l2_factors
from heedful.nn.embedding import PretrainedEmbedding, WordEmbedding
from heedful.nn.policy import RunningMean
from heedful.training.adadelta import Adadelta
from heedful.training.adam import DenseAdam, PlainAdam, RowAdam
from heedful.training.train_settings import OptimizerSettings, TrainSettings

Member = torch.optim.Optimizer | PlainAdam


class Optimizers:
    """Several optimizers that step as one, each with its own parameters.

    Args:
        members: the optimizers.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self._rates = [[group["lr"] for group in member.param_groups] for member in members]

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        # Said aloud, because torch warns where its own Adagrad leaves it open.
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            for member in self.members:
                member.step()

    def zero_grad(self) -> None:
        """Drop all gradients."""
        for member in self.members:
            for parameter in _parameters_of(*member.param_groups):
                parameter.grad = None

    def scale_lr(self, factor: float) -> None:
        """Set every learning rate to ``factor`` times its initial value."""
        for member, rates in zip(self.members, self._rates, strict=True):
            for group, rate in zip(member.param_groups, rates, strict=True):
                group["lr"] = rate * factor if group.get("scheduled", True) else rate

    def largest_rate(self) -> float:
        """Return the largest learning rate of all parameters."""
        return max(
            (float(group["lr"]) for member in self.members for group in member.param_groups), default=0.0
        )

    def state_of(self, parameter: nn.Parameter) -> dict[str, object]:
        """Return the state of one parameter, to read or to fill; empty before its first step."""
        return self.member_of(parameter).state[parameter]

    def member_of(self, parameter: nn.Parameter) -> Member:
        """Return the optimizer of one parameter."""
        for member in self.members:
            if any(parameter is owned for group in member.param_groups for owned in group["params"]):
                return member
        raise KeyError("no optimizer owns this parameter")


def sparse_parameters(network: nn.Module) -> list[nn.Parameter]:
    """List the trained tables whose gradients name rows: words, n-grams, and sparse `torch.nn.Embedding`."""
    return [
        weight
        for part in network.modules()
        if isinstance(part, WordEmbedding | nn.Embedding | nn.EmbeddingBag) and part.sparse
        if isinstance(weight := part.weight, nn.Parameter)
    ]


def build_optimizer(network: nn.Module, settings: OptimizerSettings) -> Optimizers:
    """Make the optimizer of a network's trainable parameters.

    L2 is coupled: ``weight_decay * W``, times the matrix's own multiple, joins the gradient of exactly the regularized
    matrices (`l2_factors`), as the gradient of TensorFlow's ``l2_loss`` (half the squared norm) does. Tables with
    sparse gradients are updated by row. Adadelta and Adagrad then equal TensorFlow's; Adam does not:
    `torch.optim.SparseAdam` leaves the averages of absent rows alone, where TensorFlow's Adam decays them and moves
    every row on every step. A pretrained encoder has its own share of the learning rate.

    Returns one object to step.
    """
    factors = {id(parameter): factor for parameter, factor in l2_factors(network)}
    tables = {id(parameter) for parameter in sparse_parameters(network)}
    means = [part for part in network.modules() if isinstance(part, RunningMean)]
    averages = {id(mean.value) for mean in means}
    trainable = [p for p in network.parameters() if p.requires_grad and id(p) not in averages]
    dense = [parameter for parameter in trainable if id(parameter) not in tables]
    encoders = [part for part in network.modules() if isinstance(part, PretrainedEmbedding)]
    shares = {id(parameter): share for part in encoders for parameter, share in part.rates()}
    kinds = {id(p): (factors.get(id(p), 0.0), shares.get(id(p), 1.0)) for p in dense}
    groups = [
        {
            "params": [p for p in dense if kinds[id(p)] == (factor, share)],
            "weight_decay": factor * settings.weight_decay,
            "lr": share * settings.lr,
        }
        for factor, share in sorted(set(kinds.values()), reverse=True)
    ]
    sparse = [parameter for parameter in trainable if id(parameter) in tables]
    members = _BUILDERS[settings.name](groups, sparse, settings)
    return Optimizers([*members, *(_averaging(mean) for mean in means)])


def _averaging(mean: RunningMean) -> torch.optim.Optimizer:
    """Make the optimizer whose step is that of a moving average; no schedule changes its rate."""
    return torch.optim.SGD([{"params": [mean.value], "lr": 1 - mean.decay, "scheduled": False}])


def _adadelta(
    groups: list[dict[str, object]], tables: list[nn.Parameter], settings: OptimizerSettings
) -> list[torch.optim.Optimizer]:
    groups = groups + ([{"params": tables, "weight_decay": 0.0}] if tables else [])
    return [Adadelta(groups, lr=settings.lr, rho=settings.rho, eps=settings.eps)]


def _adam(
    groups: list[dict[str, object]], tables: list[nn.Parameter], settings: OptimizerSettings
) -> list[Member]:
    members: list[Member] = []
    betas = (0.9, settings.beta2)
    plain = {"lr": settings.lr, "betas": betas, "eps": settings.eps, "weight_decay": 0.0}
    here = all(p.is_cpu for p in (*_parameters_of(*groups), *tables))
    if groups and here:
        members.append(DenseAdam(groups, **plain))
    elif groups:
        members.append(torch.optim.Adam(groups, settings.lr, betas, settings.eps))
    if tables and here:
        members.append(RowAdam([{"params": tables}], **plain))
    elif tables:
        members.append(torch.optim.SparseAdam(tables, settings.lr, betas, settings.eps))
    return members


def _parameters_of(*groups: Mapping[str, object]) -> list[nn.Parameter]:
    found: list[nn.Parameter] = []
    for group in groups:
        parameters = group["params"]
        assert isinstance(parameters, list)  # as `build_optimizer` makes it
        found += parameters
    return found


def _adagrad(
    groups: list[dict[str, object]], tables: list[nn.Parameter], settings: OptimizerSettings
) -> list[torch.optim.Optimizer]:
    groups = groups + ([{"params": tables, "weight_decay": 0.0}] if tables else [])
    return [torch.optim.Adagrad(groups, lr=settings.lr, eps=settings.eps, initial_accumulator_value=0.1)]


_Builder = Callable[[list[dict[str, object]], list[nn.Parameter], OptimizerSettings], Sequence[Member]]
_BUILDERS: dict[str, _Builder] = {"adadelta": _adadelta, "adam": _adam, "adagrad": _adagrad}


def learning_rate_factor(step: int, settings: TrainSettings, total_steps: int) -> float:
    """Return what the learning rate is multiplied by.

    Args:
        step: steps already taken, from 0.
        settings: its ``schedule``, and what that reads. Constant; linear: falling to 0 at ``total_steps``; noam:
            ``sqrt(warmup / step)`` after the warm-up, so that the learning rate is its peak (Vaswani et al. write it as
            a function of the width); stepwise: ``decay_rate`` to the power of the milestones passed; exponential:
            ``decay_rate ** (step / decay_steps)``. Over ``warmup_steps`` the factor rises linearly to 1, under all of
            them; the decays count from step 0.
        total_steps: length of the run; only the linear schedule reads it.

    Returns:
        A factor in (0, 1] for every step below ``total_steps``.
    """
    schedule, warmup_steps = settings.schedule, settings.warmup_steps
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    if schedule == "constant":
        return 1.0
    if schedule == "noam":
        return float((max(1, warmup_steps) / (step + 1)) ** 0.5)
    if schedule == "stepwise":
        return float(settings.decay_rate ** bisect_right(settings.milestones, step))
    if schedule == "exponential":
        return float(settings.decay_rate ** (step / settings.decay_steps))
    return max(0.0, (total_steps - step) / max(1, total_steps - warmup_steps))
