"""ReSAN: published size, the selection written out, words that are not selected, the first phase."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from fixed_selector import Fixed
from heedful.encoders import DisanConfig, DisanEncoder, ResanConfig, ResanEncoder
from heedful.explain.legends import by_caption
from heedful.models import ModelConfig
from heedful.structures import Sentences
from heedful.tasks import build_network


def column(lengths: tuple[int, ...]) -> Sentences:
    valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return Sentences(valid.long(), valid)


def encoder(**options: Any) -> ResanEncoder:
    torch.manual_seed(0)
    made = ResanEncoder(4, ResanConfig(**{"dropout": 0.0, "impl": "reference", **options})).double().eval()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.8)
    return made


def test_the_published_size_to_the_unit() -> None:
    config = ModelConfig(task="pair", encoder="resan", highway=True, outputs=3)
    network = build_network(config, torch.zeros(2, 300))
    assert sum(p.numel() for p in network.parameters()) - 600 == 3_067_205


def test_only_selected_words_look_and_are_seen() -> None:
    made = encoder()
    made.policy.selector = Fixed([True, False, True], [True, True, False])  # type: ignore[assignment]
    torch.manual_seed(1)
    told = made(torch.randn(1, 3, 4, dtype=torch.float64), column((3,)), need_weights=True)
    seen = {name: (w > 0).any(dim=-1)[0].int().tolist() for name, w in by_caption(told.maps).items()}
    assert seen == {
        "forward": [[0, 0, 0], [0, 0, 0], [1, 1, 0]],
        "backward": [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
    }
    assert told.policy is not None
    assert told.policy.chosen[0].int().tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    assert told.policy.share.item() == pytest.approx(2 / 3 * 2 / 3)


def test_the_share_is_as_exact_as_the_model() -> None:
    torch.manual_seed(3)
    for exact in (torch.float64, torch.float32, torch.bfloat16):
        told = encoder().to(exact)(torch.randn(2, 3, 4, dtype=exact), column((3, 2)))
        assert told.policy is not None
        assert told.policy.share.dtype == torch.promote_types(exact, torch.float32)


def test_a_word_that_is_not_selected_takes_the_mean_of_all_others() -> None:
    made = encoder(directions=("forward",))
    made.policy.selector = Fixed([False] * 4, [True] * 4)  # type: ignore[assignment]
    torch.manual_seed(1)
    x = torch.randn(1, 4, 4, dtype=torch.float64)
    valid = torch.tensor([[True, True, True, False]])
    states = made(x, Sentences(valid.long(), valid)).states
    block = made.blocks[0]
    h = block.hidden(x[0, :3])
    for i in range(3):
        others = [j for j in range(3) if j != i]
        expected, _ = block.gate(h[i : i + 1], h[others].mean(dim=0)[None])
        torch.testing.assert_close(states[0, i], expected[0], atol=1e-12, rtol=0)


def test_with_every_word_selected_it_is_disan() -> None:
    made = encoder(encoder_steps=1)
    disan = DisanEncoder(4, DisanConfig(dropout=0.0, impl="reference")).double().eval()
    renamed = {
        name.replace(".attention.", "."): value
        for name, value in made.state_dict().items()
        if name.startswith("blocks.")
    }
    disan.load_state_dict(renamed)
    torch.manual_seed(1)
    x, sentences = torch.randn(2, 5, 4, dtype=torch.float64), column((5, 2))
    x = x.masked_fill(~sentences.valid[..., None], 0)
    told = made(x, sentences)
    torch.testing.assert_close(told.states, disan(x, sentences).states, atol=1e-12, rtol=0)
    assert told.policy is not None
    assert told.policy.share.tolist() == [1.0, 1.0]
    assert not told.policy.policy_learns


def test_as_published_there_is_no_baseline() -> None:
    assert encoder().policy.baseline is None
    assert encoder(baseline_decay=0.9).policy.baseline is not None
