"""The steps of recurrent layers over the words of a sentence, and the same as one operator for what is traced.

A loop over words has as many steps as the sentence that it was traced with. So `torch.compile` and `torch.export` get
an operator that holds the loop, and serve sentences of every length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from heedful.attention.derivatives import (
    Context,
    differentiable_gradients,
    plain_is_wanted,
    transformed,
)
from heedful.attention.native import define_operator
from heedful.nn.linear import linear

Steps = Callable[[Tensor, Sequence[Tensor]], Tensor]
"""From the input [B, L, D] and the weights, whose second is [..., C], to the states [B, L, C]."""


def lstm_steps(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Compute an LSTM word by word, in operations that have every derivative; weights are those of `torch.lstm`."""
    of_input, of_state, bias, constant = weights
    gates = functional.linear(x, of_input, bias + constant)
    state = memory = gates.new_zeros(len(x), of_state.shape[1])
    states = []
    for gate in gates.unbind(1):
        enter, forget, new, leave = (gate + functional.linear(state, of_state)).chunk(4, dim=-1)
        memory = torch.sigmoid(forget) * memory + torch.sigmoid(enter) * torch.tanh(new)
        state = torch.sigmoid(leave) * torch.tanh(memory)
        states.append(state)
    return torch.stack(states, dim=1) if states else gates[..., : of_state.shape[1]]


def gru_steps(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Compute a GRU word by word.

    Args:
        x: [B, L, D].
        weights: of the gates those of the input [2 C, D], of the state [2 C, C] and the bias [2 C]; of the candidate
            those of the input [C, D], of the state [C, C] and the bias [C].

    Returns:
        The states, [B, L, C].
    """
    gates_input, gates_state, gates_bias, candidate_input, candidate_state, candidate_bias = weights
    gates = linear(x, gates_input, gates_bias)
    candidates = linear(x, candidate_input, candidate_bias)
    state = candidates.new_zeros(len(x), candidates.shape[-1])
    states = []
    for gate, candidate in zip(gates.unbind(1), candidates.unbind(1), strict=True):
        both = torch.sigmoid(gate + functional.linear(state, gates_state))
        reset, update = both.chunk(2, dim=-1)
        new = torch.tanh(candidate + functional.linear(reset * state, candidate_state))
        state = torch.lerp(new, state, update)
        states.append(state)
    return torch.stack(states, dim=1) if states else candidates


_LSTM_IN_BFLOAT16 = torch.backends.cpu.get_cpu_capability() not in ("DEFAULT", "AVX2")
"""Whether torch's LSTM computes in bfloat16 on this processor; without AVX-512 on x86 it raises an error."""


def run_lstm(x: Tensor, weights: Sequence[Tensor], *, training: bool) -> Tensor:
    """Compute an LSTM: [B, L, D] to [B, L, C]; weights are those of `torch.lstm`."""
    if transformed():
        return lstm_steps(x, weights)
    if torch.compiler.is_compiling():
        return _whole_lstm(x, list(weights))
    return _fast_lstm(x, weights, training)


def run_gru(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Compute a GRU: [B, L, D] to [B, L, C]; see `gru_steps`."""
    if torch.compiler.is_compiling() and not transformed():
        return _whole_gru(x, list(weights))
    return gru_steps(x, weights)


def _fast_lstm(x: Tensor, weights: Sequence[Tensor], training: bool = True) -> Tensor:
    if not x.numel():  # torch refuses a sentence without words
        return lstm_steps(x, weights)
    if x.is_cpu and torch.is_autocast_enabled("cpu") and not _LSTM_IN_BFLOAT16:
        with torch.autocast("cpu", enabled=False):
            return _fast_lstm(x.float(), weights, training)
    start = x.new_zeros(1, len(x), weights[1].shape[1])
    differentiable = (
        training or torch.is_grad_enabled()
    )  # nothing is dropped here, and cuDNN keeps the steps only so
    return torch.lstm(x, (start, start), list(weights), True, 1, 0.0, differentiable, False, True)[0]


_Saved = tuple[Tensor, ...]


def _as_operator(name: str, steps: Steps, plain: Steps) -> Callable[[Tensor, list[Tensor]], Tensor]:
    """Register ``heedful::name``, whose backward pass computes the steps again, or those that have all derivatives."""

    def forward(x: Tensor, weights: list[Tensor]) -> Tensor:
        return steps(x, weights).contiguous()

    def fake(x: Tensor, weights: list[Tensor]) -> Tensor:
        return x.new_empty(x.shape[0], x.shape[1], weights[1].shape[1])

    def backward(grad: Tensor, x: Tensor, weights: list[Tensor]) -> list[Tensor]:
        with torch.enable_grad():
            leaves = [each.detach().requires_grad_() for each in (x, *weights)]
            found = torch.autograd.grad(steps(leaves[0], leaves[1:]), leaves, grad)
        return [each.contiguous() for each in found]

    def fake_backward(grad: Tensor, x: Tensor, weights: list[Tensor]) -> list[Tensor]:
        return [each.new_empty(each.shape) for each in (x, *weights)]

    def setup_context(
        ctx: Context[_Saved, None], inputs: tuple[Tensor, list[Tensor]], output: Tensor
    ) -> None:
        ctx.save_for_backward(inputs[0], *inputs[1])

    def differentiate(ctx: Context[_Saved, None], grad: Tensor) -> tuple[Tensor, list[Tensor]]:
        x, *weights = ctx.saved_tensors
        if plain_is_wanted(grad):
            of_x, *of_weights = differentiable_gradients(
                lambda x, *weights: plain(x, weights), ctx.saved_tensors, (grad,)
            )
        else:
            of_x, *of_weights = gradients(grad, x, weights)
        return of_x, of_weights

    gradients = define_operator(
        f"{name}_backward(Tensor grad, Tensor x, Tensor[] weights) -> Tensor[]",
        backward,
        fake_backward,
        anywhere=True,
    )
    return define_operator(
        f"{name}(Tensor x, Tensor[] weights) -> Tensor",
        forward,
        fake,
        anywhere=True,
        backward=differentiate,
        setup_context=setup_context,
    )


_whole_lstm = _as_operator("lstm", _fast_lstm, lstm_steps)
_whole_gru = _as_operator("gru", gru_steps, gru_steps)
