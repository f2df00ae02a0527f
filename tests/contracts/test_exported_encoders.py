"""Every encoder goes through ``torch.export`` with a free length."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from described import WIDTH, built
from heedful.models import ENCODERS
from heedful.structures import Sentences
from plain_wheel import without_kernels


class Encoding(nn.Module):
    """An encoder as a function of tensors."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        states: Tensor = self.encoder(x, Sentences(torch.ones_like(valid, dtype=torch.int64), valid)).states
        return states


def encoding(name: str) -> Encoding:
    few = {"encoder_options": {"layers": DEEP[name]}} if name in DEEP else {}
    return Encoding(built({"encoder": name, **few}).sentence_encoder.encoder).eval()  # type: ignore[arg-type]


DEEP = {"deep-att": 2, "mtsa-deep-att": 2, "mtsa-stacked": 1, "mtsa-transformer": 1, "transformer": 1}
"""Encoders of many layers, and how many are traced: further ones take as long again, and hold nothing new."""


def inputs(*lengths: int) -> tuple[Tensor, Tensor]:
    longest = max(lengths)
    generator = torch.Generator().manual_seed(longest)
    x = torch.randn(len(lengths), longest, WIDTH, generator=generator)
    return x, torch.arange(longest) < torch.tensor(lengths)[:, None]


FEATURE_WISE = ("disan", "mdman", "bi-blosan", "resan")
"""Encoders whose attention has a form of its own where no kernels are compiled."""


@pytest.mark.parametrize("name", ENCODERS)
def test_a_program_of_any_length(name: str) -> None:
    run_a_program_of_any_length(name)


@pytest.mark.parametrize("name", FEATURE_WISE)
def test_a_program_of_any_length_without_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_kernels(monkeypatch)
    run_a_program_of_any_length(name)


def run_a_program_of_any_length(name: str) -> None:
    module, free = encoding(name), torch.export.Dim("L", min=2, max=400)
    with torch.inference_mode(False), torch.no_grad():
        shapes = {"x": {1: free}, "valid": {1: free}}
        program = torch.export.export(module, inputs(7, 4, 1), dynamic_shapes=shapes).module()
        for given in (inputs(12, 0, 5), inputs(3, 2, 3)):
            assert torch.allclose(program(*given), module(*given), atol=2e-6)


@pytest.mark.parametrize("name", ["disan", "mtsa", "mssan", "mdman", "bi-blosan", "bi-gru", "bi-lstm"])
def test_compiled_for_any_length(name: str) -> None:
    run_compiled_for_any_length(name)


def test_compiled_for_any_length_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    without_kernels(monkeypatch)
    run_compiled_for_any_length("disan")


def run_compiled_for_any_length(name: str) -> None:
    torch._dynamo.reset()
    module = encoding(name)
    compiled = torch.compile(
        module, backend="eager", fullgraph=True
    )  # the tests above trace further for any length
    with torch.no_grad(), torch._dynamo.config.patch(error_on_recompile=True):
        for given in (inputs(7, 4, 1), inputs(12, 0, 5, 2)):
            for tensor in given:
                torch._dynamo.mark_dynamic(tensor, (0, 1))  # texts and words, not the width
            assert torch.allclose(compiled(*given), module(*given), atol=2e-6)
