"""Decomposable attention as steps."""

from __future__ import annotations

from heedful.export.encoder_steps import encoder_steps
from heedful.export.recording import Recording
from heedful.models import AlignmentNetwork
from heedful.runtime.program import SIDES, WORDS
from heedful.structures import MapPlace


def alignment_steps(network: AlignmentNetwork, read: Recording, answer: Recording) -> str:
    """Record the network that aligns two texts.

    Args:
        network: the network.
        read: gets the steps of one text.
        answer: gets the steps of a pair.

    Returns:
        The name of the logits.
    """
    reader = network.sentence_encoder
    with_null = read.step("prepend", WORDS, weights={"row": reader.null})
    states = read.dense(reader.projection, with_null)
    if reader.encoder is not None:
        states = encoder_steps(reader.encoder, read, states)
    attended = read.sequence(network.attend, states)
    vectors = []
    for side, other in (SIDES, SIDES[::-1]):
        aligned = answer.step("align", f"{side}.{attended}", f"{other}.{attended}", f"{other}.{states}")
        place = MapPlace(kind=f"{side} to {other}")
        answer.show("alignment", aligned, place, turned=side != SIDES[0])
        compared = answer.sequence(network.compare, answer.concat([f"{side}.{states}", aligned]))
        vectors.append(answer.step("total", compared))
    return answer.dense(network.output, answer.sequence(network.aggregate, answer.concat(vectors)))
