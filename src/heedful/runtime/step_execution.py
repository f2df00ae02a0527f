"""The steps of a network, run for several texts at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, nearest
from heedful.runtime import feature_attention, pairwise_attention, sequence_operators  # noqa: F401  (they enter their operators)
from heedful.runtime.attention_recording import Weigh
from heedful.runtime.kernels import Floats, TextRows, compiled
from heedful.runtime.operators import LINKS, OPERATORS, ROW_WISE, TOGETHER, WEIGHTS, Action, joined
from heedful.runtime.step_chains import StepChain
from heedful.runtime.steps import WIDEST, Step
from heedful.runtime.weights import Weights

Value = TypeVar("Value")
_MOST_STEPS = 20_000


class Steps:
    """A list of steps, each turned into a function once.

    Args:
        part: which part of the network, for messages.
        descriptions: the steps as the description has them.
        weights: the tensors.

    Attributes:
        reads: names of all values that steps read.

    Raises:
        UsageError: naming the first step that is wrong.
    """

    def __init__(self, part: str, descriptions: object, weights: Weights) -> None:
        if not isinstance(descriptions, list) or len(descriptions) > _MOST_STEPS:
            raise UsageError(f"network.{part}: a list of at most {_MOST_STEPS:,} steps expected")
        self._steps = [Step(description, weights) for description in descriptions]
        for step in self._steps:
            if step.do not in OPERATORS:
                raise UsageError(f"step {step.do!r:.80} is unknown; {nearest(step.do, tuple(OPERATORS))}")
        self.reads = frozenset(name for step in self._steps for name in step.of)
        self._actions = [_action(step) for step in self._steps]
        self._short: dict[frozenset[str], Plan] = {}

    def maker(self, name: str) -> Step:
        """Return the step that makes a value."""
        for step in self._steps:
            if step.to == name:
                return step
        raise UsageError(f"network.shown: no step makes {name!r:.80}")

    def averages(self, name: str) -> bool:
        """Return whether the weights of the step that makes a value are averaged over features."""
        return self.maker(name).do in feature_attention.FEATURE_WISE

    def weigher(self, values: Mapping[str, Floats]) -> Weigh:
        """Return a function from the name of a value to how the step that makes it weighs what it reads."""

        def weigh(name: str) -> NDArray[np.floating]:
            step = self.maker(name)
            if step.do not in WEIGHTS:
                raise UsageError(f"network.shown: step {step.do!r:.80} has no weights")
            with np.errstate(all="ignore"):
                return WEIGHTS[step.do](step)(*(value_of(values, each) for each in step.of))

        return weigh

    @np.errstate(all="ignore")  # whoever asks looks whether the results are finite
    def every(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Compute every value of one text."""
        values = dict(inputs)
        for action in self._actions:
            values[action.to] = _of_one(action, values)
        return values

    def run(self, inputs: Mapping[str, TextRows], texts: int, keep: frozenset[str]) -> Mapping[str, TextRows]:
        """Compute the values that are asked for, of several texts; those of one do not depend on the others.

        Args:
            inputs: values by name.
            texts: how many texts.
            keep: names of the values to return, if the steps make them.

        Returns:
            The values by name.
        """
        if keep not in self._short:
            self._short[keep] = Plan(joined(self._steps, self._actions, keep), keep)
        return self._short[keep](inputs, texts)

    def parted(self, source: str, keep: frozenset[str]) -> tuple[Plan, Plan]:
        """Part the steps into those that make something of each row of a value alone, and those that need more.

        Args:
            source: name of the value.
            keep: see `run`.

        Returns:
            What makes every value of single rows that the others read, or that is kept; and the others, which take
            these.
        """
        alone, rest, known = list[Action](), list[Action](), {source}
        for action in joined(self._steps, self._actions, keep):
            by_itself = action.row_wise and bool(action.of) and known.issuperset(action.of)
            (alone if by_itself else rest).append(action)
            known |= {action.to} if by_itself else set()
        read = keep.union(*(action.of for action in rest))
        return Plan(alone, frozenset(known & read)), Plan(rest, keep)


class Plan:
    """Actions in their order, and which values nobody needs behind each.

    Args:
        actions: the actions.
        keep: names of the values to return, if there are such.
    """

    def __init__(self, actions: Sequence[Action], keep: frozenset[str]) -> None:
        last = {name: number for number, action in enumerate(actions) for name in (*action.of, action.to)}
        self._keep = keep
        self._actions = [
            (action, tuple({name for name in (*action.of, action.to) if last[name] == n} - keep))
            for n, action in enumerate(actions)
        ]
        self._parts = list(_parts(self._actions))
        self._chained = any(chain is not None for chain, _ in self._parts)

    @np.errstate(all="ignore")  # whoever asks looks whether the results are finite
    def __call__(self, given: Mapping[str, TextRows], texts: int) -> Mapping[str, TextRows]:
        """Compute the values of several texts; see `Steps.run`."""
        if texts == 1 and not self._chained:
            return self._alone({name: rows.whole for name, rows in given.items()})
        values = dict(given)
        for chain, actions in self._parts:
            made = None if chain is None else chain(values)
            if made is not None:
                values.update(made)
            for action, done in actions:
                if made is None:
                    values[action.to] = _of_several(action, values, texts)
                for name in done:
                    values.pop(name, None)
        return {name: rows for name, rows in values.items() if name in self._keep}

    def _alone(self, values: dict[str, Floats]) -> Mapping[str, TextRows]:
        """Compute the values of one text as plain arrays: what stands around a product costs as much as it there."""
        for action, done in self._actions:
            values[action.to] = _of_one(action, values)
            for name in done:
                del values[name]
        return {name: TextRows.of([x]) for name, x in values.items() if name in self._keep}


_Ended = tuple[Action, tuple[str, ...]]
"""An action, and the values that nobody needs behind it."""


def _parts(actions: Sequence[_Ended]) -> Iterator[tuple[StepChain | None, Sequence[_Ended]]]:
    """Yield the actions, those together that the kernel computes in one call, with their chain."""
    for linked, some in itertools.groupby(actions, lambda each: each[0].link is not None):
        part = list(some)
        if not linked or len(part) == 1:
            yield None, part
            continue
        ended = {name for _, done in part for name in done}
        yield StepChain([action for action, _ in part], {action.to for action, _ in part} - ended), part


def _action(step: Step) -> Action:
    alone = (
        step.do == "dense" and not compiled()
    )  # NumPy adds up a row in an order that depends on the others
    together = TOGETHER[step.do](step) if step.do in TOGETHER else None
    compute = OPERATORS[step.do](step)
    link = LINKS[step.do](step) if step.do in LINKS else None
    return Action(step.to, step.of, compute, step.do in ROW_WISE and not alone, together, link)


def _of_one(action: Action, values: Mapping[str, Floats]) -> Floats:
    """Return the value that a step makes of one text."""
    read = [value_of(values, name) for name in action.of]
    try:
        made = action.compute(*read)
    except (ValueError, IndexError) as error:
        raise _misfit(action, error) from error
    _check(action, made)
    return made


def _of_several(action: Action, values: Mapping[str, TextRows], texts: int) -> TextRows:
    """Return the value that a step makes of several texts."""
    read = [value_of(values, name) for name in action.of]
    lengths = read[0].lengths if read else None
    if any(each.lengths is not lengths and each.lengths != lengths for each in read):
        lengths = None
    try:
        if action.row_wise and lengths is not None:
            made = TextRows(lengths, action.compute(*(each.whole for each in read)))
        elif action.together is not None and lengths is not None:
            made = action.together(lengths, *(each.whole for each in read))
        else:
            made = TextRows.of([action.compute(*(each.parts[n] for each in read)) for n in range(texts)])
    except (ValueError, IndexError) as error:
        raise _misfit(action, error) from error
    for array in made.arrays:
        _check(action, array)
    return made


def _misfit(action: Action, error: Exception) -> UsageError:
    """Return what NumPy says of shapes that do not fit, with the value that was to be made."""
    return UsageError(f"value {action.to!r:.80}: {error}")


def _check(action: Action, made: Floats) -> None:
    """Refuse what no value may be."""
    if made.ndim != 2 or made.shape[1] > WIDEST:
        raise UsageError(
            f"value {action.to!r:.80} is {list(made.shape)}, expected rows of at most {WIDEST:,}"
        )


def value_of(values: Mapping[str, Value], name: str) -> Value:
    """Return a value by name, and refuse one that is not made yet."""
    if name not in values:
        raise UsageError(f"value {name!r:.80} is read before it is made")
    return values[name]
