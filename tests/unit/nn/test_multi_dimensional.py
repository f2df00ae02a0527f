"""Multi-dimensional attention against Eq. 6 to 11 of DiSAN, written out in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention.masks import parse_mask
from heedful.encoders import DisanConfig, DisanEncoder
from heedful.explain.legends import by_caption
from heedful.nn import MultiDimensionalAttention
from heedful.nn.dense import l2_factors
from heedful.nn.pooling import DotProduct, MultiDimensional
from heedful.structures import Sentences

Array = NDArray[np.float64]
LENGTHS = (5, 1, 0, 3)
WIDTH, QUERY = 4, 3


def array(tensor: Tensor | None) -> Array:
    assert tensor is not None
    return tensor.detach().numpy()


def elu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max())
    return e / e.sum()


def drawn(module: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(3)
    module = module.double().eval()
    for parameter in module.parameters():
        parameter.data.normal_()
    return module


def batch(width: int = WIDTH) -> tuple[Tensor, Tensor]:
    torch.manual_seed(5)
    valid = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    x = torch.randn(len(LENGTHS), 6, width).double()
    return x.masked_fill(~valid[..., None], float("nan")), valid


def attend(tokens: Array, scored: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Eq. 1 to 4 a feature at a time: the weights [L, D] and the sum [D] for one query."""
    scores = np.stack([scored(token) for token in tokens])
    weights = np.stack([softmax(scores[:, k]) for k in range(scores.shape[1])], axis=1)
    return weights, np.array([weights[:, k] @ tokens[:, k] for k in range(tokens.shape[1])])


@pytest.mark.parametrize("bias", [True, False], ids=["Eq. 8", "Eq. 7"])
def test_outside_queries_read_a_sentence_as_in_the_paper(bias: bool) -> None:
    made = drawn(MultiDimensionalAttention(WIDTH, QUERY, bias=bias))
    x, valid = batch()
    queries = torch.randn(len(LENGTHS), 2, QUERY).double()
    result = made(x, queries, valid)
    w1, w2, w = (array(getattr(made.scores, name).weight) for name in ("key", "query", "score"))
    b1 = array(made.scores.key.bias) if bias else np.zeros(WIDTH)
    b = array(made.scores.score.bias) if bias else np.zeros(WIDTH)
    assert len([name for name, _ in made.named_parameters() if "bias" in name]) == 2 * bias
    for row, length in enumerate(LENGTHS):
        for number in range(2):
            q = array(queries)[row, number]
            if not length:
                assert (array(result.output)[row] == 0).all()
                continue
            weights, output = attend(array(x)[row, :length], lambda t, q=q: w @ elu(w1 @ t + w2 @ q + b1) + b)
            np.testing.assert_allclose(array(result.weights)[row, number, :length], weights, rtol=1e-12)
            assert (array(result.weights)[row, number, length:] == 0).all()
            np.testing.assert_allclose(array(result.output)[row, number], output, rtol=1e-11, atol=1e-13)


def test_the_poolings_ask_from_the_mean() -> None:
    x, valid = batch()
    general, product = drawn(MultiDimensional(WIDTH)), drawn(DotProduct(WIDTH))
    scores = general.attention.scores  # type: ignore[union-attr]
    w1, w2, w = (array(getattr(scores, name).weight) for name in ("key", "query", "score"))
    b1, b = array(scores.key.bias), array(scores.score.bias)  # type: ignore[union-attr,arg-type]
    p1, p2 = array(product.token.weight), array(product.query.weight)  # type: ignore[union-attr,arg-type]
    first, second = (pooling(x, valid, need_weights=True) for pooling in (general, product))
    for row, length in enumerate(LENGTHS):
        if not length:
            continue
        tokens = array(x)[row, :length]
        mean = tokens.mean(axis=0)
        weights, vector = attend(tokens, lambda t, m=mean: w @ elu(w1 @ t + w2 @ m + b1) + b)
        np.testing.assert_allclose(array(first.weights)[row, :length], weights, rtol=1e-11)
        np.testing.assert_allclose(array(first.vector)[row], vector, rtol=1e-11, atol=1e-13)
        share = softmax(np.array([(p1 @ t) @ (p2 @ mean) for t in tokens]))
        np.testing.assert_allclose(
            array(second.weights)[row, :length], np.tile(share[:, None], WIDTH), rtol=1e-11
        )
        np.testing.assert_allclose(array(second.vector)[row], share @ tokens, rtol=1e-11, atol=1e-13)


def test_the_poolings_have_the_sizes_they_print() -> None:
    assert sum(p.numel() for p in DotProduct(300).parameters()) == 180_000
    assert sum(p.numel() for p in MultiDimensional(300).parameters()) == 270_600


@pytest.mark.parametrize("mask", ["forward", "not_self", "parent | child"])
def test_the_general_token2token_score_is_equation_10(mask: str) -> None:
    made = drawn(DisanEncoder(WIDTH, DisanConfig(masks=(mask,), dropout=0.0, score="general")))
    x, valid = batch()
    heads = torch.where(valid, torch.arange(6) - 1, -1)
    sentences = Sentences(valid.long(), valid, heads=heads)
    keep = parse_mask(mask).visible(sentences)
    looks = array((keep if isinstance(keep, Tensor) else keep.keep(6)).expand(len(LENGTHS), 6, 6))
    result = made(x, sentences, need_weights=True)
    (block,) = made.blocks  # type: ignore[misc,union-attr]
    w1, w2, w = (array(getattr(block.pairs, name).weight) for name in ("key", "query", "score"))
    b1, b = array(block.pairs.key.bias), array(block.pairs.score.bias)
    for row, length in enumerate(LENGTHS):
        h = elu(array(x)[row, :length] @ array(block.hidden.weight).T + array(block.hidden.bias))
        for i in range(length):
            seen = [j for j in range(length) if looks[row, i, j]]
            s = np.zeros(WIDTH)
            if seen:
                weights, s = attend(h[seen], lambda t, q=h[i]: w @ elu(w1 @ t + w2 @ q + b1) + b)
                np.testing.assert_allclose(
                    array(by_caption(result.maps)[mask])[row, i, seen], weights, rtol=1e-11
                )
            gate = block.gate
            z = array(gate.word.weight) @ h[i] + array(gate.context.weight) @ s
            z = z + array(gate.word.bias) + array(gate.context.bias) + array(gate.bias)
            f = 1 / (1 + np.exp(-z))
            np.testing.assert_allclose(
                array(result.states)[row, i], f * h[i] + (1 - f) * s, rtol=1e-10, atol=1e-12
            )
        assert (array(result.states)[row, length:] == 0).all()


def test_the_general_block_has_90300_parameters_more_and_keeps_its_pairs_out_of_the_penalty() -> None:
    made = DisanEncoder(300, DisanConfig(masks=("forward",), score="general"))
    assert sum(p.numel() for p in made.parameters()) == 451_500 + 300 * 300 + 300
    covered = {id(parameter) for parameter, _ in l2_factors(made)}
    assert not covered & {id(parameter) for parameter in made.blocks[0].pairs.parameters()}
