from __future__ import annotations

import torch

from heedful.attention import additive_attention
from heedful.attention.additive import choose_additive
from heedful.attention.implementation import (
    ImplementationChoice,
    collect_choices,
    joined_choices,
    record_choice,
)
from heedful.attention.tensorized import choose_tensorized, tensorized_attention
from heedful.attention.visibility import Band


def test_only_what_runs_within_the_block_is_heard() -> None:
    one, two = ImplementationChoice("torch", "one"), ImplementationChoice("kernel", "two")
    record_choice("a", one)
    with collect_choices() as heard:
        record_choice("a", one)
        record_choice("a", one)
        record_choice("a", two)
        with collect_choices() as inner:
            record_choice("b", two)
    record_choice("a", ImplementationChoice("reference", "after"))
    assert heard == {"a": ["torch: one", "kernel: two"], "b": ["kernel: two"]}
    assert joined_choices(heard)["a"] == "torch: one; kernel: two"
    assert inner == {"b": ["kernel: two"]}


def test_operations_say_what_they_chose() -> None:
    x = torch.zeros(1, 2, 4)
    heads, valid, forward = torch.zeros(1, 1, 2, 4), torch.ones(1, 2, dtype=torch.bool), Band(None, -1)
    with collect_choices() as heard:
        additive_attention(x, x, x, valid, forward)
        additive_attention(x, x, x, valid, forward, need_weights=True)
        tensorized_attention(heads, heads, heads, heads, valid, [forward])
    weights = choose_additive(x, forward, scale=5.0, need_weights=True)
    assert heard == {
        "feature-wise attention": [str(choose_additive(x, forward, scale=5.0)), str(weights)],
        "tensorized attention": [str(choose_tensorized(heads))],
    }
