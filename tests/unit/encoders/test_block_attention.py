"""Bi-BloSA: block length, blocks by hand, where padding falls, maps."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from heedful.encoders import BiBlosanConfig, BiBlosanEncoder, published_block_length
from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful.structures import Sentences


def words(length: int, padded: int = 0) -> Sentences:
    valid = torch.arange(length + padded)[None] < length
    return Sentences(valid.long(), valid)


def encoder(**settings: object) -> BiBlosanEncoder:
    torch.manual_seed(0)
    made = BiBlosanEncoder(4, BiBlosanConfig(dropout=0.0, **settings)).double().eval()  # type: ignore[arg-type]
    for parameter in made.parameters():
        parameter.data.normal_()
    return made.requires_grad_(False)


def test_the_block_length_by_hand() -> None:
    assert published_block_length(10.0, 0.0, 32) == math.ceil(20 ** (1 / 3)) + 1 == 4
    assert published_block_length(14.0, 6.0, 64) == math.ceil((2 * (14 + 6 * 2.884)) ** (1 / 3)) + 1 == 5


def attend(part: torch.nn.Module, h: Tensor) -> Tensor:
    """Forward attention within one block, in loops."""
    key, query = part.pairs(h).split(4, dim=-1)
    context = torch.zeros_like(h)
    for i in range(1, len(h)):
        score = 5 * torch.tanh((key[:i] + query[i] + part.bias) / 5)
        context[i] = (torch.softmax(score, dim=0) * h[:i]).sum(dim=0)
    return context


def test_a_part_equals_its_definition_in_blocks() -> None:
    made = encoder(directions=("forward",), block_length=2)
    part = made.directions[0]
    x = torch.randn(1, 5, 4).double()
    h = part.hidden(x[0])
    blocks = [h[0:2], h[2:4], h[4:5]]
    contexts = [attend(part, block) for block in blocks]
    vectors = [(torch.softmax(part.block_score(c), dim=0) * c).sum(dim=0) for c in contexts]
    around, _, _ = part.between(torch.stack(vectors)[None], words(3))
    tiled = around[0].repeat_interleave(2, dim=0)[:5]
    new, gate = part.fusion(torch.cat([h, torch.cat(contexts), tiled], dim=-1)).split(4, dim=-1)
    expected = gate.sigmoid() * torch.nn.functional.elu(new) + (1 - gate.sigmoid()) * h
    told = made(x, words(5), need_weights=True)
    torch.testing.assert_close(told.states[0], expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(by_caption(told.gates)["forward"][0], 1 - gate.sigmoid())


def test_a_block_of_padding_is_no_block() -> None:
    made = encoder(block_length=2)
    x = torch.randn(1, 9, 4).double()
    alone, padded = made(x[:, :3], words(3)).states, made(x, words(3, 6)).states
    torch.testing.assert_close(padded[:, :3], alone)


def test_maps_stay_within_blocks() -> None:
    maps = by_caption(
        encoder(block_length=2)(torch.randn(1, 5, 4).double(), words(5), need_weights=True).maps
    )
    assert list(maps) == ["forward in blocks", "backward in blocks"]
    seen = maps["forward in blocks"][0].amax(dim=-1) > 0
    assert seen.nonzero().tolist() == [[1, 0], [3, 2]]


def test_a_part_has_its_published_size() -> None:
    part = BiBlosanEncoder(300).directions[0]
    assert sum(parameter.numel() for parameter in part.parameters()) == 1_353_000


def test_a_block_needs_a_word() -> None:
    with pytest.raises(UsageError, match="block_length must be 1 or more; got 0"):
        BiBlosanEncoder(4, BiBlosanConfig(block_length=0))
