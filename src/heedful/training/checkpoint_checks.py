"""What a checkpoint says of a run, checked before it is believed: types, ranges, and agreement with the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heedful.errors import ArtifactError
from heedful.settings import read_table

if TYPE_CHECKING:
    from heedful.training.optim import Optimizers
    from heedful.training.run_state import TrainState

_REMEDY = "Begin the run again in another folder, or copy this one again from its source."
MOST_THREADS = 4096
_STATE_OF: dict[str, frozenset[str]] = {
    "Adadelta": frozenset({"square_avg", "acc_delta"}),
    "Adagrad": frozenset({"step", "sum"}),
    "Adam": frozenset({"step", "exp_avg", "exp_avg_sq"}),
    "DenseAdam": frozenset({"step", "exp_avg", "exp_avg_sq"}),
    "RowAdam": frozenset({"step", "exp_avg", "exp_avg_sq"}),
    "SGD": frozenset({"momentum_buffer"}),
    "SparseAdam": frozenset({"step", "exp_avg", "exp_avg_sq"}),
}
"""Kind of an optimizer to what it keeps of a parameter that it has stepped."""


@dataclass(frozen=True)
class CheckpointRecord:
    """What ``state.json`` of a checkpoint holds.

    Attributes:
        state: where the run stands; see `heedful.training.run_state.TrainState`.
        optimizer: the numbers, tensors aside, that an optimizer keeps of a parameter, by its name.
        settings: of the run.
    """

    state: dict[str, object]
    optimizer: dict[str, object] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)


def read_record(
    content: Mapping[str, object], kind: type[TrainState], path: Path
) -> tuple[CheckpointRecord, TrainState]:
    """Read ``state.json``.

    Returns the record, and where the run stands. Raises ArtifactError, naming every mistake, in one line.
    """
    problems: list[str] = []
    record = read_table(CheckpointRecord, content, "", problems)
    if record is None or problems:
        raise refused(path, problems)
    state = read_table(kind, _numbers_back(record.state), "state.", problems)
    if state is None or problems:
        raise refused(path, problems)
    least = {"step": 0, "epoch": 0, "position": 0, "steps_per_epoch": 0, "resumed": 0, "loss_count": 0}
    problems += [f"state.{name} must be 0 or more" for name in least if getattr(state, name) < 0]
    if not 0 <= state.threads <= MOST_THREADS:
        problems.append(f"state.threads must be from 0 to {MOST_THREADS}; got {state.threads}")
    if state.records is not None and state.records < 0:
        problems.append("state.records must be 0 or more")
    if not -1 <= state.best.step <= state.step:
        problems.append(f"state.best.step must be from -1 to state.step, {state.step}; got {state.best.step}")
    if not 0 <= state.best.waited <= max(state.step, 0):
        problems.append(f"state.best.waited must be from 0 to state.step; got {state.best.waited}")
    for name in ("epoch", "step"):
        limit = record.settings.get("epochs" if name == "epoch" else "max_steps")
        few = record.settings.get("least_steps", 0)
        if name == "epoch" and type(few) is int and state.step <= few:
            continue  # of few rows more epochs are read
        if type(limit) is int and 0 < limit < getattr(state, name):
            problems.append(f"state.{name} is {getattr(state, name)}, and the run was to end at {limit}")
    metric = record.settings.get("metric")
    if state.best.step >= 0 and not math.isfinite(state.best.metrics.get(str(metric), math.nan)):
        problems.append(
            f"state.best.metrics must hold the number of {metric!r:.80}, by which the run selects"
        )
    for number, entries in record.optimizer.items():
        if not isinstance(entries, dict):
            problems.append(f"optimizer.{number!r:.80} must be a table")
        elif any(type(value) is not int or not 0 <= value <= state.step for value in entries.values()):
            problems.append(f"optimizer.{number!r:.80} must hold whole numbers from 0 to state.step")
    if problems:
        raise refused(path, problems)
    return record, state


def check_position(state: TrainState, batches: Callable[[int], Sequence[object]], path: Path) -> None:
    """Check that the steps taken are those of the epochs that the data has.

    Args:
        state: where the run stands.
        batches: of an epoch, by its number; their count may differ from epoch to epoch.
        path: the file, for messages.

    Raises:
        ArtifactError: if the place in the epoch lies beyond its batches, or the steps do not add up.
    """
    here, first = len(batches(state.epoch)), max(1, state.steps_per_epoch)
    if state.position >= max(1, here):
        raise refused(path, [f"state.position is {state.position}, and the epoch has {here} batches"])
    done, equal = state.step - state.position, state.epoch * first
    # Counts that differ stay near one another, so that what is far away is not added up.
    near = equal <= 4 * done <= 16 * equal and state.epoch <= 1000
    if done != equal and not (near and done == sum(len(batches(epoch)) for epoch in range(state.epoch))):
        raise refused(
            path,
            [
                f"state.step is {state.step}, and {state.epoch} epochs of about {first} batches and {state.position} "
                "more are not that many"
            ],
        )


def check_tensors(tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor], what: str, path: Path) -> None:
    """Check that weights are those of a network.

    Raises ArtifactError, naming the first that is missing, not wanted, or of another shape or kind.
    """
    here = {name: (list(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    there = {name: (list(tensor.shape), tensor.dtype) for name, tensor in wanted.items()}
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            raise ArtifactError(
                f"{path}: checkpoint of another network: weight {what + name!r:.200} is {_spell(here.get(name))} there "
                f"and {_spell(there.get(name))} here. Resume with the settings and data the run began with."
            )


def check_optimizer(
    name: str, parameter: nn.Parameter, saved: Mapping[str, object], optimizers: Optimizers, path: Path
) -> None:
    """Check what an optimizer keeps of one parameter: nothing before its first step, and then all of it.

    Raises ArtifactError, naming what is missing, not wanted, of another shape, or not finite.
    """
    kind = type(optimizers.member_of(parameter)).__name__
    if saved and (saved.keys() != _STATE_OF[kind]):
        raise refused(
            path, [f"optimizer/{name}: {kind} keeps {sorted(_STATE_OF[kind])}; got {sorted(saved)!r:.200}"]
        )
    for key, value in saved.items():
        if not isinstance(value, Tensor):
            if key != "step":
                raise refused(path, [f"optimizer/{name}/{key} must be a tensor"])
            continue
        shape = [] if key == "step" else list(parameter.shape)
        good = list(value.shape) == shape and value.dtype == torch.float32
        if not (good and torch.isfinite(value).all()):
            raise refused(path, [f"optimizer/{name}/{key} must be {shape} float32 of finite numbers"])


def refused(path: Path, problems: Sequence[str]) -> ArtifactError:
    """Return in one line what is wrong with a file."""
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return ArtifactError(f"{path}: {'; '.join(problems[:3])}{more}. {_REMEDY}")


def _numbers_back(state: Mapping[str, object]) -> dict[str, object]:
    """Turn null back into the number that JSON has no word for, where one may stand."""
    best, sums = state.get("best"), state.get("figure_sums")
    found = dict(state)
    if isinstance(sums, dict):
        found["figure_sums"] = _without_none(sums)
    if isinstance(best, dict) and isinstance(best.get("metrics"), dict):
        found["best"] = {**best, "metrics": _without_none(best["metrics"])}
    return found


def _without_none(table: Mapping[str, object]) -> dict[str, object]:
    return {name: math.nan if value is None else value for name, value in table.items()}


def _spell(found: tuple[list[int], torch.dtype] | None) -> str:
    return "missing" if found is None else f"{found[0]} {str(found[1]).removeprefix('torch.')}"
