"""What every attention operation shares: its result and the names of implementations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Impl = Literal["auto", "reference", "chunked", "fused", "linear"]
"""``reference`` is the specification; ``chunked`` plain torch in bounded memory; ``fused`` one compiled kernel;
``linear`` the form whose time is linear in L; ``auto`` chooses by shape, device and mask."""

TensorizedImpl = Literal["auto", "reference", "matrix", "fused"]
"""``reference`` is the specification; ``matrix`` torch's matrix products only; ``fused`` one compiled kernel, on the
CPU and below float64; ``auto`` is ``fused`` where it can serve, else ``matrix``; a request for the weights is served by
``reference``."""


@dataclass(frozen=True)
class AttentionResult:
    """Output of an attention operation.

    Attributes:
        output: [B, L, D]; exactly zero where a query has nothing to attend to.
        weights: feature-wise weights [B, Q, K, D], or None unless asked for. They sum to 1 over K, or are all 0.
    """

    output: Tensor
    weights: Tensor | None = None
