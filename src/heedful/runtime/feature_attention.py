"""Attention with a weight for every feature, among the words of one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.runtime import kernels
from heedful.runtime.kernels import Floats, Lengths, TextRows
from heedful.runtime.operators import LINKS, OPERATORS, TOGETHER, WEIGHTS, operator
from heedful.runtime.step_chains import ChainLink
from heedful.runtime.steps import Compute, Keep, Rule, Step, Weighing, activate, logsigmoid

_FACTORED = 40.0
"""Largest variation of a source2token score over the words for which a weight is computed as a product."""


def check_same(do: str, values: Sequence[Floats]) -> None:
    """Refuse values that differ in shape; ``do`` names the operator."""
    if any(value.shape != values[0].shape for value in values):
        raise UsageError(f"{do}: values of one shape expected; got {[list(value.shape) for value in values]}")


Parts = tuple[Keep, Callable[[int, Keep], Floats], Floats]
"""Which pairs are visible, the scores [k, D] of the keys that one query sees, and the values [L, D]."""
Score = Callable[[Step], Callable[..., Parts]]
"""Reads a step and returns the function that scores its values."""


FEATURE_WISE: set[str] = set()
"""Operators whose weights are averaged over features."""


def feature_wise(score: Score) -> Score:
    """Enter an attention with a weight for every feature: what it makes, and its weights averaged over features."""

    def compute_of(step: Step) -> Compute:
        parts = score(step)

        def compute(*values: Floats) -> Floats:
            keep, scores, value = parts(*values)
            output = np.zeros_like(value)
            for i, seen in enumerate(keep):
                if seen.any():
                    output[i] = _weighted(scores(i, seen), value[seen])
            return output

        return compute

    def weights_of(step: Step) -> Weighing:
        parts = score(step)

        def weights(*values: Floats) -> NDArray[np.floating]:
            keep, scores, _ = parts(*values)
            found = np.zeros(keep.shape)
            for i, seen in enumerate(keep):
                if seen.any():
                    each = _exponentials(scores(i, seen))
                    found[i, seen] = (each / each.sum(axis=0)).mean(axis=1, dtype=np.float64)
            return found

        return weights

    name = score.__name__.strip("_")
    OPERATORS[name], WEIGHTS[name] = compute_of, weights_of
    FEATURE_WISE.add(name)
    return score


def _exponentials(score: Floats) -> Floats:
    each: Floats = np.exp(score - score.max(axis=0))
    return each


def _weighted(score: Floats, value: Floats) -> Floats:
    weights = _exponentials(score)
    average: Floats = (weights * value).sum(axis=0) / weights.sum(axis=0)
    return average


@feature_wise
def _additive(step: Step) -> Callable[..., Parts]:
    """DiSAN's attention with a bounded score, separately for every feature; reads query, key and value."""
    rule, bound = step.rule(), np.float32(_bound(step))
    opens_pairs(step, 3)

    def parts(query: Floats, key: Floats, value: Floats, *opened: Floats) -> Parts:
        check_same("additive", (query, key, value))
        keep = kept(rule, len(query), opened)
        return keep, lambda i, seen: bound * np.tanh((query[i] + key[seen]) / bound), value

    return parts


_IN_NUMPY = OPERATORS["additive"]


@operator
def additive(step: Step) -> Compute:
    """The same by the compiled kernel, where there is one and it serves the bound."""
    rule, scale, opens = step.rule(), _bound(step), opens_pairs(step, 3)
    if not (kernels.compiled() and kernels.SCALES[0] <= scale <= kernels.SCALES[1]):
        return _IN_NUMPY(step)

    def compute(query: Floats, key: Floats, value: Floats, *opened: Floats) -> Floats:
        check_same("additive", (query, key, value))
        if not len(query):
            return np.zeros_like(query)
        keep = kept(rule, len(query), opened) if opens or rule.band is None else None
        query, key, value = (np.ascontiguousarray(x, np.float32) for x in (query, key, value))
        return kernels.additive(query, key, value, keep, rule.band or (0, 0, True), scale)

    return compute


def additive_together(step: Step) -> Callable[..., TextRows] | None:
    """Several texts by the compiled kernel, under a band."""
    rule, scale = step.rule(), _bound(step)
    in_range = kernels.SCALES[0] <= scale <= kernels.SCALES[1]
    if not (kernels.compiled() and in_range) or rule.band is None or opens_pairs(step, 3):
        return None
    band = rule.band

    def compute(lengths: Lengths, *values: Floats) -> TextRows:
        check_same("additive", values)
        query, key, value = kernels.contiguous(*values)
        return TextRows(lengths, kernels.additive_of_texts(query, key, value, lengths, band, scale))

    return compute


TOGETHER["additive"] = additive_together


def _additive_link(step: Step) -> ChainLink | None:
    if additive_together(step) is None:
        return None
    band, scale = step.rule().band or (0, 0, True), np.float64(_bound(step))
    more = (*map(int, band), int(scale.view(np.int64)))
    return ChainLink("additive", lambda widths: widths[0] if len(set(widths)) == 1 else 0, lambda: more)


LINKS["additive"] = _additive_link


def _bound(step: Step) -> float:
    """Return the bound of the scores."""
    scale = step.number("scale")
    if not scale > 0:
        raise step.refuse("scale", "above 0")
    return scale


def opens_pairs(step: Step, count: int) -> bool:
    """Return whether an attention of so many values reads one more: the pairs that are opened against its mask."""
    opens = len(step.of) == count + 1
    step.takes(count + opens)
    return opens


def kept(rule: Rule, length: int, opened: Sequence[Floats]) -> Keep:
    """Unite a mask with the pairs that are opened, where there are any."""
    keep = rule.keep(length)
    for pairs in opened:
        if pairs.shape != keep.shape:
            raise UsageError(f"opened pairs: {list(keep.shape)} expected; got {list(pairs.shape)}")
        keep = np.ascontiguousarray(keep | (pairs > 0))
    return keep


@operator
def opened(step: Step) -> Compute:
    """The pairs that a policy opens, [L, L]: both words are chosen (log-odds above 0), and no word with itself."""
    step.takes(2)

    def compute(query: Floats, key: Floats) -> Floats:
        if query.shape[1] != 1 or query.shape != key.shape:
            raise UsageError("opened: one number a word expected")
        pairs = ((query > 0) & (key > 0).T).astype(np.float32)
        np.fill_diagonal(pairs, 0)
        return pairs

    return compute


@feature_wise
def feature_product(step: Step) -> Callable[..., Parts]:
    """Attention with one score a feature, ``c tanh((h_i * h_j) W + b) / c)``; reads the words' states."""
    rule, scale = step.rule(), np.float32(_bound(step))
    opens_pairs(step, 1)
    matrix = step.matrix("weight")
    bias = step.floats("bias", matrix.outputs) if step.has("bias") else None

    def parts(h: Floats, *opened: Floats) -> Parts:
        def scores(i: int, seen: Keep) -> Floats:
            bounded: Floats = scale * np.tanh(matrix.apply(h[i] * h[seen], bias) / scale)
            return bounded

        return kept(rule, len(h), opened), scores, h

    return parts


@feature_wise
def general(step: Step) -> Callable[..., Parts]:
    """DiSAN's attention with the general score ``W act(q_i + k_j) + b``; reads query, key and value."""
    step.takes(3)
    rule, matrix = step.rule(), step.matrix("weight")
    bias = step.floats("bias", matrix.outputs) if step.has("bias") else None
    name = step.text("activation", ("linear", "elu", "relu"))

    def parts(query: Floats, key: Floats, value: Floats) -> Parts:
        check_same("general", (query, key, value))

        def scores(i: int, seen: Keep) -> Floats:
            return matrix.apply(activate(query[i] + key[seen], name), bias)

        return rule.keep(len(query)), scores, value

    return parts


@feature_wise
def _tensorized(step: Step) -> Callable[..., Parts]:
    """One head of MTSA's attention, ``exp(token_ij + source_jl)`` over the visible words j, word by word."""
    scores = _tensorized_scores(step)

    def parts(value: Floats, *rest: Floats) -> Parts:
        keep, token, source = scores(value, *rest)
        return keep, lambda i, seen: token[i, seen][:, None] + source[seen], value

    return parts


_WORD_BY_WORD = OPERATORS["tensorized"]


@operator
def tensorized(step: Step) -> Compute:
    """The same as two matrix products, where the source2token scores do not vary too much for that."""
    scores, exact = _tensorized_scores(step), _WORD_BY_WORD(step)

    def compute(value: Floats, *rest: Floats) -> Floats:
        keep, token, source = scores(value, *rest)
        if not keep.any():
            return np.zeros_like(value)
        if float(np.max(source.max(axis=0) - source.min(axis=0))) > _FACTORED:
            return exact(value, *rest)
        hidden = np.where(keep, token, np.float32(-np.inf))
        top = hidden.max(axis=1, keepdims=True)
        seen = np.isfinite(top)
        weights = np.exp(hidden - np.where(seen, top, 0))
        factor = np.exp(source - source.max(axis=0))
        shared: Floats = (weights @ (factor * value)) / np.where(seen, weights @ factor, 1)
        return shared

    return compute


def _tensorized_scores(step: Step) -> Callable[..., tuple[Keep, Floats, Floats]]:
    """Read the value, then query and key, then the source2token score, as flags say; score the pairs and the words."""
    rule, pairs, scored = step.rule(), step.flag("pairs"), step.flag("scored")
    step.takes(1 + 2 * pairs + scored)
    bounded = step.text("token2token", ("sigmoid", "exp")) == "sigmoid"

    def scores(value: Floats, *rest: Floats) -> tuple[Keep, Floats, Floats]:
        check_same("tensorized", (value, *rest))
        token = np.zeros((len(value), len(value)), np.float32)
        if pairs:
            token = rest[0] @ rest[1].T / np.float32(value.shape[1] ** 0.5)
        source = rest[-1] if scored else np.zeros_like(value)
        return rule.keep(len(value)), logsigmoid(token) if bounded else token, source

    return scores
