"""MTSA as steps: the published code's form, the paper's, and the stacked one."""

from __future__ import annotations

from heedful.encoders import MtsaEncoder, MtsaPaperEncoder, MtsaStackedEncoder
from heedful.encoders.mtsa import TensorizedHeads
from heedful.encoders.mtsa_stacked import _StackedLayer as StackedLayer
from heedful.export.recording import Recording, encoder_steps, rule
from heedful.nn import HeadDense


@encoder_steps.register
def _(encoder: MtsaEncoder, record: Recording, x: str) -> str:
    values = each_head(encoder.value, record, [x] * encoder.config.heads)
    read = values if encoder.config.attend_from == "value" else [x] * len(values)
    hidden = read if encoder.hidden is None else each_head(encoder.hidden, record, read)
    queries, keys = (
        None if part is None else each_head(part, record, read) for part in (encoder.query, encoder.key)
    )
    sources = None
    if encoder.score is not None:
        sources = source_steps(each_head(encoder.score, record, hidden), record, encoder.config.source2token)
    states = tensorized_steps(encoder.attention, record, values, queries, keys, sources)
    if encoder.gate is not None:
        both = [record.concat([value, state]) for value, state in zip(values, states, strict=True)]
        gates = [
            record.step("activation", gate, name="sigmoid") for gate in each_head(encoder.gate, record, both)
        ]
        for gate, place in zip(gates, encoder.attention.places, strict=True):
            record.show("gate", gate, place)
        states = [record.step("mix", *parts) for parts in zip(gates, values, states, strict=True)]
    return record.concat(states)


@encoder_steps.register
def _(encoder: MtsaPaperEncoder, record: Recording, x: str) -> str:
    config = encoder.config

    def split(joined: str) -> list[str]:
        return split_steps(record, joined, encoder.width_out, config.heads)

    queries, keys, values = (
        split(record.dense(layer, x)) for layer in (encoder.query, encoder.key, encoder.value)
    )
    if isinstance(encoder.score, HeadDense):
        scores = each_head(encoder.score, record, each_head(encoder.hidden, record, keys))
    else:
        scores = split(record.dense(encoder.score, x))
    sources = source_steps(scores, record, config.source2token)
    states = tensorized_steps(encoder.attention, record, values, queries, keys, sources)
    return record.dense(encoder.output, record.concat(states))


def split_steps(record: Recording, joined: str, width: int, heads: int) -> list[str]:
    """Record that the features of a value are cut into heads, head after head.

    Args:
        record: gets the steps.
        joined: name of the value.
        width: its features.
        heads: how many heads.

    Returns:
        The name of each head's part.
    """
    each = width // heads
    return [
        record.step("features", joined, first=head * each, last=(head + 1) * each) for head in range(heads)
    ]


def each_head(layers: HeadDense, record: Recording, inputs: list[str]) -> list[str]:
    """Record one dense layer a head.

    Args:
        layers: the layers.
        record: gets the steps.
        inputs: what each head reads.

    Returns:
        The name of each head's result.
    """
    return [record.dense(layer, x) for layer, x in zip(layers.parts, inputs, strict=True)]  # type: ignore[arg-type]


def source_steps(scores: list[str], record: Recording, source2token: str) -> list[str]:
    """Record what MTSA's sigma_s makes of the scores of each head.

    Args:
        scores: their names.
        record: gets the steps.
        source2token: "exp" or "sigmoid".

    Returns:
        The names of the scores whose exponential is a factor of the weight.
    """
    if source2token == "exp":
        return scores
    return [record.step("activation", score, name="logsigmoid") for score in scores]


def tensorized_steps(
    attention: TensorizedHeads,
    record: Recording,
    values: list[str],
    queries: list[str] | None,
    keys: list[str] | None,
    sources: list[str] | None,
) -> list[str]:
    """Record tensorized attention, one step a head.

    Args:
        attention: its masks.
        record: gets the steps.
        values: names of each head's values.
        queries: of its queries, or None.
        keys: of its keys, or None.
        sources: of its source2token scores, or None.

    Returns:
        The name of each head's output.
    """
    states = []
    for head, (mask, value) in enumerate(zip(attention.masks, values, strict=True)):
        of = [value]
        if queries is not None and keys is not None:
            of += [queries[head], keys[head]]
        if sources is not None:
            of.append(sources[head])
        tensorized = record.step(
            "tensorized",
            *of,
            pairs=queries is not None,
            scored=sources is not None,
            mask=rule(mask),
            token2token=attention.token2token,
        )
        states.append(tensorized)
        record.show("map", states[-1], attention.places[head])
    return states


@encoder_steps.register
def _(encoder: MtsaStackedEncoder, record: Recording, x: str) -> str:
    for record.layer, layer in enumerate(encoder.layers, start=1):
        assert isinstance(layer, StackedLayer)
        first, second = layer.norms
        dense = record.dense(layer.dense, x)
        wide, narrow = layer.dense.weight.shape
        x = record.norm(first, record.step("add", x, dense) if wide == narrow else dense)
        x = record.norm(second, record.step("add", x, encoder_steps(layer.attention, record, x)))
    record.layer = None
    return x
