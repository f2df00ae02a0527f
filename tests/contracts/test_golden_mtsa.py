"""MTSA equals the authors' published code: outputs and every gradient of all five published settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from heedful.encoders import ContextEncoder, MtsaConfig, MtsaEncoder, MtsaPaperConfig, MtsaPaperEncoder
from heedful.structures import Sentences

pytestmark = pytest.mark.data
WIDTH, HEADS, HEAD = 16, 4, 4
ROOT = "multi_mask_tensorized_self_attn"
PUBLISHED = {
    "value": "v_transform",
    "query": "q_transform",
    "key": "k_transform",
    "hidden": "s2t_multi_dim_attention/tensor4multi",
    "score": "s2t_multi_dim_attention/multi_logits",
    "gate": "context_fusion_gate/linear_fusion_gate",
}
SINGLE = ["mtsa_sigmoid", "mtsa_exp", "mtsa_sigmoid_gate", "mtsa_exp_gate"]
IMPLS = ["auto", "matrix", "reference"]
Golden = dict[str, Tensor]


def load(folder: Path, name: str) -> Golden:
    path = folder.parent / "golden" / f"{name}.npz"
    if not path.is_file():
        pytest.skip("the golden numbers are not beside the data sets")
    with np.load(path, allow_pickle=False) as file:
        return {key: torch.from_numpy(file[key]) for key in file.files}


def single(name: str, impl: str) -> tuple[ContextEncoder, dict[str, nn.Parameter]]:
    """The encoder of one published setting, and published variable name to our parameter."""
    config = MtsaConfig(
        heads=HEADS,
        head_width=HEAD,
        token2token="sigmoid" if "sigmoid" in name else "exp",
        gate=name.endswith("gate"),
        impl=impl,  # type: ignore[arg-type]
    )
    encoder = MtsaEncoder(WIDTH, config)
    table: dict[str, nn.Parameter] = {}
    for ours, theirs in PUBLISHED.items():
        heads = getattr(encoder, ours)
        for head, dense in enumerate([] if heads is None else heads.parts):
            table[f"{ROOT}/{theirs}/W_{head}_0:0"] = dense.weight
            if dense.bias is not None:
                table[f"{ROOT}/{theirs}/bias_{head}_0:0"] = dense.bias
    return encoder, table


def stacked(impl: str) -> tuple[ContextEncoder, dict[str, nn.Parameter]]:
    """The attention of one layer of the published stack."""
    config = MtsaPaperConfig(
        heads=HEADS,
        head_width=HEAD,
        activation="relu",
        token2token="exp",
        score_from="input",
        output="activated",
        impl=impl,  # type: ignore[arg-type]
    )
    encoder = MtsaPaperEncoder(WIDTH, config)
    score, output = "s2t_multi_dim_attention/tensor4multi", "output_non_linearity/linear_output"
    return encoder, {
        f"{ROOT}/qkv_combine/W_0:0": encoder.query.weight,
        f"{ROOT}/qkv_combine/W_1:0": encoder.key.weight,
        f"{ROOT}/qkv_combine/W_2:0": encoder.value.weight,
        f"{ROOT}/{score}/W_0:0": encoder.score.weight,
        f"{ROOT}/{score}/bias:0": encoder.score.bias,
        f"{ROOT}/{output}/W_0:0": encoder.output.weight,
        f"{ROOT}/{output}/bias:0": encoder.output.bias,
    }


def layer_of(variable: str) -> str:
    """The dense layer that a variable belongs to: all heads, matrices and biases."""
    return variable.rpartition("/")[0]


def check(golden: Golden, encoder: ContextEncoder, table: dict[str, nn.Parameter], limit: float) -> int:
    """Load the published weights, go forward and backward, and compare; give how many gradients had a number.

    A number is held to ``limit`` times the largest of its kind: of the states, or of the gradients of its dense layer.
    The gradient of the score's bias is exactly zero, and what the published code has there is its rounding.
    """
    assert {f"var/{name}" for name in table} == {name for name in golden if name.startswith("var/")}
    dtype = next(encoder.parameters()).dtype
    for name, parameter in table.items():
        value = golden[f"var/{name}"].to(dtype)
        parameter.data.copy_(value.T if parameter.dim() == 2 else value.reshape(-1))
    x = golden["x"].to(dtype).requires_grad_()
    valid = golden["mask"]
    states = encoder(x, Sentences(valid.long(), valid)).states
    (float(golden["loss_scale"]) * states.square().sum()).backward()
    assert x.grad is not None
    hold(states.detach(), golden["out/out"], "states", limit)
    hold(x.grad, golden["grad_x"], "x", limit)
    compared = 0
    for name, parameter in table.items():
        published, ours = golden[f"grad/{name}"], parameter.grad
        assert ours is not None, name
        ours = ours.T if ours.dim() == 2 else ours.reshape(published.shape)
        layer = [golden[f"grad/{other}"] for other in table if layer_of(other) == layer_of(name)]
        compared += hold(ours, published, name, limit, kind=torch.cat([each.flatten() for each in layer]))
    return compared


def hold(ours: Tensor, published: Tensor, name: str, limit: float, kind: Tensor | None = None) -> bool:
    """Compare where the published number is one: its exponentials overflow to NaN in a head, ours do not."""
    assert ours.isfinite().all(), name
    there = published.isfinite()
    kind = published if kind is None else kind
    largest = max(1.0, kind[kind.isfinite()].abs().max().item())
    torch.testing.assert_close(
        ours[there],
        published[there].to(ours.dtype),
        rtol=0,
        atol=limit * largest,
        msg=lambda m: f"{name}: {m}",
    )
    return bool(there.all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("name", SINGLE)
def test_the_single_layer_equals_published_numbers(
    data_dir: Path, name: str, impl: str, dtype: torch.dtype
) -> None:
    golden = load(data_dir, name)
    encoder, table = single(name, impl)
    assert len(table) == HEADS * (10 if name.endswith("gate") else 8)
    # Float32 rounds the published numbers as it does ours: without the sigmoid to 1e-5 by itself. The compiled kernel,
    # which "auto" takes, sums the score's gradient in another order than these.
    coarse = dtype == torch.float32 and ("exp" in name or impl == "auto")
    limit = 2e-5 if coarse else 1e-5
    compared = check(golden, encoder.to(dtype).eval(), table, limit)
    lost = len(table) // HEADS if "exp" in name else 0  # one head of four overflows
    assert compared == len(table) - lost


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("impl", IMPLS)
def test_the_layer_of_a_stack_equals_published_numbers(data_dir: Path, impl: str, dtype: torch.dtype) -> None:
    encoder, table = stacked(impl)
    golden = load(data_dir, "mtsa_stacked_layer")
    assert check(golden, encoder.to(dtype).eval(), table, 1e-5) == len(table) == 7
