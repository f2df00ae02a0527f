"""What is timed: every operation and layer, ours and the peers', as one training step each.

A layer takes x [B, L, D] and gives states [B, L, ...].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import AttentionResult, Impl
from heedful.attention.additive import additive_chunked, additive_reference, choose_additive
from heedful.attention.additive_kernel import additive_fused, additive_linear
from heedful.attention.tensorized import tensorized_attention, tensorized_obstacle
from heedful.attention.visibility import Band, Visible
from heedful.structures import Sentences
from heedful_lab.bench.timing import Step


class DisaLayer(nn.Module):
    """DiSAN's encoder: two directions with projections and gates, 903,000 parameters at width 300."""

    def __init__(self, width: int) -> None:
        super().__init__()
        from heedful.encoders import DisanConfig, DisanEncoder

        self.encoder = DisanEncoder(width, DisanConfig(dropout=0.0))

    def forward(self, x: Tensor) -> Tensor:
        """Encode sentences without padding."""
        valid = torch.ones(x.shape[:2], dtype=torch.bool)
        states: Tensor = self.encoder(x, Sentences(valid.long(), valid)).states
        return states


class MtsaLayer(nn.Module):
    """MTSA in the form that is stacked: q, k, v and z straight from the input, an output layer with ReLU.

    451,500 parameters at width 300.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.visible = [Band(None, -1)] * (heads // 2) + [Band(1, None)] * (heads - heads // 2)
        self.project = nn.Linear(width, 4 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Encode sentences without padding."""
        valid = torch.ones(x.shape[:2], dtype=torch.bool)
        query, key, value, source = (
            y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in self.project(x).chunk(4, -1)
        )
        context = tensorized_attention(
            query, key, value, source, valid, self.visible, token2token="exp"
        ).output
        states: Tensor = F.relu(self.output(context.transpose(1, 2).flatten(2)))
        return states


class MtsaTwoHeads(nn.Module):
    """MTSA as published for sentence models: a forward and a backward head, 1,262,400 parameters at width 300."""

    def __init__(self, width: int) -> None:
        super().__init__()
        from heedful.encoders import MtsaConfig, MtsaEncoder

        self.encoder = MtsaEncoder(width, MtsaConfig(dropout=0.0))

    def forward(self, x: Tensor) -> Tensor:
        """Encode sentences without padding."""
        valid = torch.ones(x.shape[:2], dtype=torch.bool)
        states: Tensor = self.encoder(x, Sentences(valid.long(), valid)).states
        return states


class MultiHead(nn.Module):
    """The peer: `nn.MultiheadAttention` over itself without its weights, which is its fast way; 361,200 parameters."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Attend."""
        states: Tensor = self.attention(x, x, x, need_weights=False)[0]
        return states


class BiLstm(nn.Module):
    """A Bi-LSTM with as many states a direction as x has features."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        """Read in both directions."""
        states: Tensor = self.lstm(x)[0]
        return states


class Convolutions(nn.Module):
    """Convolutions over 3, 4 and 5 tokens, 200 filters each, as in the paper's Multi-CNN."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Conv1d(width, 200, size) for size in (3, 4, 5))

    def forward(self, x: Tensor) -> Tensor:
        """Convolve."""
        columns = [
            part(F.pad(x.transpose(1, 2), ((size - 1) // 2, size // 2)))
            for size, part in zip((3, 4, 5), self.parts, strict=True)
        ]
        return torch.cat(columns, dim=1).transpose(1, 2).relu()


Group = Literal["operation", "layer"]
HEADS = 4
DIRECTIONS = (Band(None, -1), Band(1, None))


@dataclass(frozen=True)
class Shape:
    """Size of a problem: B sentences of L tokens, D features."""

    batch: int
    length: int
    width: int

    @property
    def cells(self) -> int:
        """Numbers in one [B, L, D] tensor."""
        return self.batch * self.length * self.width


@dataclass(frozen=True)
class Case:
    """One thing to time.

    Attributes:
        name: how it appears in the tables.
        group: operations are compared with operations, layers with layers.
        peer: name of the case that its time and memory are divided by.
        ours: whether it is Heedful's.
        pairwise: whether it stores a number for every pair and feature; such a case is run on fewer sentences, and
            its time and memory scaled, where all of them would not fit.
        build: returns the step, forward and backward.
        operations: floating-point operations in matrix products that the step cannot do without.
    """

    name: str
    group: Group
    peer: str
    ours: bool
    pairwise: bool
    build: Callable[[Shape], Step]
    operations: Callable[[Shape], float]


def traffic(case: Case, shape: Shape) -> float:
    """Return the bytes a step must move: its inputs and output, and their gradients, once each.

    Args:
        case: what is timed.
        shape: size of the problem.

    Returns:
        Bytes.
    """
    tensors = 2 if case.group == "layer" else 4
    return 2.0 * 4 * tensors * shape.cells


def cases(width: int) -> list[Case]:
    """List every case that can run here.

    Args:
        width: features D.

    Returns:
        The cases, peers first.
    """
    found = [
        _disa("plain torch DiSA", additive_reference, ours=False),
        _mtsa("plain torch MTSA", "reference", ours=False),
        Case("bare SDPA", "operation", "bare SDPA", False, False, _sdpa_step, lambda s: 6 * _pairs(s)),
        *(_disa(f"DiSA {name}", form) for name, form in additive_forms().items()),
        _mtsa("MTSA matrix", "torch"),
        *([] if tensorized_obstacle(torch.zeros(1)) else [_mtsa("MTSA fused", "kernel")]),
    ]
    return found + _layers(width)


def _layers(width: int) -> list[Case]:
    peer = "nn.MultiheadAttention"

    def layer(name: str, make: Callable[[], nn.Module], extra: float, ours: bool) -> Case:
        weights = sum(p.numel() for p in make().parameters() if p.dim() > 1)
        return Case(
            name,
            "layer",
            peer,
            ours,
            False,
            lambda shape: _layer_step(make(), shape),
            lambda shape: 6.0 * shape.batch * shape.length * weights + extra * _pairs(shape),
        )

    return [
        layer(peer, lambda: MultiHead(width, HEADS), 6, False),
        layer("Bi-LSTM", lambda: BiLstm(width), 0, False),
        layer("three convolutions", lambda: Convolutions(width), 0, False),
        layer("DiSA layer", lambda: DisaLayer(width), 0, True),
        layer("MTSA layer", lambda: MtsaLayer(width, HEADS), 4.5, True),
        layer("MTSA encoder", lambda: MtsaTwoHeads(width), 9.0, True),
    ]


def _pairs(shape: Shape) -> float:
    """Operations of one matrix product over all pairs of tokens, forward; backward costs twice as much."""
    return 2.0 * shape.length * shape.cells


Form = Callable[[Tensor, Tensor, Tensor, Tensor, Visible, float], AttentionResult]
SCALE = 5.0


def additive_forms() -> dict[str, Form]:
    """Return the forms of feature-wise attention that serve float32 on this machine, the reference aside."""
    forms: dict[str, Form] = {"chunked": additive_chunked}
    if choose_additive(torch.zeros(1, 2, 4)).impl == "kernel":
        forms |= {"fused": additive_fused, "linear": additive_linear}
    return forms


def _disa(name: str, form: Form, *, ours: bool = True) -> Case:
    def build(shape: Shape) -> Step:
        valid = torch.ones(shape.batch, shape.length, dtype=torch.bool)
        inputs = _leaves(3, shape.batch, shape.length, shape.width)
        return _step(inputs, lambda q, k, v: form(q, k, v, valid, DIRECTIONS[0], SCALE).output)

    pairwise = form is additive_reference
    return Case(name, "operation", "plain torch DiSA", ours, pairwise, build, lambda _: 0.0)


def _mtsa(name: str, impl: Impl, *, ours: bool = True) -> Case:
    visible = [DIRECTIONS[0]] * (HEADS // 2) + [DIRECTIONS[1]] * (HEADS // 2)

    def build(shape: Shape) -> Step:
        valid = torch.ones(shape.batch, shape.length, dtype=torch.bool)
        inputs = _leaves(4, shape.batch, HEADS, shape.length, shape.width // HEADS)
        return _step(
            inputs, lambda q, k, v, z: tensorized_attention(q, k, v, z, valid, visible, impl=impl).output
        )

    # Three products forward, six backward, and half of the pairs visible.
    return Case(name, "operation", "bare SDPA", ours, impl == "reference", build, lambda s: 4.5 * _pairs(s))


def _sdpa_step(shape: Shape) -> Step:
    inputs = _leaves(3, shape.batch, HEADS, shape.length, shape.width // HEADS)
    return _step(inputs, F.scaled_dot_product_attention)


def _layer_step(layer: nn.Module, shape: Shape) -> Step:
    (x,) = _leaves(1, shape.batch, shape.length, shape.width)
    return _step([x, *layer.parameters()], lambda x, *_: layer(x))


def _leaves(count: int, *size: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*size, generator=generator).requires_grad_() for _ in range(count)]


def _step(inputs: list[Tensor], work: Callable[..., Tensor]) -> Step:
    """Return a step: forward, backward with a fixed gradient, and the gradients thrown away."""
    with torch.no_grad():
        weight = torch.full_like(work(*inputs), 1e-3)

    def step() -> None:
        work(*inputs).backward(weight)
        for tensor in inputs:
            tensor.grad = None

    return step
