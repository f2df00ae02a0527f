"""What every network for a pair keeps to, from word ids to logits.

Members are a network around each encoder, and those that are their own. New entries of ENCODERS and NETWORKS join by
themselves.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.models import ENCODERS, ModelConfig
from heedful.models.build import NETWORKS
from heedful.models.networks import Network
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network

WORDS, WIDTH, TOLERANCE = 30, 24, 2e-6
FIRST = [[2, 3, 4], [5], [], [6, 7, 8, 9, 10, 11, 12]]
SECOND = [[13, 14], [15, 16, 17, 18], [19], []]

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "decomposable": [{}, {"intra": True, "distance": 3}],
    "mssan": [{"heads": ("forward", "backward", "word")}],
    "mtsa": [{"head_width": 12}],
    "mtsa-stacked": [{"layers": 2, "hidden": 16, "heads": 4}],
}
"""Settings by name; the defaults for the others."""

SEEN_BY_NONE = {
    "mtsa-paper": "the only word of a text sees nothing, and neither gate nor residual carries it",
}
"""Encoders for which a text of one word says nothing, with the reason."""

MEMBERS = [(name, options) for name in (*ENCODERS, *NETWORKS) for options in VARIANTS.get(name, [{}])]
member = pytest.mark.parametrize(("name", "options"), MEMBERS, ids=[f"{n}-{o}" for n, o in MEMBERS])


def build(name: str, options: dict[str, Any], seed: int = 0) -> Network:
    torch.manual_seed(seed)
    config = ModelConfig(
        task="pair", encoder=name, encoder_options=options, width=WIDTH, hidden=10, outputs=3, dropout=0.2
    )
    made = build_network(config, torch.randn(WORDS, WIDTH)).eval()
    if name in NETWORKS:  # they start from weights so small that nothing would show
        for parameter in made.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return made


def side(rows: list[list[int]], extra: int) -> Sentences:
    width = max(1, *map(len, rows)) + extra
    valid = torch.tensor([[place < len(row) for place in range(width)] for row in rows])
    return Sentences(torch.tensor([row + [0] * (width - len(row)) for row in rows]), valid)


def pairs(first: list[list[int]], second: list[list[int]], extra: int = 0) -> Batch:
    return Batch((side(first, extra), side(second, extra)))


def largest(x: Tensor) -> float:
    return x.abs().max().item()


@member
def test_padding_neighbors_and_their_order_change_nothing(name: str, options: dict[str, Any]) -> None:
    network = build(name, options)
    together = network(pairs(FIRST, SECOND)).logits
    assert together.shape == (4, 3)
    assert together.isfinite().all()
    limit = TOLERANCE * max(1.0, largest(together))
    assert largest(network(pairs(FIRST, SECOND, extra=5)).logits - together) <= limit
    turned = network(pairs(FIRST[::-1], SECOND[::-1])).logits.flip(0)
    assert largest(turned - together) <= limit
    for row, (first, second) in enumerate(zip(FIRST, SECOND, strict=True)):
        assert largest(network(pairs([first], [second])).logits[0] - together[row]) <= limit


@member
def test_every_word_counts(name: str, options: dict[str, Any]) -> None:
    network = build(name, options)
    together = network(pairs(FIRST, SECOND)).logits
    for texts, which in ((FIRST, 0), (SECOND, 1)):
        for row, text in enumerate(texts):
            if name in SEEN_BY_NONE and len(text) == 1:
                continue
            for place in range(len(text)):
                changed = copy.deepcopy(texts)
                changed[row][place] = 20 + place
                other = network(pairs(changed, SECOND) if which == 0 else pairs(FIRST, changed)).logits
                assert largest(other[row] - together[row]) > 1e-7, f"side {which}, row {row}, word {place}"
                assert largest(other - together) == largest(other[row] - together[row])


@member
def test_gradients_are_finite_and_reach_the_head_and_the_words(name: str, options: dict[str, Any]) -> None:
    network = build(name, options).train()
    network(pairs(FIRST, SECOND)).logits.square().sum().backward()
    found = {key: p.grad.to_dense() for key, p in network.named_parameters() if p.grad is not None}
    assert all(gradient.isfinite().all() for gradient in found.values())
    last = [key for key in dict(network.named_parameters()) if key.startswith(("head.", "output."))]
    assert last
    words = [key for key in dict(network.named_parameters()) if ".embedding." in key]
    assert words
    assert all(found[key].any() for key in (*last, *words))


@member
def test_saved_weights_give_the_same_logits(name: str, options: dict[str, Any]) -> None:
    first, second = build(name, options), build(name, options, seed=1)
    batch = pairs(FIRST, SECOND)
    assert not torch.equal(first(batch).logits, second(batch).logits)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(batch).logits, second(batch).logits)


@member
def test_asking_for_weights_changes_nothing(name: str, options: dict[str, Any]) -> None:
    network, batch = build(name, options), pairs(FIRST, SECOND)
    plain, told = network(batch).logits, network(batch, need_weights=True).logits
    assert largest(told - plain) <= TOLERANCE * max(1.0, largest(plain))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_a_network_of_its_own_holds_in_bfloat16_and_for_large_scores(
    name: str, scale: float, hold_bfloat16: Callable[..., None]
) -> None:
    """Encoders have these tests beside them; a network without an encoder has them here."""
    for options in VARIANTS[name]:
        network = build(name, options).bfloat16()
        for parameter in network.parameters():
            parameter.data.mul_(scale if "attend" in _owner(network, parameter) else 1)
        batch = pairs(FIRST, SECOND)
        got = network(batch).logits
        assert got.dtype == torch.bfloat16
        assert got.isfinite().all()
        if scale == 1.0:
            hold_bfloat16(
                got, lambda dtype, net=network: copy.deepcopy(net).to(dtype)(pairs(FIRST, SECOND)).logits
            )
        else:
            exact, single = (
                copy.deepcopy(network).to(d)(batch).logits for d in (torch.float64, torch.float32)
            )
            assert largest(single - exact) <= 1e-4 * largest(exact)


def _owner(network: Network, parameter: Tensor) -> str:
    return next(name for name, candidate in network.named_parameters() if candidate is parameter)
