"""DiSAN's block and encoder: size, formula in loops, edges, dropout, names."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.attention import AttentionResult, additive_attention
from heedful.attention.masks import forward, parse_mask
from heedful.encoders import DisaBlock, DisanConfig, DisanEncoder, disan
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.structures import Sentences


def words(length: int) -> Sentences:
    valid = torch.ones(1, length).bool()
    return Sentences(valid.long(), valid)


def block(mask: str = "forward", width: int = 4, dropout: float = 0.0) -> DisaBlock:
    torch.manual_seed(0)
    made = DisaBlock(width, parse_mask(mask), DisanConfig(dropout=dropout, impl="reference")).double()
    for parameter in made.parameters():
        parameter.data.normal_()
    return made


def test_a_block_has_451500_parameters_at_width_300() -> None:
    made = DisaBlock(300, forward(), DisanConfig())
    assert sum(p.numel() for p in made.parameters()) == 451_500


def by_loops(b: DisaBlock, x: Tensor, may_look: object) -> list[list[float]]:
    """The paper's equations 14 to 20, one number at a time."""
    length, width = x.shape
    b = deepcopy(b).requires_grad_(False)

    def dense(row: Tensor, weight: Tensor, bias: Tensor | None = None) -> list[float]:
        total = [sum(float(row[m]) * float(weight[k, m]) for m in range(width)) for k in range(width)]
        return total if bias is None else [t + float(bias[k]) for k, t in enumerate(total)]

    rows = [dense(x[i], b.hidden.weight, b.hidden.bias) for i in range(length)]
    h = torch.tensor([[v if v > 0 else math.expm1(v) for v in row] for row in rows]).double()
    key = [dense(h[j], b.key.weight) for j in range(length)]
    query = [dense(h[i], b.query.weight) for i in range(length)]
    result = []
    for i in range(length):
        context = torch.zeros(width).double()
        for k in range(width):
            weight = {
                j: math.exp(5 * math.tanh((key[j][k] + query[i][k] + float(b.bias[k])) / 5))
                for j in range(length)
                if may_look(i, j)  # type: ignore[operator]
            }
            total = sum(weight.values())
            context[k] = sum(w / total * float(h[j, k]) for j, w in weight.items())
        word_part = dense(h[i], b.gate.word.weight, b.gate.word.bias)
        context_part = dense(context, b.gate.context.weight, b.gate.context.bias)
        gate = [
            1 / (1 + math.exp(-(w + c + float(g))))
            for w, c, g in zip(word_part, context_part, b.gate.bias, strict=True)
        ]
        result.append([g * float(h[i, k]) + (1 - g) * float(context[k]) for k, g in enumerate(gate)])
    return result


@pytest.mark.parametrize(
    ("mask", "may_look"),
    [
        ("forward", lambda i, j: j < i),
        ("backward", lambda i, j: j > i),
        ("not_self", lambda i, j: j != i),
    ],
)
def test_a_block_equals_the_equations_in_loops(mask: str, may_look: object) -> None:
    made = block(mask)
    x = torch.randn(1, 4, 4).double()
    states, _, _ = made(x, words(4))
    expected = torch.tensor(by_loops(made, x[0], may_look), dtype=torch.float64)
    torch.testing.assert_close(states[0].detach(), expected, atol=2e-7, rtol=0)


@pytest.mark.parametrize(("mask", "lonely"), [("forward", 0), ("backward", -1)])
def test_a_word_that_sees_nothing_becomes_gate_times_itself(mask: str, lonely: int) -> None:
    made = block(mask)
    x = torch.randn(1, 3, 4).double()
    states, weights, gate = made(x, words(3), need_weights=True)
    h = made.hidden(x)
    assert not weights[0, lonely].any()
    torch.testing.assert_close(states[0, lonely], gate[0, lonely] * h[0, lonely], atol=1e-14, rtol=0)
    alone = torch.sigmoid(made.gate.word(h) + made.gate.context.bias + made.gate.bias)
    torch.testing.assert_close(gate[0, lonely], alone[0, lonely], atol=1e-14, rtol=0)


def test_the_softmax_runs_over_keys_for_each_feature() -> None:
    made = block("not_self", width=6)
    _, weights, _ = made(torch.randn(1, 4, 6).double(), words(4), need_weights=True)
    assert weights.shape == (1, 4, 4, 6)
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(1, 4, 6).double(), atol=1e-14, rtol=0)
    assert (weights.sum(dim=3) - 1).abs().max() > 0.1
    assert (weights[..., 0] - weights[..., 1]).abs().max() > 0.01


def test_dropout_spares_the_values_and_shares_one_mask_between_key_and_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = block("forward", width=40, dropout=0.5).train()
    seen: dict[str, Tensor] = {}
    for name in ("key", "query", "gate"):
        getattr(made, name).register_forward_pre_hook(
            lambda _, inputs, name=name: seen.__setitem__(name, inputs[0])
        )
    made.hidden.register_forward_hook(lambda _, __, output: seen.__setitem__("h", output))

    def attention(query: Tensor, key: Tensor, value: Tensor, *rest: Any, **settings: Any) -> AttentionResult:
        seen["value"] = value
        return additive_attention(query, key, value, *rest, **settings)

    monkeypatch.setattr(disan, "additive_attention", attention)
    made(torch.randn(1, 3, 40).double(), words(3))
    assert torch.equal(seen["key"], seen["query"])
    assert 0.3 < (seen["key"] == 0).double().mean() < 0.7
    assert (seen["h"] != 0).all()
    assert torch.equal(seen["gate"], seen["h"])
    assert torch.equal(seen["value"], seen["h"])
    assert (made.key.dropout, made.query.dropout) == (0.0, 0.0)
    assert {made.hidden.dropout, made.gate.word.dropout, made.gate.context.dropout} == {0.5}


def test_blocks_share_nothing() -> None:
    encoder = DisanEncoder(4)
    assert len(list(encoder.parameters())) == 2 * 10
    assert not torch.equal(encoder.blocks[0].hidden.weight, encoder.blocks[1].hidden.weight)
    first, second = encoder.blocks
    assert {id(p) for p in first.parameters()}.isdisjoint(id(p) for p in second.parameters())


def test_states_are_the_blocks_side_by_side_and_maps_carry_their_names() -> None:
    encoder = DisanEncoder(4, DisanConfig(masks=("forward", "not_self", "not_self"))).eval()
    x = torch.randn(1, 3, 4)
    told = encoder(x, words(3), need_weights=True)
    assert (
        list(by_caption(told.maps)) == list(by_caption(told.gates)) == ["forward", "not_self 2", "not_self 3"]
    )
    for index, made in enumerate(encoder.blocks):
        states, weights, gate = made(x, words(3), need_weights=True)
        name = list(by_caption(told.maps))[index]
        assert torch.equal(told.states[..., 4 * index : 4 * index + 4], states)
        assert torch.equal(by_caption(told.maps)[name], weights)
        assert torch.equal(by_caption(told.gates)[name], gate)
    assert encoder.width_out == 12


def test_the_defaults_are_the_published_ones() -> None:
    assert DisanConfig() == DisanConfig(("forward", "backward"), "elu", 0.25, 5.0, "auto")


def test_an_unknown_mask_is_refused_when_built() -> None:
    with pytest.raises(UsageError, match=r"unknown mask 'foward': did you mean 'forward'\?"):
        DisanEncoder(4, DisanConfig(masks=("foward",)))
