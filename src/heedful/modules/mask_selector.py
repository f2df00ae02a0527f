"""A policy that selects tokens: Bernoulli actions, to be trained by REINFORCE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.errors import UsageError, nearest
from heedful.modules.activation import Activation, activate
from heedful.modules.dense import Dense
from heedful.ops import dropout

Decision = Literal["threshold", "sample"]
"""How actions are taken in evaluation: select what is more probable than not, or draw, as in training."""


@dataclass(frozen=True)
class Selection:
    """What a `MaskSelector` chose.

    Attributes:
        query: tokens selected as queries ("heads"), [B, L] bool; False at padding.
        key: tokens selected as keys ("dependents"), [B, L] bool; False at padding.
        log_prob: log-probability of all actions of a sentence, [B]; the policy's gradient flows through it.
    """

    query: Tensor
    key: Tensor
    log_prob: Tensor


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
        if decision not in get_args(Decision):
            raise UsageError(f"decision={decision!r} is unknown: {nearest(decision, get_args(Decision))}")
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
        with torch.autocast(x.device.type, enabled=False):
            state = torch.cat([x, mean.expand_as(x), x * mean], dim=-1)
            query, log_prob = self._act(self.query(state), valid)
            if self.key is None:
                return Selection(query, query, log_prob)
            key, more = self._act(self.key(state), valid)
            return Selection(query, key, log_prob + more)

    def _act(self, log_odds: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Take one action a token; return them and the log-probability of all of a sentence."""
        if self.training or self.decision == "sample":
            chosen = torch.rand_like(log_odds) < torch.sigmoid(log_odds.detach())
        else:
            chosen = log_odds.detach() > 0
        log_prob = functional.logsigmoid(torch.where(chosen, log_odds, -log_odds))
        return chosen & valid, log_prob.masked_fill(~valid, 0).sum(dim=1)


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
    return activate(functional.linear(x, layer.weight.to(like.dtype), bias), layer.activation)
