"""Every pooling as steps."""

from __future__ import annotations

from functools import singledispatch

from heedful.export.recording import NotDescribed, Recording
from heedful.nn.pooling import (
    AdditiveAttention,
    AttentiveMax,
    DotProduct,
    MaxPooling,
    MeanPooling,
    MultiDimensional,
    NormalisedAttentiveMax,
    Pooling,
    SourceToToken,
)


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
def _(pooling: NormalisedAttentiveMax, record: Recording, states: str) -> str:
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
    return list(made["of"]) if made["do"] == "concat" else [vector]
