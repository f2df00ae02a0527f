"""MDMAN: masks by hand, the definition in loops, phases, ablations, share."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fixed_selector import Fixed
from heedful.attention.visibility import Band
from heedful.encoders import MdmanConfig, MdmanEncoder
from heedful.encoders.resan import DotAttention, FeatureWiseAttention, ProductAttention
from heedful.errors import UsageError
from heedful.explain.legends import by_caption, caption
from heedful.structures import Sentences


def column(lengths: tuple[int, ...]) -> Sentences:
    valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return Sentences(valid.long(), valid)


def encoder(width: int = 4, **options: Any) -> MdmanEncoder:
    torch.manual_seed(0)
    made = (
        MdmanEncoder(width, MdmanConfig(**{"dropout": 0.0, "impl": "reference", **options})).double().eval()
    )
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.8)
    return made


def words(batch: int, length: int, width: int = 4) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(batch, length, width, dtype=torch.float64)


def see(made: MdmanEncoder, query: list[bool], key: list[bool]) -> tuple[dict[str, list[list[int]]], Any]:
    """Run with given actions; return who sees whom in each map, and the policy's record."""
    assert made.policy is not None
    made.policy.selector = Fixed(query, key)  # type: ignore[assignment]
    told = made(words(1, len(query)), column((len(query),)), need_weights=True)
    seen = {
        name: (weights.reshape(1, len(query), len(query), -1) > 0).any(dim=-1)[0].int().tolist()
        for name, weights in by_caption(told.maps).items()
    }
    return seen, told.policy


def test_four_words_the_masks_written_out() -> None:
    seen, policy = see(encoder(), [True, False, True, False], [False, False, True, True])
    # Opened: rows 0 and 2, columns 2 and 3, never the diagonal.
    assert policy.chosen[0].int().tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    forward = [[0, 0, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0]]
    backward = [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert seen == {
        "forward self": forward,
        "backward self": backward,
        "forward dot": forward,
        "backward dot": backward,
    }
    assert policy.share.item() == pytest.approx(3 / 12)


def test_everything_opened_lets_every_word_see_every_other() -> None:
    seen, policy = see(encoder(), [True] * 3, [True] * 3)
    assert list(seen.values()) == [[[0, 1, 1], [1, 0, 1], [1, 1, 0]]] * 4
    assert policy.share.item() == 1


def test_the_share_of_a_sentence_with_one_word_or_none_is_zero() -> None:
    made = encoder()
    policy = made(words(2, 1), Sentences(torch.ones(2, 1).long(), torch.tensor([[True], [False]]))).policy
    assert policy is not None
    assert policy.share.tolist() == [0.0, 0.0]


def test_in_the_first_phase_the_masks_are_the_plain_directions() -> None:
    x, sentences = words(2, 5), column((5, 3))
    made, plain = encoder(encoder_steps=4), encoder(dynamic=False)
    plain.load_state_dict(
        {k: v for k, v in made.state_dict().items() if not k.startswith("policy.")}, strict=True
    )
    told = made(x, sentences)
    torch.testing.assert_close(told.states, plain(x, sentences).states, atol=1e-12, rtol=0)
    assert told.policy is not None
    assert not told.policy.chosen.any()
    assert told.policy.encoder_learns
    assert not told.policy.policy_learns
    assert plain(x, sentences).policy is None
    assert made.policy is not None
    made.policy.phase.begin_step(4)
    later = made(x, sentences)
    assert later.policy is not None
    assert later.policy.chosen.any()
    assert (later.states - told.states).abs().max() > 1e-4


def test_a_phase_comes_back_with_the_weights() -> None:
    made, other = encoder(encoder_steps=4), encoder(encoder_steps=4)
    assert made.policy is not None
    assert other.policy is not None
    made.policy.phase.begin_step(9)
    other.load_state_dict(made.state_dict())
    assert other.policy.phase.policy_acts


def by_loops(made: MdmanEncoder, x: Tensor, chosen: Tensor) -> Tensor:
    """The definition, token by token and feature by feature, for one sentence without padding."""
    length = len(x)
    fused = []
    for way, place in zip(made.ways, made.places, strict=True):
        h = way.hidden(x)
        rows = []
        for i in range(length):
            ahead = [j for j in range(length) if (j < i if place.rule == "forward" else j > i)]
            keys = sorted({*ahead, *(j for j in range(length) if chosen[i, j])})
            rows.append(attend(way.attention, h, i, keys))
        s = torch.stack(rows)
        gate = torch.sigmoid(
            h @ way.gate.word.weight.T
            + way.gate.word.bias
            + s @ way.gate.context.weight.T
            + way.gate.context.bias
            + way.gate.bias
        )
        fused.append(gate * h + (1 - gate) * s)
    scores = torch.stack(
        [
            torch.tanh(u @ made.fusion.hidden.weight.T + made.fusion.hidden.bias)
            @ made.fusion.score.weight[0]
            for u in fused
        ]
    )
    weights = scores.softmax(dim=0)
    return sum(w[:, None] * u for w, u in zip(weights, fused, strict=True))  # type: ignore[return-value]


def attend(attention: nn.Module, h: Tensor, i: int, keys: list[int]) -> Tensor:
    width = h.shape[1]
    if not keys:
        return torch.zeros(width, dtype=h.dtype)
    if isinstance(attention, DotAttention):
        scores = [
            (attention.query.weight @ h[i]) @ (attention.key.weight @ h[j]) / math.sqrt(width) for j in keys
        ]
        weights = torch.stack(scores).softmax(dim=0)[:, None].expand(-1, width)
    else:
        if isinstance(attention, FeatureWiseAttention):
            inner = [
                attention.key.weight @ h[j] + attention.query.weight @ h[i] + attention.bias for j in keys
            ]
        else:
            assert isinstance(attention, ProductAttention)
            inner = [attention.project.weight @ (h[i] * h[j]) + attention.project.bias for j in keys]
        weights = torch.stack([5 * torch.tanh(z / 5) for z in inner]).softmax(dim=0)
    return (weights * h[keys]).sum(dim=0)


@pytest.mark.parametrize("dot_score", ["pair", "feature"])
def test_the_definition_in_loops(dot_score: str) -> None:
    made, x = encoder(dot_score=dot_score), words(1, 5)
    query, key = [True, False, True, True, False], [False, True, True, False, True]
    made.policy.selector = Fixed(query, key)  # type: ignore[union-attr, assignment]
    told = made(x, column((5,)))
    assert told.policy is not None
    chosen = told.policy.chosen[0]
    assert chosen.sum() == 8
    torch.testing.assert_close(told.states[0], by_loops(made, x[0], chosen), atol=1e-10, rtol=0)


def test_the_ablations_have_the_parts_they_should() -> None:
    assert [caption(place) for place in encoder(attentions=("self",)).places] == [
        "forward self",
        "backward self",
    ]
    fixed = encoder(dynamic=False)
    captions = [caption(place) for place in fixed.places]
    assert captions == ["forward self", "backward self", "forward dot", "backward dot"]
    assert not any(name.startswith("policy") for name, _ in fixed.named_parameters())


def test_the_states_are_as_wide_as_the_words_however_many_attentions() -> None:
    assert encoder().width_out == encoder(attentions=("dot",)).width_out == 4


def test_one_input_layer_can_serve_all() -> None:
    made = encoder(shared_hidden=True)
    assert all(way.hidden is None for way in made.ways)
    assert sum("hidden" in name and "policy" not in name for name, _ in made.named_parameters()) == 4


def test_its_size_at_width_300() -> None:
    selector, ways, gates = 541_202, 4 * 90_300 + 2 * 180_300 + 2 * 180_000, 4 * 180_900
    total = sum(p.numel() for p in MdmanEncoder(300).parameters())
    assert total == selector + ways + gates + 90_600 + 1  # fusion and baseline


@pytest.mark.parametrize("attention", [DotAttention, ProductAttention])
def test_an_attention_with_a_rule_equals_the_one_with_the_rule_written_out(attention: type) -> None:
    torch.manual_seed(0)
    extra = {"scale": 5.0} if attention is ProductAttention else {}
    made = attention(4, dropout=0.0, **extra).double()
    h, valid = words(2, 4), column((4, 2)).valid
    band = Band(None, -1)
    one = made(h, valid, band, need_weights=True)
    two = made(h, valid, band.keep(4), need_weights=False)
    assert torch.equal(one.output, two.output)
    assert not one.output[:, 0].any()
    assert two.weights is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attentions": ()}, "at least one kind"),
        ({"attentions": ("sell",)}, "did you mean 'self'"),
        ({"attentions": ("self", "self")}, "each once"),
        ({"dot_score": "pairs"}, "did you mean 'pair'"),
        ({"decision": "draw"}, "decision must be one of"),
        ({"encoder_steps": -1}, "encoder_steps must be 0 or more"),
        ({"penalty": -0.1}, "penalty must be 0 or more"),
        ({"baseline_decay": 1.0}, "below 1"),
    ],
)
def test_a_setting_out_of_range_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MdmanEncoder(4, MdmanConfig(**options))
