"""DiSAN and MDMAN as steps."""

from __future__ import annotations

from heedful.attention_names import MapPlace
from heedful.encoders import DisaBlock, DisanEncoder, MdmanEncoder
from heedful.encoders.context_encoder import places_of
from heedful.encoders.mdman import _DIRECTIONS, Way
from heedful.encoders.resan import DotAttention, FeatureWiseAttention, MaskPolicy, ProductAttention
from heedful.export.recording import NotDescribed, Recording, encoder_steps, rule
from heedful.nn import Dense, FusionGate
from heedful.nn.policy import TokenPolicy


@encoder_steps.register
def _(encoder: DisanEncoder, record: Recording, x: str) -> str:
    blocks = [block for block in encoder.blocks if isinstance(block, DisaBlock)]
    places = places_of(encoder.config.masks, axis="features")
    if isinstance(encoder.narrow, Dense):
        x = record.dense(encoder.narrow, x)
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


@encoder_steps.register
def _(encoder: MdmanEncoder, record: Recording, x: str) -> str:
    opened = [] if encoder.policy is None else _opened(encoder.policy, record, x)
    h = x if encoder.hidden is None else record.dense(encoder.hidden, x)
    fused = []
    directions = list(_DIRECTIONS.values()) * len(encoder.config.attentions)
    if encoder.policy is not None:  # one that does not act yet has chosen nothing
        record.show("chosen", opened[0]) if opened else record.show("unchosen", x)
    for way, mask, place in zip(encoder.ways, directions, encoder.places, strict=True):
        assert isinstance(way, Way)
        own = h if way.hidden is None else record.dense(way.hidden, h)
        attended = _attended(way, record, own, rule(mask), opened)
        record.show("map", attended, place)
        fused.append(fused_steps(way.gate, record, own, attended, place))
    fusion = encoder.fusion
    tanh = [record.step("activation", record.dense(fusion.hidden, each), name="tanh") for each in fused]
    states = record.step("fuse", *fused, *(record.dense(fusion.score, each) for each in tanh))
    for number, place in enumerate(encoder.places):
        record.show("fusion", states, place, number=number)
    return states


def _attended(way: Way, record: Recording, h: str, mask: dict[str, object], opened: list[str]) -> str:
    part = way.attention
    if isinstance(part, FeatureWiseAttention):
        query = record.step("add", record.dense(part.query, h), weights={"bias": part.bias})
        values = (query, record.dense(part.key, h), h, *opened)
        return record.step("additive", *values, mask=mask, scale=part.scale)
    if isinstance(part, DotAttention):
        values = (record.dense(part.query, h), record.dense(part.key, h), h, *opened)
        return record.step("product", *values, mask=mask, divisor=float(part.query.weight.shape[1] ** 0.5))
    assert isinstance(part, ProductAttention)
    weights = {"weight": part.project.weight, "bias": part.project.bias}
    return record.step("feature_product", h, *opened, weights=weights, mask=mask, scale=part.scale)


def _opened(policy: MaskPolicy, record: Recording, x: str) -> list[str]:
    """Record which pairs the policy opens; in its first phase none, as in training."""
    if not policy.phase.policy_acts:
        return []
    selector = policy.selector
    if selector.decision != "threshold":
        raise NotDescribed(
            f"model.encoder_options.decision={selector.decision!r}: a text would get another prediction each time"
        )
    mean = record.step("repeat", record.step("mean", x), x)
    state = record.concat([x, mean, record.step("multiply", x, mean)])
    query = _odds(selector.query, record, state)
    return [
        record.step("opened", query, query if selector.key is None else _odds(selector.key, record, state))
    ]


def _odds(policy: TokenPolicy, record: Recording, state: str) -> str:
    return record.dense(policy.output, record.dense(policy.hidden, state))
