"""What every encoder keeps to. A new entry of ENCODERS joins by itself; an encoder class without an entry fails."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

import heedful.encoders
import subclasses
from heedful.encoders import ContextEncoder, EmbeddingEncoder
from heedful.explain.legends import by_caption
from heedful.models import ENCODERS
from heedful.structures import ContextStates, Sentences

WIDTH = 24
LENGTHS = (5, 1, 0, 12)
PADDED = 14
TOLERANCE = 2e-6

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "deep-att": [{"layers": 2, "heads": 3, "hidden": 10, "impl": "reference"}],
    "disan": [
        {"masks": ("forward",)},
        {"masks": ("not_self", "not_self"), "activation": "relu"},
        {"masks": ("forward & window(2)", "backward | window(1)", "everything"), "scale": 1.0},
        {"impl": "reference"},
        {"impl": "torch"},
        {"score": "general", "masks": ("forward", "arcs(2) & not_self")},
        {"inner": 10},
        {"masks": ("parent | child", "child | window(0)", "causal")},
    ],
    "distance-san": [
        {"masks": ("everything", "everything"), "heads": 2, "hidden": 7, "activation": "elu"},
        {"masks": ("backward",), "impl": "reference"},
    ],
    "intra-sentence": [{"hidden": 5, "distance": 2}],
    "mdman": [
        {"attentions": ("self",), "one_action": True, "impl": "reference"},
        {"attentions": ("dot",), "dynamic": False},
        {"dot_score": "feature", "shared_hidden": True, "baseline_decay": 0.0},
        {"encoder_steps": 3},
    ],
    "mssan": [
        {"heads": ("none", "word", "dependency"), "impl": "reference"},
        {"encoders": 2, "layers": 2, "hidden": 10},
        {"positions": "relative", "reach": 2},
        {"positions": "transformer-xl", "heads": ("none",) * 3},
    ],
    "bi-blosan": [
        {"block_length": 4, "activation": "relu"},
        {"directions": ("backward",), "impl": "reference"},
    ],
    "bi-gru": [{"hidden": 10}, {"hidden": 5, "layers": 2}],
    "bi-lstm": [{"hidden": 10}, {"hidden": 5, "layers": 3}],
    "cnn": [{"sizes": (1, 2), "filters": 30, "activation": "elu"}],
    "embedding": [{"hidden": 30}],
    "hierarchical-cnn": [{"layers": 1, "size": 3, "activation": "elu"}],
    "mtsa": [
        {"heads": 4, "head_width": 5, "token2token": "exp", "score_layers": 1, "impl": "reference"},
        {"masks": ("not_self",), "token2token": "none", "attend_from": "input"},
        {"score_layers": 0, "activation": "relu"},
        {"gate": False, "self_visible": True, "attention_dropout": 0.3},
        {"source2token": "sigmoid", "masks": ("causal",)},
    ],
    "mtsa-deep-att": [
        {"layers": 2, "heads": 4, "token2token": "sigmoid", "impl": "reference"},
        {"layers": 1, "masks": ("not_self",), "self_visible": True, "hidden": 10},
    ],
    "mtsa-paper": [
        {"heads": 4, "head_width": 6, "token2token": "exp", "score_from": "input", "output": "activated"},
        {"self_visible": True, "attention_dropout": 0.3, "impl": "reference"},
        {"source2token": "sigmoid"},
    ],
    "mtsa-stacked": [{"layers": 2, "hidden": 16, "heads": 4, "activation": "elu", "token2token": "sigmoid"}],
    "mtsa-transformer": [
        {"layers": 2, "heads": 4, "norm": "post", "masks": ("forward", "backward"), "impl": "reference"},
        {
            "layers": 1,
            "masks": ("forward",),
            "self_visible": True,
            "score_start": 5.0,
            "token2token": "sigmoid",
        },
        {"layers": 1, "norm": "post", "masks": ("causal",), "source2token": "exp", "score_from": "input"},
    ],
    "multi-head": [{"heads": 2, "head_width": 5, "impl": "reference"}, {"signal": 0.0, "gain": 4.9}],
    "resan": [{"encoder_steps": 2, "impl": "reference"}, {"baseline_decay": 0.9}],
    "transformer": [{"layers": 2, "heads": 3, "hidden": 10, "norm": "post", "impl": "reference"}],
}
"""Settings to try beside the defaults, by name of the encoder."""

WITHOUT_CONTEXT: dict[str, str] = {"embedding": "it is the word vectors, each alone"}
"""Encoders in which no word reads another, with the reason."""

SAME_FOR_ALL_KEYS = "the same amount for every key, which the softmax over keys removes"
FROM_REWARD_ALONE = "actions are constants: the policy learns from the reward, through the log-probability"

WITHOUT_EFFECT: dict[str, dict[str, str]] = {
    "bi-blosan": {r"directions\.\d+\.block_score\.bias": "the same amount for every word of a block"},
    "disan": {r"blocks\.\d+\.pairs\.score\.bias": SAME_FOR_ALL_KEYS},
    "mdman": {r"policy\..*": FROM_REWARD_ALONE},
    "mtsa": {r"score\.parts\.\d+\.bias": SAME_FOR_ALL_KEYS},
    "mtsa-deep-att": {r"layers\.\d+\.attention\.score\.bias": SAME_FOR_ALL_KEYS},
    "mtsa-paper": {r"score(\.parts\.\d+)?\.bias": SAME_FOR_ALL_KEYS},
    "resan": {r"policy\..*": FROM_REWARD_ALONE},
    "mtsa-transformer": {r"stack\.layers\.\d+\.attention\.score\.bias": SAME_FOR_ALL_KEYS},
    "mtsa-stacked": {r"layers\.\d+\.attention\.score\.bias": SAME_FOR_ALL_KEYS},
}
"""Parameters that cannot change the states, by name of the encoder: pattern of parameter names to reason."""

ZERO_ALONE: dict[str, str] = {
    "mtsa-paper": "a direction shows a lone word nothing, and neither gate nor residual carries the word itself",
}
"""Encoders in which, unless a word sees itself, the state of a one-word sentence is zero, with the reason."""

MEMBERS = [(name, options) for name in ENCODERS for options in ({}, *VARIANTS.get(name, []))]
member = pytest.mark.parametrize(("name", "options"), MEMBERS, ids=[f"{n}-{o}" for n, o in MEMBERS])


def build(name: str, options: dict[str, Any], seed: int = 0) -> ContextEncoder:
    torch.manual_seed(seed)
    settings, make = ENCODERS[name]
    return make(WIDTH, settings(**options)).eval()


def computes(encoder: ContextEncoder) -> bool:
    """Whether an encoder does anything to the word vectors; only "embedding" by itself does not."""
    return not isinstance(encoder, EmbeddingEncoder) or encoder.config.hidden > 0


def has(name: str, setting: str) -> bool:
    return setting in {field.name for field in dataclasses.fields(ENCODERS[name][0])}


def zero_alone(name: str, options: dict[str, Any]) -> bool:
    return name in ZERO_ALONE and not options.get("self_visible")


def heap_distance(one: int, two: int) -> int:
    """Steps between two tokens when the head of token t is token (t - 1) // 2."""
    steps = 0
    while one != two:
        one, two = min(one, two), (max(one, two) - 1) // 2
        steps += 1
    return steps


def columns(lengths: tuple[int, ...], width: int) -> Sentences:
    valid = torch.arange(width) < torch.tensor(lengths)[:, None]
    tree = torch.tensor([[heap_distance(i, j) for j in range(width)] for i in range(width)])
    pairs = valid[:, :, None] & valid[:, None, :]
    heads = torch.where(valid, (torch.arange(width) + 1) // 2 - 1, -1)
    return Sentences(valid.long() * 2, valid, torch.where(pairs, tree, -1).to(torch.int16), heads=heads)


def batch(seed: int = 1) -> tuple[Tensor, Sentences]:
    """Word vectors, zero at padding, of four sentences: one has one word, one has none."""
    torch.manual_seed(seed)
    sentences = columns(LENGTHS, PADDED)
    x = torch.randn(len(LENGTHS), PADDED, WIDTH)
    return x.masked_fill(~sentences.valid[..., None], 0), sentences


def gradients(encoder: ContextEncoder, x: Tensor, sentences: Sentences) -> tuple[Tensor, dict[str, Tensor]]:
    """Of a random linear function of the states: for the word vectors, and for every parameter."""
    encoder.zero_grad()
    x = x.clone().requires_grad_()
    states = encoder(x, sentences).states
    generator = torch.Generator().manual_seed(5)
    (states * torch.randn(states.shape, generator=generator).to(states)).sum().backward()
    assert x.grad is not None
    return x.grad, {
        # a copy: a module that moves to another device takes its gradients along, whoever holds them
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
        for name, parameter in encoder.named_parameters()
    }


def test_no_encoder_escapes() -> None:
    found = subclasses.concrete(ContextEncoder, heedful.encoders)
    assert found == {type(build(name, options)) for name, options in MEMBERS}
    assert len(MEMBERS) >= 4
    assert {*VARIANTS, *WITHOUT_CONTEXT, *WITHOUT_EFFECT, *ZERO_ALONE} <= set(ENCODERS)


@pytest.mark.parametrize("name", ENCODERS)
def test_settings_are_frozen_and_complete(name: str) -> None:
    settings, _ = ENCODERS[name]
    assert settings() == settings()
    assert hash(settings()) == hash(settings())
    field = dataclasses.fields(settings)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(settings(), field.name, field.default)


@member
def test_states_have_the_declared_width_and_are_zero_at_padding(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x, sentences = batch()
    states = encoder(x, sentences).states
    assert encoder.width_in == WIDTH
    assert states.shape == (len(LENGTHS), PADDED, encoder.width_out)
    assert not states[~sentences.valid].any()
    assert states[sentences.valid].isfinite().all()
    alone = torch.tensor(LENGTHS)[:, None] == 1
    speaks = sentences.valid & ~alone if zero_alone(name, options) else sentences.valid
    assert torch.equal(states.any(dim=-1), speaks)


@member
def test_padding_and_neighbors_change_nothing(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x, sentences = batch()
    together = encoder(x, sentences).states
    for row, length in enumerate(LENGTHS):
        width = max(length, 1)
        alone = encoder(x[row : row + 1, :width], columns((length,), width)).states[0]
        torch.testing.assert_close(alone[:length], together[row, :length], atol=TOLERANCE, rtol=0)
        assert not alone[length:].any()


@member
def test_the_order_of_a_batch_changes_nothing(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x, sentences = batch()
    order = [2, 0, 3, 1]
    turned = encoder(x[order], columns(tuple(LENGTHS[i] for i in order), PADDED)).states
    assert (turned - encoder(x, sentences).states[order]).abs().max() <= TOLERANCE


@member
def test_padding_may_hold_anything_and_gets_no_gradient(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x, sentences = batch()
    dirty = x.masked_fill(~sentences.valid[..., None], torch.nan)
    assert torch.equal(encoder(dirty, sentences).states, encoder(x, sentences).states)
    clean_x, clean = gradients(encoder, x, sentences)
    dirty_x, found = gradients(encoder, dirty, sentences)
    assert torch.equal(dirty_x, clean_x)
    assert not dirty_x[~sentences.valid].any()
    for parameter, gradient in clean.items():
        assert torch.equal(found[parameter], gradient), parameter


@member
def test_a_one_word_sentence_has_finite_states_and_gradients(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x = batch()[0][:1, :1]
    states = encoder(x, columns((1,), 1)).states
    assert states.isfinite().all()
    on_x, on_parameters = gradients(encoder, x, columns((1,), 1))
    assert bool(states.any()) == bool(on_x.any()) == (not zero_alone(name, options))
    assert all(gradient.isfinite().all() for gradient in (on_x, *on_parameters.values()))


@member
@pytest.mark.parametrize("width", [1, 4])
def test_a_sentence_without_words_is_zero_with_zero_gradients(
    name: str, options: dict[str, Any], width: int
) -> None:
    encoder = build(name, options)
    x, sentences = torch.randn(2, width, WIDTH), columns((0, 0), width)
    assert not encoder(x, sentences).states.any()
    on_x, on_parameters = gradients(encoder, x, sentences)
    assert not on_x.any()
    assert not any(gradient.any() for gradient in on_parameters.values())


@member
def test_every_parameter_gets_a_gradient(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options).double()
    x, sentences = batch()
    _, found = gradients(encoder, x.double(), sentences)
    # Under a sigmoid the bias of a score is no common factor any more.
    patterns = {} if options.get("source2token") == "sigmoid" else WITHOUT_EFFECT.get(name, {})
    assert bool(found) == computes(encoder)
    for parameter, gradient in found.items():
        largest = gradient.abs().max()
        idle = any(re.fullmatch(pattern, parameter) for pattern in patterns)
        assert largest <= 1e-12 if idle else largest > 1e-6, parameter


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_every_pattern_of_idle_parameters_matches_one(name: str) -> None:
    built = [build(name, options) for options in ({}, *VARIANTS[name])]
    found = {parameter for encoder in built for parameter, _ in encoder.named_parameters()}
    assert all(any(re.fullmatch(pattern, p) for p in found) for pattern in WITHOUT_EFFECT[name])


@member
def test_changing_a_visible_word_changes_the_words_that_see_it(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    length = 5
    x, sentences = batch()[0][:1, :length], columns((length,), length)
    before = encoder(x, sentences, need_weights=True)
    seen = torch.zeros(length, length, dtype=torch.bool)
    for weights in before.maps.values():
        seen |= weights.reshape(length, length, -1).amax(dim=-1) > 0
    elsewhere = ~torch.eye(length, dtype=torch.bool)
    changed = torch.zeros_like(seen)
    for key in range(length):
        other = x.clone()
        other[0, key] += torch.randn(WIDTH)
        changed[:, key] = (encoder(other, sentences).states - before.states)[0].abs().amax(dim=-1) > 1e-5
    if name in WITHOUT_CONTEXT:
        assert not changed[elsewhere].any()
    elif before.maps:
        assert (seen & elsewhere).sum() >= length - 1
        assert changed[seen & elsewhere].all()
    else:  # all words but one: where words look one way alone, one is seen by none
        assert (changed & elsewhere).any(dim=0).sum() >= length - 1


def directed() -> Iterator[tuple[str, str]]:
    """Encoders that take a list of masks: in one direction no path leads back, however deep they are."""
    for name in ENCODERS:
        if has(name, "masks"):
            yield from ((name, "forward"), (name, "backward"))


@pytest.mark.parametrize(("name", "direction"), list(directed()))
def test_no_gradient_passes_a_masked_key(name: str, direction: str) -> None:
    settings, _ = ENCODERS[name]
    encoder = build(name, {"masks": (direction,) * len(settings().masks)})
    length = 5
    reach = torch.zeros(length, length)
    for query in range(length):
        x = batch()[0][:1, :length].requires_grad_()
        states = encoder(x, columns((length,), length)).states
        (gradient,) = torch.autograd.grad(states[0, query].square().sum(), x)
        reach[query] = gradient[0].abs().amax(dim=-1)
    position = torch.arange(length)
    earlier = position[None, :] < position[:, None]
    reaches = ~earlier.T if direction == "forward" else ~earlier
    assert (reach[~reaches] == 0).all()
    if zero_alone(name, {}):  # the word itself only weighs what it sees
        reaches &= ~torch.eye(length, dtype=torch.bool)
    assert (reach[reaches] > 0).all()


def test_directions_are_tested() -> None:
    assert len(list(directed())) >= 2


@member
def test_asking_for_weights_changes_nothing_and_they_add_up(name: str, options: dict[str, Any]) -> None:
    encoder = build(name, options)
    x, sentences = batch()
    plain, told = encoder(x, sentences), encoder(x, sentences, need_weights=True)
    largest = max(1.0, plain.states.abs().max().item())
    assert (plain.states - told.states).abs().max() <= TOLERANCE * largest
    assert not plain.maps
    assert not plain.gates
    check_maps(told, sentences)
    for gate in told.gates.values():
        assert gate.shape[:2] == sentences.valid.shape
        assert ((gate[sentences.valid] >= 0) & (gate[sentences.valid] <= 1)).all()


def check_maps(told: ContextStates, sentences: Sentences) -> None:
    for name, weights in by_caption(told.maps).items():
        assert weights.shape[:3] == (len(LENGTHS), PADDED, PADDED), name
        assert (weights >= 0).all(), name
        assert not weights[~sentences.valid].any(), name
        assert not weights.transpose(1, 2)[~sentences.valid].any(), name
        total = weights.sum(dim=2)
        assert (((total - 1).abs() <= TOLERANCE) | (total == 0)).all(), name


@member
def test_saved_weights_give_the_same_states(name: str, options: dict[str, Any]) -> None:
    first, second = build(name, options, seed=0), build(name, options, seed=1)
    x, sentences = batch()
    same = torch.equal(first(x, sentences).states, second(x, sentences).states)
    assert same == (not computes(first))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x, sentences).states, second(x, sentences).states)


@member
def test_a_seed_repeats_everything_and_evaluation_draws_nothing(name: str, options: dict[str, Any]) -> None:
    x, sentences = batch()
    runs = []
    for _ in range(2):
        encoder = build(name, options, seed=7).train()
        runs.append(encoder(x, sentences).states)
    assert torch.equal(*runs)
    if getattr(ENCODERS[name][0](**options), "dropout", 0) and computes(encoder):
        assert not torch.equal(encoder(x, sentences).states, runs[0])
    encoder = encoder.eval()
    state = torch.get_rng_state()
    assert torch.equal(encoder(x, sentences).states, encoder(x, sentences).states)
    assert torch.equal(torch.get_rng_state(), state)


@member
def test_bfloat16_is_as_good_as_its_arithmetic_allows(
    name: str,
    options: dict[str, Any],
    in_bfloat16: Callable[..., Tensor],
    hold_bfloat16: Callable[..., None],
) -> None:
    encoder = build(name, options).bfloat16()
    x, sentences = batch()
    x = x.bfloat16()
    if not computes(encoder):  # nothing to round
        assert torch.equal(encoder(x, sentences).states, x)
        return
    got = in_bfloat16(encoder, x, lambda encoder, x: encoder(x, sentences).states)
    assert not got[~sentences.valid].any()
    plain = build(name, {**options, "impl": "reference"} if has(name, "impl") else options)
    plain.load_state_dict(encoder.state_dict())
    hold_bfloat16(got, lambda dtype: plain.to(dtype)(x.to(dtype), sentences).states)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.filterwarnings("ignore:RNN module weights are not part of single contiguous chunk")
@member
def test_a_gpu_gives_what_the_cpu_gives(
    monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any]
) -> None:
    # torch lets recurrences and convolutions round their factors to 11 bits (TF32) on a GPU that can
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    encoder = build(name, options)
    x, sentences = batch()
    states, (on_x, on_parameters) = encoder(x, sentences).states, gradients(encoder, x, sentences)
    encoder, x, sentences = encoder.cuda(), x.cuda(), sentences.to("cuda")
    torch.testing.assert_close(encoder(x, sentences).states.cpu(), states, atol=1e-5, rtol=1e-5)
    gpu_x, gpu_parameters = gradients(encoder, x, sentences)
    torch.testing.assert_close(gpu_x.cpu(), on_x, atol=1e-5, rtol=1e-4)
    for parameter, gradient in on_parameters.items():
        torch.testing.assert_close(gpu_parameters[parameter].cpu(), gradient, atol=1e-4, rtol=1e-4)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        low, _ = gradients(encoder, x, sentences)
    assert low.isfinite().all()
