"""What to paste into a report: versions, threads, implementations."""

from __future__ import annotations

import platform

import heedful


def describe() -> dict[str, str]:
    """Return facts about the installation; no host name, user or path among them."""
    import importlib.metadata as metadata

    import torch

    from heedful.ops import native

    facts = {
        "heedful": heedful.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "threads": str(torch.get_num_threads()),
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
    ):
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = "not installed"
    kernels = {name: str(value) for name, value in native.status().items()}
    facts.update({f"kernels: {name.replace('_', ' ')}": value for name, value in kernels.items() if value})
    return facts


def peak_megabytes() -> int | None:
    """Return the most memory this process has held so far, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 << 20 if platform.system() == "Darwin" else 1 << 10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
