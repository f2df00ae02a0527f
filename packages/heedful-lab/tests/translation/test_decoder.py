"""The decoder: nothing later is seen, what is kept equals what is computed again, padding and order change nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.explain.legends import by_caption
from heedful_lab.translation.decoder import DecoderConfig, TransformerDecoder

WIDTH, SOURCE = 12, 8
LENGTHS = (4, 1, 3)


def build(**settings: Any) -> TransformerDecoder:
    torch.manual_seed(0)
    config = DecoderConfig(**{"layers": 2, "heads": 3, **settings})
    return TransformerDecoder(WIDTH, SOURCE, config).double().eval()


def inputs(tokens: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    valid = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(3, tokens, WIDTH).double(), torch.randn(3, 5, SOURCE).double(), valid


norms = pytest.mark.parametrize("norm", ["pre", "post"])


@norms
def test_no_token_sees_a_later_one(norm: str) -> None:
    decoder = build(norm=norm)
    x, source, valid = inputs()
    before = decoder(x, decoder.begin(source, valid)).states
    for place in range(6):
        other = x.clone()
        other[:, place] += torch.randn(WIDTH)
        change = (decoder(other, decoder.begin(source, valid)).states - before).abs().amax(dim=-1)
        assert (change[:, :place] == 0).all()
        assert (change[:, place:] > 1e-8).all()


@norms
def test_what_is_kept_equals_what_is_computed_again(norm: str) -> None:
    decoder = build(norm=norm)
    x, source, valid = inputs()
    whole = decoder(x, decoder.begin(source, valid), need_weights=True)
    cache, states, maps = decoder.begin(source, valid), [], []
    for start, stop in ((0, 1), (1, 2), (2, 5), (5, 6)):
        output = decoder(x[:, start:stop], cache, need_weights=True)
        cache = output.cache
        states.append(output.states)
        maps.append(by_caption(output.maps)["layer 2 head 3"])
    torch.testing.assert_close(torch.cat(states, dim=1), whole.states, atol=1e-12, rtol=0)
    torch.testing.assert_close(
        torch.cat(maps, dim=1), by_caption(whole.maps)["layer 2 head 3"], atol=1e-12, rtol=0
    )
    assert cache.length == 6


def test_rows_can_be_chosen_between_steps() -> None:
    decoder = build()
    x, source, valid = inputs()
    rows = torch.tensor([2, 0, 2])
    first = decoder(x[:, :3], decoder.begin(source, valid))
    chosen = decoder(x[rows, 3:], first.cache.select(rows)).states
    whole = decoder(x, decoder.begin(source, valid)).states
    torch.testing.assert_close(chosen, whole[rows, 3:], atol=1e-12, rtol=0)


def test_padding_of_the_source_may_hold_anything() -> None:
    decoder = build()
    x, source, valid = inputs()
    dirty = source.masked_fill(~valid[..., None], 1e6)
    clean = decoder(x, decoder.begin(source, valid), need_weights=True)
    other = decoder(x, decoder.begin(dirty, valid))
    torch.testing.assert_close(other.states, clean.states, atol=1e-12, rtol=0)
    for weights in clean.maps.values():
        assert weights.shape == (3, 6, 5)
        assert not weights.transpose(1, 2)[~valid].any()
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 6).double(), atol=1e-12, rtol=0)
    for row, length in enumerate(LENGTHS):
        alone = decoder.begin(source[row : row + 1, :length], valid[row : row + 1, :length])
        states = decoder(x[row : row + 1], alone).states
        torch.testing.assert_close(states[0], clean.states[row], atol=1e-12, rtol=0)


def test_asking_for_weights_changes_nothing() -> None:
    decoder = build()
    x, source, valid = inputs()
    plain = decoder(x, decoder.begin(source, valid))
    told = decoder(x, decoder.begin(source, valid), need_weights=True)
    torch.testing.assert_close(plain.states, told.states, atol=1e-12, rtol=0)
    assert not plain.maps
    assert list(by_caption(told.maps)) == [f"layer {i} head {h}" for i in (1, 2) for h in (1, 2, 3)]


def test_every_parameter_gets_a_gradient() -> None:
    decoder = build()
    x, source, valid = inputs()
    states = decoder(x, decoder.begin(source, valid)).states
    (states * torch.randn_like(states)).sum().backward()
    for name, parameter in decoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-6, name


def test_a_source_without_tokens_gives_finite_states() -> None:
    decoder = build()
    x, source, _ = inputs()
    nothing = torch.zeros(3, 5, dtype=torch.bool)
    output = decoder(x, decoder.begin(source, nothing), need_weights=True)
    assert output.states.isfinite().all()
    assert not any(weights.any() for weights in output.maps.values())
    assert torch.equal(decoder(x, decoder.begin(source, nothing)).states, output.states)


def test_dropout_is_drawn_in_training_alone() -> None:
    decoder = build(dropout=0.3, attention_dropout=0.3).train()
    x, source, valid = inputs()
    assert not torch.equal(*(decoder(x, decoder.begin(source, valid)).states for _ in range(2)))


def test_settings_are_frozen_and_bad_ones_refused() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DecoderConfig().layers = 3  # type: ignore[misc]
    with pytest.raises(UsageError, match="layers must be 1 or more"):
        build(layers=0)
    with pytest.raises(UsageError, match=r"decoder\.heads=5"):
        build(heads=5)
