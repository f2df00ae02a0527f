"""What every attention operation shares: its result and the names of implementations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Impl = Literal["auto", "reference", "chunked", "fused", "linear"]
"""``reference`` is the specification; ``chunked`` plain torch in bounded memory; ``fused`` one compiled kernel;
``linear`` the form whose time is linear in L; ``auto`` chooses by shape, device and mask."""


@dataclass(frozen=True)
class AttentionResult:
    """Output of an attention operation.

    Attributes:
        output: [B, L, D]; exactly zero where a query has nothing to attend to.
        weights: feature-wise weights [B, Q, K, D], or None unless asked for. They sum to 1 over K, or are all 0.
    """

    output: Tensor
    weights: Tensor | None = None
