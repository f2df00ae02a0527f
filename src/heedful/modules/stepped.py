"""Modules that know how far training is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn


class Stepped(nn.Module, ABC):
    """A module that acts differently as training goes on.

    The training loop tells it the step before every step. Its buffers belong to what training changes: they are kept
    with the best weights and in checkpoints.
    """

    @abstractmethod
    def begin_step(self, step: int) -> None:
        """Hear the number of steps already taken. What follows from it must follow from it alone."""

    def told(self) -> Mapping[str, str]:
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
        self.begin_step(0)

    def begin_step(self, step: int) -> None:
        """See `Stepped.begin_step`."""
        ends = (self.encoder_steps, self.encoder_steps + self.policy_steps)
        self.number.fill_(sum(step >= end for end in ends))

    def told(self) -> Mapping[str, str]:
        """Return the phase: "encoder", "policy" or "both", by who learns."""
        return {"phase": ("encoder", "policy", "both")[int(self.number)]}

    @property
    def encoder_learns(self) -> bool:
        """Whether the encoder is trained now."""
        return int(self.number) != 1

    @property
    def policy_acts(self) -> bool:
        """Whether the policy chooses, and learns, now."""
        return int(self.number) > 0
