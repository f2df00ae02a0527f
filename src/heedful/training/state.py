"""The state of a run on disk: what exact resume needs, as safetensors and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn

from heedful.errors import ArtifactError, UsageError
from heedful.nn import Stepped
from heedful.storage import replace_folder, stands
from heedful.storage.fields import Fields, read_json
from heedful.storage.layout import STATE_FILES
from heedful.storage.manifest import MANIFEST, verify_manifest, write_json, write_manifest
from heedful.storage.model_folder import load_tensors, save_tensors
from heedful.training.checkpoint_checks import check_optimizer, check_tensors, read_record
from heedful.training.optim import Optimizers
from heedful.training.run_state import TrainState
from heedful.training.train_settings import Schedule, TrainSettings

_TENSORS, _STATE = STATE_FILES
_MAY_CHANGE = {"epochs", "max_steps", "patience", "device", "save_seconds", "save_steps", "log_every"}
_LENGTH = {"epochs", "max_steps"}


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
