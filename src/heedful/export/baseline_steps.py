"""The baselines as steps: word vectors alone, convolutions, recurrent layers, attention within a sentence."""

from __future__ import annotations

from torch import nn

from heedful.attention.visibility import Band
from heedful.encoders import (
    BiGruEncoder,
    BiLstmEncoder,
    CnnEncoder,
    EmbeddingEncoder,
    HierarchicalCnnEncoder,
    IntraSentenceEncoder,
)
from heedful.export.recording import Recording, encoder_steps, rule
from heedful.nn import BothWays, Convolution, Gru, Lstm
from heedful.structures import MapPlace


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
