"""Facts for a report."""

from __future__ import annotations

import getpass
import platform
import subprocess
import sys

import pytest
import torch

from heedful import __version__
from heedful.run.environment import describe, peak_gpu_megabytes, reset_peaks


def test_facts_are_versions_and_say_nothing_of_the_user() -> None:
    facts = describe()
    assert facts["heedful"] == __version__
    assert facts["python"] == platform.python_version()
    assert {"torch", "numpy", "scipy", "threads", "cuda", "kernels: compiled"} <= set(facts)
    assert {"sacrebleu", "tokenizers", "spacy", "stanza", "transformers", "safetensors"} <= set(facts)
    assert all(isinstance(value, str) and value for value in facts.values())
    assert platform.node() not in facts.values()
    assert getpass.getuser() not in facts.values()


OF_A_FRESH_PROCESS = """
import numpy as np
from heedful.run.environment import peak_megabytes, reset_peaks

block = np.ones(300 << 17)  # 300 MB
reset_peaks()
held = peak_megabytes()
del block
reset_peaks()
left = peak_megabytes()
np.ones(100 << 17)
print(held, left, peak_megabytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process reset its peak")
def test_a_peak_is_of_what_came_after_the_reset() -> None:
    # A process of its own: what earlier tests left behind in this one may be freed between two looks.
    printed = subprocess.run(
        [sys.executable, "-c", OF_A_FRESH_PROCESS], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    held, left, after = map(int, printed.split())
    assert left < held - 250
    assert left + 80 < after < held - 150


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_there_is_no_peak_of_one() -> None:
    reset_peaks()
    assert peak_gpu_megabytes() is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_peak_of_a_gpu_is_of_its_tensors_after_the_reset() -> None:
    block = torch.ones(300 << 18, device="cuda")  # 300 MB
    reset_peaks()
    held = peak_gpu_megabytes()
    assert held is not None
    assert held >= 300
    del block
    reset_peaks()
    assert (peak_gpu_megabytes() or 0) <= held - 300
