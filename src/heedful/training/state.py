"""The state of a run on disk: what exact resume needs, as safetensors and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.errors import ArtifactError, UsageError, check_known
from heedful.nn import Stepped
from heedful.storage import replace_folder, stands
from heedful.storage.fields import Fields
from heedful.storage.layout import STATE_FILES
from heedful.storage.manifest import MANIFEST, read_json, verify_manifest, write_json, write_manifest
from heedful.storage.model_folder import load_tensors, save_tensors
from heedful.training.believing import check_optimizer, check_tensors, read_record
from heedful.training.optim import Optimizers
from heedful.training.progress import Cost
from heedful.training.train_settings import Direction, Schedule, TrainSettings

JOINED_LOSS = "joined_loss"
"""The mean loss of a network together with the linear parts that stand beside it, as it would be delivered."""
MEAN_COST = "cost"
"""What the wrong answers to an example cost on average, where a task measures that."""
_OF_ANSWERS = ("accuracy", "micro_f1")
"""Metrics of answers by which the recipes for own data select, and which count all errors alike."""


@dataclass
class Best:
    """The best evaluation so far.

    Attributes:
        step: step of the best evaluation; -1 while there is none.
        metrics: its metrics.
        waited: evaluations since then.
    """

    step: int = -1
    metrics: dict[str, float] = field(default_factory=dict)
    waited: int = 0

    def update(self, metrics: Mapping[str, float], step: int, *, metric: str, direction: Direction) -> bool:
        """Take in one evaluation; of two equal ones the earlier stays the best.

        Beside linear parts the accuracy on few dev rows hardly moves while a network learns, so that it would end too
        early. There `JOINED_LOSS` selects in place of the accuracy. Where errors have costs, `MEAN_COST` selects in
        place of a metric that counts all errors alike.

        Args:
            metrics: what was measured; a selecting metric that is not finite never is an improvement.
            step: when.
            metric: name of the metric that selects.
            direction: whether larger or smaller is better.

        Returns:
            Whether it is the best so far.

        Raises:
            UsageError: if the selecting metric was not measured.
        """
        check_known(metric, metrics, f"metric {metric!r} is not among the measured ones")
        if metric == "accuracy" and JOINED_LOSS in metrics and (self.step < 0 or JOINED_LOSS in self.metrics):
            metric, direction = JOINED_LOSS, "min"
        elif metric in _OF_ANSWERS and MEAN_COST in metrics and (self.step < 0 or MEAN_COST in self.metrics):
            metric, direction = MEAN_COST, "min"
        value = metrics[metric]
        sign = 1.0 if direction == "max" else -1.0
        better = math.isfinite(value) and (self.step < 0 or sign * value > sign * self.metrics[metric])
        if better:
            self.step, self.metrics, self.waited = step, dict(metrics), 0
        else:
            self.waited += 1
        return better


StopReason = Literal["epochs", "max_steps", "patience", "no network"]
_TENSORS, _STATE = STATE_FILES
_MAY_CHANGE = {"epochs", "max_steps", "patience", "device", "save_seconds", "save_steps", "log_every"}
_LENGTH = {"epochs", "max_steps"}


@dataclass
class TrainState:
    """Where a run stands, tensors aside.

    Attributes:
        step: optimizer steps taken.
        epoch: passes completed.
        position: batches done of the pass in progress.
        steps_per_epoch: batches of the first pass; tells other training data apart.
        seconds: time spent so far, over all resumptions.
        cpu_seconds: processor time of the same, over all threads.
        aside: the part of both that evaluations and checkpoints took.
        resumed: how often the run was resumed.
        loss_sum: sum of the examples' losses since the last line of the log.
        loss_count: number of these examples.
        figure_sums: sums over the same examples of what else the log shows the mean of, by name.
        records: lines that the log has; None in the checkpoint of a version that did not count them.
        threads: with which torch computes, on which the last digits of its sums depend; 0 where it was not kept.
        best: the best evaluation so far.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    steps_per_epoch: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    aside: Cost = field(default_factory=Cost)
    resumed: int = 0
    loss_sum: float = 0.0
    loss_count: int = 0
    figure_sums: dict[str, float] = field(default_factory=dict)
    records: int | None = None
    threads: int = 0
    best: Best = field(default_factory=Best)

    def stop_reason(self, settings: TrainSettings) -> StopReason | None:
        """Return why the run is over; None while it is not."""
        if settings.patience and self.best.waited >= settings.patience:
            return "patience"
        if settings.epochs and self.epoch >= settings.epochs and self.step >= settings.least_steps:
            return "epochs"
        if settings.max_steps and self.step >= settings.max_steps:
            return "max_steps"
        return None


def trainable_weights(network: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that training changes, by name."""
    return {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}


def changing_tensors(network: nn.Module) -> dict[str, Tensor]:
    """Return everything that training changes, by name: the trainable weights and the buffers of `Stepped` modules.

    All other buffers are constants.
    """
    found: dict[str, Tensor] = dict(trainable_weights(network))
    for prefix, part in network.named_modules():
        if isinstance(part, Stepped):
            found |= dict(part.named_buffers(prefix))
    return found


def copy_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return what training changes as copies on the CPU."""
    return {name: tensor.detach().cpu().clone() for name, tensor in changing_tensors(network).items()}


def restore_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Overwrite what training changes in place.

    Raises ArtifactError if names or shapes differ.
    """
    parameters = changing_tensors(network)
    here = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    there = {name: tuple(weight.shape) for name, weight in weights.items()}
    if here != there:
        name = min(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        raise ArtifactError(
            f"checkpoint of another network: weight {name!r} is {there.get(name)} there and {here.get(name)} here. "
            "Resume with the settings and data the run began with."
        )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def save_state(
    path: Path,
    *,
    state: TrainState,
    network: nn.Module,
    optimizers: Optimizers,
    best_weights: Mapping[str, Tensor],
    settings: TrainSettings,
    averages: Mapping[str, Tensor] | None = None,
) -> None:
    """Write a checkpoint in place of the old one, which stays until the new one is complete.

    Raises OutputError if it cannot be written.
    """
    tensors = {f"best/{name}": weight for name, weight in best_weights.items()}
    tensors |= {f"average/{name}": weight for name, weight in (averages or {}).items()}
    numbers: dict[str, dict[str, object]] = {}
    tensors |= {f"weights/{name}": tensor for name, tensor in changing_tensors(network).items()}
    for name, parameter in trainable_weights(network).items():
        for key, value in optimizers.state_of(parameter).items():
            if isinstance(value, Tensor):
                tensors[f"optimizer/{name}/{key}"] = value
            else:
                numbers.setdefault(name, {})[key] = value
    record = {"state": asdict(state), "optimizer": numbers, "settings": asdict(settings)}
    with replace_folder(path) as folder:
        save_tensors(folder / _TENSORS, tensors)
        write_json(folder / _STATE, record)
        write_manifest(folder, STATE_FILES)


def load_state(
    path: Path,
    *,
    network: nn.Module,
    optimizers: Optimizers,
    settings: TrainSettings,
    averages: Mapping[str, Tensor] | None = None,
) -> tuple[TrainState, dict[str, Tensor]]:
    """Read a checkpoint into a network and its optimizers.

    Args:
        path: folder of the checkpoint.
        network: overwritten with the saved weights.
        optimizers: their state is overwritten.
        settings: of the run that goes on; only its length, device and bookkeeping may differ from the saved ones.
        averages: averages of the weights, which are overwritten; None for a run without them.

    Returns:
        Where the run stands, and the best weights so far.

    Raises:
        ArtifactError: if the checkpoint is altered or of another network, or says what cannot be; the network and the
            optimizers then stay as they are.
        UsageError: if the settings differ; names each.
    """
    verify_manifest(path, STATE_FILES)
    record, state = read_record(read_json(path / _STATE, dict), TrainState, path / _STATE)
    _refuse_other_settings(record.settings, settings)
    tensors, file = load_tensors(path / _TENSORS), path / _TENSORS
    best, weights, here = _below("best/", tensors), _below("weights/", tensors), changing_tensors(network)
    check_tensors(weights, here, "weights/", file)
    check_tensors(best, here if state.best.step >= 0 else {}, "best/", file)
    averaged = _below("average/", tensors)
    check_tensors(averaged, averages or {}, "average/", file)
    numbers = Fields(record.optimizer, str(path / _STATE), "optimizer.")
    kept = {
        name: {**_below(f"optimizer/{name}/", tensors), **numbers.table(name, {})}
        for name in trainable_weights(network)
    }
    for name, parameter in trainable_weights(network).items():
        check_optimizer(name, parameter, kept[name], optimizers, file)
    restore_weights(network, weights)
    for name, average in (averages or {}).items():
        average.copy_(averaged[name])
    for name, parameter in trainable_weights(network).items():
        placed = {
            key: _placed(value, parameter) if isinstance(value, Tensor) else value
            for key, value in kept[name].items()
        }
        optimizers.state_of(parameter).update(placed)
    return state, best


def checkpoint_exists(path: Path) -> bool:
    """Return whether there is a checkpoint; nothing is changed, which is for the writer to do (`RunFolder.alone`)."""
    place = stands(path)
    return place is not None and any((place / name).exists() for name in (*STATE_FILES, MANIFEST))


def saved_step(path: Path) -> int:
    """Return the step at which a checkpoint was taken; 0 where there is none."""
    return _saved_state(path).step


def saved_threads(path: Path) -> int | None:
    """Return the number of threads of the run that a checkpoint is of; None where there is none or it does not say."""
    return _saved_state(path).threads or None


def _saved_state(path: Path) -> TrainState:
    """Read where a run stands, which is not trusted yet; the beginning where there is no checkpoint."""
    if not checkpoint_exists(path):
        return TrainState()
    file = (stands(path) or path) / _STATE
    return read_record(read_json(file, dict), TrainState, file)[1]


def may_change(schedule: Schedule) -> set[str]:
    """Return the names of the training settings that a resumed run may have otherwise than it began with.

    Args:
        schedule: of the run that goes on. "linear" falls to 0 at the last step, so its length decides every step.

    Returns:
        Names of fields of `TrainSettings`.
    """
    return _MAY_CHANGE - _LENGTH if schedule == "linear" else set(_MAY_CHANGE)


def _placed(value: Tensor, parameter: nn.Parameter) -> Tensor:
    """Put an average beside its parameter; counts of steps stay on the CPU, where torch keeps them."""
    return value.to(parameter.device) if value.shape == parameter.shape else value


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _refuse_other_settings(saved: dict[str, object], settings: TrainSettings) -> None:
    # As JSON keeps them, where a tuple is a list; a setting that is newer than the checkpoint was at its default.
    given, default = (json.loads(json.dumps(asdict(one))) for one in (settings, TrainSettings()))
    saved = {**default, **saved}
    decisive: Sequence[str] = sorted(given.keys() - may_change(given["schedule"]))
    different = [
        f"{key}: {saved.get(key)!r} then, {given[key]!r} now"
        for key in decisive
        if saved.get(key) != given[key]
    ]
    if different:
        raise UsageError(
            f"cannot resume with other settings ({'; '.join(different)}). "
            "Use the same ones, or begin in another folder."
        )
