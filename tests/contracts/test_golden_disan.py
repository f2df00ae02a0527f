"""DiSAN equals the authors' published code: outputs, attention, gates and every gradient."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.encoders import DisanConfig, DisanEncoder
from heedful.explain.legends import by_caption
from heedful.nn import Dense
from heedful.nn.pooling import SourceToToken
from heedful.structures import Sentences

WIDTH = 16
DIRECTIONS = {"fw": 0, "bw": 1}


@pytest.fixture(scope="module")
def golden(data_dir: Path) -> dict[str, np.ndarray]:
    path = data_dir.parent / "golden" / "disan.npz"
    if not path.exists():
        pytest.skip("the golden numbers are not beside the data sets")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def names_to_parameters(encoder: DisanEncoder, pooling: SourceToToken) -> dict[str, torch.nn.Parameter]:
    """Published variable name to our parameter; matrices there are [in, out], ours [out, in]."""
    table: dict[str, torch.nn.Parameter] = {}

    def dense(prefix: str, layer: Dense) -> None:
        table[f"{prefix}/W:0"] = layer.weight
        if layer.bias is not None:
            table[f"{prefix}/bias:0"] = layer.bias

    for direction, index in DIRECTIONS.items():
        block, root = encoder.blocks[index], f"DiSAN/ct_attn/dir_attn_{direction}"
        dense(f"{root}/bn_dense_map/linear_map", block.hidden)
        dense(f"{root}/attention/linear_dependent", block.key)
        dense(f"{root}/attention/linear_head", block.query)
        table[f"{root}/attention/f_bias:0"] = block.bias
        dense(f"{root}/output/linear_fusion_i", block.gate.word)
        dense(f"{root}/output/linear_fusion_a", block.gate.context)
        table[f"{root}/output/o_bias:0"] = block.gate.bias
    root = "DiSAN/sent_enc_attn/multi_dimensional_attention"
    dense(f"{root}/bn_dense_map1/linear_map", pooling.hidden)
    dense(f"{root}/bn_dense_map2/linear_map", pooling.score)
    return table


def run(golden: dict[str, np.ndarray], dtype: torch.dtype, impl: str) -> dict[str, torch.Tensor]:
    """Forward and backward with the golden weights; returns everything by its golden name."""
    encoder = DisanEncoder(WIDTH, DisanConfig(impl=impl)).to(dtype).eval()  # type: ignore[arg-type]
    pooling = SourceToToken(2 * WIDTH).to(dtype).eval()
    table = names_to_parameters(encoder, pooling)
    assert len(table) == 24, "every published variable has its parameter"
    for name, parameter in table.items():
        value = torch.from_numpy(golden[f"var/{name}"]).to(dtype)
        parameter.data.copy_(value.T if value.dim() == 2 else value)
    x = torch.from_numpy(golden["x"]).to(dtype).requires_grad_()
    valid = torch.from_numpy(golden["mask"])
    sentences = Sentences(ids=valid.long(), valid=valid)
    context = encoder(x, sentences, need_weights=impl in ("auto", "reference"))
    pooled = pooling(context.states, valid, need_weights=True)
    (float(golden["loss_scale"]) * pooled.vector.square().sum()).backward()
    got = {"out/out": pooled.vector, "out/t_attn": pooled.weights, "grad_x": x.grad}
    for direction, mask in {"fw": "forward", "bw": "backward"}.items():
        if context.maps:
            got[f"out/t_{direction}_attn"] = by_caption(context.maps)[mask]
            got[f"out/t_{direction}_attn_gate"] = by_caption(context.gates)[mask]
    for name, parameter in table.items():
        gradient = parameter.grad
        assert gradient is not None, name
        got[f"grad/{name}"] = gradient.T if gradient.dim() == 2 else gradient
    return got


def test_equals_published_numbers(golden: dict[str, np.ndarray]) -> None:
    got = run(golden, torch.float32, "auto")
    assert len(got) == 7 + 24
    valid = golden["mask"]
    for name, ours in got.items():
        expected = torch.from_numpy(golden[name])
        ours = ours.detach()
        if name.endswith("_gate"):  # the published code computes a gate at padding too; nothing reads it
            expected, ours = expected[torch.from_numpy(valid)], ours[torch.from_numpy(valid)]
        if name in ("out/t_fw_attn", "out/t_bw_attn"):  # and attends from padding
            rows = torch.from_numpy(valid)
            assert not ours[~rows].any()
            expected, ours = expected[rows], ours[rows]
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("impl", ["auto", "reference"])
def test_float64_agrees_with_the_reference(golden: dict[str, np.ndarray], impl: str) -> None:
    reference = run(golden, torch.float64, "reference")
    got = run(golden, torch.float64, impl)
    for name, expected in reference.items():
        if name in got:
            assert (got[name] - expected).abs().max() <= 1e-10, name
