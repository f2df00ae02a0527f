"""The layers of the published implementation, rebuilt around the operation, give the published numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.masks import Band
from heedful.ops.tensorized import tensorized_attention

pytestmark = pytest.mark.data
HEADS = 4
VISIBLE = [Band(None, -1)] * 2 + [Band(1, None)] * 2
RUNS = [
    ("reference", torch.float64),
    ("matrix", torch.float64),
    ("reference", torch.float32),
    ("matrix", torch.float32),
    ("auto", torch.float32),  # the compiled kernel where there is one
]
PREFIX = "multi_mask_tensorized_self_attn/"


class Golden:
    """One file of published numbers, its weights as leaves of the graph."""

    def __init__(self, folder: Path, name: str, dtype: torch.dtype) -> None:
        path = folder.parent / "golden" / f"{name}.npz"
        if not path.is_file():
            pytest.skip("the golden numbers are not beside the data sets")
        with np.load(path, allow_pickle=False) as arrays:
            whole = {key: torch.from_numpy(arrays[key]) for key in arrays.files}
        self.arrays = {key: x.to(dtype) if x.is_floating_point() else x for key, x in whole.items()}
        self.x = self.arrays["x"].clone().requires_grad_()
        self.valid = self.arrays["mask"]
        self.weights = {
            key.removeprefix("var/"): value.clone().requires_grad_()
            for key, value in self.arrays.items()
            if key.startswith("var/")
        }

    def heads(self, name: str) -> Tensor:
        """Stack one weight over the heads: ``{}`` in the name is the head's number."""
        return torch.stack([self.weights[PREFIX + name.format(head) + ":0"] for head in range(HEADS)])

    def dense(self, x: Tensor, name: str, *, bias: bool = True) -> Tensor:
        """Apply a dense layer of every head to [B, H, L, in]."""
        out = x @ self.heads(name + "/W_{}_0")
        return out + self.heads(name + "/bias_{}_0") if bias else out

    def check(self, output: Tensor) -> None:
        assert_same(output, self.arrays["out/out"], "output")
        (self.arrays["loss_scale"] * output.square().sum()).backward()
        assert_same(self.x.grad, self.arrays["grad_x"], "x")
        finite = sum(
            assert_same(weight.grad, self.arrays["grad/" + name], name, self.size_of_layer(name))
            for name, weight in self.weights.items()
        )
        assert finite >= 7

    def size_of_layer(self, name: str) -> float:
        """Largest gradient of a dense layer: that of a score's bias is 0 but for the rounding of such numbers."""
        layer = "grad/" + name.rpartition("/")[0]
        grads = [x[x.isfinite()].abs() for key, x in self.arrays.items() if key.startswith(layer)]
        return float(torch.cat(grads).max())


def assert_same(ours: Tensor | None, published: Tensor, name: str, size: float = 1.0) -> bool:
    """Compare where the published number is one: its exponentials overflow to NaN, for phi = exp in one row."""
    assert ours is not None
    assert ours.isfinite().all(), name
    finite = published.isfinite()
    if not finite.any():
        return False
    size = max(size, float(published[finite].abs().max()))
    # The published numbers are float32 themselves: up to half of this is their own rounding.
    limit = (1e-5 if ours.dtype == torch.float64 else 3e-5) * size
    torch.testing.assert_close(ours[finite], published[finite], rtol=0, atol=limit)
    return True


def join(heads: Tensor, valid: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2) * valid[..., None]


@pytest.mark.parametrize(("impl", "dtype"), RUNS)
@pytest.mark.parametrize("name", ["mtsa_sigmoid", "mtsa_exp", "mtsa_sigmoid_gate", "mtsa_exp_gate"])
def test_single_layer(data_dir: Path, impl: str, dtype: torch.dtype, name: str) -> None:
    golden = Golden(data_dir, name, dtype)
    value = F.elu(golden.dense(golden.x[:, None], "v_transform"))
    query = golden.dense(value, "q_transform", bias=False)
    key = golden.dense(value, "k_transform", bias=False)
    hidden = F.elu(golden.dense(value, "s2t_multi_dim_attention/tensor4multi"))
    source = golden.dense(hidden, "s2t_multi_dim_attention/multi_logits")
    phi = "sigmoid" if "sigmoid" in name else "exp"
    context = tensorized_attention(
        query, key, value, source, golden.valid, VISIBLE, token2token=phi, impl=impl
    ).output
    if name.endswith("gate"):
        gate = golden.dense(
            torch.cat([value, context], -1), "context_fusion_gate/linear_fusion_gate"
        ).sigmoid()
        context = gate * value + (1 - gate) * context
    golden.check(join(context, golden.valid))


@pytest.mark.parametrize(("impl", "dtype"), RUNS)
def test_stacked_layer(data_dir: Path, impl: str, dtype: torch.dtype) -> None:
    golden = Golden(data_dir, "mtsa_stacked_layer", dtype)

    def of(name: str) -> Tensor:
        return golden.weights[PREFIX + name + ":0"]

    def split(x: Tensor) -> Tensor:
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    query, key, value = (split(golden.x @ of(f"qkv_combine/W_{n}")) for n in range(3))
    scores = "s2t_multi_dim_attention/tensor4multi"
    source = split(golden.x @ of(f"{scores}/W_0") + of(f"{scores}/bias"))
    context = tensorized_attention(
        query, key, value, source, golden.valid, VISIBLE, token2token="exp", impl=impl
    ).output
    joined = context.transpose(1, 2).flatten(2)
    last = "output_non_linearity/linear_output"
    golden.check(F.relu(joined @ of(f"{last}/W_0") + of(f"{last}/bias")) * golden.valid[..., None])
