"""The baselines as steps: word vectors alone, convolutions, recurrent layers, attention in a sentence, Transformers.

The Transformer's encoder is written down with its own attention and with MTSA's, and multi-head attention alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from torch import nn

from heedful.attention.visibility import Band
from heedful.attention_names import MapPlace
from heedful.encoders import (
    BiGruEncoder,
    BiLstmEncoder,
    CnnEncoder,
    EmbeddingEncoder,
    HierarchicalCnnEncoder,
    IntraSentenceEncoder,
    MtsaTransformerEncoder,
    MultiHeadEncoder,
    TransformerEncoder,
)
from heedful.encoders.transformer import DotProductHeads, TensorizedSelfAttention
from heedful.encoders.transformer import TransformerStack as Stack
from heedful.encoders.transformer import _Layer as StackLayer
from heedful.export.mtsa_steps import each_head, source_steps, split_steps, tensorized_steps
from heedful.export.recording import Recording, encoder_steps, rule
from heedful.nn import BothWays, Convolution, Gru, HeadDense, Lstm, PreNorm, Residual


@encoder_steps.register
def _(encoder: EmbeddingEncoder, record: Recording, x: str) -> str:
    return x if encoder.layer is None else record.dense(encoder.layer, x)


@encoder_steps.register
def _(encoder: IntraSentenceEncoder, record: Recording, x: str) -> str:
    compared = record.sequence(encoder.compare, x)
    weights = {"distances": encoder.distance_bias}
    attended = record.step("product", compared, compared, x, weights=weights, mask=rule(Band()))
    record.show("map", attended, MapPlace(kind="intra-sentence"))
    return record.concat([x, attended])


@encoder_steps.register
def _(encoder: CnnEncoder, record: Recording, x: str) -> str:
    states = record.concat([_convolution(window, record, x) for window in encoder.windows])
    return record.step("activation", states, name=encoder.config.activation)


def _convolution(layer: nn.Module, record: Recording, x: str) -> str:
    assert isinstance(layer, Convolution)
    weights = {"weight": layer.weight, "bias": layer.bias}
    return record.step("convolution", x, weights=weights, before=layer.before)


@encoder_steps.register
def _(encoder: HierarchicalCnnEncoder, record: Recording, x: str) -> str:
    width = encoder.width_out
    for number, layer in enumerate(encoder.layers):
        both = record.step("activation", _convolution(layer, record, x), name=encoder.config.activation)
        value, gate = (record.step("features", both, first=f, last=f + width) for f in (0, width))
        gated = record.step("multiply", value, record.step("activation", gate, name="sigmoid"))
        x = gated if number == 0 else record.step("add", gated, x)
    return x


@encoder_steps.register(BiLstmEncoder)
@encoder_steps.register(BiGruEncoder)
def _(encoder: BiLstmEncoder | BiGruEncoder, record: Recording, x: str) -> str:
    states = _both_ways(encoder.layers, record, x)
    for layer in encoder.deeper:
        assert isinstance(layer, BothWays)
        states = record.step("add", states, _both_ways(layer, record, states))
    return states


def _both_ways(layer: BothWays, record: Recording, x: str) -> str:
    return record.concat(
        [
            _recurrent(layer.from_left, record, x, backwards=False),
            _recurrent(layer.from_right, record, x, backwards=True),
        ]
    )


def _recurrent(layer: Lstm | Gru, record: Recording, x: str, *, backwards: bool) -> str:
    if isinstance(layer, Lstm):
        cell = layer.cell
        names = {"input": "weight_ih_l0", "state": "weight_hh_l0", "bias": "bias_ih_l0"}
        weights = {role: cell.get_parameter(name) for role, name in names.items()}
        return record.step("lstm", x, weights=weights, forget=1.0, backwards=backwards)
    return record.step("gru", x, weights=dict(layer.named_parameters(recurse=False)), backwards=backwards)


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


def _heads(record: Recording, *of: str, heads: Sequence[Mapping[str, object]]) -> str:
    """Record heads without rules."""
    attended = record.step("heads", *of, heads=heads)
    for number in range(len(heads)):
        record.show("map", attended, MapPlace(head=number + 1), number=number)
    return attended
