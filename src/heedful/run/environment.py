"""Versions, threads and implementations for a bug report, and the memory that a run takes."""

from __future__ import annotations

import contextlib
import functools
import platform
import subprocess
from pathlib import Path

from heedful.machine import threads
from heedful.machine.processors import bfloat16_instructions
from heedful.version import __version__


def describe() -> dict[str, str]:
    """Return facts about the installation; no host name, user or path among them."""
    import importlib.metadata as metadata

    import torch

    from heedful.attention import native
    from heedful.runtime import bfloat16_products, int8_products

    threads.settle()
    facts = {
        "heedful": __version__,
        **({"commit": known} if (known := commit()) else {}),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        **{name.replace("_", ": "): str(value) for name, value in threads.settings().items()},
        "bfloat16": _of_bfloat16(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
    }
    for package in (
        "numpy",
        "scipy",
        "scikit-learn",
        "safetensors",
        "lightning-fabric",
        "matplotlib",
        "pyarrow",
        "sacrebleu",
        "tokenizers",
        "spacy",
        "stanza",
        "transformers",
    ):
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = "not installed"
    kernels = {name: str(value) for name, value in native.status().items()}
    facts.update({f"kernels: {name.replace('_', ' ')}": value for name, value in kernels.items() if value})
    facts["kernels: products in 8 bits"] = int8_products.form()
    facts["kernels: products in bfloat16"] = bfloat16_products.form()
    return facts


@functools.cache
def commit(package: Path = Path(__file__).parents[1]) -> str | None:
    """Name the commit whose code runs, as it was when this was first asked.

    Args:
        package: the folder of the package.

    Returns:
        The first 12 digits of the commit, with "-changed" behind them if files of the package differ from it; None if
        the package is not run from a Git checkout that tracks it, or without the program git.
    """

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(package), *words], check=True, capture_output=True, text=True, timeout=30
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".")
        return git("rev-parse", "--short=12", "HEAD") + ("-changed" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _of_bfloat16() -> str:
    """Return which instructions for bfloat16 the processor has."""
    names = bfloat16_instructions()
    return "unknown" if names is None else ", ".join(names) or "no instructions for it"


def reset_peaks() -> None:
    """Let the peaks of memory begin anew, where the system can: on the host under Linux, and on every GPU."""
    import torch

    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    if torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)


def peak_megabytes() -> int | None:
    """Return the most memory of the host that this process has held since `reset_peaks`, in MB.

    All of the process counts: Python and its libraries, the data and word vectors that it holds, the model and what
    training needs. Where the peak cannot be reset, it is that of the whole process so far.

    Returns:
        The peak; None where the system does not tell.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / (1 << 10))
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 << 20 if platform.system() == "Darwin" else 1 << 10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def peak_gpu_megabytes() -> int | None:
    """Return the most that tensors have taken on the GPUs since `reset_peaks`, in MB; None where they took nothing."""
    import torch

    if not torch.cuda.is_initialized():
        return None
    peak = sum(torch.cuda.max_memory_allocated(device) for device in range(torch.cuda.device_count()))
    return round(peak / (1 << 20)) if peak else None
