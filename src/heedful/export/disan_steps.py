"""DiSAN as steps."""

from __future__ import annotations

from heedful.encoders import DisaBlock, DisanEncoder
from heedful.encoders.context_encoder import places_of
from heedful.export.recording import Recording, encoder_steps, rule
from heedful.nn import FusionGate
from heedful.structures import MapPlace


@encoder_steps.register
def _(encoder: DisanEncoder, record: Recording, x: str) -> str:
    blocks = [block for block in encoder.blocks if isinstance(block, DisaBlock)]
    places = places_of(encoder.config.masks, axis="features")
    return record.concat(
        [_disa_block(block, record, x, place) for block, place in zip(blocks, places, strict=True)]
    )


def _disa_block(block: DisaBlock, record: Recording, x: str, place: MapPlace) -> str:
    h, mask = record.dense(block.hidden, x), rule(block.mask)
    if block.score == "general":
        pairs = block.pairs
        query, key = record.dense(pairs.query, h), record.dense(pairs.key, h)
        weights = {"weight": pairs.score.weight, "bias": pairs.score.bias}
        values = (query, key, h)
        context = record.step("general", *values, weights=weights, mask=mask, activation=pairs.activation)
    else:
        query = record.step("add", record.dense(block.query, h), weights={"bias": block.bias})
        context = record.step("additive", query, record.dense(block.key, h), h, mask=mask, scale=block.scale)
    record.show("map", context, place)
    return fused_steps(block.gate, record, h, context, place)


def fused_steps(gate: FusionGate, record: Recording, word: str, context: str, place: MapPlace) -> str:
    """Record DiSAN's fusion gate.

    Args:
        gate: the gate.
        record: gets the steps.
        word: name of the words' own states.
        context: name of the states in context.
        place: where the gate stands in the network.

    Returns:
        The name of the fused states.
    """
    scores = record.dense(gate.word, word), record.dense(gate.context, context)
    score = record.step("add", *scores, weights={"bias": gate.bias})
    opened = record.step("activation", score, name="sigmoid")
    record.show("gate", opened, place)
    return record.step("mix", opened, word, context)
