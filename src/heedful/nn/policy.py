"""A policy that selects tokens: Bernoulli actions, to be trained by REINFORCE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention import dropout
from heedful.attention.implementation import without_autocast
from heedful.attention.randomness import uniform_like
from heedful.errors import check_known
from heedful.nn.dense import Activation, Dense, activate
from heedful.nn.linear import linear
from heedful.structures import PolicyRecord

Decision = Literal["threshold", "sample"]
"""How actions are taken in evaluation: select what is more probable than not, or draw, as in training."""


@dataclass(frozen=True)
class Selection:
    """What a `MaskSelector` chose.

    Attributes:
        query: tokens selected as queries ("heads"), [B, L] bool; False at padding.
        key: tokens selected as keys ("dependents"), [B, L] bool; False at padding.
        log_prob: log-probability of all actions of a sentence, [B]; the policy's gradient flows through it.
        chances: probability of each token to be selected as a query and as a key, [B, L, 2], without gradient; 0 at
            padding. None if nothing was decided by a policy.
    """

    query: Tensor
    key: Tensor
    log_prob: Tensor
    chances: Tensor | None = None


class TokenPolicy(nn.Module):
    """Probability that a token is selected: ``sigmoid(w · act(drop(s) W + b) + c)``; 270,601 parameters at width 300.

    Args:
        width: features D of a word vector; the state s has 3 D.
        activation: of the hidden layer.
        dropout: on the input of both layers.
    """

    def __init__(self, width: int, *, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.hidden = Dense(3 * width, width, activation=activation, dropout=dropout)
        self.output = Dense(width, 1, dropout=dropout)

    def forward(self, state: Tensor) -> Tensor:
        """Map states [B, L, 3 D] to the log-odds of selection, [B, L]."""
        return _in_precision_of(state, self.output, _in_precision_of(state, self.hidden, state))[..., 0]


class MaskSelector(nn.Module):
    """Two policies that select tokens, one as queries and one as keys (ReSAN; MDMAN's two sequences of actions).

    The state of a token is ``[x_i ; m ; x_i * m]`` with m the mean of the sentence's word vectors. Actions are
    constants; log-probabilities are returned, never stored. The word vectors get no gradient from here: they belong
    to the encoder. Everything is computed in float32 at least, so that low precision does not flip a decision.

    Args:
        width: features D of a word vector.
        activation: of the hidden layers.
        dropout: on the input of every dense layer.
        shared: whether one policy, with one action a token, serves queries and keys.
        decision: how actions are taken in evaluation.

    Raises:
        UsageError: if decision is unknown.
    """

    def __init__(
        self,
        width: int,
        *,
        activation: Activation = "elu",
        dropout: float = 0.0,
        shared: bool = False,
        decision: Decision = "threshold",
    ) -> None:
        super().__init__()
        check_known(decision, get_args(Decision), f"decision={decision!r} is unknown")
        self.decision: Decision = decision
        self.query = TokenPolicy(width, activation=activation, dropout=dropout)
        self.key = None if shared else TokenPolicy(width, activation=activation, dropout=dropout)

    def forward(self, x: Tensor, valid: Tensor) -> Selection:
        """Select.

        Args:
            x: word vectors, [B, L, D]; zero at padding.
            valid: True at a real token, [B, L] bool.

        Returns:
            The selected tokens and the log-probability of selecting just these.
        """
        x = x.detach().to(torch.promote_types(x.dtype, torch.float32))
        mean = x.sum(dim=1, keepdim=True) / valid.sum(dim=1)[:, None, None].clamp(min=1)
        with without_autocast(x.device.type):
            state = torch.cat([x, mean.expand_as(x), x * mean], dim=-1)
            asked = self.query(state)
            query, log_prob = self._act(asked, valid)
            if self.key is None:
                return Selection(query, query, log_prob, _chances(asked, asked, valid))
            offered = self.key(state)
            key, more = self._act(offered, valid)
            return Selection(query, key, log_prob + more, _chances(asked, offered, valid))

    def _act(self, log_odds: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Take one action a token; return them and the log-probability of all of a sentence."""
        if self.training or self.decision == "sample":
            chosen = uniform_like(log_odds) < torch.sigmoid(log_odds.detach())
        else:
            chosen = log_odds.detach() > 0
        log_prob = functional.logsigmoid(torch.where(chosen, log_odds, -log_odds))
        return chosen & valid, log_prob.masked_fill(~valid, 0).sum(dim=1)


def _chances(query: Tensor, key: Tensor, valid: Tensor) -> Tensor:
    """Turn log-odds, each [B, L], into probabilities without gradient, [B, L, 2]."""
    chances = torch.sigmoid(torch.stack([query.detach(), key.detach()], dim=-1))
    return chances.masked_fill(~valid[..., None], 0)


@contextmanager
def sampled_decisions(network: nn.Module) -> Iterator[None]:
    """Draw the actions of all selectors of a network also in evaluation, within a ``with`` block.

    Args:
        network: any module; without a selector nothing happens.

    Yields:
        Nothing.
    """
    selectors = [part for part in network.modules() if isinstance(part, MaskSelector)]
    before = [selector.decision for selector in selectors]
    for selector in selectors:
        selector.decision = "sample"
    try:
        yield
    finally:
        for selector, decision in zip(selectors, before, strict=True):
            selector.decision = decision


def _in_precision_of(like: Tensor, layer: Dense, x: Tensor) -> Tensor:
    """Apply a dense layer in the precision of a tensor, whatever that of its weights."""
    x = dropout(x, layer.dropout, layer.training)
    bias = None if layer.bias is None else layer.bias.to(like.dtype)
    return activate(linear(x, layer.weight.to(like.dtype), bias), layer.activation)


class RunningMean(nn.Module):
    """The exponential moving average of a number that every training step measures anew.

    ``value <- decay * value + (1 - decay) * mean`` is one step of gradient descent at rate ``1 - decay`` on half the
    squared distance. Written so, the average is summed over shards and processes and kept in checkpoints as every
    other parameter; `heedful.training.optim` gives it that rate, whatever the optimizer of the rest.

    Args:
        decay: how much of the old value stays, from 0 (the last mean alone) to below 1.

    Attributes:
        value: the average, [1]; starts at 0.
    """

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.value = nn.Parameter(torch.zeros(1))


def mean_gradient(value: Tensor, measured: Tensor) -> Tensor:
    """Return terms that are 0 and whose gradient moves a `RunningMean` towards what was measured.

    Args:
        value: the average, [1].
        measured: what this step measured, [B].

    Returns:
        Zeros [B], to be added to the losses of the examples.
    """
    distance = 0.5 * (value - measured.detach()).square()
    return distance - distance.detach()


class Stepped(nn.Module, ABC):
    """A module that acts differently as training goes on.

    The training loop tells it the step before every step. Its buffers belong to what training changes: they are kept
    with the best weights and in checkpoints.
    """

    @abstractmethod
    def begin_step(self, step: int) -> None:
        """Hear the number of steps already taken. What follows from it must follow from it alone."""

    def log_fields(self) -> Mapping[str, str]:
        """Return what a line of the log should say of it now, by name."""
        return {}


class LearningPhase(Stepped):
    """The three phases in which an encoder and its policy learn: the encoder alone, the policy alone, both.

    Args:
        encoder_steps: steps of the first phase.
        policy_steps: steps of the second phase.

    Attributes:
        number: 0, 1 or 2, int64 [1]; kept with the weights, because a model whose best weights are of the first phase
            must be used as in the first phase.
    """

    number: Tensor

    def __init__(self, encoder_steps: int, policy_steps: int) -> None:
        super().__init__()
        self.encoder_steps, self.policy_steps = encoder_steps, policy_steps
        self.register_buffer("number", torch.zeros(1, dtype=torch.int64))
        self._plain = 0
        self.register_load_state_dict_post_hook(_take_number)
        self.begin_step(0)

    def begin_step(self, step: int) -> None:
        """See `Stepped.begin_step`."""
        ends = (self.encoder_steps, self.encoder_steps + self.policy_steps)
        self._plain = sum(step >= end for end in ends)
        self.number.fill_(self._plain)

    def log_fields(self) -> Mapping[str, str]:
        """Return the phase: "encoder", "policy" or "both", by who learns."""
        return {"phase": ("encoder", "policy", "both")[self._now()]}

    def _now(self) -> int:
        """Return the phase; what is traced has to branch on the plain number that was read last, not on a tensor.

        So have a tensor without content and one that stands for many, under `torch.func.vmap` of stacked models.
        """
        if torch.compiler.is_compiling() or self.number.is_meta:
            return self._plain
        if not torch._C._functorch.is_batchedtensor(self.number):
            self._plain = int(self.number)
        return self._plain

    @property
    def encoder_learns(self) -> bool:
        """Whether the encoder is trained now."""
        return self._now() != 1

    @property
    def policy_acts(self) -> bool:
        """Whether the policy chooses, and learns, now."""
        return self._now() > 0


def _take_number(phase: nn.Module, _: object) -> None:
    assert isinstance(phase, LearningPhase)
    phase._plain = int(phase.number)


POLICY_FIGURES = ("reward", "share", "baseline")
"""What `policy_figures` returns, in its order."""


def policy_rewards(losses: Tensor, policies: Sequence[PolicyRecord]) -> list[Tensor]:
    """Return the reward of each side's choices, ``-loss - penalty * share``, each [B], as constants.

    Args:
        losses: of the task, one an example, [B]: minus the log-likelihood of the target.
        policies: one record a side.

    Returns:
        One tensor [B] a side.
    """
    return [-losses.detach() - record.penalty * record.share for record in policies]


def with_policy(losses: Tensor, policies: Sequence[PolicyRecord]) -> Tensor:
    """Join the gradient of a policy, ``-(reward - baseline) * log_prob``, to the loss of the task.

    The values stay those of the task, so that a log of losses can be read; only gradients are added, or, while the
    policy learns alone, replaced. The two sides of a pair are rewarded one by one, each with its own share (ReSAN).

    Args:
        losses: of the task, one an example, [B].
        policies: one record a side; empty leaves the losses as they are.

    Returns:
        Losses, [B].
    """
    if not policies:
        return losses
    total = losses if policies[0].encoder_learns else losses.detach()
    for record, reward in zip(policies, policy_rewards(losses, policies), strict=True):
        advantage = reward
        if record.baseline is not None:
            advantage = reward - record.baseline.detach()
            total = total + mean_gradient(record.baseline, reward) / len(policies)
        if record.policy_learns:
            surrogate = -advantage * record.log_prob
            total = total + (surrogate - surrogate.detach())
    return total


def policy_figures(losses: Tensor, policies: Sequence[PolicyRecord]) -> Tensor:
    """Return what shows whether a policy learns: reward, share of what it could select, and baseline.

    Args:
        losses: of the task, one an example, [B].
        policies: one record a side.

    Returns:
        One row an example, the mean over its sides, [B, 3] float32 in the order of `POLICY_FIGURES`; zeros without a
        policy, and for the baseline without one.
    """
    if not policies:
        return torch.zeros(len(losses), len(POLICY_FIGURES), device=losses.device)
    rewards = policy_rewards(losses, policies)
    sides = [
        torch.stack([reward, record.share, _baseline_like(reward, record)], dim=1).float()
        for record, reward in zip(policies, rewards, strict=True)
    ]
    return torch.stack(sides).mean(dim=0)


def _baseline_like(reward: Tensor, record: PolicyRecord) -> Tensor:
    if record.baseline is None:
        return torch.zeros_like(reward)
    return record.baseline.detach().to(reward.dtype).expand_as(reward)
