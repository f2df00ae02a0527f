"""Fabric is imported without torchmetrics, whose version it knows all the same, and without a GPU without Triton."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from heedful.training.distributed import fabric_type
import torch
from importlib.util import find_spec
there, unasked = find_spec("triton"), [] if torch.cuda.is_available() else ["triton"]
assert fabric_type().__name__ == "Fabric"
print(*(name in sys.modules for name in ("lightning_fabric", "torchmetrics", "transformers", *unasked)))
from lightning_fabric.utilities import imports
known = getattr(imports, "_TORCHMETRICS_GREATER_EQUAL_1_0_0", None)  # Fabric 2.5.0 does not ask
from importlib.metadata import version
from lightning_utilities.core.imports import compare_version
from packaging.version import Version
newer = find_spec("torchmetrics") is not None and Version(version("torchmetrics")) >= Version("1.0.0")
print(known in (None, newer), compare_version.__module__)
if there:
    import triton.language  # it was only hidden
"""


def test_a_version_is_known_without_importing_it_and_triton_is_left_out() -> None:
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    imported, known = found.stdout.splitlines()
    assert imported.split() in (["True", "False", "False"], ["True", "False", "False", "False"])
    assert known.split() == ["True", "lightning_utilities.core.imports"]
