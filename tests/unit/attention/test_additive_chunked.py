from __future__ import annotations

import pytest
import torch

from heedful.attention import additive as chunked
from heedful.attention.additive import additive_reference
from heedful.attention.visibility import Band, Visible

VISIBLE = {
    "forward": Band(high=-1),
    "window": Band(-2, 1, diagonal=False),
    "dense": torch.rand(7, 7, generator=torch.Generator().manual_seed(0)) < 0.5,
    "a sentence": torch.rand(2, 7, 7, generator=torch.Generator().manual_seed(0)) < 0.3,
}


def inputs() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(2, 7, 3, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(3)]


@pytest.mark.parametrize("visible", VISIBLE.values(), ids=VISIBLE)
@pytest.mark.parametrize("elements", [1, 100, 1 << 20])
def test_gradients_whatever_the_chunk(
    visible: Visible, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked, "CHUNK_ELEMENTS", elements)
    leaves = inputs()
    valid = torch.tensor([[True] * 7, [True, False, True, True, False, True, False]])

    def output(*tensors: torch.Tensor) -> torch.Tensor:
        return chunked.additive_chunked(*tensors, valid, visible, 5.0).output

    assert torch.autograd.gradcheck(output, leaves)
    want = additive_reference(*leaves, valid, visible, 5.0).output
    torch.testing.assert_close(output(*leaves), want, rtol=1e-13, atol=1e-14)
