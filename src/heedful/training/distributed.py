"""Devices, precision and processes, through Lightning Fabric.

Fabric places the network, opens autocast and joins the processes that torchrun started. Its data-parallel wrapper is
not used: that wrapper averages per process, where our loss is a mean over the examples of the whole batch; it needs
every parameter's gradient in every process; and NCCL cannot reduce sparse gradients. So the gradients are summed
here: the dense ones in one bucket, together with the loss and the request to stop; the sparse ones as rows. One
process on the CPU does without Fabric.

Fabric asks for the version of torchmetrics by importing it, and torchmetrics imports transformers, matplotlib and
SciPy, where these are installed. That takes longer than all else that a small training imports, so that the version is
read from the metadata instead. Without a GPU, torch's compiler, which Fabric imports, does not import Triton either: it
takes 75 MB.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.machine.processors import bfloat16_instructions, bfloat16_obstacle
from heedful.training.train_settings import TrainSettings

if TYPE_CHECKING:
    from lightning_fabric import Fabric


Value = TypeVar("Value")
METRICS_PACKAGE = "torchmetrics"
"""The package of which only the version is asked for."""
COMPILER = "triton"
"""The package that only torch's compiler for a GPU needs."""


def is_first_process() -> bool:
    """Return whether this process is the one that writes and prints: the only one, or torchrun's first."""
    return "TORCHELASTIC_RUN_ID" not in os.environ or os.environ.get("RANK", "0") == "0"


class OneProcess:
    """What `GradientStep` and the loop ask of Fabric, in one process on the CPU: importing Fabric takes over a second.

    Args:
        lowers: whether matrix products are computed in bfloat16.
    """

    device = torch.device("cpu")
    world_size, global_rank, is_global_zero = 1, 0, True

    def __init__(self, lowers: bool) -> None:
        self._lowers = lowers

    def to_device(self, network: nn.Module) -> nn.Module:
        """Move a network to the CPU."""
        return network.to(self.device)

    def autocast(self) -> AbstractContextManager[object]:
        """Let matrix products be computed in the precision of the run."""
        return torch.autocast("cpu", torch.bfloat16) if self._lowers else nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Compute the gradients of a loss."""
        loss.backward()

    def barrier(self) -> None:
        """Wait for nobody."""

    def broadcast(self, value: Value) -> Value:
        """Return what the first process has."""
        return value

    def all_reduce(self, values: Tensor, reduce_op: str) -> Tensor:
        """Return what all processes have together."""
        return values


def start_fabric(settings: TrainSettings) -> Fabric | OneProcess:
    """Start Fabric on the device and processes at hand.

    Returns Fabric, launched, on a GPU or for the processes that torchrun started; else what stands for it. Raises
    UsageError if CUDA is asked for and absent, or the shards cannot be dealt evenly to the processes.
    """
    processes, local = 1, 1
    if "TORCHELASTIC_RUN_ID" in os.environ:
        processes, local = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
    if settings.shards % processes:
        raise UsageError(
            f"train.shards must be a multiple of the number of processes, {processes}; got {settings.shards}. "
            f"Set train.shards={processes}."
        )
    available = torch.cuda.is_available()
    if settings.device == "cuda" and not available:
        raise UsageError("device 'cuda' was asked for, but torch finds no CUDA device; use device 'cpu'")
    if processes == 1 and not (available and settings.device != "cpu"):
        return OneProcess(settings.precision == "bf16-mixed")
    fabric = fabric_type()(
        accelerator="cuda" if available and settings.device != "cpu" else "cpu",
        strategy="ddp" if processes > 1 else "auto",
        devices=local,
        num_nodes=processes // local,
        precision="bf16-mixed" if settings.precision == "bf16-mixed" else "32-true",
    )
    fabric.launch()
    return fabric


def share_weights(fabric: Fabric | OneProcess, parameters: Sequence[nn.Parameter]) -> None:
    """Give every process the first one's weights."""
    if fabric.world_size == 1:
        return
    with torch.no_grad():
        for parameter in parameters:
            values = parameter if fabric.is_global_zero else torch.zeros_like(parameter)
            parameter.copy_(cast(Tensor, fabric.all_reduce(values.clone(), reduce_op="sum")))


def sum_gradients(
    fabric: Fabric | OneProcess, dense: Sequence[nn.Parameter], sparse: Sequence[nn.Parameter], extras: Tensor
) -> Tensor:
    """Sum the gradients of all processes in place; a parameter that none of them used keeps no gradient.

    Args:
        fabric: the processes.
        dense: parameters with dense gradients.
        sparse: parameters with sparse gradients.
        extras: further numbers to sum, [N] float32.

    Returns:
        The extras, summed over the processes.
    """
    if fabric.world_size > 1:
        extras = _sum_dense(fabric, dense, extras)
        for parameter in sparse:
            _sum_rows(fabric, parameter)
    for parameter in sparse:
        if parameter.grad is not None:
            parameter.grad = parameter.grad.coalesce()
    return extras


def _sum_dense(fabric: Fabric | OneProcess, parameters: Sequence[nn.Parameter], extras: Tensor) -> Tensor:
    used = extras.new_tensor([parameter.grad is not None for parameter in parameters])
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    bucket = torch.cat([extras, used, *(gradient.flatten() for gradient in gradients)])
    bucket = cast(Tensor, fabric.all_reduce(bucket, reduce_op="sum"))
    sizes = [len(extras), len(used), *(gradient.numel() for gradient in gradients)]
    extras, used, *summed = bucket.split(sizes)
    for parameter, by_anyone, gradient in zip(parameters, used.tolist(), summed, strict=True):
        parameter.grad = gradient.view_as(parameter) if by_anyone else None
    return extras


def _sum_rows(fabric: Fabric | OneProcess, parameter: nn.Parameter) -> None:
    """Gather the rows of all processes; padded to one length, because a gather takes equal shapes only."""
    if parameter.grad is None:
        indices = torch.empty(0, dtype=torch.long, device=parameter.device)
        values = parameter.new_empty(0, *parameter.shape[1:])
    else:
        gradient = parameter.grad.coalesce()
        indices, values = gradient.indices()[0], gradient.values()
    counts = [int(count) for count in _gather(fabric, torch.tensor(len(indices), device=parameter.device))]
    missing = max(counts) - len(indices)
    all_indices = _gather(fabric, torch.cat([indices, indices.new_zeros(missing)]))
    all_values = _gather(fabric, torch.cat([values, values.new_zeros(missing, *values.shape[1:])]))
    if not max(counts):
        parameter.grad = None
        return
    rows = torch.cat([part[:count] for part, count in zip(all_indices, counts, strict=True)])
    vectors = torch.cat([part[:count] for part, count in zip(all_values, counts, strict=True)])
    parameter.grad = torch.sparse_coo_tensor(rows[None], vectors, parameter.shape, check_invariants=False)


def _gather(fabric: Fabric | OneProcess, tensor: Tensor) -> list[Tensor]:
    """Collect equally shaped tensors, one of each process."""
    # Fabric's own gather goes through a function that torch has deprecated.
    gathered = [torch.empty_like(tensor) for _ in range(fabric.world_size)]
    torch.distributed.all_gather(gathered, tensor)
    return gathered


def cut(rows: Sequence[int], shards: int) -> list[Sequence[int]]:
    """Cut rows into contiguous pieces whose sizes differ by at most one.

    Returns the pieces in order; the last ones are empty when there are fewer rows than shards.
    """
    size, longer = divmod(len(rows), shards)
    starts = [shard * size + min(shard, longer) for shard in range(shards + 1)]
    return [rows[start:end] for start, end in itertools.pairwise(starts)]


def shard_seed(seed: int, step: int, shard: int) -> int:
    """Return the seed of one shard's dropout, a pure function of its arguments.

    No generator's state has to be saved, and it does not matter which process works on the shard.

    Returns a number below 2⁶³.
    """
    digest = hashlib.blake2b(f"{seed}/{step}/{shard}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


_LOG = logging.getLogger(__name__)


def settled(settings: TrainSettings) -> tuple[TrainSettings, str]:
    """Turn ``precision = "auto"`` into the precision that the device is faster in.

    That is bfloat16 where the processor has AMX (or Arm's BF16), or is one of AMD with AVX-512 BF16, or the GPU
    computes in it; else float32, also where the system does not say, and with AVX-512 BF16 alone on other processors,
    which was measured to be slower. A run that asks for bfloat16 where it is slower is warned of.

    Returns the settings with a precision other than "auto", and the reason of the choice as a clause.
    """
    obstacle = _obstacle(settings)
    if settings.precision == "auto":
        reason = obstacle or f"the device computes in bfloat16 ({_instructions(settings)})"
        return replace(settings, precision="32-true" if obstacle else "bf16-mixed"), reason
    if settings.precision == "bf16-mixed" and obstacle:
        _LOG.warning(
            "train.precision=bf16-mixed: %s, so it is slower than float32; use 32-true, or auto", obstacle
        )
    return settings, "asked for"


def _on_gpu(settings: TrainSettings) -> bool:
    return settings.device != "cpu" and torch.cuda.is_available()


def _instructions(settings: TrainSettings) -> str:
    return "GPU" if _on_gpu(settings) else ", ".join(bfloat16_instructions() or ())


def _obstacle(settings: TrainSettings) -> str:
    if _on_gpu(settings):
        known = torch.cuda.is_bf16_supported(including_emulation=False)
        return "" if known else "this GPU has no instructions for bfloat16"
    if bfloat16_instructions() is None and settings.precision == "auto":
        return "the system does not say whether the processor has instructions for bfloat16"
    return bfloat16_obstacle()


def fabric_type() -> type[Fabric]:
    """Return the class Fabric, imported with as little else as can be."""
    modules: Any = sys.modules
    hides = not (torch.cuda.is_available() or {COMPILER, "lightning_fabric"} & modules.keys())
    if hides:
        modules[COMPILER] = None  # as if it were not installed
    try:
        with _versions_from_metadata():
            from lightning_fabric import Fabric
    finally:
        if hides:
            del modules[COMPILER]
    logging.getLogger("lightning_fabric.utilities.rank_zero").addFilter(_no_advice)
    return Fabric


def _no_advice(record: logging.LogRecord) -> bool:
    """Hide that a GPU with tensor cores could be asked for less precision: whoever trains by a command cannot."""
    return "Tensor Cores" not in record.getMessage()


@contextmanager
def _versions_from_metadata() -> Iterator[None]:
    """Let Lightning read the version of `METRICS_PACKAGE` from what is installed as long as the body runs."""
    if "lightning_fabric" in sys.modules or METRICS_PACKAGE in sys.modules:
        yield
        return
    from lightning_utilities.core import imports

    compare: Callable[..., bool] = imports.compare_version

    def by_metadata(package: str, op: Callable[..., bool], version: str, *rest: Any, **options: Any) -> bool:
        if package != METRICS_PACKAGE:
            return compare(package, op, version, *rest, **options)
        from packaging.version import Version

        try:
            return op(Version(metadata.version(package)), Version(version))
        except metadata.PackageNotFoundError:
            return False

    imports.compare_version = by_metadata
    try:
        yield
    finally:
        imports.compare_version = compare
