"""What the processor is: its features as Linux names them, and its instructions for bfloat16."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")
_BFLOAT16 = {"amx_bf16": "AMX", "avx512_bf16": "AVX-512 BF16", "bf16": "Arm BF16"}
"""Flags of Linux to the names that people use."""
_FAST = ("AMX", "Arm BF16")
"""Those that make products faster than in float32 on every processor. With AVX-512 BF16 and without AMX it depends:
products of 256 to 4,096 rows with a matrix of 300 by 300 took 1.6 to 4.2 times as long on a Xeon, and 0.2 to 0.3 times
on an AMD EPYC (docs/benchmarks.md)."""
_AMD = "AuthenticAMD"


def cpu_info(*names: str, root: Path = ROOT) -> str:
    """Return what Linux says of the first processor under one of some names.

    Returns the rest of the first such line; empty where there is none.
    """
    try:
        with (root / "proc/cpuinfo").open(encoding="utf-8") as lines:
            line = next((line for line in lines if line.startswith(names)), "")
    except OSError:
        return ""
    return line.partition(":")[2].strip()


def flags(root: Path = ROOT) -> frozenset[str]:
    """Return the features of the first processor as Linux names them; empty where it does not."""
    return frozenset(cpu_info("flags", "Features", root=root).split())


def bfloat16_instructions(root: Path = ROOT) -> tuple[str, ...] | None:
    """Return the processor's instructions for products in bfloat16.

    Returns their names, none where the processor has none; None where the system does not say (it is not Linux).
    """
    present = flags(root)
    return tuple(name for flag, name in _BFLOAT16.items() if flag in present) if present else None


def bfloat16_obstacle(root: Path = ROOT) -> str:
    """Return why bfloat16 would be slower than float32 on this processor.

    Without instructions for it, every product is computed in float32 from rounded numbers that are converted back and
    forth. AVX-512 BF16 without AMX is slower, too, except on processors of AMD.

    Returns the reason as a clause; empty where it has fast instructions, or nobody says.
    """
    names = bfloat16_instructions(root)
    if names is None or any(name in _FAST for name in names):
        return ""
    if names:
        amd = cpu_info("vendor_id", root=root) == _AMD
        return "" if amd else f"this processor has {', '.join(names)} but no AMX"
    return f"this processor has no instructions for bfloat16 ({', '.join(_FAST)})"
