"""A whole network as steps: what a model folder keeps beside the weights, and what every export walks.

A text is read by the steps of "read", which begin with its word vectors; the steps of "answer" begin with what was read
of each text of an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from torch import nn

from heedful.attention_names import MapPlace
from heedful.export import (  # noqa: F401  (they enter what they write down)
    baseline_steps,
    disan_steps,
    mssan_steps,
    mtsa_steps,
)
from heedful.export.recording import NetworkTable, NotDescribed, Recording, encoder_steps
from heedful.models import (
    AlignmentNetwork,
    JoinedEncoder,
    Network,
    PairNetwork,
    RelatednessNetwork,
    SentenceEncoder,
    SentenceVectorNetwork,
    TextNetwork,
    WordTagger,
)
from heedful.nn import Highway, WordEmbedding
from heedful.nn.heads import ClassifierHead, Matching, RelatednessHead
from heedful.nn.pooling import (
    AdditiveAttention,
    AttentiveMax,
    DotProduct,
    MaxPooling,
    MeanPooling,
    MultiDimensional,
    NormalizedAttentiveMax,
    Pooling,
    SourceToToken,
)
from heedful.runtime.program import EACH, FORMAT, SIDES, WORDS
from heedful.runtime.settings import MISSING


@singledispatch
def pooling_steps(pooling: Pooling, record: Recording, states: str) -> str:
    """Record a pooling.

    Args:
        pooling: any pooling.
        record: gets the steps.
        states: name of the states, one row a word.

    Returns:
        The name of the vector.

    Raises:
        NotDescribed: if there are no steps for it.
    """
    raise NotDescribed(f"model.pooling: {type(pooling).__name__} is not described")


@pooling_steps.register
def _(pooling: MeanPooling, record: Recording, states: str) -> str:
    return record.step("mean", states)


@pooling_steps.register
def _(pooling: MaxPooling, record: Recording, states: str) -> str:
    return record.step("maximum", states)


@pooling_steps.register(SourceToToken)
@pooling_steps.register(AdditiveAttention)
def _(pooling: SourceToToken | AdditiveAttention, record: Recording, states: str) -> str:
    return record.step(
        "weighted_sum", states, record.dense(pooling.score, record.dense(pooling.hidden, states))
    )


@pooling_steps.register
def _(pooling: AttentiveMax, record: Recording, states: str) -> str:
    return record.concat(
        [pooling_steps(part, record, states) for part in (pooling.attentive, pooling.maximum)]
    )


@pooling_steps.register
def _(pooling: NormalizedAttentiveMax, record: Recording, states: str) -> str:
    hidden = record.norm(pooling.norm, record.dense(pooling.hidden, states))
    hidden = record.step("activation", hidden, name=pooling.activation)
    score = record.norm(pooling.norm, record.dense(pooling.score, hidden))
    return record.concat([record.step("weighted_sum", states, score), record.step("maximum", states)])


@pooling_steps.register
def _(pooling: DotProduct, record: Recording, states: str) -> str:
    query = record.dense(pooling.query, record.step("mean", states))
    return record.step(
        "weighted_sum", states, record.step("inner", record.dense(pooling.token, states), query)
    )


@pooling_steps.register
def _(pooling: MultiDimensional, record: Recording, states: str) -> str:
    scores = pooling.attention.scores
    query = record.dense(scores.query, record.step("mean", states))
    both = record.step("add", record.dense(scores.key, states), query)
    score = record.dense(scores.score, record.step("activation", both, name=scores.activation))
    return record.step("weighted_sum", states, score)


def weighing_steps(record: Recording, vector: str) -> list[str]:
    """Return the names of the values that weigh the words of a sentence: the vector, or its parts side by side."""
    made = next(step for step in record.steps if step["to"] == vector)
    of = made["of"]
    return list(map(str, of)) if made["do"] == "concat" and isinstance(of, list) else [vector]


def describe(network: nn.Module) -> Mapping[str, object]:
    """Write a network down for the runtime and for exports.

    Args:
        network: any network.

    Returns:
        The description, plain values for JSON; ``{"missing": reason}`` for a network that has none.
    """
    try:
        return described(network)
    except NotDescribed as error:
        return {MISSING: str(error)}


def described(network: nn.Module) -> NetworkTable:
    """Write a network down; see `describe`.

    Args:
        network: any network.

    Returns:
        The description; beside the steps it names the tensors that the network itself holds: "scale" of one that gives
        numbers, "thresholds" of one that gives several labels.

    Raises:
        NotDescribed: naming the setting for which there are no steps.
    """
    if not isinstance(network, Network):
        raise NotDescribed(f"{type(network).__name__} is not described")
    reader = network.sentence_encoder
    embedding = reader.embedding
    if not isinstance(embedding, WordEmbedding):
        raise NotDescribed("model.pretrained: a pretrained encoder is its library's, and is not described")
    tables = {"trained": embedding.weight, "frozen": embedding.frozen}
    if embedding.ngrams is not None:
        tables["ngrams"] = embedding.ngrams.weight
    read, answer = Recording(network), Recording(network)
    vector = None
    if isinstance(network, WordTagger):
        states = encoder_steps(network.sentence_encoder.encoder, read, WORDS)
        logits = answer.dense(network.output, f"{SIDES[0]}.{states}")
    elif isinstance(network, AlignmentNetwork):
        logits = alignment_steps(network, read, answer)
    elif isinstance(reader, SentenceEncoder) and reader.window:
        raise NotDescribed('data.truncate = "window": texts are read in windows, which is not described')
    elif isinstance(reader, SentenceEncoder):
        vector = pooling_steps(reader.pooling, read, encoder_steps(reader.encoder, read, WORDS))
        read.show("weights", weighing_steps(read, vector))
        if isinstance(reader, JoinedEncoder):
            parts = (vector, read.step("mean", WORDS))
            vector = read.concat([read.step("unit", part) for part in parts])
        logits = answer_steps(network, answer, [f"{side}.{vector}" for side in SIDES[: network.sides]])
    else:
        raise NotDescribed(f"{type(network).__name__} is not described")
    table: NetworkTable = {
        "format": FORMAT,
        "texts": network.sides,
        "each": EACH[isinstance(network, WordTagger)],
        "words": {name: read.name(table) for name, table in tables.items()},
        "read": read.steps,
        "answer": answer.steps,
        "vector": vector,
        "logits": logits,
        "shown": {"prefix": list(network.prefix), "read": read.shown, "answer": answer.shown},
    }
    own = {name for name, _ in network.named_buffers(recurse=False)}
    if "scale" in own:
        table["scale"] = "scale"
    if "thresholds" in own:
        table["thresholds"] = "thresholds"
    return table


@singledispatch
def answer_steps(network: Network, record: Recording, vectors: list[str]) -> str:
    """Record what a network makes of the vectors of an example's texts.

    Args:
        network: the network.
        record: gets the steps.
        vectors: names of the vectors.

    Returns:
        The name of the logits.

    Raises:
        NotDescribed: if there are no steps for it.
    """
    raise NotDescribed(f"{type(network).__name__} is not described")


@answer_steps.register
def _(network: TextNetwork, record: Recording, vectors: list[str]) -> str:
    return classifier_steps(network.head, record, vectors[0])


@answer_steps.register
def _(network: SentenceVectorNetwork, record: Recording, vectors: list[str]) -> str:
    return record.step("unit", record.dense(network.output, vectors[0]))


@answer_steps.register
def _(network: PairNetwork, record: Recording, vectors: list[str]) -> str:
    return classifier_steps(network.head, record, match_steps(network.matching, record, vectors))


@answer_steps.register
def _(network: RelatednessNetwork, record: Recording, vectors: list[str]) -> str:
    head: RelatednessHead = network.head
    product = record.dense(head.product, record.step("multiply", *vectors))
    difference = record.dense(head.difference, record.step("absolute", record.step("subtract", *vectors)))
    hidden = record.step("activation", record.step("add", product, difference), name=head.activation)
    return record.dense(head.output, hidden)


def match_steps(matching: Matching, record: Recording, vectors: list[str]) -> str:
    """Record how the vectors of a pair become features; see `heedful.nn.heads.match_features`.

    Args:
        matching: "signed", "absolute" or "symmetric".
        record: gets the steps.
        vectors: names of both vectors.

    Returns:
        The name of the features.
    """
    first, second = vectors
    difference, product = record.step("subtract", first, second), record.step("multiply", first, second)
    if matching == "symmetric":
        both = record.step("add", first, second)
        return record.concat([both, record.step("absolute", difference), product])
    if matching == "absolute":
        difference, product = product, record.step("absolute", difference)
    return record.concat([first, second, difference, product])


def classifier_steps(head: ClassifierHead, record: Recording, vector: str) -> str:
    """Record the layers of a classifier.

    Args:
        head: the layers.
        record: gets the steps.
        vector: name of the features.

    Returns:
        The name of the logits.
    """
    hidden = record.dense(head.hidden, vector)
    if isinstance(head.highway, Highway):
        gate = record.step("activation", record.dense(head.highway.gate, hidden), name="sigmoid")
        hidden = record.step("mix", gate, record.dense(head.highway.transform, hidden), hidden)
    return record.dense(head.output, hidden)


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
