"""Compare the settings and data of a saved run with those of a command, and refuse to resume it with other ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from heedful.errors import UsageError
from heedful.run.recipe_files import into_options
from heedful.run.run_config import RunConfig
from heedful.storage.fields import Fields, is_table, read_fields, read_json
from heedful.storage.manifest import MANIFEST
from heedful.tasks import find_task
from heedful.training.run_folder import RunFolder
from heedful.training.state import checkpoint_exists, may_change
from heedful.training.train_settings import flat

ONLY_MEASURED = ("evaluate_train",)
"""Settings of the table ``[train]`` that say what else is measured once training has ended."""


def plain_settings(config: RunConfig) -> dict[str, object]:
    """Return settings as the plain values that JSON gives back."""
    plain: dict[str, object] = json.loads(json.dumps(asdict(config)))
    return plain


def completed(saved: Mapping[str, object]) -> dict[str, object]:
    """Add the defaults of settings that did not exist yet when a run was kept, and those of the task's own settings.

    Args:
        saved: plain settings of the run.

    Returns:
        Plain settings with every key of today.
    """
    filled = _filled(into_options(saved), plain_settings(RunConfig()))
    model = filled["model"]
    task = find_task(str(model["task"])) if is_table(model) else None
    if task is None or not is_table(model) or not is_table(model["task_options"]):
        return filled
    own: dict[str, object] = json.loads(json.dumps(asdict(task.settings())))
    return {**filled, "model": {**model, "task_options": _filled(model["task_options"], own)}}


def _filled(given: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    def fill(value: object, default: object) -> object:
        return _filled(value, default) if is_table(value) and is_table(default) else value

    return {**defaults, **{key: fill(value, defaults.get(key)) for key, value in given.items()}}


def same_run(saved: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Return whether a kept run is the one that settings ask for.

    Args:
        saved: plain settings of the run, as it was kept.
        wanted: plain settings of today.

    Returns:
        Whether they agree in all but `ONLY_MEASURED`, which changes neither the model nor its other figures: such a run
        may lack figures that are asked for now.
    """

    def without(settings: Mapping[str, object]) -> dict[str, object]:
        train = Fields(settings, "", "settings.").table("train")
        train = {key: value for key, value in train.items() if key not in ONLY_MEASURED}
        return {**settings, "train": train}

    return without(completed(saved)) == without(completed(wanted))


_NOT_SET = "not set"


def check_same_run(folder: Path, config: RunConfig, fingerprint: Mapping[str, str]) -> None:
    """Refuse to go on with other settings or data than a run began with; nothing is written.

    A folder without a checkpoint and without a model holds nothing to go on from or to lose, and what an older version
    did not write down is not compared. A model of linear parts has no checkpoint: it is trained again, with the same
    result.

    Args:
        folder: the run folder.
        config: the settings of today; the length of a run, its device and its bookkeeping may differ.
        fingerprint: file to SHA-256 of the data of today.

    Raises:
        UsageError: naming every difference.
        ArtifactError: if what the folder keeps cannot be read.
    """
    home = RunFolder(folder)
    if not (checkpoint_exists(home.checkpoint) or (home.model / MANIFEST).is_file()):
        return
    different: list[str] = []
    if home.config.exists():
        different += _other_settings(completed(read_json(home.config, dict)), config)
    if home.data.exists():
        saved = read_fields(home.data)
        changed = changed_files({name: saved.text(name) for name in saved}, fingerprint)
        different += [f"the content of {name} has changed" for name in changed]
    if different:
        raise UsageError(
            f"{folder}: cannot resume with other settings or data ({'; '.join(different)}). "
            "Use the same ones, or begin in another folder."
        )


def _other_settings(saved: Mapping[str, object], config: RunConfig) -> Iterable[str]:
    then, now = dict(flat(saved)), dict(flat(completed(plain_settings(config))))
    free = {f"train.{name}" for name in may_change(config.train.schedule)}
    for name in sorted((then.keys() | now.keys()) - free):
        if name not in then or name not in now or then[name] != now[name]:
            yield f"{name}: {_shown(then, name)} then, {_shown(now, name)} now"


def changed_files(saved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Name the files that are read now and were read before, with other content.

    Which files are read follows from the settings, and a data set may gain others: files of one side are not compared.

    Args:
        saved: file to SHA-256 of what a run has read.
        now: file to SHA-256 of what there is.

    Returns:
        Their names, sorted.
    """
    return [name for name in sorted(saved.keys() & now.keys()) if saved[name] != now[name]]


def _shown(values: Mapping[str, object], name: str) -> str:
    return repr(values[name]) if name in values else _NOT_SET
