"""Looking inside a network while it trains: units that never fire, gates that are constant, steps that are too long.

A network can lose a layer in its first steps and still reach a plausible accuracy. What is measured here costs one
forward pass of some batches without gradients, and leaves the training as it is, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from heedful.attention.randomness import drawing_from, seeded
from heedful.attention_names import MapPlace
from heedful.models.networks import Network
from heedful.nn.embedding import WordEmbedding
from heedful.structures import Batch, SharedBatch

_FLOOR = {"relu": 0.0, "elu": -0.98}
"""Output up to which a unit does not fire."""
_OPERATORS = {
    torch.ops.aten.relu.default: "relu",
    torch.ops.aten.relu_.default: "relu",
    torch.ops.aten.elu.default: "elu",
    torch.ops.aten.elu_.default: "elu",
    torch.ops.aten.sigmoid.default: "sigmoid",
}
_LEAST_WORDS = 3
_MOST_ROWS = 256
"""Words or texts of a batch from which the mean and the spread of a dense layer are taken, evenly spaced."""
_FROZEN = 1e-3
"""Standard deviation of a gate over all words below which it counts as constant."""


@dataclass
class Units:
    """What was seen of the units of one activation, over all batches of an examination.

    Attributes:
        kind: "relu", "elu" or "sigmoid".
        fired: whether each unit was above its floor for at least one word or text, [D] bool.
        count: how many words or texts were seen.
        sums: of each unit's outputs and of their squares, [2, D] float64.
    """

    kind: str
    fired: Tensor
    count: int
    sums: Tensor

    @property
    def dead(self) -> float:
        """The share of units that never fired, 0 to 1."""
        return 1.0 - float(self.fired.double().mean())

    @property
    def constant(self) -> float:
        """The share of units whose output never changed by more than rounding, 0 to 1."""
        mean = self.sums / max(1, self.count)
        spread = (mean[1] - mean[0] ** 2).clamp(min=0).sqrt()
        return float((spread < _FROZEN).double().mean())


@dataclass(frozen=True)
class LayerInputs:
    """What was seen of the inputs of one dense layer.

    Attributes:
        reach: the mean over texts or words of ``sum_i |x_i|``: how far a step of one learning rate in every weight
            moves a unit, divided by that rate.
        spread: standard deviation of a unit's value before the activation.
    """

    reach: float
    spread: float


@dataclass(frozen=True)
class Examination:
    """What one look inside a network saw.

    Attributes:
        units: of each activation, by the name of the module that applies it.
        inputs: of each dense layer, by its name.
        lengths: median and 95th percentile of the Euclidean lengths of the word vectors that were read; None where the
            network has no table of words.
    """

    units: Mapping[str, Units] = field(default_factory=dict)
    inputs: Mapping[str, LayerInputs] = field(default_factory=dict)
    lengths: tuple[float, float] | None = None


def examine(network: nn.Module, batches: Sequence[Batch]) -> Examination:
    """Look inside a network.

    The network reads the batches in evaluation mode and without gradients; its mode and torch's random state are what
    they were afterwards.

    Args:
        network: takes a `Batch`.
        batches: what it reads.

    Returns:
        What was seen of all batches together.
    """
    seen = _Seen(network)
    training = network.training
    network.eval()
    try:
        with drawing_from(seeded(0)), torch.no_grad(), seen.watching():
            for batch in batches:
                seen.rows = real_words(batch)
                network(batch)
    finally:
        network.train(training)
    inputs = {name: LayerInputs(*_means(found)) for name, found in seen.inputs.items()}
    lengths = torch.cat(seen.lengths) if seen.lengths else None
    ends = None if lengths is None else (float(lengths.median()), float(torch.quantile(lengths, 0.95)))
    return Examination(seen.units, inputs, ends)


def attention_peaks(network: nn.Module, batch: Batch) -> dict[str, float]:
    """Measure how much attention chooses: by how much the heaviest word of a row of weights is above their mean.

    Of n weights that are all 1 / n that is 0; of one weight that is 1 it is n - 1. Rows of fewer than three words say
    little and are left out. All weights are built for it, [B, L, L, D], so that a batch must be small.

    Args:
        network: a `Network`; of another module nothing is measured.
        batch: what it reads; of pairs that share texts nothing is measured, because their weights are not kept.

    Returns:
        The mean over words and features, by the name of the attention; that of the pooling is called "pooling".
    """
    if not isinstance(network, Network) or isinstance(batch, SharedBatch):
        return {}
    training = network.training
    network.eval()
    try:
        with drawing_from(seeded(0)), torch.no_grad():
            output = network(batch, need_weights=True)
    finally:
        network.train(training)
    found: dict[str, list[float]] = {}
    for trace in output.traces:
        maps = {_name_of(place): weights for place, weights in trace.context.maps.items()}
        if trace.pooled.weights is not None:
            maps["pooling"] = trace.pooled.weights[:, None]
        for name, weights in maps.items():
            count = (weights > 0).sum(dim=2)
            peaks = (weights.max(dim=2).values * count - 1)[count >= _LEAST_WORDS]
            if len(peaks):
                found.setdefault(name, []).append(float(peaks.mean()))
    return {name: max(peaks) for name, peaks in found.items()}


def _name_of(place: MapPlace) -> str:
    parts = {"layer": place.layer, "head": place.head, "number": place.number, "encoder": place.encoder}
    told = (f"{name} {value}" for name, value in parts.items() if value is not None)
    return ", ".join(filter(None, (place.rule, place.kind, place.distance, *told))) or "attention"


class _Seen(TorchDispatchMode):
    """Collects what the modules of a network compute; the innermost module that runs gives each result its name."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Tell torch not to hide this from its compiler, whose import takes longer than all looks."""
        return False

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.units: dict[str, Units] = {}
        self.inputs: dict[str, list[tuple[float, float, int]]] = {}
        self.lengths: list[Tensor] = []
        self.rows: list[Tensor] = []
        self._running: list[str] = []
        self._calls: dict[str, int] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow the modules as long as the body runs."""
        with ExitStack() as stack:
            for name, module in self.network.named_modules():
                enter = module.register_forward_pre_hook(self._entering(name))
                leave = module.register_forward_hook(self._leaving(name))
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            stack.enter_context(self)
            yield

    def _entering(self, name: str):  # type: ignore[no-untyped-def]
        def enter(module: nn.Module, inputs: tuple[object, ...]) -> None:
            self._running.append(name)
            self._calls = {key: count for key, count in self._calls.items() if not key.startswith(f"{name} ")}

        return enter

    def _leaving(self, name: str):  # type: ignore[no-untyped-def]
        def leave(module: nn.Module, inputs: tuple[object, ...], result: object) -> None:
            self._running.pop()
            if isinstance(module, WordEmbedding) and isinstance(result, Tensor):
                lengths = self._of_words(result.float()).norm(dim=-1)
                self.lengths.append(lengths[lengths > 0].cpu())
            weight = getattr(module, "weight", None)
            if not (inputs and isinstance(inputs[0], Tensor) and isinstance(weight, Tensor)):
                return
            x = inputs[0]
            if (
                weight.dim() == 2
                and x.dim() >= 2
                and x.shape[-1] == weight.shape[1]
                and x.is_floating_point()
            ):
                self._dense(name, module, self._of_words(x.float()))

        return leave

    def _dense(self, name: str, module: nn.Module, x: Tensor) -> None:
        if not len(x):
            return
        x = x[:: -(-len(x) // _MOST_ROWS)]
        weight = module.weight.float()
        values = nn.functional.linear(x, weight)  # type: ignore[arg-type]
        spread = float(values.std(dim=0, correction=0).mean())
        self.inputs.setdefault(name, []).append((float(x.abs().sum(dim=-1).mean()), spread, len(x)))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        kind = _OPERATORS.get(func)
        if kind is not None and self._running and result.dim() >= 2 and result.is_floating_point():
            self._activation(self._running[-1], kind, self._of_words(result.detach().float()))
        return result

    def _activation(self, name: str, kind: str, x: Tensor) -> None:
        if not len(x):
            return
        call = self._calls[f"{name} {kind}"] = self._calls.get(f"{name} {kind}", 0) + 1
        key = f"{name} ({call})" if call > 1 else name
        sums = torch.stack([x.double().sum(dim=0), x.double().square().sum(dim=0)])
        fired = (x > _FLOOR.get(kind, float("-inf"))).any(dim=0)
        known = self.units.get(key)
        if known is None or known.kind != kind or known.fired.shape != fired.shape:
            self.units[key] = Units(kind, fired, len(x), sums)
            return
        known.fired |= fired
        known.count += len(x)
        known.sums += sums

    def _of_words(self, x: Tensor) -> Tensor:
        """Return the rows of [..., D] that belong to real words, or all of them where the axes are other ones."""
        flat = x.flatten(0, -2)
        for valid in self.rows:
            if x.shape[:-1] == valid.shape or flat.shape[0] == valid.numel():
                return flat[valid.flatten()]
        return flat


def real_words(batch: Batch) -> list[Tensor]:
    """Return which words of each column of a batch are real."""
    sides = batch.sides if isinstance(batch, SharedBatch) or hasattr(batch, "sides") else ()
    return [side.valid for side in sides if getattr(side, "valid", None) is not None]


def _means(found: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    total = sum(count for *_, count in found)
    return (
        sum(reach * count for reach, _, count in found) / total,
        sum(spread * count for _, spread, count in found) / total,
    )
