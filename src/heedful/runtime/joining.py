"""Steps that follow each other and are computed as one: a gate, and the bias of a dense layer.

A joined step gives the same to the last bit as its parts give for a bias, and the same to 1e-7 for a gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heedful.runtime import kernels
from heedful.runtime.kernels import Floats
from heedful.runtime.rows import Action
from heedful.runtime.steps import Compute, Step


class _Found(NamedTuple):
    action: Action
    parts: int


def joined(steps: Sequence[Step], actions: Sequence[Action], keep: frozenset[str]) -> list[Action]:
    """Join what can be joined.

    Args:
        steps: the steps of a part of a network.
        actions: the same as functions.
        keep: values that must be made.

    Returns:
        As many actions or fewer, which make the same values but for those between the parts of a joined one.
    """
    if not kernels.compiled():
        return list(actions)
    reads = Counter(name for step in steps for name in step.of)
    hidden = {step.to for step in steps if reads[step.to] == 1 and step.to not in keep}
    found, place = list[Action](), 0
    while place < len(steps):
        one = _gate(steps, actions, place, hidden) or _biased(steps, place, hidden)
        found.append(one.action if one else actions[place])
        place += one.parts if one else 1
    return found


def _gate(steps: Sequence[Step], actions: Sequence[Action], place: int, hidden: set[str]) -> _Found | None:
    """Join the sum of two values, its sigmoid, and what is mixed with that."""
    three = steps[place : place + 3]
    if [step.do for step in three] != ["add", "activation", "mix"]:
        return None
    total, opened, mixed = three
    chained = opened.of == (total.to,) and mixed.of[0] == opened.to and {total.to, opened.to} <= hidden
    if not chained or len(total.of) != 2 or opened.text("name") != "sigmoid":
        return None
    bias = total.weights.floats(total.tensor("bias")).reshape(-1) if total.has("bias") else None
    apart = [actions[place + n].compute for n in range(3)]

    def compute(first: Floats, second: Floats, x: Floats, y: Floats) -> Floats:
        same = first.shape == second.shape == x.shape == y.shape
        if not same or not (bias is None or bias.shape == x.shape[1:]):
            result: Floats = apart[2](apart[1](apart[0](first, second)), x, y)
            return result
        first, second, x, y = kernels.contiguous(first, second, x, y)
        return kernels.gated(first, second, bias, x, y)

    return _Found(Action(mixed.to, (*total.of, *mixed.of[1:]), compute, row_wise=True), 3)


def _biased(steps: Sequence[Step], place: int, hidden: set[str]) -> _Found | None:
    """Join a dense layer without a bias and a sum with a bias alone."""
    two = steps[place : place + 2]
    if [step.do for step in two] != ["dense", "add"]:
        return None
    layer, sum_ = two
    plain = not layer.has("bias") and layer.text("activation", default="linear") == "linear"
    if not plain or sum_.of != (layer.to,) or layer.to not in hidden or not sum_.has("bias"):
        return None
    matrix, bias = layer.matrix("weight"), sum_.weights.floats(sum_.tensor("bias")).reshape(-1)
    if bias.shape != (matrix.outputs,):
        return None
    compute: Compute = lambda x: matrix.apply(x, np.ascontiguousarray(bias), "linear")  # noqa: E731
    return _Found(Action(sum_.to, layer.of, compute, row_wise=True), 2)
