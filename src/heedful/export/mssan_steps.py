"""MS-SAN as steps."""

from __future__ import annotations

from torch import Tensor

from heedful.attention_names import MapPlace
from heedful.encoders import MssanEncoder
from heedful.encoders.mssan import MssanBlock
from heedful.encoders.priors import DIRECTIONS, Prior, RelativePositions, SinusoidPositions
from heedful.export.recording import NotDescribed, Recording, Table, encoder_steps, rule
from heedful.nn import FeedForward, ProjectedGate


@encoder_steps.register
def _(encoder: MssanEncoder, record: Recording, x: str) -> str:
    config, results = encoder.config, []
    each = len(encoder.priors) // config.encoders
    for number in range(config.encoders):
        states, priors = x, encoder.priors[number * each : (number + 1) * each]
        for layer in range(config.layers):
            block = encoder.blocks[number * config.layers + layer]
            assert isinstance(block, MssanBlock)
            heads = [_head(prior, config.without_parse) for prior in priors]
            context = _attended(block, record, states, heads, config.alpha)
            for place_number, place in enumerate(encoder.places(number, layer)):
                record.show("map", context, place, number=place_number)
            context = record.dense(block.attention.output, context)
            fused = _projected(block.gate, record, states, context, encoder.gate_place(number, layer))
            states = _feed_forward(block.feed_forward, record, fused)
        results.append(states)
    return record.concat(results)


def _head(prior: Prior, without_parse: str) -> dict[str, object]:
    """Describe the prior of a head. The runtime has no parse, so a distance in the tree is replaced."""
    if prior.mask is not None:
        raise NotDescribed(
            f"model.encoder_options.heads: {str(prior)!r} has a mask that only heedful itself knows"
        )
    distance = without_parse if prior.distance == "dependency" else prior.distance
    return {"mask": rule(DIRECTIONS[prior.direction]), "distance": distance == "word"}


def _attended(
    block: MssanBlock, record: Recording, x: str, heads: list[dict[str, object]], alpha: float
) -> str:
    attention = block.attention
    parts = [record.dense(layer, x) for layer in (attention.query, attention.key, attention.value)]
    positions, weights = attention.positions, dict[str, Tensor | None]()
    settings: Table = {"heads": heads, "alpha": alpha}
    if isinstance(positions, RelativePositions):
        settings |= {"positions": "relative", "reach": positions.reach}
        weights = {"keys": positions.of_keys, "values": positions.of_values}
    elif isinstance(positions, SinusoidPositions):
        settings |= {"positions": "transformer-xl"}
        weights = {
            "content": positions.content,
            "position": positions.position,
            "projection": positions.projection.weight,
        }
    return record.step("heads", *parts, weights=weights, **settings)


def _projected(gate: ProjectedGate, record: Recording, word: str, context: str, place: MapPlace) -> str:
    word, context = record.dense(gate.word, word), record.dense(gate.context, context)
    score = record.step("add", record.dense(gate.word_score, word), record.dense(gate.context_score, context))
    opened = record.step("activation", score, name="sigmoid")
    record.show("gate", opened, place)
    return record.step("mix", opened, word, context)


def _feed_forward(layer: FeedForward, record: Recording, x: str) -> str:
    change = record.dense(layer.output, record.dense(layer.hidden, x))
    return record.norm(layer.norm, record.step("add", x, change))
