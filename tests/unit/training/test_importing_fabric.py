"""Fabric is imported without torchmetrics, and knows its version all the same."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from heedful.training.distributed import fabric_type
assert fabric_type().__name__ == "Fabric"
print(*(name in sys.modules for name in ("lightning_fabric", "torchmetrics", "transformers")))
from lightning_fabric.utilities import imports
known = getattr(imports, "_TORCHMETRICS_GREATER_EQUAL_1_0_0", None)  # Fabric 2.5.0 does not ask
from importlib.metadata import version
from importlib.util import find_spec
from lightning_utilities.core.imports import compare_version
from packaging.version import Version
newer = find_spec("torchmetrics") is not None and Version(version("torchmetrics")) >= Version("1.0.0")
print(known in (None, newer), compare_version.__module__)
"""


def test_its_version_is_known_without_importing_it() -> None:
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False", "False", "True", "lightning_utilities.core.imports"]
