"""What the machine is and how fast it can be: the ceiling that measurements are shares of."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch

import heedful

_FLAGS = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "asimd", "sve")
_REPEATS = 9


@dataclass(frozen=True)
class Ceiling:
    """The best this machine did in this run.

    Attributes:
        matmul: float32 matrix product, 10^9 floating-point operations a second.
        bandwidth: copying memory far larger than the caches, 10^9 bytes a second read plus written.
    """

    matmul: float
    bandwidth: float

    def shortest(self, operations: float, traffic: float) -> float:
        """Return the least time, in seconds, for so many operations and bytes: the roofline.

        Args:
            operations: floating-point operations in matrix products.
            traffic: bytes that must be read or written.

        Returns:
            Seconds.
        """
        return max(operations / (self.matmul * 1e9), traffic / (self.bandwidth * 1e9))


def measure_ceiling() -> Ceiling:
    """Measure matrix products of 1024 x 1024 and a copy of 128 MiB; the best of 9.

    Returns:
        The ceiling.
    """
    side = 1024
    left, right = torch.randn(side, side), torch.randn(side, side)
    product = _best_seconds(lambda: left @ right)
    source = torch.randn(32 << 20)
    target = torch.empty_like(source)
    copy = _best_seconds(lambda: target.copy_(source))
    return Ceiling(2 * side**3 / product / 1e9, 2 * source.numel() * source.element_size() / copy / 1e9)


def describe_machine() -> dict[str, str]:
    """Return versions, threads and processor features; no host name, user or path among them.

    Returns:
        Facts by name.
    """
    from heedful.ops import native

    return {
        "heedful": heedful.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "threads": str(torch.get_num_threads()),
        "torch's instruction set": torch.backends.cpu.get_cpu_capability(),
        "processor": _cpu_info("model name") or "unknown",
        "processor features": " ".join(_processor_features()),
        "kernels": str(native.status()["instruction_set"] or "not compiled"),
    }


def as_dict(ceiling: Ceiling) -> dict[str, float]:
    """Return the ceiling as plain numbers, for JSON.

    Args:
        ceiling: what was measured.

    Returns:
        Numbers by name.
    """
    return asdict(ceiling)


def _processor_features() -> list[str]:
    present = set((_cpu_info("flags") or _cpu_info("Features")).split())
    return [flag for flag in _FLAGS if flag in present] or ["unknown"]


def _cpu_info(name: str) -> str:
    """Return what Linux says of the first processor under a name; empty where it says nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            line = next((x for x in lines if x.startswith(name)), "")
    except OSError:
        return ""
    return line.partition(":")[2].strip()


def _best_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
