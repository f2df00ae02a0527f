"""The file in which Optuna stores every trial of a search, and how a search continues from it."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from heedful.errors import ArtifactError, MissingExtraError, UsageError
from heedful.run.kept_settings import changed_files
from heedful.run.recipe_files import from_table
from heedful.run.run_config import RunConfig
from heedful.run.tuning.space import Space, current, to_toml
from heedful.storage import alone, plain_errors, write_text

if TYPE_CHECKING:
    import optuna
    from optuna import Study

FILE = "study.db"
_NAME = "heedful"
_WAIT = 600.0
"""Seconds to wait for one's turn, which the others hold for milliseconds."""
_PASSES = 100
"""Units of a training pass by which trials are compared while they run: Optuna counts in whole numbers."""
_FIRST_LOOK = 2 * _PASSES
"""No trial is given up before its second pass over the training data."""
_FITTING: set[Path] = set()
"""Files whose tables fit this Optuna, which loads all revisions of them to see that: a tenth of a second each time."""


def import_optuna() -> ModuleType:
    """Import Optuna, silent about what Heedful says itself.

    Returns:
        The module.

    Raises:
        MissingExtraError: without it.
    """
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("optuna", "tune", "A search for settings") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def open_study(folder: Path, direction: str, *, prune: bool = True) -> Study:
    """Open the study of a folder, or begin one.

    Args:
        folder: of the search.
        direction: "max" or "min".
        prune: whether a trial that does worse than the median of the others is given up.

    Returns:
        Optuna's study.

    Raises:
        ArtifactError: if the file is there and is no study.
        OutputError: if it cannot be written.
    """
    optuna = import_optuna()
    pruner = optuna.pruners.MedianPruner(n_warmup_steps=_FIRST_LOOK) if prune else optuna.pruners.NopPruner()
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        file, waiting = folder.absolute() / FILE, {"connect_args": {"timeout": 100}}
        kept = optuna.storages.RDBStorage(
            f"sqlite:///{file}", engine_kwargs=waiting, skip_compatibility_check=file in _FITTING
        )
        _FITTING.add(file)
        return optuna.create_study(
            storage=kept, study_name=_NAME, direction=f"{direction}imize", pruner=pruner, load_if_exists=True
        )
    except Exception as error:  # whatever the database underneath raises
        raise ArtifactError(
            f"{folder / FILE}: expected the file of a search; {type(error).__name__}. Choose another --out."
        ) from error


@contextlib.contextmanager
def taking_turns(folder: Path) -> Iterator[None]:
    """Let one worker of a search at a time into a block; the others wait, and a killed one holds nobody up.

    Optuna takes a queued trial in two steps, and between them another process can take it too.

    Args:
        folder: of the search.

    Yields:
        Nothing.
    """
    with alone(folder, "trial", name=".heedful-turn", wait=_WAIT):
        yield


def begin(study: Study, config: RunConfig, space: Space, where: Path) -> None:
    """Write down what is searched, or see that it is still the same; take up what was interrupted.

    The first trial of a search is the recipe itself, where it lies in the space.

    Args:
        study: the study.
        config: the settings that are varied.
        space: what is varied.
        where: the folder, for messages.

    Raises:
        UsageError: if the folder holds a search with other settings or another space.
    """
    said = {name: str(domain) for name, domain in space.items()}
    if "settings" in study.user_attrs:
        if (
            from_table(study.user_attrs["settings"], str(where)) != config
            or study.user_attrs["space"] != said
        ):
            raise UsageError(
                f"{where}: holds a search with other settings or another space; choose another --out"
            )
        _take_up(study, space)
        return
    own = current(space, config)
    # A search that was killed before its settings were kept has queued the recipe already.
    queued = any(trial.user_attrs.get("recipe") for trial in study.get_trials(deepcopy=False))
    if not queued and all(name in own and domain.holds(own[name]) for name, domain in space.items()):
        _queue(study, own, recipe=True)
    write_text(where / "space.toml", to_toml(space))
    study.set_user_attr("space", said)
    study.set_user_attr("settings", json.loads(json.dumps(asdict(config))))


def refuse_other_data(study: Study, fingerprint: Mapping[str, str], where: Path) -> None:
    """Write down what data is searched on, or refuse other data: scores of both could not be compared.

    Args:
        study: the study; one of an older version did not write its data down, which is then done.
        fingerprint: file to SHA-256 of the data of today.
        where: the folder, for messages.

    Raises:
        UsageError: naming the files that have changed.
    """
    changed = changed_files(study.user_attrs.get("data", {}), fingerprint)
    if changed:
        raise UsageError(
            f"{where}: holds a search on other data than there is now ({', '.join(changed)}); choose another --out"
        )
    if fingerprint and "data" not in study.user_attrs:
        study.set_user_attr("data", dict(fingerprint))


def _take_up(study: Study, space: Space) -> None:
    """Queue what a killed or interrupted search was at; each goes on from its own run folder.

    A trial that was killed before all of its values were proposed is proposed again as it was. The order of the steps
    lets this be killed between any two of them: a trial that is queued already is not queued twice.
    """
    from optuna.trial import TrialState

    queued = {folder_of(trial) for trial in study.get_trials(deepcopy=False, states=(TrialState.WAITING,))}
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        values = trial.params if len(trial.params) == len(space) else trial.user_attrs.get("values")
        if values and folder_of(trial) not in queued:
            facts = {name: fact for name, fact in trial.user_attrs.items() if name != "values"}
            _queue(study, values, **facts | {"folder": folder_of(trial)})
        study.tell(trial.number, state=TrialState.FAIL)


def _queue(study: Study, values: Mapping[str, object], **facts: object) -> None:
    """Let a trial with these values come next; they are kept as a fact too, until Optuna has taken them up."""
    study.enqueue_trial(dict(values), user_attrs={**facts, "values": dict(values)})


def folder_of(trial: optuna.Trial | optuna.trial.FrozenTrial) -> str:
    """Return the name of a trial's run folder; one that was taken up keeps the folder it began in."""
    return str(trial.user_attrs.get("folder", f"trial-{trial.number:04}"))


def finished(study: Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that ended, given up ones too, in their order."""
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))


def completed(study: Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that were trained to their end, in their order."""
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def passes(epoch: float) -> int:
    """Return training passes as the whole number by which trials are compared."""
    return round(epoch * _PASSES)


def importances(study: Study) -> dict[str, float]:
    """Estimate how much each setting matters for the score, by Optuna's default method.

    Args:
        study: the study.

    Returns:
        Setting to share; empty where too few trials ended to tell.
    """
    optuna = import_optuna()
    if len(completed(study)) < 10:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return dict(optuna.importance.get_param_importances(study))
        except (ValueError, RuntimeError):  # every trial scored the same
            return {}
