"""Whether a run that is to be resumed is the one that the settings and the data describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from heedful.checkpoint import read_json
from heedful.config import RunConfig
from heedful.config.kept import completed, plain_settings
from heedful.errors import UsageError
from heedful.training.parallel import is_first_process
from heedful.training.run_folder import RunFolder
from heedful.training.state import checkpoint_exists, may_change

_NOT_SET = "not set"


def check_same_run(folder: Path, config: RunConfig, fingerprint: Mapping[str, str]) -> None:
    """Refuse to go on with other settings or data than a run began with; nothing is written.

    A folder without a checkpoint holds nothing to go on from, and what an older version did not write down is not
    compared.

    Args:
        folder: the run folder.
        config: the settings of today; the length of a run, its device and its bookkeeping may differ.
        fingerprint: file to SHA-256 of the data of today.

    Raises:
        UsageError: naming every difference.
        ArtefactError: if what the folder keeps cannot be read.
    """
    home = RunFolder(folder)
    # Looking for a checkpoint repairs what a killed writer left, which one of several processes does.
    begun = checkpoint_exists(home.checkpoint) if is_first_process() else home.checkpoint.is_dir()
    if not begun:
        return
    different: list[str] = []
    if home.config.exists():
        different += _other_settings(completed(read_json(home.config, dict)), config)
    if home.data.exists():
        different += _other_files(read_json(home.data, dict), fingerprint)
    if different:
        raise UsageError(
            f"{folder}: cannot resume with other settings or data ({'; '.join(different)}). "
            "Use the same ones, or begin in another folder."
        )


def _other_settings(saved: Mapping[str, Any], config: RunConfig) -> Iterable[str]:
    then, now = dict(_flat(saved)), dict(_flat(plain_settings(config)))
    free = {f"train.{name}" for name in may_change(config.train.schedule)}
    for name in sorted((then.keys() | now.keys()) - free):
        if name not in then or name not in now or then[name] != now[name]:
            yield f"{name}: {_shown(then, name)} then, {_shown(now, name)} now"


def _other_files(saved: Mapping[str, str], now: Mapping[str, str]) -> Iterable[str]:
    """Name the files whose content changed. Which files are read follows from the settings: a set may gain others."""
    for name in sorted(saved.keys() & now.keys()):
        if saved[name] != now[name]:
            yield f"the content of {name} has changed"


def _flat(table: Mapping[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    """Give each value with its dotted name."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _shown(values: Mapping[str, Any], name: str) -> str:
    return repr(values[name]) if name in values else _NOT_SET
