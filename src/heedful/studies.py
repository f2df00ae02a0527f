"""A recipe run over seeds or folds: mean, spread and cost, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.config import RunConfig, load_config
from heedful.config.kept import completed, of_all_runs, plain_settings
from heedful.errors import ArtefactError, UsageError
from heedful.files import write_text
from heedful.info import describe, peak_megabytes
from heedful.pipeline import check_run_folder, prepare, train
from heedful.training.progress import Reporter


@dataclass(frozen=True)
class Study:
    """The figures of repeated runs.

    Attributes:
        runs: one summary a run, with the settings that were varied under "varied".
        protocol: one sentence that says how the parts came about.
    """

    runs: list[dict[str, Any]]
    protocol: str

    def spread(self, part: str = "test") -> dict[str, tuple[float, float]]:
        """Return metric name to (mean, standard deviation with n - 1) over the runs."""
        names = self.runs[0][part]["metrics"]
        values = {name: [run[part]["metrics"][name] for run in self.runs] for name in names}
        return {
            name: (float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0)
            for name, v in values.items()
        }

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        lines = []
        for run in self.runs:
            values = "  ".join(f"{name} {value:.4f}" for name, value in run["test"]["metrics"].items())
            lines.append(
                f"{run['varied']:<14} {values}  dev best at step {run['best_step']:,}, {run['seconds']:.0f} s"
            )
        mean = "  ".join(f"{name} {m:.4f} ± {s:.4f}" for name, (m, s) in self.spread().items())
        seconds = sum(run["seconds"] for run in self.runs)
        lines.append(f"mean of {len(self.runs):<6} {mean}  ({seconds / 60:.1f} minutes in all)")
        lines.append(f"protocol: {self.protocol}")
        return "\n".join(lines)


def run_study(
    recipe: str,
    folder: Path,
    data: Path | None,
    *,
    seeds: Sequence[int] = (),
    folds: int = 0,
    only: int = 0,
    overrides: Sequence[str] = (),
    reporter: Reporter | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Study:
    """Run a recipe once a seed, or once a fold; a run that is already in the folder is not repeated.

    Args:
        recipe: packaged recipe or TOML file.
        folder: where one JSON file a run and the summary are kept.
        data: the folder of data sets.
        seeds: seeds to run; empty for folds.
        folds: number of folds of cross-validation; 0 for seeds.
        only: run only the first so many folds; 0 for all.
        overrides: ``key=value`` settings.
        reporter: shows progress.
        say: told what happens next.

    Returns:
        All runs.

    Raises:
        UsageError: unless exactly one of seeds and folds is given, or the data has no test part.
    """
    if bool(seeds) == bool(folds):
        raise UsageError("give either --seeds or --folds")
    if only > folds:
        raise UsageError(f"--only {only}: there are {folds} folds to choose from")
    varied = [f"train.seed={seed}" for seed in seeds] or [
        f"data.fold={k}" for k in range(1, (only or folds) + 1)
    ]
    extra = [f"data.folds={folds}"] if folds else []
    check_run_folder(folder, resume=True)
    runs, protocol = [], ""
    for setting in varied:
        config = load_config(recipe, [*overrides, *extra, setting])
        file = folder / f"{setting}.json"
        if file.exists():
            saved = _read(file)
            if completed(saved["settings"]) != plain_settings(config):
                raise UsageError(f"{file}: made with other settings; use another --out or delete it")
            say(f"{setting}: already done")
        else:
            say(f"{setting} ...")
            saved = _run(config, setting, data, reporter)
            write_text(file, json.dumps(saved) + "\n")
        runs.append(saved["summary"])
        protocol = of_all_runs(saved["protocol"])
    return Study(runs, protocol)


def _read(file: Path) -> dict[str, Any]:
    try:
        saved: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        saved["settings"], saved["summary"], saved["protocol"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtefactError(
            f"{file}: expected a run that heedful study kept; delete it to run it again"
        ) from error
    return saved


def _run(config: RunConfig, setting: str, data: Path | None, reporter: Reporter | None) -> dict[str, Any]:
    prepared = prepare(config, data)
    if "test" not in prepared.datasets:
        raise UsageError("a study needs a test part: name data.test or a data set that has one")
    result = train(config, prepared, reporter=reporter)
    summary = {"varied": setting, **result.summary()}
    test = result.test
    if config.data.protocol == "paper":  # the best of all evaluations on the test part
        summary["test"], test = summary["dev"], result.dev
    assert test is not None  # checked above
    return {
        "summary": summary,
        "protocol": prepared.protocol,
        "settings": plain_settings(config),
        "answers": {"gold": _plain(test.gold), "predicted": _plain(test.predicted)},
        "data": prepared.fingerprint,
        "machine": describe(),
        "peak_megabytes": peak_megabytes(),
    }


def _plain(values: NDArray[Any]) -> list[float]:
    """Return class numbers as they are, scores to four digits."""
    plain: list[float] = (np.round(values, 4) if values.dtype.kind == "f" else values).tolist()
    return plain
