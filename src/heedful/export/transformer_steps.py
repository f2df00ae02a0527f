"""The Transformer's encoder, with its own attention and with MTSA's, and multi-head attention alone, as steps."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import nn

from heedful.attention.visibility import Band
from heedful.encoders import MtsaTransformerEncoder, MultiHeadEncoder, TransformerEncoder
from heedful.encoders.transformer import DotProductHeads, TensorizedSelfAttention
from heedful.encoders.transformer import TransformerStack as Stack
from heedful.encoders.transformer import _Layer as StackLayer
from heedful.export.mtsa_steps import each_head, source_steps, split_steps, tensorized_steps
from heedful.export.recording import Recording, encoder_steps, rule
from heedful.nn import HeadDense, PreNorm, Residual
from heedful.structures import MapPlace


@encoder_steps.register(TransformerEncoder)
@encoder_steps.register(MtsaTransformerEncoder)
def _(encoder: TransformerEncoder | MtsaTransformerEncoder, record: Recording, x: str) -> str:
    return _stack(encoder.stack, record, x, encoder.width_in)


def _stack(stack: Stack, record: Recording, x: str, width: int) -> str:
    x = record.step("positions", x, exponent=1.0, width=width)
    for record.layer, layer in enumerate(stack.layers, start=1):
        assert isinstance(layer, StackLayer)
        attend = partial(_attended, layer.attention, record)
        x = _around(layer.around_attention, record, x, attend)
        x = _around(layer.around_feed_forward, record, x, partial(record.sequence, layer.feed_forward))
    record.layer = None
    return record.norm(stack.norm, x)


def _around(residual: Residual, record: Recording, x: str, sublayer: partial[str]) -> str:
    if isinstance(residual, PreNorm):
        return record.step("add", x, sublayer(record.norm(residual.norm, x)))
    return record.norm(residual.norm, record.step("add", x, sublayer(x)))


def _attended(part: nn.Module, record: Recording, x: str) -> str:
    assert isinstance(part, DotProductHeads | TensorizedSelfAttention)
    query, key, value = (record.dense(layer, x) for layer in (part.query, part.key, part.value))
    if isinstance(part, DotProductHeads):
        heads = [{"mask": rule(Band())}] * part.heads
        return record.dense(part.output, _heads(record, query, key, value, heads=heads))
    width = part.output.weight.shape[1]
    queries, keys, values = (split_steps(record, each, width, part.heads) for each in (query, key, value))
    if isinstance(part.score, HeadDense):
        scores = each_head(part.score, record, values)
    else:
        scores = split_steps(record, record.dense(part.score, x), width, part.heads)
    if part.source2token == "sigmoid":
        factor = (width // part.heads) ** -0.5
        scores = [record.step("scaled", score, factor=factor) for score in scores]
    sources = source_steps(scores, record, part.source2token)
    states = tensorized_steps(part.attention, record, values, queries, keys, sources)
    return record.dense(part.output, record.concat(states))


@encoder_steps.register
def _(encoder: MultiHeadEncoder, record: Recording, x: str) -> str:
    if encoder.config.signal:
        x = record.step("positions", x, exponent=2.0, width=encoder.width_in, factor=encoder.config.signal)
    weights = {"weight": encoder.projections.weight}
    parts = [record.step("projection", x, weights=weights, number=number) for number in range(3)]
    return _heads(record, *parts, heads=[{"mask": rule(Band())}] * encoder.config.heads)


def _heads(record: Recording, *of: str, heads: list[dict[str, Any]]) -> str:
    """Record heads without rules."""
    attended = record.step("heads", *of, heads=heads)
    for number in range(len(heads)):
        record.show("map", attended, MapPlace(head=number + 1), number=number)
    return attended
