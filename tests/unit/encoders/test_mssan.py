"""MS-SAN: sizes, every row of its tables, the formula in loops, what exchanging the directions does."""

from __future__ import annotations

import logging
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from heedful.encoders import MssanConfig, MssanEncoder
from heedful.encoders import mssan as module
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.models import ModelConfig
from heedful.structures import Sentences
from heedful.tasks import build_network

FORWARD = ("forward & word", "forward & dependency", "forward")
BACKWARD = ("backward & word", "backward & dependency", "backward")
NONE = ("none",) * 6
DIRECTED = ("forward",) * 3 + ("backward",) * 3
BOTH_DISTANCES = ("word", "dependency", "none") * 2

ROWS: dict[str, dict[str, Any]] = {
    "2: standard SAN": {"heads": NONE},
    "2: + direction": {"heads": DIRECTED},
    "2: + word distance": {"heads": ("word",) * 6},
    "2: + dp. distance": {"heads": ("dependency",) * 6},
    "2: + word & dp. distance": {"heads": BOTH_DISTANCES},
    "2: + direction & word distance": {"heads": tuple(f"{d} & word" for d in DIRECTED)},
    "2: + direction & dp. distance": {"heads": tuple(f"{d} & dependency" for d in DIRECTED)},
    "2: + all masks (MS-SAN)": {"heads": FORWARD + BACKWARD},
    "3: MS-SAN_sep": {"heads": FORWARD * 2 + BACKWARD * 2, "encoders": 2},
    "4: + rel pos": {"heads": NONE, "positions": "relative"},
    "4: + xl pos": {"heads": NONE, "positions": "transformer-xl"},
    "4: + direction & rel pos": {"heads": DIRECTED, "positions": "relative"},
    "4: + direction & xl pos": {"heads": DIRECTED, "positions": "transformer-xl"},
}
"""Row of the paper's tables to settings, as in docs/math/mssan.md; Table 4's other rows are rows of Table 2."""

RELATIVE, XL = 2 * 33 * 50, 300 * 300 + 2 * 300


def size_on_snli(options: dict[str, Any]) -> int:
    config = ModelConfig(
        task="pair",
        outputs=3,
        encoder="mssan",
        pooling="attentive-max",
        matching="absolute",
        activation="relu",
        encoder_options=options,
    )
    network = build_network(config, torch.zeros(2, 300))
    return sum(p.numel() for p in network.parameters()) - 600


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_tables_builds_with_its_size(row: str) -> None:
    options = ROWS[row]
    extra = {"relative": RELATIVE, "transformer-xl": XL}.get(options.get("positions", ""), 0)
    expected = 3_965_403 if "sep" in row else 1_803_303 + extra
    assert size_on_snli(options) == expected


def test_biases_on_the_projections_are_1200_parameters() -> None:
    assert size_on_snli({"projection_bias": True}) == 1_804_503


def test_the_defaults_are_the_full_model() -> None:
    assert MssanConfig().heads == FORWARD + BACKWARD
    assert size_on_snli({}) == 1_803_303


def sentence(length: int, tree: Tensor | None = None) -> Sentences:
    valid = torch.ones(1, length, dtype=torch.bool)
    return Sentences(valid.long(), valid, tree)


def build(width: int = 12, **options: Any) -> MssanEncoder:
    torch.manual_seed(0)
    encoder = MssanEncoder(width, MssanConfig(**{"dropout": 0.0, **options})).double()
    for parameter in encoder.parameters():
        parameter.data.normal_(std=0.5)
    return encoder.eval()


# The head of each of five words is the word above it in the tree 2 -> 0, 2 -> 4, 0 -> 1, 4 -> 3.
TREE = [[0, 1, 1, 3, 2], [1, 0, 2, 4, 3], [1, 2, 0, 2, 1], [3, 4, 2, 0, 1], [2, 3, 1, 1, 0]]


@torch.no_grad()
def by_loops(encoder: MssanEncoder, x: Tensor) -> Tensor:
    """Equations 1 to 10, one query and one head at a time."""
    (block,) = encoder.blocks
    attention, length = block.attention, len(x)
    query, key, value = (x @ p.weight.T for p in (attention.query, attention.key, attention.value))
    context = torch.zeros_like(x)
    each = x.shape[1] // 6
    for head in range(6):
        own = slice(head * each, (head + 1) * each)
        for i in range(length):
            seen = range(i + 1) if head < 3 else range(i, length)
            distance = [abs(i - j) if head % 3 == 0 else TREE[i][j] if head % 3 == 1 else 0 for j in seen]
            scores = [
                float(query[i, own] @ key[j, own]) / math.sqrt(each) - 0.7 * d
                for j, d in zip(seen, distance, strict=True)
            ]
            total = sum(math.exp(s) for s in scores)
            for j, score in zip(seen, scores, strict=True):
                context[i, own] += math.exp(score) / total * value[j, own]
    context = context @ attention.output.weight.T
    gate = block.gate
    word, looked = x @ gate.word.weight.T, context @ gate.context.weight.T
    f = torch.sigmoid(
        word @ gate.word_score.weight.T + looked @ gate.context_score.weight.T + gate.word_score.bias
    )
    fused = f * word + (1 - f) * looked
    net = block.feed_forward
    hidden = (fused @ net.hidden.weight.T + net.hidden.bias).clamp(min=0)
    rows = fused + hidden @ net.output.weight.T + net.output.bias
    normal = (rows - rows.mean(1, keepdim=True)) / (rows.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return normal * net.norm.weight + net.norm.bias


@pytest.mark.parametrize("impl", ["reference", "torch"])
def test_the_equations_one_number_at_a_time(impl: str) -> None:
    encoder = build(alpha=0.7, impl=impl)
    x = torch.randn(5, 12).double()
    states = encoder(x[None], sentence(5, torch.tensor([TREE]).short())).states[0]
    torch.testing.assert_close(states, by_loops(encoder, x), atol=1e-12, rtol=0)


def test_exchanging_the_directions_only_exchanges_the_heads() -> None:
    ahead, back = build(heads=FORWARD + BACKWARD), build(heads=BACKWARD + FORWARD)
    weights = ahead.state_dict()
    turned = torch.arange(12).roll(6)
    for name in weights:
        if "attention" in name:
            # A head is rows of the three projections, and columns of the one that joins the heads.
            weights[name] = weights[name][:, turned] if "output" in name else weights[name][turned]
    back.load_state_dict(weights)
    x, tree = torch.randn(1, 5, 12).double(), torch.tensor([TREE]).short()
    one, two = (e(x, sentence(5, tree), need_weights=True) for e in (ahead, back))
    torch.testing.assert_close(one.states, two.states, atol=1e-13, rtol=0)
    for head, (first, second) in enumerate(zip(one.maps.values(), [*two.maps.values()][3:], strict=False)):
        torch.testing.assert_close(first, second, atol=1e-13, rtol=0), head
    assert len(one.maps) == 6


def test_maps_are_named_by_head_and_prior() -> None:
    encoder = build(encoders=2, layers=2, heads=("forward", "none", "word", "forward"))
    told = encoder(torch.randn(1, 3, 12).double(), sentence(3), need_weights=True)
    assert list(by_caption(told.maps)) == [
        "layer 1, head 1: forward",
        "layer 1, head 2: none",
        "layer 2, head 1: forward",
        "layer 2, head 2: none",
        "layer 1, head 3: word",
        "layer 1, head 4: forward",
        "layer 2, head 3: word",
        "layer 2, head 4: forward",
    ]
    assert list(by_caption(told.gates)) == [
        "encoder 1, layer 1",
        "encoder 1, layer 2",
        "encoder 2, layer 1",
        "encoder 2, layer 2",
    ]
    single = build()(torch.randn(1, 3, 12).double(), sentence(3), need_weights=True)
    assert list(by_caption(single.gates)) == ["fusion"]


@pytest.mark.parametrize(("heads", "sees"), [("forward", -1), ("backward", 1)])
def test_in_one_direction_no_gradient_comes_from_the_other(heads: str, sees: int) -> None:
    encoder = build(heads=(heads, f"{heads} & word"), layers=2)
    x = torch.randn(1, 5, 12).double().requires_grad_()
    reach = torch.zeros(5, 5)
    for query in range(5):
        (gradient,) = torch.autograd.grad(encoder(x, sentence(5)).states[0, query].square().sum(), x)
        reach[query] = gradient[0].abs().amax(dim=-1)
    offset = torch.arange(5)[None, :] - torch.arange(5)[:, None]
    assert (reach[offset * sees < 0] == 0).all()
    assert (reach[offset * sees >= 0] > 0).all()


def test_the_additive_mask_is_built_once_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    built = module.prior_bias

    def counting(*args: Any, **kwargs: Any) -> Tensor:
        calls.append(args)
        return built(*args, **kwargs)

    monkeypatch.setattr(module, "prior_bias", counting)
    build(encoders=2, layers=3)(torch.randn(1, 4, 12).double(), sentence(4))
    assert len(calls) == 1


def test_without_a_parse_the_word_distance_stands_in_and_this_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    by_tree, by_word = build(heads=("dependency",) * 2), build(heads=("word",) * 2)
    x = torch.randn(1, 4, 12).double()
    with caplog.at_level(logging.WARNING):
        assert torch.equal(by_tree(x, sentence(4)).states, by_word(x, sentence(4)).states)
        by_tree(x, sentence(4))
    assert len(caplog.records) == 1
    assert "without a parse: dependency heads use the word distance" in caplog.text
    plain = build(heads=("none",) * 2)
    ignored = build(heads=("dependency",) * 2, without_parse="none")
    assert torch.equal(ignored(x, sentence(4)).states, plain(x, sentence(4)).states)


MISTAKES = [
    ({"heads": ("forward", "none", "none", "none", "none")}, "5 heads do not divide the width 12"),
    ({"heads": ("none",) * 3, "encoders": 2}, "heads must deal evenly to encoders=2; got 3"),
    ({"heads": ()}, "heads must hold at least one name"),
    ({"heads": ("forwards",)}, "'forwards' is unknown: did you mean 'forward'?"),
    ({"layers": 0}, "layers must be 1 or more; got 0"),
    ({"positions": "relativ"}, "did you mean 'relative'?"),
    ({"without_parse": "words"}, "did you mean 'word'?"),
    ({"alpha": -1.0}, "alpha must be 0 or more"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        MssanEncoder(12, MssanConfig(**options))
    assert message in str(caught.value)


def test_dropout_is_on_the_input_of_every_dense_layer() -> None:
    encoder = MssanEncoder(12, MssanConfig(dropout=0.3))
    rates = [part.dropout for part in encoder.modules() if hasattr(part, "dropout")]
    assert rates == [0.3] * 10
    assert not any(isinstance(part, nn.Dropout) for part in encoder.modules())
