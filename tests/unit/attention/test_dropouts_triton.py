"""Dropout on a GPU: the kernel, run by Triton's interpreter, drops what the reference drops."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")

PROGRAM = """
import torch
from heedful.attention.dropouts import STEPS, dropout_reference
from heedful.attention.dropouts_triton import drop_on_gpu

SHAPES = ((), (1,), (63,), (7, 64), (3, 5, 301))
SEEDS = (0, 1, 12345, 2**40 + 17, 2**63 - 2)
THRESHOLDS = (0, 1, 6554, 2**15, 2**16 - 1)
for number, shape in enumerate(SHAPES):
    for place, seed in enumerate(SEEDS):  # each seed and each threshold with each shape
        threshold = THRESHOLDS[(number + 2 * place) % len(THRESHOLDS)]
        x = torch.randn(shape, generator=torch.Generator().manual_seed(seed % 97))
        wanted = dropout_reference(x, seed, threshold)
        got = drop_on_gpu(x.contiguous(), seed, threshold, STEPS / (STEPS - threshold))
        assert torch.equal(got == 0, wanted == 0), (shape, seed, threshold)
        torch.testing.assert_close(got, wanted, rtol=1e-6, atol=0)
half = torch.ones(1000, dtype=torch.bfloat16)
assert torch.equal(drop_on_gpu(half, 5, 2**15, 2.0), dropout_reference(half, 5, 2**15))
assert drop_on_gpu(torch.ones(0, 3), 5, 2**15, 2.0).shape == (0, 3)
"""


def test_the_kernel_drops_what_the_reference_drops() -> None:
    # in a process of its own: Triton decides at its import whether kernels are interpreted
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
