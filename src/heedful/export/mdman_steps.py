"""MDMAN as steps."""

from __future__ import annotations

from heedful.encoders import MdmanEncoder
from heedful.encoders.mdman import _DIRECTIONS, Way
from heedful.encoders.resan import DotAttention, FeatureWiseAttention, MaskPolicy, ProductAttention
from heedful.export.disan_steps import fused_steps
from heedful.export.recording import NotDescribed, Recording, encoder_steps, rule
from heedful.nn.policy import TokenPolicy


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
