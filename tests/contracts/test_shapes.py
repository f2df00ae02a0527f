"""Shapes of public functions and modules: what is passed and what comes back is checked while it runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import heedful.attention
from heedful.attention import (
    Band,
    additive_attention,
    clear_padding,
    dropout,
    feature_scored_attention,
    head_attention,
    head_bias,
    masked_head_attention,
    scored_attention,
    soft_align,
    source_to_token,
    tensorized_attention,
)
from heedful.encoders import ContextEncoder
from heedful.models import ENCODERS, POOLINGS, ModelConfig
from heedful.nn import FusionGate, ProjectedGate
from heedful.structures import Sentences

pytest.importorskip("beartype")
pytest.importorskip("jaxtyping")
from beartype import beartype
from jaxtyping import Bool, Float, TypeCheckError, jaxtyped

IMPLS = ("reference", "torch", "auto")
shaped = jaxtyped(typechecker=beartype)
Checked = Callable[[str], object]


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def real(count: int, length: int) -> Tensor:
    """Return which tokens are real: texts of all lengths up to the longest, and one of none."""
    return torch.arange(length) < (length - torch.arange(count) * length // max(count - 1, 1))[:, None]


@shaped
def additive(
    query: Float[Tensor, "B L D"],
    key: Float[Tensor, "B L D"],
    value: Float[Tensor, "B L D"],
    valid: Bool[Tensor, "B L"],
    impl: str,
) -> tuple[Float[Tensor, "B L D"], Float[Tensor, "B L L D"]]:
    asked = additive_attention(
        query,
        key,
        value,
        valid,
        Band(high=-1),
        need_weights=True,
        impl=impl if impl != "torch" else "reference",
    )
    return additive_attention(query, key, value, valid, Band(high=-1), impl=impl).output, asked.weights


@shaped
def scored(
    score: Float[Tensor, "B Q K"], value: Float[Tensor, "B K D"], keep: Bool[Tensor, "B Q K"], impl: str
) -> tuple[Float[Tensor, "B Q D"], Float[Tensor, "B Q K"]]:
    return scored_attention(score, value, keep)


@shaped
def feature_scored(
    score: Float[Tensor, "B Q K D"], value: Float[Tensor, "B K D"], keep: Bool[Tensor, "B Q K"], impl: str
) -> tuple[Float[Tensor, "B Q D"], Float[Tensor, "B Q K D"]]:
    found = feature_scored_attention(score, value, keep)
    return found.output, found.weights


@shaped
def summed(
    value: Float[Tensor, "B L D"], score: Float[Tensor, "B L D"], valid: Bool[Tensor, "B L"], impl: str
) -> tuple[Float[Tensor, "B D"], Float[Tensor, "B L D"]]:
    return source_to_token(value, score, valid, impl=impl if impl != "torch" else "reference")


@shaped
def heads(
    query: Float[Tensor, "B H Q C"],
    key: Float[Tensor, "B H K C"],
    value: Float[Tensor, "B H K C"],
    keep: Bool[Tensor, "B 1 1 K"],
    impl: str,
) -> tuple[Float[Tensor, "B H Q C"], Float[Tensor, "B H Q K"]]:
    weights = head_attention(query, key, value, keep, need_weights=True, impl="reference").weights
    return head_attention(query, key, value, keep, impl=impl).output, weights


@shaped
def masked_heads(
    query: Float[Tensor, "B H L C"],
    key: Float[Tensor, "B H L C"],
    value: Float[Tensor, "B H L C"],
    valid: Bool[Tensor, "B L"],
    bias: Float[Tensor, "B H L L"],
    impl: str,
) -> tuple[Float[Tensor, "B H L C"], Float[Tensor, "B H L L"]]:
    weights = masked_head_attention(
        query, key, value, valid, bias, need_weights=True, impl="reference"
    ).weights
    return masked_head_attention(query, key, value, valid, bias, impl=impl).output, weights


@shaped
def biases(
    distance: Float[Tensor, "B L L"], valid: Bool[Tensor, "B L"], impl: str
) -> Float[Tensor, "B 2 L L"]:
    return head_bias([Band(high=-1), Band()], [distance.abs(), None], 1.5, valid)


@shaped
def tensorized(
    query: Float[Tensor, "B H L C"],
    key: Float[Tensor, "B H L C"],
    value: Float[Tensor, "B H L C"],
    source: Float[Tensor, "B H L C"],
    valid: Bool[Tensor, "B L"],
    impl: str,
) -> tuple[Float[Tensor, "B H L C"], Float[Tensor, "B H L L C"]]:
    inputs, bands = (query, key, value, source, valid), [Band(high=-1)] * query.shape[1]
    weights = tensorized_attention(*inputs, bands, need_weights=True, impl="reference").weights
    return tensorized_attention(*inputs, bands, impl=impl).output, weights


@shaped
def aligned(
    first_key: Float[Tensor, "B K C"],
    second_key: Float[Tensor, "B L C"],
    first: Float[Tensor, "B K D"],
    second: Float[Tensor, "B L E"],
    first_valid: Bool[Tensor, "B K"],
    second_valid: Bool[Tensor, "B L"],
    impl: str,
) -> tuple[Float[Tensor, "B K E"], Float[Tensor, "B L D"], Float[Tensor, "B K L"], Float[Tensor, "B K L"]]:
    found = soft_align(first_key, second_key, first, second, first_valid, second_valid)
    return found.first, found.second, found.first_to_second, found.second_to_first


@shaped
def cleared(x: Float[Tensor, "B L D"], valid: Bool[Tensor, "B L"], impl: str) -> Float[Tensor, "B L D"]:
    return clear_padding(x, valid)


@shaped
def dropped(x: Float[Tensor, "*A D"], impl: str) -> Float[Tensor, "*A D"]:
    return dropout(x, 0.5, training=True, impl=impl)


B, L, K, H, D = 3, 7, 5, 2, 19  # no two alike, and of no power of 2
X, HEADS = draw(B, L, D), draw(B, H, L, D)
KEEP = real(B, K)[:, None].expand(B, L, K).contiguous()
CHECKED: dict[str, Checked] = {
    "additive_attention": lambda impl: additive(X, X, X, real(B, L), impl),
    "clear_padding": lambda impl: cleared(X, real(B, L), impl),
    "dropout": lambda impl: dropped(X, impl),
    "feature_scored_attention": lambda impl: feature_scored(draw(B, L, K, D), draw(B, K, D), KEEP, impl),
    "head_attention": lambda impl: heads(
        HEADS, draw(B, H, K, D), draw(B, H, K, D), real(B, K)[:, None, None], impl
    ),
    "head_bias": lambda impl: biases(draw(B, L, L), real(B, L), impl),
    "masked_head_attention": lambda impl: masked_heads(
        HEADS, HEADS, HEADS, real(B, L), draw(B, H, L, L), impl
    ),
    "scored_attention": lambda impl: scored(draw(B, L, K), draw(B, K, D), KEEP, impl),
    "soft_align": lambda impl: aligned(
        draw(B, K, 4), draw(B, L, 4), draw(B, K, 6), X, real(B, K), real(B, L), impl
    ),
    "source_to_token": lambda impl: summed(X, X, real(B, L), impl),
    "tensorized_attention": lambda impl: tensorized(HEADS, HEADS, HEADS, HEADS, real(B, L), impl),
}


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("name", CHECKED)
def test_a_function_keeps_its_shapes(name: str, impl: str) -> None:
    CHECKED[name](impl)


def test_every_public_function_is_here() -> None:
    public = {
        name for name in heedful.attention.__all__ if inspect.isfunction(getattr(heedful.attention, name))
    }
    assert public == set(CHECKED)


def test_a_wrong_shape_is_found() -> None:
    with pytest.raises(TypeCheckError):
        scored(draw(B, L, K), draw(B, L, D), KEEP, "auto")
    pooling: Any = POOLINGS["mean"](24, ModelConfig(pooling="mean"))  # type: ignore[arg-type]
    with pytest.raises(TypeCheckError):
        pooled(pooling, draw(B, L, 24), real(B, L), pooling.width_out + 1)


@shaped
def encoded(
    encoder: ContextEncoder, x: Float[Tensor, "B L D"], valid: Bool[Tensor, "B L"], width: int
) -> Float[Tensor, "B L {width}"]:
    heads_of = torch.where(valid, torch.arange(valid.shape[1]) - 1, -1)  # a chain of words
    steps = (
        (torch.arange(valid.shape[1])[:, None] - torch.arange(valid.shape[1]))
        .abs()
        .expand(len(valid), -1, -1)
    )
    return encoder(x, Sentences(valid.long() * 2, valid, steps.to(torch.int16), heads=heads_of)).states


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_gives_each_token_a_state(name: str) -> None:
    settings, make = ENCODERS[name]
    encoder: Any = make(24, settings()).eval()
    encoded(encoder, draw(B, L, 24).masked_fill(~real(B, L)[..., None], 0), real(B, L), encoder.width_out)


@shaped
def pooled(
    pooling: Any, x: Float[Tensor, "B L D"], valid: Bool[Tensor, "B L"], width: int
) -> Float[Tensor, "B {width}"]:
    return pooling(x, valid).vector


@pytest.mark.parametrize("name", POOLINGS)
def test_a_pooling_gives_each_text_a_vector(name: str) -> None:
    pooling: Any = POOLINGS[name](24, ModelConfig(pooling=name)).eval()  # type: ignore[arg-type]
    pooled(pooling, draw(B, L, 24), real(B, L), pooling.width_out)


@shaped
def gated(
    gate: Any, word: Float[Tensor, "B L D"], context: Float[Tensor, "B L D"], valid: Bool[Tensor, "B L"]
) -> tuple[Float[Tensor, "B L D"], Float[Tensor, "B L D"]]:
    return gate(word, context, valid)


@pytest.mark.parametrize("gate", [FusionGate, ProjectedGate])
def test_a_gate_gives_each_token_a_state_and_the_gate(gate: Any) -> None:
    gated(gate(D).eval(), X, X, real(B, L))
